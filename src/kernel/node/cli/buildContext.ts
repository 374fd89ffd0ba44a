import { resolve } from 'node:path';
import { requireBuild } from '../store/buildFolder.ts';
import { fingerprint } from '../files/fingerprint.ts';
import { ParsedFiles } from '../files/parsedFiles.ts';
import { buildFactsOf } from '../store/buildFactsOf.ts';
import { loadBuild, type LoadedBuild, loadFiles } from '../store/loadBuild.ts';
import { UserError } from '../files/userError.ts';
import type { BuildLog } from '../../read/tensorrt/buildOutput.ts';
import { type BuildFacts, targetOfBuild, type TensorrtTarget } from '../../rules/buildFacts.ts';
import type { NodeIndex } from '../../rules/resolveOverrides.ts';
import type { Problem } from '../../base/problem.ts';
import { Usage } from './command.ts';
import { hasErrors } from './problemLines.ts';
import { readTarget } from './readTarget.ts';
import type { Terminal } from './terminal.ts';

/** A model and its last build, as overrides and replays are compared with them. */
export interface BuildContext {
  index: NodeIndex | null;
  build: BuildFacts | null;
  log: BuildLog | null;
  target: TensorrtTarget;
  /** The build was of this very model: TensorRT names no node that it does not have. */
  sameModel: boolean;
  /** What was read of the build has errors, which have been noted. */
  damaged: boolean;
  /** The model itself has: nodes may be missing. */
  modelDamaged: boolean;
}

/** Options of every command that takes such a context. */
export const contextOptions = {
  onnx: { type: 'string' },
  log: { type: 'string' },
  layers: { type: 'string' },
  tensorrt: { type: 'string' },
} as const;

interface ContextFiles {
  onnx: string | undefined;
  log?: string | undefined;
  layers?: string | undefined;
  tensorrt?: string | undefined;
  /** Which of an engine with several, from 0; by default the first. */
  optimizationProfile?: number | undefined;
}

/**
 * Reads a model and what its build left, as far as they are given; what is wrong inside them is noted.
 * @param more.unnoted codes of problems that do not matter to the caller
 * @param more.files where the model may have been read already
 * @throws {Usage} for build files without a model, and a `--tensorrt` that is not a version
 * @throws {UserError} if a file cannot be read
 */
export async function readContext(
  given: ContextFiles,
  terminal: Terminal,
  { unnoted = [], files = new ParsedFiles() }: { unnoted?: readonly string[]; files?: ParsedFiles } = {},
): Promise<BuildContext> {
  const { onnx, log, layers, tensorrt, optimizationProfile } = given;
  const asked = tensorrt === undefined ? null : readTarget(tensorrt);
  const nothing = { product: null, version: null, capability: null };
  if (onnx === undefined) {
    if (log !== undefined || layers !== undefined)
      throw new Usage('--onnx MODEL.onnx is missing: --log and --layers need the model that was built');
    return {
      index: null,
      build: null,
      log: null,
      target: asked ?? nothing,
      sameModel: false,
      damaged: false,
      modelDamaged: false,
    };
  }
  if (log === undefined && layers === undefined) {
    const { index, problems } = await files.indexed(onnx);
    noteProblems(problems, terminal);
    return {
      index,
      build: null,
      log: null,
      target: asked ?? nothing,
      sameModel: false,
      damaged: false,
      modelDamaged: hasErrors(problems),
    };
  }
  const { index } = await files.indexed(onnx);
  const read = await loadFiles({ onnx, log, layers, optimizationProfile }, files);
  noteProblems(
    read.report.problems.filter(({ code }) => !unnoted.includes(code)),
    terminal,
  );
  const context = contextOf(read, index);
  return asked ? { ...context, target: { ...asked, capability: context.target.capability } } : context;
}

/**
 * The same of a build folder, where more is known: what was built of a typed copy, and whether it is this model.
 * @param onnx the model, where it is not where the build found it
 * @param optimizationProfile of an engine with several, from 0; by default the first
 * @throws {UserError} if it is not a build folder, a file cannot be read, or the model has changed since
 */
export async function readFolderContext(
  folder: string,
  onnx: string | undefined,
  terminal: Terminal,
  optimizationProfile?: number,
): Promise<BuildContext> {
  const made = await requireBuild(folder);
  const { file, sha256 } = made.manifest.model;
  const model = onnx ?? resolve(folder, file);
  if (sha256 !== null && (await fingerprint(model)).sha256 !== sha256)
    throw new UserError(
      `${model} is not the file that was built in ${folder}, or it has changed since. Build it again`,
    );
  const files = new ParsedFiles();
  const { index } = await files.indexed(model);
  const read = await loadBuild(made, { onnx: model, files, optimizationProfile });
  noteProblems(read.report.problems, terminal);
  return contextOf(read, index);
}

function contextOf(read: LoadedBuild, index: NodeIndex): BuildContext {
  const { report, log } = read;
  const build = buildFactsOf(read);
  return {
    index,
    build,
    log,
    target: targetOfBuild(build),
    sameModel: !report.problems.some(({ code }) => code === 'unknown-node'),
    damaged: hasErrors(report.problems),
    modelDamaged: hasErrors(report.problems.filter((problem) => problem.file === report.model.file)),
  };
}

/** Says on stderr what is wrong in files that were read next to the one that is checked. */
export function noteProblems(problems: Problem[], terminal: Terminal): void {
  for (const { severity, file, line, message } of problems)
    if (severity !== 'info')
      terminal.note(`${severity}: ${file ? `${file}${line ? `:${line}` : ''}: ` : ''}${message}`);
}
