import { join, resolve } from 'node:path';
import { type DeclaredInput, randomInput } from '../../../kernel/build/randomInputs.ts';
import { type CheckedOutput, type Repeatability, worstOf } from '../bisectReport.ts';
import { driverCommand } from '../../../kernel/build/buildCommand.ts';
import type { EngineOptions } from '../../../kernel/build/buildOptions.ts';
import type { OnnxModel } from '../../../kernel/read/onnx/onnxModel.ts';
import { networkOf } from '../../../kernel/network/network.ts';
import { randomOperators } from '../../../kernel/network/nodeRoles.ts';
import type { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { UserError } from '../../../kernel/node/files/userError.ts';
import type { EngineWorker, WorkerInfo } from './engineWorker.ts';
import { noiseOf } from './noise.ts';
import { NOISE_FACTOR } from './pieces.ts';
import type { OutputComparison, Reference } from './reference.ts';

export interface WholeRequest {
  /** How the user builds. */
  options: EngineOptions;
  tolerance: number;
  atol?: number | undefined;
  rtol?: number | undefined;
  model: OnnxModel;
  /** The model, linked into `folder` with its weights. */
  linked: string;
  folder: string;
  reference: Reference;
  worker: EngineWorker;
  info: WorkerInfo;
  samples: Samples;
}

/** Inputs of the whole model, one file a sample, with the reference's outputs, and how exact these are. */
export interface Samples {
  inputs: readonly string[];
  references: readonly string[];
  /** By output: how far two ways to compute it are apart; null: not finite. */
  noise: Readonly<Record<string, number | null>>;
}

/** One engine of the whole model, run on one sample. */
export interface WholeRun {
  outputs: CheckedOutput[];
  /** Path of what the engine gave. */
  values: string;
  ms: number | null;
}

/** An engine of the whole model, run on every sample. */
export interface WholeResult {
  runs: WholeRun[];
  wrong: boolean;
  /** Of the worst output of all samples. */
  error: number | null;
}

/** The engine that the search is about. */
const WHOLE = 'whole';

/** Makes the samples, and what ONNX Runtime computes from them. */
export async function runReference(
  {
    model,
    linked,
    folder,
    reference,
    files,
  }: Pick<WholeRequest, 'model' | 'linked' | 'folder' | 'reference'> & { files: ParsedFiles },
  given: readonly string[],
): Promise<Samples> {
  const inputs = await reference.inputs(given, declaredInputs(model), 0, join(folder, 'sample'));
  const references = inputs.map((_, number) => join(folder, `reference-${number}.npz`));
  const noise: Record<string, number | null> = {};
  for (const [number, sample] of inputs.entries()) {
    const plain = references[number]!;
    await reference.run(linked, sample, plain);
    for (const [name, error] of Object.entries(
      await noiseOf({ reference, files, model: linked, inputs: sample, plain }),
    ))
      noise[name] = Math.max(noise[name] ?? 0, error);
  }
  return { inputs, references, noise };
}

/** How outputs of the whole model are compared. */
export function comparisonOf(
  model: OnnxModel,
  { noise }: Samples,
  { tolerance, atol, rtol }: Pick<WholeRequest, 'tolerance' | 'atol' | 'rtol'>,
): OutputComparison {
  const tolerances = Object.fromEntries(
    model.graph.outputs.map(({ name }) => [name, Math.max(tolerance, NOISE_FACTOR * (noise[name] ?? 0))]),
  );
  return { tolerances, atol, rtol };
}

/** Builds, runs and compares engines of the whole model. */
export class WholeEngine {
  readonly #request: WholeRequest;
  readonly #comparison: OutputComparison;
  /** Options of `build_engine.py` that the search builds with: FP32 without TF32, unless the model says types itself. */
  readonly flags: readonly string[];
  /** Those that the user builds with. */
  readonly ownFlags: readonly string[];
  /** Where the build of the whole leaves its log and layers. */
  readonly log: string;
  readonly layers: string;
  #profile: readonly string[] = [];
  #number = 0;

  constructor(request: WholeRequest) {
    this.#request = request;
    this.#comparison = comparisonOf(request.model, request.samples, request);
    this.flags = flagsOf(searchOptions(request.options), request.info);
    this.ownFlags = flagsOf(request.options, request.info);
    this.log = join(request.folder, 'whole.log');
    this.layers = join(request.folder, 'whole.json');
  }

  /**
   * Builds it, or loads an engine that exists, and runs it.
   * @throws {UserError} if it cannot be built or run
   */
  async open(engine?: string): Promise<WholeResult> {
    const { worker, samples } = this.#request;
    this.#profile = await this.#profileOf(samples.inputs[0]!);
    if (engine === undefined) {
      const built = await worker.build(WHOLE, this.#args(this.flags), this.log, this.layers);
      if ('refused' in built) throw new UserError(`TensorRT does not build this model: ${built.refused}`);
    } else await worker.load(WHOLE, resolve(engine));
    return this.#runAll(WHOLE);
  }

  close(): Promise<void> {
    return this.#request.worker.free(WHOLE);
  }

  /**
   * Another engine of the whole model; null: TensorRT does not build it.
   * @param model a changed one, instead of the user's
   * @param only the number of the one sample to run
   */
  async try(flags: readonly string[], model?: string, only?: number): Promise<WholeResult | null> {
    const { worker, folder } = this.#request;
    const engine = `whole-${(this.#number += 1)}`;
    const built = await worker.build(engine, this.#args(flags, model), join(folder, `${engine}.log`), null);
    if ('refused' in built) return null;
    try {
      return await this.#runAll(engine, only);
    } finally {
      await worker.free(engine);
    }
  }

  /** The same input twice, and another input between: what differs is no fault of single nodes. */
  async repeatability(worst: number, first: WholeRun): Promise<Repeatability> {
    const { model, folder, worker, samples } = this.#request;
    if (model.nodes.some(({ op }) => randomOperators.has(op))) return 'random';
    const again = join(folder, 'again.npz');
    const other = join(folder, 'other.npz');
    const after = join(folder, 'after.npz');
    const run = async (sample: string, out: string) => 'refused' in (await worker.run(WHOLE, sample, out));
    const sample = samples.inputs[worst]!;
    if (await run(sample, again)) return 'not tried';
    if (!(await this.#isSame(first.values, again))) return 'nondeterministic';
    const [second] =
      samples.inputs.length > 1 ? samples.inputs.filter((input) => input !== sample) : await this.#otherInputs(sample);
    if (second === undefined || (await run(second, other)) || (await run(sample, after))) return 'same';
    return (await this.#isSame(again, after)) ? 'same' : 'remembers';
  }

  #args(flags: readonly string[], model = this.#request.linked): string[] {
    return [...flags, ...this.#profile, '--onnx', model];
  }

  async #runAll(engine: string, only?: number): Promise<WholeResult> {
    const { worker, reference, folder, samples } = this.#request;
    const runs: WholeRun[] = [];
    for (const [number, sample] of samples.inputs.entries()) {
      if (only !== undefined && number !== only) continue;
      const values = join(folder, `${engine}-${number}.npz`);
      const ran = await worker.run(engine, sample, values, true);
      if ('refused' in ran) throw new UserError(`TensorRT does not run this engine: ${ran.refused}`);
      const expected = samples.references[number]!;
      const outputs = await reference.compare(expected, values, this.#comparison, { details: true });
      runs.push({ outputs, values, ms: ran.milliseconds });
    }
    const compared = runs.flatMap(({ outputs }) => outputs);
    return { runs, wrong: compared.some(({ wrong }) => wrong), error: worstOf(compared)?.error ?? null };
  }

  /** Whether two runs agree up to rounding: sums in another order are no fault. */
  async #isSame(a: string, b: string): Promise<boolean> {
    const { reference } = this.#request;
    if (await reference.same(a, b)) return true;
    return (await reference.compare(a, b, this.#comparison)).every(({ wrong }) => !wrong);
  }

  /** Other inputs of the same shapes. */
  async #otherInputs(sample: string): Promise<string[]> {
    const { model, reference, folder } = this.#request;
    const shapes = await reference.shapes(sample);
    const declared = declaredInputs(model).map((input) => ({
      ...input,
      random: { ...input.random, shape: shapes[input.name] ?? input.random.shape },
    }));
    return reference.inputs([], declared, 1, join(folder, 'other-sample'));
  }

  /** Fixes open dimensions to those of a sample, where the user gives no shapes. */
  async #profileOf(sample: string): Promise<string[]> {
    const { model, reference, options } = this.#request;
    const open = declaredInputs(model).some(({ shape }) => !shape?.every((dim) => typeof dim === 'number'));
    if (!open || options.profiles) return [];
    const shapes = Object.entries(await reference.shapes(sample)).map(([name, opt]) => [name, { opt }]);
    return ['--profile', JSON.stringify(Object.fromEntries(shapes))];
  }
}

/** Options of `build_engine.py` for these options of a build. */
function flagsOf(options: EngineOptions, { module }: WorkerInfo): string[] {
  const files = { model: '', engine: '', precisions: '' };
  const product = module === 'tensorrt_rtx' ? 'tensorrt-rtx' : 'tensorrt';
  const { args } = driverCommand(options, files, { product } as never);
  const kept: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    if (args[at] === '--onnx' || args[at] === '--engine') at += 1;
    else kept.push(args[at]!);
  }
  return kept;
}

/** The options that the search builds with: FP32 without TF32, unless the model says types itself. */
function searchOptions(options: EngineOptions): EngineOptions {
  const { precision: _, overrides: __, calibrationCache: ___, ...rest } = options;
  return { ...rest, noTF32: true };
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
