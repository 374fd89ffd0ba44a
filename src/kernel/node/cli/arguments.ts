import { parseArgs } from 'node:util';
import { allowReplacingAll } from '../files/replacing.ts';
import { type Options, Usage } from './command.ts';
import { errorText } from '../../base/problem.ts';
import { closestWords } from '../../base/text.ts';

/**
 * Names that options had, which still work where they mean nothing else: one meaning has one name in all commands. Of
 * several new names, the first that a command has.
 */
export const renamedOptions: Readonly<Record<string, readonly string[]>> = {
  anonymise: ['anonymize'],
  cache: ['calibration-cache'],
  gpu: ['compute-capability'],
  list: ['dry-run'],
  low: ['precision'],
  'max-minutes': ['max-seconds'],
  members: ['group'],
  names: ['nodes'],
  node: ['nodes'],
  output: ['out'],
  overrides: ['rules'],
  prediction: ['accuracy'],
  report: ['html', 'build'],
  samples: ['inputs'],
  target: ['tensorrt'],
};

/** trtexec's names for what is written in another way here; those that differ only in case need no row. */
const trtexecOptions: Readonly<Record<string, string>> = {
  best: 'precision best',
  bf16: 'precision bf16',
  builderOptimizationLevel: 'optimization-level N',
  calib: 'calibration-cache FILE',
  dynamicPlugins: 'plugin FILE',
  exportOutput: 'out FILE.npz',
  fp16: 'precision fp16',
  fp8: 'precision fp8',
  hardwareCompatibilityLevel: 'hardware-compatibility LEVEL',
  int8: 'precision int8',
  layerOutputTypes: 'rules FILE',
  layerPrecisions: 'rules FILE',
  loadInputs: 'inputs FILE',
  markDebug: 'debug-tensor NAME',
  memPoolSize: 'workspace MIB',
  plugins: 'plugin FILE',
  saveEngine: 'engine FILE',
  staticPlugins: 'plugin FILE',
  timingCacheFile: 'timing-cache FILE',
};

/** What an unknown option is called here; undefined: it is not one of trtexec's, or this command has nothing like it. */
function hereFor(unknown: string, options: Options): string | undefined {
  const named = trtexecOptions[unknown] ?? unknown.replaceAll(/[A-Z]+/g, (capitals) => `-${capitals.toLowerCase()}`);
  return named !== unknown && options[named.split(' ', 1)[0]!] ? `--${named}` : undefined;
}

/** What every command accepts, because a script may agree to all downloads in advance. */
const anyCommand: Options = { yes: { type: 'boolean', short: 'y' } };

/** The option of every command that writes files that a user names. */
export const forceOption = { force: { type: 'boolean' } } as const;

/** Which options would do nothing: they are refused instead of ignored. `--yes` and `--force` always pass. */
export interface OptionForms<Name extends string = string> {
  /** An option, and those of which one must be there as well. */
  needs?: Partial<Record<Name, readonly Name[]>>;
  /** An option, and those that do nothing with it. */
  without?: Partial<Record<Name, readonly Name[]>>;
}

/** All options of a command but these, for a form of it that takes nothing else. */
export const allBut = <T extends Options>(options: T, ...names: string[]): (keyof T & string)[] =>
  Object.keys(options).filter((name) => ![...names, 'yes', 'force'].includes(name));

/**
 * Reads a command's arguments; unknown options, missing values and extra positional arguments become Usage errors.
 * @param positionals names of the positional arguments; one in brackets may be omitted
 */
