import { basename, join } from 'node:path';
import type { CheckedOutput, WrongPattern } from '../bisectReport.ts';
import { isSamePattern, worstOf } from '../bisectReport.ts';
import type { OnnxModel } from '../../../kernel/read/onnx/onnxModel.ts';
import type { ModelGraph } from '../../../kernel/network/modelGraph.ts';
import { type InferredTensors, networkOf } from '../../../kernel/network/network.ts';
import { type BorderTensor, extractModel, subgraphOf } from '../../surgery/extractModel.ts';
import type { FileSource } from '../../../kernel/node/files/fileSource.ts';
import { writeModel } from '../../../kernel/node/files/writeModel.ts';
import { removeTree } from '../../../kernel/node/files/persist.ts';
import type { EngineWorker } from './engineWorker.ts';
import type { OutputComparison, Reference } from './reference.ts';

/** Wrong outputs are at least this many times further off than two right ways to compute them are apart. */
export const NOISE_FACTOR = 10;

/** A share of differing integers or booleans below it may come from rounding alone: ties that fall to the other side. */
const CHOICES = 0.01;

/** A piece of the model that was built and run with right inputs. */
export interface TriedPiece {
  /** Path of the piece as a model, and of its inputs and right outputs, and of what the engine gave. */
  model: string;
  inputs: string;
  values: string;
  log: string;
  args: string[];
  nodes: number[];
  /** Names of its inputs and outputs. */
  names: { inputs: string[]; outputs: string[] };
  outputs: CheckedOutput[];
  worst: CheckedOutput | undefined;
  wrong: boolean;
}

export interface PieceRequest {
  worker: EngineWorker;
  reference: Reference;
  /** The model, linked into `folder` with its weights, and its content. */
  model: OnnxModel;
  linked: string;
  source: FileSource;
  folder: string;
  /** Inputs of the whole model for the sample that fails worst. */
  sample: string;
  /** Options of `build_engine.py` without a model, profiles and outputs. */
  flags: readonly string[];
  tolerance: number;
  comparison: Pick<OutputComparison, 'atol' | 'rtol'>;
}

/** Builds pieces of a model alone, with the reference's tensors as inputs, so that errors do not add up. */
export class Pieces {
  readonly graph: ModelGraph;
  readonly #request: PieceRequest;
  readonly #inferred: InferredTensors;
  #number = 0;

  constructor(request: PieceRequest) {
    const network = networkOf(request.model);
    this.graph = network;
    this.#inferred = network.inferred;
    this.#request = request;
  }

  /** What identifies a piece: the nodes that are in it, with the constants that come along. */
  keyOf(nodes: readonly number[]): string {
    return subgraphOf(this.graph, nodes, null).nodes.join();
  }

  /**
   * Builds and runs a piece; null: it cannot be a model of its own, or TensorRT does not build or run it. `flags`: instead
   * of those of the search.
   */
  async try(nodes: readonly number[], flags = this.#request.flags): Promise<TriedPiece | null> {
    const subgraph = subgraphOf(this.graph, nodes, null);
    if (subgraph.inputs.some((tensor) => this.#inferred.types[tensor] === null)) return null;
    const { folder, linked, source } = this.#request;
    const number = (this.#number += 1);
    const stem = join(folder, `trtlens-piece-${number}`);
    const place = { kind: 'references', modelFile: basename(linked) } as const;
    const made = extractModel(this.graph, source.size, subgraph, this.#inferred, place);
    if ('reason' in made) return null;
    const model = `${stem}.onnx`;
    await writeModel(made, { path: linked, source }, model);
    return this.tryModel(model, stem, made.inputs, made.outputs, subgraph.nodes, flags);
  }

  /** The same for a piece that is a file already, such as a changed one. */
  async tryModel(
    model: string,
    stem: string,
    inputs: readonly BorderTensor[],
    outputs: readonly BorderTensor[],
    nodes: number[],
    flags: readonly string[] = this.#request.flags,
  ): Promise<TriedPiece | null> {
    const { worker, reference, sample, comparison } = this.#request;
    const files = { inputs: `${stem}.inputs.npz`, values: `${stem}.values.npz`, log: `${stem}.log` };
    const names = [...inputs, ...outputs].map(({ name }) => name);
    const missing = await reference.tensors(sample, names, files.inputs);
    // Only what the engine gives is compared, so right inputs and outputs may be in one file.
    if (missing.length > 0) return null;
    const args = [...flags, '--onnx', model, ...(await this.#profile(inputs, files.inputs))];
    const engine = basename(stem);
    try {
      const built = await worker.build(engine, args, files.log, null);
      if ('refused' in built) return null;
      const ran = await worker.run(engine, files.inputs, files.values);
      if ('refused' in ran) return null;
      const tolerances = Object.fromEntries(outputs.map(({ name }) => [name, this.#request.tolerance]));
      const compared = (await reference.compare(files.inputs, files.values, { tolerances, ...comparison })).map(
        ignoreTies,
      );
      const suspicious = compared.filter(({ wrong }) => wrong);
      const wrong = suspicious.length > 0 && (await this.#aboveNoise(model, stem, files.inputs, suspicious));
      const border = { inputs: inputs.map(({ name }) => name), outputs: outputs.map(({ name }) => name) };
      return { model, ...files, args, nodes, names: border, outputs: compared, worst: worstOf(suspicious), wrong };
    } finally {
      await worker.free(engine);
    }
  }

  /** Whether a difference is more than what another right way to compute the piece makes of it. */
  async #aboveNoise(model: string, stem: string, inputs: string, suspicious: CheckedOutput[]): Promise<boolean> {
    const [plain, optimized] = [`${stem}.plain.npz`, `${stem}.optimized.npz`];
    const { reference } = this.#request;
    try {
      await reference.run(model, inputs, plain);
      await reference.run(model, inputs, optimized, true);
      const noise = await reference.noise(plain, optimized);
      return suspicious.some(({ name, error }) => error === null || error > NOISE_FACTOR * (noise[name] ?? 0));
    } catch {
      // What ONNX Runtime does not run alone has no other way to compare.
      return true;
    } finally {
      await Promise.all([removeTree(plain), removeTree(optimized)]);
    }
  }

  /** Open dimensions are those of the sample. */
  async #profile(inputs: readonly BorderTensor[], file: string): Promise<string[]> {
    if (inputs.every(({ shape }) => shape?.every((dim) => typeof dim === 'number'))) return [];
    const shapes = await this.#request.reference.shapes(file);
    const profile = Object.fromEntries(inputs.map(({ name }) => [name, { opt: shapes[name] ?? [] }]));
    return ['--profile', JSON.stringify(profile)];
  }
}

/** Whether a smaller piece shows the fault of a larger one. */
export const showsFault = (piece: TriedPiece | null, pattern: WrongPattern | null): boolean =>
  piece !== null && piece.wrong && isSamePattern(pattern, piece.worst?.pattern);

const ignoreTies = (tensor: CheckedOutput): CheckedOutput =>
  tensor.wrong && tensor.pattern === null && tensor.error !== null && tensor.error < CHOICES
    ? { ...tensor, wrong: false }
    : tensor;
