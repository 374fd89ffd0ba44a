import { randomInput, type DeclaredInput } from '../../../kernel/build/randomInputs.ts';
import type { PythonWithRuntime } from '../../../kernel/node/tools/pythonWithRuntime.ts';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  type BisectReason,
  type BisectResult,
  type CheckedOutput,
  type Repeatability,
  type TriedChange,
  type Workaround,
  worstOf,
} from '../bisectReport.ts';
import { computingNodes, searchPiece } from '../searchPiece.ts';
import { driverCommand } from '../../../kernel/build/buildCommand.ts';
import type { EngineOptions } from '../../../kernel/build/buildOptions.ts';
import type { OnnxModel } from '../../../kernel/read/onnx/onnxModel.ts';
import { networkOf } from '../../../kernel/network/network.ts';
import { randomOperators } from '../../../kernel/network/nodeRoles.ts';
import { editsFor, type ModelChange } from '../../surgery/changeModel.ts';
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
import { NOISE_FACTOR, Pieces, showsFault, type TriedPiece } from './pieces.ts';
import { Reference } from './reference.ts';
import { workaroundsFor } from './workarounds.ts';
import { writePackage } from './writePackage.ts';

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
  maxMinutes: number;
  /** Names of the piece become numbers. */
  anonymize: boolean;
  /** Only compare: no search, no workaround. */
  compareOnly?: boolean;
  /** Where TensorRT runs; null: nowhere, so only the export is checked and lost nodes cannot be confirmed. */
  worker: WorkerPlace | null;
  runtime: PythonWithRuntime;
  /** Path of `bisect_reference.py`. */
  script: string;
}

export interface BisectEvents {
  /** What it does now, for people. */
  status?: (text: string) => void;
}

/**
 * Compares an engine with ONNX Runtime and, where it is wrong, finds the smallest piece of the network that is wrong with
 * right inputs, and a change after which the whole is right. Everything but the result is in a temporary folder that is
 * removed at the end. Running out of builds or time, and a cancel, end it with the smallest piece so far.
 * @throws {UserError} if the model, its inputs, ONNX Runtime or TensorRT cannot be used
 */
export async function bisectModel(
  request: BisectRequest,
  events: BisectEvents = {},
  signal?: AbortSignal,
): Promise<BisectResult> {
  const parent = join(cacheFolder(), 'bisect');
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, 'try-'));
  const reference = new Reference(request.runtime, request.script, signal);
  const worker = request.worker && new EngineWorker({ ...request.worker, signal });
  try {
    const files = new ParsedFiles();
    const { value: model, problems } = await files.model(request.options.model, { spans: true });
    refuseErrors(request.options.model, problems);
    const linked = await linkedModel(request.options.model, folder, files);
    return await withFile(linked, (source) =>
      new Bisection(request, { folder, files, model, linked, source, reference, worker }, events, signal).run(),
    );
  } finally {
    await Promise.all([reference.close(), worker?.close()]);
    await removeTree(folder);
  }
}

interface Tools {
  folder: string;
  files: ParsedFiles;
  model: OnnxModel;
  linked: string;
  source: FileSource;
  reference: Reference;
  worker: EngineWorker | null;
}

/** One build of the whole model, run on one sample. */
interface WholeRun {
  outputs: CheckedOutput[];
  values: string;
  ms: number | null;
}

/** An engine that is wrong, and the sample for which it is worst. */
interface WrongWhole {
  flags: string[];
  samples: readonly string[];
  references: readonly string[];
  worst: number;
  run: WholeRun;
}

const sizeOf = ({ outputs }: WholeRun): number => worstOf(outputs)?.error ?? Infinity;

/** Where the build of the whole leaves its log and layers. */
const wholeFiles = (folder: string) => ({ log: join(folder, 'whole.log'), layers: join(folder, 'whole.json') });

class Bisection {
  readonly #request: BisectRequest;
  readonly #tools: Tools;
  readonly #status: (text: string) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #began = Date.now();
  #info: WorkerInfo | null = null;
  #noise: Record<string, number | null> = {};
  #tried: TriedChange[] = [];
  #steps: number[] = [];
  #lost: string[] = [];
  #number = 0;
  #profile: string[] = [];

  constructor(request: BisectRequest, tools: Tools, { status = () => {} }: BisectEvents, signal?: AbortSignal) {
    this.#request = request;
    this.#tools = tools;
    this.#status = status;
    this.#signal = signal;
  }

