import { readModelFile, readReport } from '../builder/readBuild.ts';
import { basename } from 'node:path';
import type { BuildLog } from '../core/engine/buildLog.ts';
import { buildFacts, type BuildFacts } from '../core/precision/buildFacts.ts';
import { modelFacts } from '../core/precision/modelFacts.ts';
import { NodeIndex } from '../core/precision/nodeIndex.ts';
import { type TensorrtTarget, targetOf, targetOfBuild } from '../core/precision/tensorrtTarget.ts';
import type { Problem } from '../core/text/problem.ts';
import { Usage } from './command.ts';
import { hasErrors } from './problemLines.ts';
import type { Terminal } from './terminal.ts';

/** A model and its last build, as overrides and replays are held against them. */
export interface BuildContext {
  index: NodeIndex | null;
  build: BuildFacts | null;
  log: BuildLog | null;
  target: TensorrtTarget;
  /** The build was of this very model: TensorRT names no node that it does not have. */
  sameModel: boolean;
  /** What was read of the build has errors, which have been noted. */
  damaged: boolean;
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
}

/**
 * Reads a model and what its build left, as far as they are given; what is wrong inside of them is noted.
 * @param unnoted codes of problems that do not matter to the caller
 * @throws {Usage} for build files without a model, and a `--tensorrt` that is no version
 * @throws {Unusable} when a file cannot be read
 */
export async function readContext(
  files: ContextFiles,
  terminal: Terminal,
  unnoted: readonly string[] = [],
): Promise<BuildContext> {
  const { onnx, log, layers, tensorrt } = files;
  const asked = tensorrt === undefined ? null : readTarget(tensorrt);
  const nothing = { product: null, version: null, capability: null };
  if (onnx === undefined) {
    if (log !== undefined || layers !== undefined)
      throw new Usage('--onnx MODEL.onnx is missing: --log and --layers are of a build of it');
    return { index: null, build: null, log: null, target: asked ?? nothing, sameModel: false, damaged: false };
  }
  if (log === undefined && layers === undefined) {
    const { value, problems } = await readModelFile(onnx);
    note(problems, terminal);
    return {
      index: new NodeIndex(modelFacts(value, basename(onnx))),
      build: null,
      log: null,
      target: asked ?? nothing,
      sameModel: false,
      damaged: false,
    };
  }
  const read = await readReport({ onnx, log, layers });
  note(
    read.report.problems.filter(({ code }) => !unnoted.includes(code)),
    terminal,
  );
  const build = buildFacts(read.report, read.log ?? null, read.layers ?? null);
  const own = targetOfBuild(build);
  return {
    index: new NodeIndex(modelFacts(read.model, basename(onnx))),
    build,
    log: read.log ?? null,
    target: asked ? { ...asked, capability: own.capability } : own,
    sameModel: !read.report.problems.some(({ code }) => code === 'unknown-node'),
    damaged: hasErrors(read.report.problems),
  };
}

/**
 * `10.6`, `v10.6.0`, `rtx`, `rtx-1.7`
 * @throws {Usage} when it is no version
 */
export function readTarget(text: string): TensorrtTarget {
  const [, rtx, version] = /^(?:tensorrt-)?(rtx)?-?(.*)$/i.exec(text)!;
  const target = targetOf(rtx ? 'tensorrt-rtx' : 'tensorrt', version === '' ? null : version!, null);
  if (target.version === null && (!rtx || version !== ''))
    throw new Usage(`--tensorrt: '${text}' is no version; write 10.6, 11 or rtx`);
  return target;
}

/** Says on stderr what is wrong in files that were read beside the one that is checked. */
function note(problems: Problem[], terminal: Terminal): void {
  for (const { severity, file, line, message } of problems)
    if (severity !== 'info')
      terminal.note(`${severity}: ${file ? `${file}${line ? `:${line}` : ''}: ` : ''}${message}`);
}
