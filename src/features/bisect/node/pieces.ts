import { basename, join } from 'node:path';
import type { CheckedOutput, WrongPattern } from '../bisectReport.ts';
import { isSamePattern, worstOf } from '../bisectReport.ts';
import type { PieceCandidate } from '../searchPiece.ts';
import type { OnnxModel } from '../../../kernel/read/onnx/onnxModel.ts';
import { type Network, networkOf } from '../../../kernel/network/network.ts';
import { type BorderTensor, extractModel, subgraphOf } from '../../surgery/extractModel.ts';
import type { ModelChange } from '../../surgery/changeModel.ts';
import type { FileSource } from '../../../kernel/node/files/fileSource.ts';
import type { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { writeModel } from '../../../kernel/node/files/writeModel.ts';
import { removeTree } from '../../../kernel/node/files/persist.ts';
import { writeChanged } from '../../surgery/node/writeChanged.ts';
import { Cancelled, UserError } from '../../../kernel/node/files/userError.ts';
import type { EngineWorker } from './engineWorker.ts';
import { noiseOf } from './noise.ts';
import type { OutputComparison, Reference } from './reference.ts';

/** Wrong outputs are at least this many times further off than two right ways to compute them are apart. */
export const NOISE_FACTOR = 10;

/** A share of differing integers or booleans below it may come from rounding alone: ties that fall to the other side. */
const CHOICES = 0.01;

/** How the file of an engine's values is called, behind the stem of its piece. */
const VALUES = '.values.npz';

/** A piece of the model that was built and run with right inputs. */
export interface TriedPiece {
  /** Path of the piece as a model, of its inputs, of its right outputs, and of what the engine gave. */
  model: string;
  inputs: string;
  expected: string;
  values: string;
  log: string;
  /** Indices of its nodes in the whole model, without those that only pass their input on. */
  nodes: number[];
  border: { inputs: readonly BorderTensor[]; outputs: readonly BorderTensor[] };
  outputs: CheckedOutput[];
  worst: CheckedOutput | undefined;
  wrong: boolean;
}

export interface PieceRequest {
  worker: EngineWorker;
  reference: Reference;
  files: ParsedFiles;
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

/** What differs from how a piece was built before. */
export interface PieceVariant {
  /** A change of its model that keeps what it computes. */
  change?: ModelChange | null;
  /** Further options of `build_engine.py`. */
  flags?: readonly string[];
  /** Sizes of dimensions that the model leaves open, by their names: the inputs are cut off behind them. */
  sizes?: Readonly<Record<string, number>>;
}

/** Builds pieces of a model alone, with the reference's tensors as inputs, so that errors do not add up. */
export class Pieces {
  readonly graph: Network;
  readonly #request: PieceRequest;
  #number = 0;

  constructor(request: PieceRequest) {
    this.graph = networkOf(request.model);
    this.#request = request;
  }

  /** The same pieces, built elsewhere. */
  on(worker: EngineWorker): Pieces {
    const elsewhere = new Pieces({ ...this.#request, worker });
    elsewhere.#number = this.#number + 1_000_000;
    return elsewhere;
  }

  /** What identifies a piece: its nodes, with the constants that come along, and its outputs. */
  keyOf({ nodes, ends, passed }: PieceCandidate): string {
    const subgraph = subgraphOf(this.graph, nodes, ends);
    return [subgraph.nodes, subgraph.outputs, passed].join('|');
  }

  /** Builds and runs a piece; null: it cannot be a model of its own, or TensorRT does not build or run it. */
  async try({ nodes, ends, passed }: PieceCandidate): Promise<TriedPiece | null> {
    const { graph } = this;
    const { linked, source, files, reference, sample } = this.#request;
    const subgraph = subgraphOf(graph, nodes, ends);
    if (subgraph.inputs.some((tensor) => graph.inferred.types[tensor] === null)) return null;
    const stem = this.#stem();
    const place = { kind: 'references', modelFile: basename(linked) } as const;
    const made = extractModel(graph, source.size, subgraph, graph.inferred, place);
    if ('reason' in made) return null;
    let model = `${stem}.onnx`;
    await writeModel(made, { path: linked, source }, model);
    const inputs = `${stem}.inputs.npz`;
    const wanted = passed.length > 0 ? made.inputs : [...made.inputs, ...made.outputs];
    // Only what the engine gives is compared, so right inputs and outputs may be in one file.
    const missing = await reference.tensors(
      sample,
      wanted.map(({ name }) => name),
      inputs,
    );
    if (missing.length > 0) return null;
    let expected = inputs;
    for (const [step, node] of passed.entries()) {
      const changed = `${stem}-${step}.onnx`;
      const id = String(subgraph.nodes.indexOf(node));
      if (!(await isPossible(() => writeChanged(model, { remove: id }, changed, files)))) return null;
      model = changed;
    }
    if (passed.length > 0) {
      expected = `${stem}.expected.npz`;
      if (!(await isPossible(() => reference.run(model, inputs, expected)))) return null;
    }
    return this.#build(
      {
        model,
        inputs,
        expected,
        border: { inputs: made.inputs, outputs: made.outputs },
        nodes: subgraph.nodes.filter((node) => !passed.includes(node)),
      },
      stem,
      [],
    );
  }

  /** The same for a piece that was tried, in another form; null: that form is not possible. */
  async vary(piece: TriedPiece, { change = null, flags = [], sizes = {} }: PieceVariant): Promise<TriedPiece | null> {
    const { reference, files } = this.#request;
    const stem = this.#stem();
    let { model, inputs, expected } = piece;
    if (change !== null) {
      model = `${stem}.onnx`;
      if (!(await isPossible(() => writeChanged(piece.model, change, model, files)))) return null;
    }
    if (Object.keys(sizes).length > 0) {
      [inputs, expected] = [`${stem}.inputs.npz`, `${stem}.expected.npz`];
      const shapes = Object.fromEntries(
        piece.border.inputs.map(({ name, shape }) => [
          name,
          (shape ?? []).map((dim) => (typeof dim === 'string' ? (sizes[dim] ?? null) : null)),
        ]),
      );
      await reference.slice(piece.inputs, shapes, inputs);
      if (!(await isPossible(() => reference.run(model, inputs, expected)))) return null;
    }
    return this.#build({ ...piece, model, inputs, expected }, stem, flags);
  }

  /** Whether a dimension that the model leaves open is larger than this in the piece's inputs. */
  async isSmaller({ border, inputs }: TriedPiece, dimension: string, size: number): Promise<boolean> {
    const shapes = await this.#request.reference.shapes(inputs);
    return border.inputs.some(({ name, shape }) =>
      shape?.some((dim, axis) => dim === dimension && (shapes[name]?.[axis] ?? 0) > size),
    );
  }

  /** Removes the files of a piece that is not needed any more, but not those that it shares with another one. */
  async discard({ model, inputs, expected, values, log }: TriedPiece): Promise<void> {
    const stem = values.slice(0, -VALUES.length);
    const own = [model, inputs, expected, values, log].filter((path) => /^[.-]/.test(path.slice(stem.length)));
    await Promise.all([...new Set(own)].filter((path) => path.startsWith(stem)).map(removeTree));
  }

  #stem(): string {
    return join(this.#request.folder, `trtlens-piece-${(this.#number += 1)}`);
  }

  async #build(
    piece: Pick<TriedPiece, 'model' | 'inputs' | 'expected' | 'border' | 'nodes'>,
    stem: string,
    more: readonly string[],
  ): Promise<TriedPiece | null> {
    const { worker, reference, comparison, flags } = this.#request;
    const { model, inputs, expected, border } = piece;
    const files = { values: `${stem}${VALUES}`, log: `${stem}.log` };
    const args = [...flags, ...more, '--onnx', model, ...(await this.#profile(border.inputs, inputs))];
    const engine = basename(stem);
    try {
      const built = await worker.build(engine, args, files.log, null);
      if ('refused' in built) return null;
      const ran = await worker.run(engine, inputs, files.values);
      if ('refused' in ran) return null;
      const tolerances = Object.fromEntries(border.outputs.map(({ name }) => [name, this.#request.tolerance]));
      const own = new Set(Object.keys(tolerances));
      const compared = (await reference.compare(expected, files.values, { tolerances, ...comparison }))
        .filter(({ name }) => own.has(name))
        .map(ignoreTies);
      const suspicious = compared.filter(({ wrong }) => wrong);
      const wrong = suspicious.length > 0 && (await this.#aboveNoise(model, stem, inputs, suspicious));
      return { ...piece, ...files, outputs: compared, worst: worstOf(wrong ? suspicious : compared), wrong };
    } finally {
      await worker.free(engine);
    }
  }

  /** Whether a difference is more than what other right ways to compute the piece make of it. */
  async #aboveNoise(model: string, stem: string, inputs: string, suspicious: CheckedOutput[]): Promise<boolean> {
    const plain = `${stem}.plain.npz`;
    const { reference, files } = this.#request;
    try {
      // What ONNX Runtime does not run alone has no other way to compare.
      if (!(await isPossible(() => reference.run(model, inputs, plain)))) return true;
      const noise = await noiseOf({ reference, files, model, inputs, plain });
      return suspicious.some(({ name, error }) => error === null || error > NOISE_FACTOR * (noise[name] ?? 0));
    } finally {
      await removeTree(plain);
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

/** False: what is tried cannot be done to this model. */
export async function isPossible(does: () => Promise<unknown>): Promise<boolean> {
  try {
    await does();
    return true;
  } catch (error) {
    if (error instanceof UserError && !(error instanceof Cancelled)) return false;
    throw error;
  }
}