  async run(): Promise<BisectResult> {
    const { reference, linked, folder, model, worker } = this.#tools;
    const { expected, inputs } = this.#request;
    this.#status('Running ONNX Runtime…');
    const declared = declaredInputs(model);
    const samples = await reference.inputs(inputs, declared, 0, join(folder, 'sample'));
    const references = samples.map((_, number) => join(folder, `reference-${number}.npz`));
    for (const [number, sample] of samples.entries()) {
      await reference.run(linked, sample, references[number]!);
      await this.#measureNoise(sample, references[number]!);
    }
    if (expected !== undefined) {
      const exported = await reference.compare(expected, references[0]!, this.#comparison(), { details: true });
      if (exported.length === 0) throw new UserError(`${expected} holds none of the model's outputs`);
      if (exported.some(({ wrong }) => wrong)) return this.#result('export', exported);
    }
    if (worker === null)
      throw new UserError(
        'No TensorRT with a GPU was found, so there is no engine to compare. Pass --python PROGRAM, or run this where the engine runs; trtlens fusion lists the nodes that TensorRT names nowhere, from a build log alone',
      );
    this.#status('Loading TensorRT…');
    this.#info = await worker.start();
    this.#profile = await this.#profileOf(samples[0]!);
    return this.#search(samples, references);
  }

  async #search(samples: string[], references: string[]): Promise<BisectResult> {
    const { engine, options } = this.#request;
    const flags = this.#flags(searchOptions(options));
    await this.#buildWhole(flags);
    const runs: WholeRun[] = [];
    for (const [number, sample] of samples.entries())
      runs.push(await this.#runWhole('whole', sample, references[number]!));
    const wrongRuns = runs.filter(({ outputs }) => outputs.some(({ wrong }) => wrong));
    const worst = runs.indexOf(wrongRuns.toSorted((a, b) => sizeOf(b) - sizeOf(a))[0] ?? runs[0]!);
    const run = runs[worst]!;
    const repeatability = await this.#repeatability(samples, worst, run);
    await this.#tools.worker!.free('whole');
    const own = this.#flags(options);
    const withFlags =
      own.join() === flags.join() || engine !== undefined ? null : await this.#errorWith(own, samples, references);
    const more = { withFlags: withFlags?.error ?? null, repeatability };
    const { outputs } = run;
    if (repeatability === 'nondeterministic' || repeatability === 'remembers')
      return this.#result(repeatability, outputs, more);
    if (wrongRuns.length === 0) return this.#result(withFlags?.wrong ? 'precision' : 'right', outputs, more);
    if (repeatability === 'random') return this.#result('random', outputs, more);
    if (engine !== undefined || this.#request.compareOnly) return this.#result('wrong', outputs, more);
    return this.#locate({ flags, samples, references, worst, run }, more);
  }

  async #buildWhole(flags: readonly string[]): Promise<void> {
    const { worker, linked, folder } = this.#tools;
    const { engine } = this.#request;
    if (engine !== undefined) {
      await worker!.load('whole', resolve(engine));
      return;
    }
    this.#status('Building the whole model…');
    const { log, layers } = wholeFiles(folder);
    const built = await worker!.build('whole', [...flags, ...this.#profile, '--onnx', linked], log, layers);
    if ('refused' in built) throw new UserError(`TensorRT does not build this model: ${built.refused}`);
  }

  /** The smallest wrong piece, and a change that makes the whole right. */
  async #locate(
    { flags, samples, references, worst, run }: WrongWhole,
    more: Partial<BisectResult>,
  ): Promise<BisectResult> {
    const { worker, reference, model, linked, source, folder } = this.#tools;
    const { tolerance, atol, rtol, out, anonymize } = this.#request;
    this.#lost = await lostNodes({ onnx: this.#request.options.model, ...wholeFiles(folder) });
    const sample = samples[worst]!;
    const comparison = { atol, rtol };
    const pieces = new Pieces({
      worker: worker!,
      reference,
      model,
      linked,
      source,
      folder,
      sample,
      flags,
      tolerance,
      comparison,
    });
    await this.#openTensors();
    const { piece, reason } = await this.#smallest(pieces);
    if (piece === null) return this.#result(reason, run.outputs, more);
    const fix = await this.#workaround(pieces, piece, flags, samples, references, run.ms);
    const fixed = fix?.model ?? null;
    const packed = await writePackage({
      out,
      whole: linked,
      piece,
      info: this.#info!,
      anonymize,
      fixed,
      reference,
      folder,
    });
    const { error, pattern = null } = piece.worst!;
    const nodes = piece.nodes.map((node) => pieces.graph.nodes[node]!.id);
    return this.#result(reason, run.outputs, {
      ...more,
      piece: { model: packed.model, nodes, inputs: packed.inputs, error, pattern },
      fix: fix && { ...fix, model: packed.fixed },
    });
  }

