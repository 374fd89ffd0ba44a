import type { ParseArgsConfig } from 'node:util';
import { type BuildOption, type CliFlag, type EngineOptions, optionRows } from '../../build/buildOptions.ts';
import { fitsKind, type OptionValues, type ShapeRange } from '../../build/buildManifest.ts';
import { namedShapes, wholeNumber } from './arguments.ts';
import { Usage } from './command.ts';

/** What `trtlens build` takes in addition to the options of a build: where it runs, and what it prints. */
export const runFlags = {
  folder: { value: 'FOLDER', help: "parent of the build folder (default: the user's cache folder)" },
  python: { value: 'PROGRAM', help: 'the interpreter to use instead of the first suitable one on the PATH' },
  trtexec: { value: 'PROGRAM', help: 'the trtexec to use instead of the first one on the PATH' },
  polygraphy: { value: 'PROGRAM', help: 'the Polygraphy to use instead of the first one on the PATH' },
  launcher: {
    value: 'FILE',
    help: 'run the program in a container, over ssh or on a cluster; FILE is YAML or JSON',
  },
  'provider-options': {
    value: 'FILE',
    help: "JSON of ONNX Runtime's TensorRT provider (trt_…, nv_…) as options of the build; further flags win",
  },
  'print-provider-options': { help: 'print the options as JSON for that provider, and build nothing' },
  html: { value: 'FILE', help: 'also write the page of trtlens show' },
  force: { help: 'overwrite the engine, caches and page whatever is there now' },
  repair: { help: 'if the build fails, repair the model, as far as that is exact, and build it again' },
  yes: { short: 'y', help: 'download TensorRT-RTX without asking' },
  verbose: { short: 'v', help: 'print the build log to stderr' },
  json: { help: '{ "build": manifest, "fusion": report, "precision": share }' },
} as const satisfies Record<string, Omit<CliFlag, 'flag'>>;

/** All flags, in the order of the help. */
export const buildFlags: readonly CliFlag[] = [
  ...optionRows.flatMap(([, { cli }]) => cli),
  ...Object.entries(runFlags).map(([flag, rest]) => ({ flag, ...rest })),
];

/** The same for `parseArgs`. */
export const buildArguments = Object.fromEntries(
  buildFlags.map(({ flag, short, value, multiple }) => [
    flag,
    { type: value === undefined ? 'boolean' : 'string', ...(short && { short }), ...(multiple && { multiple }) },
  ]),
) as NonNullable<ParseArgsConfig['options']>;

const onlyForBuild = new Set([
  'provider-options',
  'print-provider-options',
  'engine',
  'folder',
  'force',
  'html',
  'repair',
  'verbose',
]);

/** Those for builds of which nothing is left. */
export const trialArguments = Object.fromEntries(
  Object.entries(buildArguments).filter(([flag]) => !onlyForBuild.has(flag)),
) as typeof buildArguments;

/** What `parseArgs` made of them. */
export type BuildValues = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/** The value of a flag that takes one text. */
export const textOf = (values: BuildValues, flag: string): string | undefined => values[flag] as string | undefined;

/** The value of `--max-seconds`. */
export const maxSecondsOf = (values: BuildValues): number | undefined =>
  wholeNumber('--max-seconds', textOf(values, 'max-seconds'));

/**
 * The options of a build from their flags.
 * @throws {Usage} where a value is not what its option takes
 */
export function readBuildOptions(values: BuildValues): Partial<EngineOptions> {
  const options: Record<string, unknown> = {};
  for (const [name, row] of optionRows) {
    const value = readers[typeof row.kind === 'string' ? row.kind : 'words'](row, values);
    if (value !== undefined) options[name] = value;
  }
  return options;
}

type Reader = (row: BuildOption, values: BuildValues) => unknown;

const only = ({ cli: [first] }: BuildOption, values: BuildValues): string | undefined =>
  first && textOf(values, first.flag);

const readers: Record<keyof OptionValues | 'words', Reader> = {
  words: (row, values) => {
    const text = only(row, values);
    if (text === undefined || fitsKind(text, row.kind)) return text;
    throw new Usage(
      `--${row.cli[0]!.flag}: unknown value '${text}'; expected one of ${(row.kind as string[]).join(', ')}`,
    );
  },
  text: only,
  path: only,
  flag: only,
  number: integer,
  integer,
  texts,
  textsOrAll: ({ cli: [names, all] }, values) => (all && values[all.flag] ? 'all' : names && values[names.flag]),
  numbersByName: pools,
  textsByName: () => undefined,
  profiles: (_, values) => profiles(values),
  layerTypes: () => undefined,
  layerOutputTypes: () => undefined,
};

