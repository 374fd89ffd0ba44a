import type { PythonWithRuntime } from '../../../kernel/node/tools/pythonWithRuntime.ts';
import { mkdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { BuildDiff } from '../../../kernel/report/buildDiff.ts';
import { diffReports } from '../../diff/diffReports.ts';
import type { ModelChange } from '../../surgery/changeModel.ts';
import { cacheFolder } from '../../../kernel/node/files/cacheFolder.ts';
import { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { temporaryFolder } from '../../../kernel/node/files/writeWhole.ts';
import { removeTree } from '../../../kernel/node/files/persist.ts';
import { type Build, requireBuild } from '../../../kernel/node/store/buildFolder.ts';
import { type BuildSide, readBuildSide } from '../../../kernel/node/store/buildSide.ts';
import { builtModel, linkedModel } from '../../surgery/node/linkedModel.ts';
import { writeChanged } from '../../surgery/node/writeChanged.ts';
import { findPackages } from '../../../kernel/node/tools/ensurePackages.ts';
import { offlineAdvice } from '../../../kernel/node/tools/offlineAdvice.ts';
import { packageSets } from '../../../kernel/node/tools/packageSets.ts';
import { findOwnPackages, type OwnPackages } from '../../../kernel/node/tools/ownPackages.ts';
import { runPythonJob } from '../../../kernel/node/tools/runPythonJob.ts';
import { UserError } from '../../../kernel/node/files/userError.ts';
import { type BuildEvents, type BuildOptions, runBuild } from '../../../kernel/node/run/runBuild.ts';

export interface OpsetChange {
  opset: number;
  /** The user's own interpreter; otherwise the first on the PATH that has the package onnx. */
  python?: string | undefined;
  /** Path of `convert_opset.py`. */
  script: string;
}

/**
 * Writes a copy of a model in another version of ONNX's operator set.
 * @throws {UserError} if no interpreter has the package onnx, or it cannot convert the model
 */
export async function convertOpset(
  model: string,
  { opset, python, script }: OpsetChange,
  out: string,
  signal?: AbortSignal,
): Promise<void> {
  const converter = await findConverter(python);
  await mkdir(dirname(out), { recursive: true });
  const request = { model: resolve(model), out: resolve(out), opset };
  await runPythonJob({ ...converter, script, request, signal });
}

/** The chosen interpreter, one on the PATH, or that of `trtlens setup calibration`: whichever has the package onnx. */
async function findConverter(chosen: string | undefined): Promise<PythonWithRuntime> {
  const advice = 'Run trtlens setup calibration, or install onnx with pip and pass --python.';
  const inFound = await findOwnPackages(['onnx'], { python: chosen, advice }).catch((error: unknown) => error);
  if (!(inFound instanceof Error)) return inFound as OwnPackages;
  const set = await findPackages('calibration').catch(() => undefined);
  if (set) return set;
  throw new UserError(`${inFound.message} ${offlineAdvice(packageSets.calibration.wheels)}`);
}

export interface WhatIfRequest {
  /** How to build, the model as it is, and how both builds are made. */
  options: BuildOptions;
  /** What the changed build has in place of or next to these options. */
  changed: Partial<BuildOptions>;
  /** A change of the model itself; null: only options change. */
  change: ModelChange | OpsetChange | null;
  /** Folder of a build of the model as it is; if omitted, it is built first. */
  base?: string | undefined;
}

/** What a change does to a build. */
export interface WhatIfResult {
  /** From the model as it is (A) to the changed one (B). */
  diff: BuildDiff;
  /** Both builds; their folders are gone, except that of a given base. */
  sides: { a: BuildSide; b: BuildSide };
  /** Of the build with the change. */
  seconds: number | null;
}

/**
 * Builds a model as it is (unless such a build is given) and with a change, and compares the two. Nothing is written
 * next to the model; the changed copy and its build are removed at the end.
 * @throws {UserError} if the change is not possible, or one of the two cannot be built
 */
export async function whatIf(
  { options, changed, change, base }: WhatIfRequest,
  events: BuildEvents = {},
  signal?: AbortSignal,
): Promise<WhatIfResult> {
  const files = new ParsedFiles();
  const parent = join(options.cache ?? cacheFolder(), 'what-if');
  const folder = await temporaryFolder(parent, 'try-');
  try {
    const { randomWeights: _, ...rest } = options;
    const [model, own] =
      change === null
        ? [options.model, options]
        : [await changedCopy(await builtModel(options, signal), change, folder, files, signal), rest];
    const before =
      base === undefined
        ? await runBuild({ ...options, folder: join(folder, 'base') }, events, signal)
        : await requireBuild(base);
    refuseFailed(before, 'as it is');
    const after = await runBuild({ ...own, ...changed, model, folder: join(folder, 'changed') }, events, signal);
    refuseFailed(after, 'with the change');
    const [a, b] = [
      await readBuildSide(before.folder, options.model, files),
      await readBuildSide(after.folder, model, files),
    ];
    const names = { a: base ?? basename(options.model), b: 'with the change' };
    // Outputs of the copy that the model does not have.
    const outputs = change && 'outputs' in change ? [...change.outputs] : [];
    const marked = outputs.length > 0 ? { marked: { outputs, debug: [], all: false } } : {};
    // The copy is temporary, and so is its name.
    const report = { ...b.report, model: { ...b.report.model, file: a.report.model.file } };
    const sides = { a: { ...a, source: names.a }, b: { ...b, report, source: names.b, ...marked } };
    return { diff: diffReports(sides.a, sides.b), sides, seconds: after.manifest.seconds };
  } finally {
    await removeTree(folder);
  }
}

function refuseFailed({ manifest }: Build, which: string): void {
  if (manifest.result !== 'passed')
    throw new UserError(`the model ${which} does not build: ${manifest.error ?? manifest.result}`);
}

/** Next to links to the weights: nothing of them is copied. */
async function changedCopy(
  path: string,
  change: ModelChange | OpsetChange,
  folder: string,
  files: ParsedFiles,
  signal: AbortSignal | undefined,
): Promise<string> {
  const out = join(folder, `changed-${basename(path).replace(/\.gz$/i, '')}`);
  if ('opset' in change) await convertOpset(path, change, out, signal);
  else await writeChanged(await linkedModel(path, folder, files), change, out, files, signal);
  return out;
}
