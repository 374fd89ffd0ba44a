import { sep } from 'node:path';
import { UserError } from '../../../kernel/node/files/userError.ts';
import { errorText } from '../../../kernel/base/problem.ts';
import { closestWords, quoteCommand, shorten } from '../../../kernel/base/text.ts';
import { shell } from '../../../kernel/node/tools/shell.ts';
import { exitCodes, Usage } from '../../../kernel/node/cli/command.ts';
import type { Terminal } from '../../../kernel/node/cli/terminal.ts';
import { type AgentTool, agentTools, type Parameter, type ParameterKind, type ToolValues } from './agentTools.ts';
import { insideRoots } from './internal/insideRoots.ts';
import { type NamedPath, namedPaths } from './internal/namedPaths.ts';

/** What a tool answers. */
export interface ToolAnswer {
  /** Less than 1,000 characters. */
  text: string;
  /** What is wrong and what to do is in the text. */
  isError: boolean;
}

interface Surroundings {
  /** Folders that may be read; relative paths are in the first. */
  roots: readonly string[];
  /** Options of every build, such as the interpreter. */
  buildOptions?: readonly string[];
  signal: AbortSignal;
}

/** Calls a tool. Never throws: what goes wrong is an answer, too. */
export async function callTool(
  name: string,
  given: Readonly<Record<string, unknown>>,
  surroundings: Surroundings,
): Promise<ToolAnswer> {
  try {
    const tool = Object.hasOwn(agentTools, name) ? agentTools[name] : undefined;
    if (!tool) throw new UserError(`unknown tool '${shorten(name)}'; tools are ${Object.keys(agentTools).join(', ')}`);
    const { offset, values } = readValues(tool, given);
    const args = await commandArguments(tool, values, surroundings.roots);
    const { code, out, notes } = await run(tool, args, surroundings);
    if (code === exitCodes.cannot) throw new UserError(notes.join('\n') || out);
    const text = [...(tool.builds ? [] : notes), out].join('\n');
    return { text: answerPart(text, offset, commandLine(tool, args, surroundings.roots)), isError: false };
  } catch (error) {
    const isKnown = error instanceof UserError || error instanceof Usage;
    const text = isKnown ? error.message : `internal error; please report it with this text: ${stackOf(error)}`;
    return { text: text.slice(0, mostCharacters), isError: true };
  }
}

/** What prints the whole answer in a terminal of the first root. */
function commandLine({ command }: AgentTool, args: readonly string[], [root = '']: readonly string[]): string {
  const shown = [...command.filter((word) => word !== '--nsys='), ...args.map((arg) => arg.replace(root + sep, ''))];
  return quoteCommand(['trtlens', ...shown], shell);
}

const stackOf = (error: unknown): string => (error instanceof Error && error.stack) || errorText(error);

/** @throws {UserError} for a parameter that is missing, unknown or of another type */
function readValues(
  { parameters, anyOf }: AgentTool,
  given: Readonly<Record<string, unknown>>,
): { values: ToolValues; offset: number } {
  const names = [...Object.keys(parameters), 'offset'];
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!names.includes(name)) {
      const [near] = closestWords(name, names, 1);
      throw new UserError(
        `unknown argument '${shorten(name)}'; ${near === undefined ? `arguments are ${names.join(', ')}` : `did you mean '${near}'?`}`,
      );
    }
    const kind = name === 'offset' ? 'integer' : parameters[name]!.kind;
    // Agents leave out a value by an empty one.
    if (value === null || value === undefined || value === '') continue;
    values[name] = textOf(name, kind, value);
  }
  const missing = Object.keys(parameters).find((name) => parameters[name]!.required && values[name] === undefined);
  if (missing !== undefined) throw new UserError(`'${missing}' is missing: ${parameters[missing]!.about}`);
  if (anyOf && !anyOf.some((name) => values[name] !== undefined))
    throw new UserError(`pass ${anyOf.slice(0, -1).join(', ')} or ${anyOf.at(-1)!}`);
  const { offset = '0', ...rest } = values;
  return { values: rest, offset: Number(offset) };
}

function textOf(name: string, kind: ParameterKind, value: unknown): string {
  if (kind === 'integer') {
    if (Number.isSafeInteger(Number(value)) && Number(value) >= 0 && typeof value !== 'boolean') return String(value);
    throw new UserError(`'${name}' is not an integer greater than or equal to 0`);
  }
  if (typeof value === 'string') return value;
  throw new UserError(`'${name}' is not a string`);
}