function integer(row: BuildOption, values: BuildValues): number | undefined {
  return wholeNumber(`--${row.cli[0]!.flag}`, only(row, values));
}

/** Several, or one with commas. Its schema says what each must look like. */
function texts(row: BuildOption, values: BuildValues): string[] | undefined {
  const [first] = row.cli;
  const given = first && values[first.flag];
  if (first === undefined || given === undefined) return undefined;
  const all = [given].flat() as string[];
  const parts = row.commas ? all.flatMap((text) => text.split(',').filter(Boolean)) : all;
  const { pattern } = (row.schema?.['items'] ?? {}) as { pattern?: string };
  const wrong = pattern === undefined ? undefined : parts.find((part) => !new RegExp(pattern).test(part));
  if (wrong !== undefined) throw new Usage(`--${first.flag}: '${wrong}' does not have the form ${first.value}`);
  return parts;
}

/** `tacticSharedMem:48`, one each. */
function pools({ cli: [first] }: BuildOption, values: BuildValues): Record<string, number> | undefined {
  const given = first && (values[first.flag] as string[] | undefined);
  return (
    given &&
    Object.fromEntries(
      given.map((text) => {
        const match = /^(\w+):(\d+(?:\.\d+)?)$/.exec(text);
        if (!match) throw new Usage(`--${first.flag}: '${text}' does not have the form ${first.value}`);
        return [match[1]!, Number(match[2])];
      }),
    )
  );
}

/** The n-th value of each of the three flags makes the n-th profile. A missing one equals the optimum. */
function profiles(values: BuildValues): Record<string, ShapeRange>[] | undefined {
  const kinds = (['min', 'opt', 'max'] as const).map((kind) => ({
    kind,
    given: (values[`${kind}-shapes`] as string[] | undefined) ?? [],
  }));
  const count = Math.max(...kinds.map(({ given }) => given.length));
  const fixed = textOf(values, 'shapes');
  if (fixed !== undefined) {
    if (count > 0) throw new Usage('--shapes cannot be combined with --min-shapes, --opt-shapes or --max-shapes');
    return [
      Object.fromEntries(
        namedShapes('--shapes', fixed).map(([name, shape]) => [name, { min: shape, opt: shape, max: shape }]),
      ),
    ];
  }
  if (count === 0) return undefined;
  return Array.from({ length: count }, (_, index) => {
    const ranges = new Map<string, Partial<ShapeRange>>();
    for (const { kind, given } of kinds)
      for (const [name, shape] of namedShapes(`--${kind}-shapes`, given[index]))
        ranges.set(name, { ...ranges.get(name), [kind]: shape });
    return Object.fromEntries(
      [...ranges].map(([name, { min, opt, max }]) => {
        const best = opt ?? max ?? min!;
        return [name, { min: min ?? best, opt: best, max: max ?? best }];
      }),
    );
  });
}

/** Columns of the help. */
const [margin, width] = [28, 118];

/** The flags with what they do, one paragraph each. */
export function buildHelp(): string {
  const choices = new Map(
    optionRows.flatMap(([, { cli, kind, default: usual }]) =>
      typeof kind === 'string' || cli[0] === undefined
        ? []
        : [[cli[0].flag, `: ${kind.join(', ')}${usual === undefined ? '' : ` (default: ${usual})`}`]],
    ),
  );
  return buildFlags
    .map((flag) => {
      const head = `  ${[...(flag.short ? [`-${flag.short}`] : []), `--${flag.flag}`].join(', ')} ${flag.value ?? ''}`;
      const lines = wrapped(`${flag.help}${choices.get(flag.flag) ?? ''}`, width - margin);
      const fits = head.trimEnd().length < margin - 1;
      const [first, ...rest] = fits ? lines : ['', ...lines];
      const body = rest.map((line) => `${' '.repeat(margin)}${line}`);
      return [`${head.trimEnd().padEnd(first === '' ? 0 : margin)}${first}`, ...body].join('\n');
    })
    .join('\n');
}

function wrapped(text: string, length: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!;
    if (last !== '' && last.length + word.length >= length) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