  /** Fixes open dimensions to those of a sample, where the user gives no shapes. */
  async #profileOf(sample: string): Promise<string[]> {
    const { model, reference } = this.#tools;
    const open = declaredInputs(model).some(({ shape }) => !shape?.every((dim) => typeof dim === 'number'));
    if (!open || this.#request.options.profiles) return [];
    const shapes = await reference.shapes(sample);
    return [
      '--profile',
      JSON.stringify(Object.fromEntries(Object.entries(shapes).map(([name, opt]) => [name, { opt }]))),
    ];
  }

  /** Options of `build_engine.py` for these options of a build. */
  #flags(options: EngineOptions): string[] {
    const rtx = this.#info?.module === 'tensorrt_rtx';
    const files = { model: '', engine: '', precisions: '' };
    const { args } = driverCommand(options, files, { product: rtx ? 'tensorrt-rtx' : 'tensorrt' } as never);
    const kept: string[] = [];
    for (let at = 0; at < args.length; at += 1) {
      if (args[at] === '--onnx' || args[at] === '--engine') at += 1;
      else kept.push(args[at]!);
    }
    return kept;
  }

  async #measureNoise(sample: string, plain: string): Promise<void> {
    const { reference, linked, folder } = this.#tools;
    const optimized = join(folder, 'optimized.npz');
    try {
      await reference.run(linked, sample, optimized, true);
      for (const [name, error] of Object.entries(await reference.noise(plain, optimized)))
        this.#noise[name] = Math.max(this.#noise[name] ?? 0, error ?? 0);
    } catch (error) {
      // Optimizations that cannot be run say nothing about the model.
      if (error instanceof Cancelled) throw error;
    }
  }

  #comparison() {
    const { tolerance, atol, rtol } = this.#request;
    const names = this.#tools.model.graph.outputs.map(({ name }) => name);
    const tolerances = Object.fromEntries(
      names.map((name) => [name, Math.max(tolerance, NOISE_FACTOR * (this.#noise[name] ?? 0))]),
    );
    return { tolerances, atol, rtol };
  }

  async #runWhole(engine: string, sample: string, expected: string, previous: string | null = null): Promise<WholeRun> {
    const { worker, reference, folder } = this.#tools;
    const values = join(folder, `values-${(this.#number += 1)}.npz`);
    const ran = await worker!.run(engine, sample, values, true);
    if ('refused' in ran) throw new UserError(`TensorRT does not run this engine: ${ran.refused}`);
    const outputs = await reference.compare(expected, values, this.#comparison(), { details: true, previous });
    return { outputs, values, ms: ran.milliseconds };
  }

  /** The same input twice, another input between: what differs is no fault of single nodes. */
  async #repeatability(samples: readonly string[], worst: number, first: WholeRun): Promise<Repeatability> {
    const { model, folder, worker } = this.#tools;
    if (model.nodes.some(({ op }) => randomOperators.has(op))) return 'random';
    const again = join(folder, 'again.npz');
    const other = join(folder, 'other.npz');
    const after = join(folder, 'after.npz');
    const run = async (sample: string, out: string) => 'refused' in (await worker!.run('whole', sample, out));
    if (await run(samples[worst]!, again)) return 'not tried';
    if (!(await this.#isSame(first.values, again))) return 'nondeterministic';
    const [second] =
      samples.length > 1 ? samples.filter((_, number) => number !== worst) : await this.#otherInputs(samples[worst]!);
    if (second === undefined || (await run(second, other)) || (await run(samples[worst]!, after))) return 'same';
    return (await this.#isSame(again, after)) ? 'same' : 'remembers';
  }

  /** Whether two runs agree up to rounding: sums in another order are no fault. */
  async #isSame(a: string, b: string): Promise<boolean> {
    if (await this.#tools.reference.same(a, b)) return true;
    const compared = await this.#tools.reference.compare(a, b, this.#comparison());
    return compared.every(({ wrong }) => !wrong);
  }

  /** Other inputs of the same shapes. */
  async #otherInputs(sample: string): Promise<string[]> {
    const { model, reference, folder } = this.#tools;
    const shapes = await reference.shapes(sample);
    const declared = declaredInputs(model).map((input) => ({
      ...input,
      random: { ...input.random, shape: shapes[input.name] ?? input.random.shape },
    }));
    return reference.inputs([], declared, 1, join(folder, 'other-sample'));
  }

  async #errorWith(
    flags: string[],
    samples: readonly string[],
    references: readonly string[],
  ): Promise<{ error: number | null; wrong: boolean } | null> {
    const { worker, linked, folder } = this.#tools;
    const built = await worker!.build(
      'own',
      [...flags, ...this.#profile, '--onnx', linked],
      join(folder, 'own.log'),
      null,
    );
    if ('refused' in built) return null;
    try {
      const compared: CheckedOutput[] = [];
      for (const [number, sample] of samples.entries())
        compared.push(...(await this.#runWhole('own', sample, references[number]!)).outputs);
      return { error: worstOf(compared)?.error ?? null, wrong: compared.some(({ wrong }) => wrong) };
    } finally {
      await worker!.free('own');
    }
  }

  /** A copy of the model with every tensor as an output, for the reference alone. */
  async #openTensors(): Promise<void> {
    const { model, folder, linked, files, reference } = this.#tools;
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

  #isOver(): BisectReason | null {
    const { maxBuilds, maxMinutes } = this.#request;
    if (this.#signal?.aborted) return 'cancelled';
    const minutes = (Date.now() - this.#began) / 60_000;
    return this.#tools.worker!.builds >= maxBuilds || minutes > maxMinutes ? 'budget' : null;
  }

  async #smallest(pieces: Pieces): Promise<{ piece: TriedPiece | null; reason: BisectReason }> {
    const answers = new Map<string, boolean>();
    const search = searchPiece(pieces.graph, this.#lost);
    this.#steps = [computingNodes(pieces.graph).length];
    let best: TriedPiece | null = null;
    let next = search.next();
    while (!next.done) {
      const over = this.#isOver();
      if (over !== null) return { piece: best, reason: best ? over : over };
      const key = pieces.keyOf(next.value);
      let isWrong = answers.get(key);
      if (isWrong === undefined) {
        const tried = await pieces.try(next.value);
        isWrong = showsFault(tried, best?.worst?.pattern ?? null);
        answers.set(key, isWrong);
        if (isWrong && tried !== null && (best === null || next.value.length < this.#steps.at(-1)!)) {
          best = tried;
          this.#steps.push(next.value.length);
        }
        const sizes = this.#steps.map((size) => size.toLocaleString('en-US')).join(' → ');
        this.#status(`${sizes} nodes, ${this.#tools.worker!.builds} builds`);
      }
      next = search.next(isWrong);
    }
    return { piece: best, reason: best ? 'wrong' : 'vanishes-when-cut' };
  }

  /** The first change that makes the piece right and then the whole; the cheapest kinds come first. */
  async #workaround(
    pieces: Pieces,
    piece: TriedPiece,
    flags: string[],
    samples: readonly string[],
    references: readonly string[],
    before: number | null,
  ): Promise<Workaround | null> {
    const { worker, linked, folder } = this.#tools;
    for (const candidate of workaroundsFor(pieces.graph, piece.nodes)) {
      if (this.#signal?.aborted) return null;
      this.#status(`Trying: ${candidate.title}`);
      const changed = [...flags, ...candidate.flags];
      const onPiece = await this.#changedPiece(piece, candidate.onPiece, changed);
      this.#tried.push({ change: candidate.title, error: onPiece, ms: null });
      if (onPiece === null || onPiece > this.#request.tolerance) continue;
      let model = linked;
      if (candidate.onWhole.length > 0) {
        const out = join(folder, `trtlens-fixed-${(this.#number += 1)}.onnx`);
        if (!(await this.#writeAll(linked, candidate.onWhole, out))) continue;
        model = out;
      }
      const engine = `fix-${this.#number}`;
      const built = await worker!.build(
        engine,
        [...changed, ...this.#profile, '--onnx', model],
        join(folder, 'fix.log'),
        null,
      );
      if ('refused' in built) continue;
      try {
        const runs: WholeRun[] = [];
        for (const [number, sample] of samples.entries())
          runs.push(await this.#runWhole(engine, sample, references[number]!));
        const compared = runs.flatMap(({ outputs }) => outputs);
        const error = worstOf(compared)?.error ?? null;
        const ms = runs[0]!.ms;
        this.#tried.push({ change: `${candidate.title} (whole model)`, error, ms });
        if (compared.some(({ wrong }) => wrong)) continue;
        const costMs = ms === null || before === null ? null : ms - before;
        return { model: model === linked ? null : model, change: candidate.title, error, costMs };
      } finally {
        await worker!.free(engine);
      }
    }
    return null;
  }

  /** Error of the piece with a change; null: not possible, or not finite. */
  async #changedPiece(piece: TriedPiece, change: ModelChange | null, flags: readonly string[]): Promise<number | null> {
    const { worker, reference, folder, files } = this.#tools;
    const stem = join(folder, `trtlens-try-${(this.#number += 1)}`);
    let { model } = piece;
    if (change !== null) {
      model = `${stem}.onnx`;
      try {
        await writeChanged(piece.model, change, model, files);
      } catch (error) {
        if (error instanceof UserError && !(error instanceof Cancelled)) return null;
        throw error;
      }
    }
    const at = piece.args.indexOf('--profile');
    const args = [...flags, '--onnx', model, ...(at < 0 ? [] : piece.args.slice(at, at + 2))];
    const built = await worker!.build('try', args, `${stem}.log`, null);
    if ('refused' in built) return null;
    try {
      const ran = await worker!.run('try', piece.inputs, `${stem}.npz`);
      if ('refused' in ran) return null;
      const compared = await reference.compare(piece.inputs, `${stem}.npz`, { tolerances: {} });
      const own = new Set(piece.outputs.map(({ name }) => name));
      return worstOf(compared.filter(({ name }) => own.has(name)))?.error ?? null;
    } finally {
      await worker!.free('try');
    }
  }

  /** Writes the model with several changes, one after the other; false: one of them is not possible. */
  async #writeAll(path: string, changes: readonly ModelChange[], out: string): Promise<boolean> {
    const { files, folder } = this.#tools;
    let from = path;
    for (const [number, change] of changes.entries()) {
      const to = number === changes.length - 1 ? out : join(folder, `trtlens-step-${(this.#number += 1)}.onnx`);
      try {
        await writeChanged(from, change, to, files);
      } catch (error) {
        if (error instanceof UserError && !(error instanceof Cancelled)) return false;
        throw error;
      }
      from = to;
    }
    return true;
  }

  #result(reason: BisectReason, outputs: CheckedOutput[], more: Partial<BisectResult> = {}): BisectResult {
    const noise = Math.max(0, ...Object.values(this.#noise).map((value) => value ?? 0));
    return {
      tensorrt: this.#info?.version ?? null,
      gpu: this.#info?.gpu ?? null,
      reference: { runtime: 'onnxruntime', noise },
      outputs,
      withFlags: null,
      repeatability: 'not tried',
      lost: this.#lost,
      piece: null,
      tried: this.#tried,
      fix: null,
      reason,
      steps: this.#steps,
      builds: this.#tools.worker?.builds ?? 0,
      seconds: Math.round((Date.now() - this.#began) / 100) / 10,
      ...more,
    };
  }
}

/** The options that the search builds with: FP32 without TF32, unless the model says types itself. */
function searchOptions(options: EngineOptions): EngineOptions {
  const { precision: _, overrides: __, calibrationCache: ___, ...rest } = options;
  return { ...rest, noTF32: true };
}

/** Ids of the nodes that the build's own files name nowhere. */
async function lostNodes(given: { onnx: string; log: string; layers: string }): Promise<string[]> {
  try {
    const { report } = await loadFiles(given);
    return report.nodes.filter(({ fate }) => (fate as string) === 'unaccounted').map(({ id }) => id);
  } catch (error) {
    // Without layers (another GPU than the engine is for) there is nothing to read.
    if (error instanceof UserError) return [];
    throw error;
  }
}

/** The inputs that a model must be given, with what to make where no file is. */
function declaredInputs(model: OnnxModel): DeclaredInput[] {
  const network = networkOf(model);
  const given = new Set(
    network.tensors.filter(({ kind, owner }) => kind === 'input' && owner < 0).map(({ name }) => name),
  );
  return model.graph.inputs
    .filter(({ name }) => given.has(name))
    .map((input) => ({ ...input, random: randomInput(input, model, new Map()) }));
}