/**
 * The arguments behind the command's name. ToolValues that begin with a dash stay values.
 * @throws {UserError} if a path, or one that its file names, is outside of the roots, or nothing is there
 */
async function commandArguments(
  { parameters }: AgentTool,
  values: ToolValues,
  roots: readonly string[],
): Promise<string[]> {
  const options: string[] = [];
  const alone: string[] = [];
  for (const [name, parameter] of Object.entries(parameters)) {
    const value = values[name];
    if (value === undefined) continue;
    // oxlint-disable-next-line no-await-in-loop -- a handful of paths, and the first that is wrong is reported
    const text = await checkedText(value, parameter, values, roots);
    const { option = name.replaceAll('_', '-') } = parameter;
    if (option === null) alone.push(text);
    else options.push(`--${option}=${text}`);
  }
  return [...alone, ...options];
}

async function checkedText(
  value: string,
  { kind }: Parameter,
  values: ToolValues,
  roots: readonly string[],
): Promise<string> {
  if (kind === 'text' || kind === 'integer') return value;
  const { absolute, missing } = await insideRoots(value, roots);
  if (missing) throw missing;
  const left: NamedPath[] = [{ path: absolute, kind }];
  for (const one of left)
    // oxlint-disable-next-line no-await-in-loop -- each may name others
    for (const named of await namedPaths(one, values)) {
      // oxlint-disable-next-line no-await-in-loop -- the first that is outside is reported
      await insideRoots(named.path, roots);
      left.push(named);
    }
  return absolute;
}

const notAsked = 'The user must agree first: ask the user to run trtlens setup in a terminal.';

/** Runs the command of a tool with a terminal that cannot ask the user. */
async function run(
  tool: AgentTool,
  args: readonly string[],
  { signal, buildOptions = [] }: Surroundings,
): Promise<{ code: number; out: string; notes: string[] }> {
  const ran = { code: 0, out: '', notes: [] as string[] };
  const terminal: Terminal = {
    out: (text) => Promise.resolve(void (ran.out += text)),
    note: (line) => void ran.notes.push(line.replace(/^Not interactive: .*/, notAsked)),
    status: () => {},
    ask: () => Promise.resolve(undefined),
    signal,
  };
  const command = await tool.load();
  const all = [...tool.command.slice(1), ...args, ...(tool.builds ? buildOptions : [])];
  ran.code = await command.run(all, terminal).catch((error: unknown) => {
    // What a build printed before it gave up says why.
    if (error instanceof UserError && ran.notes.length > 0)
      throw new UserError([error.message, ...ran.notes.slice(-3)].join('\n'));
    throw error;
  });
  return ran;
}

/** An agent pays for each character that it reads. */
const mostCharacters = 999;
/** A longer command is of no use, cut off. */
const longestCommand = 260;

/**
 * A part of a text from an offset, up to the end of a line where that is not far; its last line says how to get the rest.
 * @param command prints all of it
 */
function answerPart(whole: string, offset: number, command: string): string {
  // Columns are for eyes.
  const text = whole.replaceAll(/(?<=\S) {3,}/g, '  ').trim();
  if (offset === 0 && text.length <= mostCharacters) return text;
  if (offset >= text.length) return `The answer has ${text.length} characters: offset must be less.`;
  const all = command.length <= longestCommand ? `; all of it: ${command}` : '';
  const last = (end: number) =>
    end === text.length
      ? `[to the end, of ${text.length} characters]`
      : `[characters ${offset} to ${end} of ${text.length}; more with offset ${end}${all}]`;
  const start = text.slice(offset);
  // With the longest number that can be in it.
  const room = mostCharacters - last(text.length - 1).length - 1;
  if (start.length <= room) return `${start}\n${last(text.length)}`;
  const line = start.lastIndexOf('\n', room);
  const cut = line > room / 2 ? line + 1 : wholeCharacters(start, room);
  return `${start.slice(0, cut).trimEnd()}\n${last(offset + cut)}`;
}

/** An end that is not between the two halves of a character. */
const wholeCharacters = (text: string, end: number): number => (/[\uD800-\uDBFF]/.test(text[end - 1]!) ? end - 1 : end);
