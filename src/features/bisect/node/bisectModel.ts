import { mkdir, mkdtemp, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  type BisectReason,
  type BisectResult,
  type CheckedOutput,
  type TriedChange,
  type Workaround,
  worstOf,
} from '../bisectReport.ts';
import { counted } from '../../../kernel/base/text.ts';
import { stepsText } from '../bisectDocument.ts';
import type { PythonWithRuntime } from '../../../kernel/node/tools/pythonWithRuntime.ts';
import { type PieceElsewhere } from '../bisectReport.ts';
import type { EngineOptions } from '../../../kernel/build/buildOptions.ts';
import type { OnnxModel } from '../../../kernel/read/onnx/onnxModel.ts';
import { networkOf } from '../../../kernel/network/network.ts';
import { editsFor } from '../../surgery/changeModel.ts';
import { cacheFolder } from '../../../kernel/node/files/cacheFolder.ts';
import { type FileSource, withFile } from '../../../kernel/node/files/fileSource.ts';
import { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { refuseErrors } from '../../../kernel/node/files/refuseErrors.ts';
import { removeTree } from '../../../kernel/node/files/persist.ts';
import { loadFiles } from '../../../kernel/node/store/loadBuild.ts';
import { linkedModel } from '../../surgery/node/linkedModel.ts';
import { writeChanged } from '../../surgery/node/writeChanged.ts';
import { Cancelled, UserError } from '../../../kernel/node/files/userError.ts';
import { EngineWorker, type WorkerInfo, type WorkerPlace } from './engineWorker.ts';
import { firstWrongTensor } from './firstWrongTensor.ts';
import { Journal } from './journal.ts';
import { Pieces, type TriedPiece } from './pieces.ts';
import { Reference } from './reference.ts';
import { smallestPiece } from './smallestPiece.ts';
import { markAt, tryOnWhole, tryWorkarounds } from './tryWorkarounds.ts';
import { comparisonOf, runReference, type Samples, WholeEngine, type WholeResult } from './wholeEngine.ts';
import { journalName, writeFixed, writePackage } from './writePackage.ts';

export interface BisectRequest {
  /** How the user builds, and the model. */
  options: EngineOptions;
  /** An engine that exists: it is compared, and nothing is searched for in it. */
  engine?: string | undefined;
  /** Files with inputs; none: random ones. */
  inputs: readonly string[];
  /** Outputs of another program, such as PyTorch, which the export itself is checked against. */
  expected?: string | undefined;
  /** Folder for the piece, the fixed model and what shows the fault; it is made if it is missing. */
  out: string;
  tolerance: number;
  atol?: number | undefined;
  rtol?: number | undefined;
  maxBuilds: number;
  maxSeconds: number;
  /** Names of the piece become numbers. */
  anonymize: boolean;
  /** Where TensorRT runs; null: nowhere, so only the export is checked and lost nodes cannot be confirmed. */
  worker: WorkerPlace | null;
  /** Other places, where the piece is built, too. */
  others?: readonly WorkerPlace[];
  runtime: PythonWithRuntime;
  /** Path of `bisect_reference.py`. */
  script: string;
}

export interface BisectEvents {
  /** What it does now, for people. */
  status?: (text: string) => void;
}

/** What the steps of a search share. */
interface Search {
  request: BisectRequest;
  /** For what is removed at the end. */
  folder: string;
  files: ParsedFiles;
  model: OnnxModel;
  /** The model in `folder`, with its weights, and as an open file. */
  linked: string;
  source: FileSource;
  reference: Reference;
  worker: EngineWorker | null;
  info: WorkerInfo | null;
  samples: Samples;
  status: (text: string) => void;
  signal: AbortSignal | undefined;
  began: number;
  tried: TriedChange[];
}

/**
 * Compares an engine with ONNX Runtime and, where it is wrong, finds the smallest piece of the network that is wrong with
 * right inputs, and a change after which the whole is right. Everything but the result is in a temporary folder that is
 * removed at the end. Running out of builds or time, and a cancel, end it with the smallest piece so far; a journal in the
 * folder of the result lets the same search go on from there.
 * @throws {UserError} if the model, its inputs, ONNX Runtime or TensorRT cannot be used
 */
export async function bisectModel(
  request: BisectRequest,
  { status = () => {} }: BisectEvents = {},
  signal?: AbortSignal,
): Promise<BisectResult> {
  const parent = join(cacheFolder(), 'bisect');
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, 'try-'));
  // It writes the smallest piece after a cancel.
  const reference = new Reference(request.runtime, request.script);
  const worker = request.worker && new EngineWorker({ ...request.worker, signal }, folder);
  try {
    const files = new ParsedFiles();
    const { value: model, problems } = await files.model(request.options.model, { spans: true });
    refuseErrors(request.options.model, problems);
    const linked = await linkedModel(request.options.model, folder, files);
    return await withFile(linked, async (source) => {
      status('Running ONNX Runtime…');
      const began = Date.now();
      const samples = await runReference({ model, linked, files, folder, reference }, request.inputs);
      if (signal?.aborted) throw new Cancelled();
      const search = { request, folder, files, model, linked, source, reference, worker, info: null, samples };
      return await checkExport({ ...search, status, signal, began, tried: [] });
    });
  } finally {
    await Promise.all([reference.close(), worker?.end()]);
    await removeTree(folder);
  }
}

