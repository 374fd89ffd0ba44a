import { foldLines } from '../../../base/problem.ts';
import { basename } from 'node:path';
import { type BuildFailure, programFailure } from '../../../build/buildManifest.ts';
import { buildSteps } from '../buildSteps.ts';
import type { BuildLog } from '../../../read/tensorrt/buildOutput.ts';
import { ParsedFiles } from '../../files/parsedFiles.ts';
import type { DriverEvent } from './driverEvent.ts';
import type { ProgramSummary } from './programOutput.ts';

/** How the program of a build that did not pass has ended. */
interface ProgramEnd {
  cancelled: boolean;
  /** Its exit status; null: a signal ended it. */
  code: number | null;
  /** Size of the engine that it left, in bytes. */
  engine: number;
  program: string;
  /** The model as the user knows it, and the copy that was parsed. */
  model: string;
  parsed: string;
}

/** Why a build did not pass, as data and as one line. */
interface Explained {
  failure: BuildFailure;
  error: string;
}

/** Why a build did not pass: by the program's own words, by its log, or else by how it ended. */
export async function explainFailure({ log, end, lastError }: ProgramSummary, ended: ProgramEnd): Promise<Explained> {
  if (ended.cancelled) return unexplained('cancelled', 'cancelled');
  const named = (text: string) => text.replaceAll(ended.parsed, ended.model);
  const found = await causeOf(log, ended.parsed);
  const cause = found && { ...found, message: named(found.message), advice: named(found.advice) };
  if (end?.event === 'error') {
    if (cause && !isOwnReason(end)) return { failure: cause, error: failureLine(cause) };
    return ownReason({ ...end, message: named(end.message) }, cause);
  }
  const { code, engine } = ended;
  const program = basename(ended.program);
  const nothing = code === 0 && engine === 0;
  const how = code === null ? 'was killed (possibly out of memory)' : `exited with ${code}`;
  const what = nothing ? 'exited with 0 but wrote no engine' : how;
  if (cause) return { failure: cause, error: `${failureLine(cause)} (${program} ${what})` };
  const kind = code === null ? 'killed' : nothing ? 'no-engine' : 'exited';
  return unexplained(kind, `${program} ${what}${lastError ? `: ${lastError}` : ''}`);
}

/**
 * The first cause of a failed build; undefined if the log names none.
 * @param model its file; read so that the advice can name inputs and nodes, if it can be read
 */
export async function causeOf(log: BuildLog, model: string): Promise<BuildFailure | undefined> {
  const read = await new ParsedFiles().model(model).catch(() => undefined);
  const found = await buildSteps.diagnose(log, read?.value);
  const first = found.find(({ severity, code }) => severity === 'error' && code !== 'cut-off');
  if (!first) return undefined;
  const { code, message, nodes, line } = first;
  // TensorRT's own text, told as it is: there is nothing to do that would fit into a line.
  return {
    code,
    message: foldLines(message),
    advice: code === 'internal' ? '' : foldLines(first.advice),
    nodes,
    lines: [line],
  };
}

/** A failure as one line. */
export const failureLine = ({ message, advice }: BuildFailure): string => `${message} ${advice}`.trim();

type DriverError = Extract<DriverEvent, { event: 'error' }>;

/** The driver looked at arguments and files itself and knows more than TensorRT, whose text has no stages. */
const isOwnReason = ({ stage, message, details }: DriverError): boolean =>
  ['arguments', 'import', 'parse', 'write'].includes(stage) && !details?.length && !message.includes('Error Code');

function ownReason({ message, details, code }: DriverError, cause: BuildFailure | undefined): Explained {
  const nodes = (details ?? []).flatMap(({ node }) => (node !== null && node >= 0 ? [String(node)] : []));
  const failure = { ...programFailure('stopped', message), nodes, lines: cause?.lines ?? [] };
  return { failure: { ...failure, code: code ?? cause?.code ?? 'stopped' }, error: message };
}

const unexplained = (...[code, message]: Parameters<typeof programFailure>): Explained => ({
  failure: programFailure(code, message),
  error: message,
});