export function readArguments<T extends Options>(
  args: string[],
  options: T,
  positionals: string[] = [],
  forms: OptionForms<keyof T & string> = {},
) {
  const old = Object.entries(renamedOptions).flatMap(([name, names]) => {
    const now = options[name] ? undefined : names.find((one) => options[one]);
    return now === undefined ? [] : [[name, now] as const];
  });
  const olds = old.map(([name, now]) => [
    name,
    { type: options[now]!.type, multiple: options[now]!.multiple ?? false },
  ]);
  const known: Options = { ...anyCommand, ...options, ...Object.fromEntries(olds) };
  const parse = () =>
    parseArgs({ args: withJoinedValues(args, known), options: known as T, allowPositionals: true, strict: true });
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse();
  } catch (error) {
    // Node's own text has advice about `--` behind the first sentence.
    const [text] = errorText(error).split('. ') as [string];
    const [, unknown] = /^Unknown option '--([^']+)'/.exec(text) ?? [];
    const here = unknown === undefined ? undefined : hereFor(unknown, options);
    if (here !== undefined) throw new Usage(`--${unknown} is an option of trtexec; here it is ${here}`);
    const [near] = unknown === undefined ? [] : closestWords(unknown, Object.keys(options), 1);
    throw new Usage(near === undefined ? text : `${text}; did you mean '--${near}'?`);
  }
  const values = parsed.values as Record<string, unknown>;
  for (const [name, now] of old) {
    if (values[name] !== undefined) values[now] ??= name === 'max-minutes' ? inSeconds(values[name]) : values[name];
    delete values[name];
  }
  checkForms(values, forms);
  if (!options['yes']) delete values['yes'];
  allowReplacingAll(values['force'] === true);
  const missing = positionals[parsed.positionals.length];
  if (missing?.startsWith('[') === false) throw new Usage(`${missing} is missing`);
  const extra = parsed.positionals[positionals.length];
  if (extra !== undefined) throw new Usage(`unexpected argument '${extra}'`);
  return parsed;
}

/** Minutes as seconds; what is not a number stays, and is reported. */
const inSeconds = (minutes: unknown): unknown =>
  /^\d{1,7}$/.test(String(minutes)) ? String(Number(minutes) * 60) : minutes;

function checkForms(values: Readonly<Record<string, unknown>>, forms: OptionForms): void {
  const needs = Object.entries<readonly string[] | undefined>(forms.needs ?? {});
  const without = Object.entries<readonly string[] | undefined>(forms.without ?? {});
  // An empty value is none: agents pass `--nsys=` so that no program is looked for.
  const has = (name: string) => values[name] !== undefined && values[name] !== '';
  for (const [name, others = []] of needs)
    if (has(name) && !others.some(has))
      throw new Usage(`--${name} needs ${others.map((other) => `--${other}`).join(' or ')}`);
  for (const [name, others = []] of without) {
    const other = has(name) && others.find(has);
    if (other) throw new Usage(`--${name} cannot be combined with --${other}`);
  }
}

/**
 * `--argument --fp16` as `--argument=--fp16`: Node takes a value that begins with a dash only so. What is an option of the
 * command itself stays one, but for `--argument`, whose value is for another program.
 */
function withJoinedValues(args: readonly string[], options: Options): string[] {
  const shorts = new Map(Object.entries(options).flatMap(([name, { short }]) => (short ? [[`-${short}`, name]] : [])));
  const nameOf = (argument: string) =>
    shorts.get(argument) ?? (argument.startsWith('--') ? argument.slice(2).split('=', 1)[0]! : '');
  const joined: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const argument = args[i]!;
    if (argument === '--') return [...joined, ...args.slice(i)];
    const name = nameOf(argument);
    const next = args[i + 1];
    const takes = options[name]?.type === 'string' && !argument.includes('=');
    const isValue = next?.startsWith('-') === true && (name === 'argument' || !options[nameOf(next)]);
    if (takes && isValue && next !== '--') {
      joined.push(`--${name}=${next}`);
      i++;
    } else joined.push(argument);
  }
  return joined;
}

/**
 * The subcommand that is given.
 * @throws {Usage} with the one that was probably meant
 */
export function subcommandOf<T extends string>(known: readonly T[], given: string | undefined): T {
  const found = known.find((one) => one === given);
  if (found !== undefined) return found;
  if (given === undefined) throw new Usage(`the subcommand is missing; subcommands are ${known.join(', ')}`);
  const [near] = closestWords(given, known, 1);
  throw new Usage(
    `unknown subcommand '${given}'; ${near === undefined ? `subcommands are ${known.join(', ')}` : `did you mean '${near}'?`}`,
  );
}

/** An option's integer, or a Usage error that names the option. */
export function wholeNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new Usage(`${option}: '${text}' is not an integer`);
  return Number(text);
}

/** `input:1x3x224x224,other:8`: a name ends at the last colon, because names may contain colons. */
export function namedShapes(option: string, text: string | undefined): [string, string][] {
  return (text ?? '')
    .split(',')
    .filter(Boolean)
    .map((part) => {
      const match = /^(.+):(\d+(?:x\d+)*)$/.exec(part);
      if (!match) throw new Usage(`${option}: '${part}' does not have the form INPUT:1x3x224x224`);
      return [match[1]!, match[2]!];
    });
}