async function checkExport(search: Search): Promise<BisectResult> {
  const { request, reference, model, samples, worker, status } = search;
  const { expected } = request;
  if (expected !== undefined) {
    const comparison = comparisonOf(model, samples, request);
    const exported = await reference.compare(expected, samples.references[0]!, comparison, { details: true });
    if (exported.length === 0) throw new UserError(`${expected} holds none of the model's outputs`);
    if (exported.some(({ wrong }) => wrong)) return resultOf(search, 'export', exported);
  }
  if (worker === null)
    throw new UserError(
      'No TensorRT with a GPU was found, so there is no engine to compare. Pass --python PROGRAM, or run this where the engine runs; trtlens show lists the nodes that TensorRT names nowhere, from a build log alone',
    );
  status('Loading TensorRT…');
  const info = await worker.start();
  return compareWhole({ ...search, info }, worker, info);
}

async function compareWhole(search: Search, worker: EngineWorker, info: WorkerInfo): Promise<BisectResult> {
  const { request, status } = search;
  const { engine, options, tolerance, atol, rtol } = request;
  const whole = new WholeEngine({ ...search, options, tolerance, atol, rtol, worker, info });
  status(engine === undefined ? 'Building the whole model…' : 'Loading the engine…');
  const found = await whole.open(engine);
  const worst = worstRun(found);
  const run = found.runs[worst]!;
  const repeatability = await whole.repeatability(worst, run);
  await whole.close();
  const isSame = whole.ownFlags.join() === whole.flags.join() || engine !== undefined;
  const own = isSame ? null : await whole.try(whole.ownFlags);
  const more = { withFlags: own?.error ?? null, repeatability };
  const { outputs } = run;
  if (repeatability === 'nondeterministic' || repeatability === 'remembers')
    return resultOf(search, repeatability, outputs, more);
  if (!found.wrong) return resultOf(search, own?.wrong ? 'precision' : 'right', outputs, more);
  if (repeatability === 'random') return resultOf(search, 'random', outputs, more);
  if (engine !== undefined) return resultOf(search, 'wrong', outputs, more);
  return locate(search, { whole, worst, worker, info, outputs, ms: run.ms, more });
}

/** The sample whose outputs are most wrong. */
function worstRun({ runs }: WholeResult): number {
  const sizes = runs.map(({ outputs }) => {
    const wrong = outputs.filter((output) => output.wrong);
    return wrong.length === 0 ? -1 : (worstOf(wrong)!.error ?? Infinity);
  });
  return sizes.indexOf(Math.max(...sizes));
}

interface WrongEngine {
  whole: WholeEngine;
  worst: number;
  worker: EngineWorker;
  info: WorkerInfo;
  outputs: CheckedOutput[];
  ms: number | null;
  more: Partial<BisectResult>;
}

/** The smallest wrong piece, and a change that makes the whole right. */
async function locate(search: Search, wrong: WrongEngine): Promise<BisectResult> {
  const { request, reference, folder, files, linked, status, tried, samples, signal, began } = search;
  const { whole, worst, worker, outputs, ms, info } = wrong;
  const { out, anonymize, atol, rtol, tolerance } = request;
  const isOver = (): 'budget' | 'cancelled' | null => {
    if (signal?.aborted) return 'cancelled';
    const seconds = (Date.now() - began) / 1000;
    return worker.builds >= request.maxBuilds || seconds > request.maxSeconds ? 'budget' : null;
  };
  const lost = await lostNodes({ onnx: request.options.model, log: whole.log, layers: whole.layers });
  const sample = samples.inputs[worst]!;
  const pieces = new Pieces({ ...search, worker, sample, flags: whole.flags, tolerance, comparison: { atol, rtol } });
  await openTensors(search);
  await mkdir(out, { recursive: true });
  const journal = await Journal.open(join(out, journalName), await identityOf(search, whole, info));
  let steps: number[] = [];
  const { piece, over } = await smallestPiece(pieces, lost, journal, isOver, (progress) => {
    ({ steps } = progress);
    status(`${stepsText(steps)}, ${counted(worker.builds, 'build')}`);
  });
  const more = { ...wrong.more, lost, steps };
  const proof = { whole, files, linked, folder, before: ms, tried, isOver };
  const trying = (title: string) => status(`Trying: ${title}`);
  if (piece === null && over !== null) return resultOf(search, over, outputs, more);
  if (piece === null) {
    const marks = { whole, reference, files, graph: pieces.graph, linked, folder, sample, worst, tolerance, isOver };
    const report = (left: number) => status(`Making tensors outputs: ${left} left, ${worker.builds} builds`);
    const { first, mends } = await firstWrongTensor({ ...marks, report });
    const fix = mends === null ? null : await tryOnWhole(markAt(mends), { ...proof, report: trying });
    await journal.remove();
    return resultOf(search, isOver() ?? 'vanishes-when-cut', outputs, { ...more, first, fix: await kept(fix, out) });
  }
  const fix = over === null ? await stoppable(tryWorkarounds(pieces, piece, { ...proof, report: trying })) : null;
  const elsewhere = over === null ? await tryElsewhere(search, request.others ?? [], piece, pieces) : [];
  const packed = await writePackage({ out, piece, info, anonymize, reference, folder });
  const { error, pattern = null } = piece.worst!;
  const nodes = piece.nodes.map((node) => pieces.graph.nodes[node]!.id);
  if (over === null) await journal.remove();
  return resultOf(search, over ?? 'wrong', outputs, {
    ...more,
    piece: { ...packed, nodes, error, pattern },
    elsewhere,
    fix: await kept(fix, out),
  });
}

/** Builds the piece at other places: which version is right? */
async function tryElsewhere(
  { folder, signal, status }: Search,
  places: readonly WorkerPlace[],
  piece: TriedPiece,
  pieces: Pieces,
): Promise<PieceElsewhere[]> {
  const found: PieceElsewhere[] = [];
  for (const place of places) {
    const worker = new EngineWorker({ ...place, signal }, folder);
    const nothing = { tensorrt: null, gpu: null, error: null, wrong: null };
    try {
      status('Loading TensorRT elsewhere…');
      const { version, gpu } = await worker.start();
      const tried = await pieces.on(worker).vary(piece, {});
      if (tried === null)
        found.push({ ...nothing, tensorrt: version, gpu, problem: 'TensorRT does not build or run it there' });
      else
        found.push({
          tensorrt: version,
          gpu,
          error: tried.worst?.error ?? null,
          wrong: tried.wrong,
          problem: null,
        });
    } catch (error) {
      if (error instanceof Cancelled || !(error instanceof UserError)) throw error;
      found.push({ ...nothing, problem: error.message });
    } finally {
      await worker.end();
    }
  }
  return found;
}

/** A cancel after the piece was found costs the workaround only. */
const stoppable = (fix: Promise<Workaround | null>): Promise<Workaround | null> =>
  fix.catch((error: unknown) => {
    if (error instanceof Cancelled) return null;
    throw error;
  });

/** A workaround with its model in the folder of the result. */
const kept = async (fix: Workaround | null, out: string): Promise<Workaround | null> =>
  fix?.model ? { ...fix, model: await writeFixed(fix.model, out) } : fix;

/** A copy of the model with every tensor as an output, for the reference alone. */
async function openTensors({ model, folder, linked, files, reference }: Search): Promise<void> {
  const network = networkOf(model);
  const names = network.tensors.flatMap(({ name, kind, owner }, tensor) =>
    kind === 'node' && owner < 0 && network.inferred.types[tensor] !== null && !network.graphOutputs.includes(tensor)
      ? [name]
      : [],
  );
  const fit = names.filter((name) => !('reason' in editsFor(network, network.inferred, { outputs: [name] })));
  const path = join(folder, 'trtlens-tensors.onnx');
  await writeChanged(linked, { outputs: fit }, path, files);
  await reference.open(path);
}

/** What the answers about pieces depend on. */
async function identityOf({ request }: Search, { flags }: WholeEngine, info: WorkerInfo): Promise<unknown> {
  const { options, inputs, tolerance, atol, rtol } = request;
  const files = [options.model, ...inputs].map(async (given) => {
    const path = resolve(given.replace(/^[^=]*=/, ''));
    const found = await stat(path).catch(() => null);
    return [path, found?.size, found?.mtimeMs];
  });
  return { files: await Promise.all(files), flags, tolerance, atol, rtol, version: info.version, gpu: info.gpu };
}

/** Ids of the nodes that the build's own files name nowhere. */
async function lostNodes(build: { onnx: string; log: string; layers: string }): Promise<string[]> {
  try {
    const { report } = await loadFiles(build);
    return report.nodes.filter(({ fate }) => (fate as string) === 'unaccounted').map(({ id }) => id);
  } catch (error) {
    // Without layers (another GPU than the engine is for) there is nothing to read.
    if (error instanceof UserError && !(error instanceof Cancelled)) return [];
    throw error;
  }
}

function resultOf(
  { info, samples, tried, worker, began }: Search,
  reason: BisectReason,
  outputs: CheckedOutput[],
  more: Partial<BisectResult> = {},
): BisectResult {
  const noise = Math.max(0, ...Object.values(samples.noise).map((value) => value ?? 0));
  return {
    tensorrt: info?.version ?? null,
    gpu: info?.gpu ?? null,
    reference: { runtime: 'onnxruntime', noise },
    outputs,
    withFlags: null,
    repeatability: 'not tried',
    lost: [],
    piece: null,
    first: null,
    elsewhere: [],
    tried,
    fix: null,
    reason,
    steps: [],
    builds: worker?.builds ?? 0,
    seconds: Math.round((Date.now() - began) / 100) / 10,
    ...more,
  };
}
