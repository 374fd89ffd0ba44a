import { composeModel } from '../onnx/composeModel.ts';
import type { NewNode, NewTensor, NewValue } from '../onnx/writeParts.ts';
import type { OnnxGraph, OnnxNode, OnnxValue } from '../onnx/onnxModel.ts';
import type { Segment } from '../onnx/segment.ts';
import type { TensorTypes } from '../model/tensorTypes.ts';
import { isContainer } from '../model/outputTypes.ts';
import { isQuantised, type LowModel } from './lowNodes.ts';
import type { Values } from './runWriter.ts';

/**
 * Some of a model's nodes as a model of their own. Chunk after chunk they are the whole model: the time to make a
 * session grows faster than its nodes, and only one chunk's tensors are in memory.
 */
export interface Chunk {
  segments: Segment[];
  /** Inputs of the session: inputs of the model, and tensors that earlier chunks kept. */
  feeds: string[];
  /** Outputs of the session that later chunks need. */
  keeps: string[];
  /** Tensors that no later chunk needs. */
  drops: string[];
  /** How many nodes of the model it has. */
  nodes: number;
}

/** Where a model is, and where its bytes come from. */
export interface ModelFile {
  /** Bytes in the file. */
  size: number;
  /** Its own name, for weights that are inside it; null: they are copied. */
  name: string | null;
}

/** Measured: twice as many take longer to make, half as many longer to run. */
const CHUNK = 32;

/** Cuts a model's nodes into chunks and finds what crosses from one to the next. */
export class ChunkPlan {
  readonly graph: OnnxGraph;
  /** What each node reads of the graph, also inside its bodies. */
  readonly reads: Set<string>[];
  /** Tensors that later chunks read, with the tensor that is in its place in a second run: perhaps the same. */
  readonly kept = new Map<string, string>();
  private readonly low: LowModel;
  private readonly types: TensorTypes;
  private readonly inputs: Map<string, OnnxValue>;
  /** Position of the last node that reads a tensor; graph outputs are read behind all. */
  private readonly lastRead = new Map<string, number>();
  private readonly keepOutputs: boolean;

  /** `keepOutputs`: the model's outputs are kept, too. */
  constructor(low: LowModel, types: TensorTypes, keepOutputs: boolean) {
    this.low = low;
    this.graph = low.model.graph;
    this.types = types;
    this.keepOutputs = keepOutputs;
    const constants = new Set(this.graph.initializers.map(({ name }) => name));
    const inputs = this.graph.inputs.filter(({ name }) => !constants.has(name));
    this.inputs = new Map(inputs.map((input) => [input.name, input]));
    this.reads = this.graph.nodes.map((node) => {
      const found = low.byId.get(node.id);
      const sources = found && isQuantised(found) ? [...found.sources.values(), found.bypass ?? ''] : [];
      return new Set([...namesReadBy(node), ...sources].filter((name) => name !== ''));
    });
    for (const [position, reads] of this.reads.entries()) for (const name of reads) this.lastRead.set(name, position);
    if (keepOutputs) for (const { name } of this.graph.outputs) this.lastRead.set(name, Infinity);
  }

  /** Ranges of nodes, cut where the types of all tensors that cross are known. */
  *cuts(): Generator<{ from: number; to: number }> {
    const { nodes } = this.graph;
    const open = new Set<string>();
    for (let from = 0, to = 0; from < nodes.length; from = to) {
      do {
        for (const name of nodes[to]!.outputs) if (name !== '' && !this.isPlain(name)) open.add(name);
        to++;
        for (const name of open) if (!this.isReadFrom(name, to)) open.delete(name);
      } while (to < nodes.length && (to - from < CHUNK || open.size > 0));
      yield { from, to };
    }
  }

  private isPlain(name: string): boolean {
    const type = this.types.typeOf('', name);
    return type !== null && !isContainer(type);
  }

  private isReadFrom(name: string, position: number): boolean {
    return (this.lastRead.get(name) ?? -1) >= position;
  }

  /**
   * The chunk of the nodes `from` to `to`, which were written as `nodes`. `run` says what stands for a tensor in a second
   * run; `inputs` and `outputs` are added.
   */
  chunk(
    { from, to }: { from: number; to: number },
    { nodes, constants, inputs = [], outputs = [], run }: WrittenChunk,
    file: ModelFile,
  ): Chunk {
    const used = new Set(this.reads.slice(from, to).flatMap((reads) => [...reads]));
    const both = (name: string, other: string): NewValue[] =>
      [...new Set([name, other])].map((one) => ({ name: one, newType: this.types.typeOf('', name)! }));
    const given = [...used].flatMap((name): (OnnxValue | NewValue)[] => {
      const other = this.kept.get(name);
      if (other !== undefined) return both(name, other);
      const input = this.inputs.get(name);
      return input ? [input] : [];
    });
    const drops = [...this.kept].filter(([name]) => !this.isReadFrom(name, to)).flatMap((names) => [...new Set(names)]);
    for (const name of drops) this.kept.delete(name);
    const made = this.graph.nodes.slice(from, to).flatMap((node) => node.outputs);
    const keeps = made
      .filter((name) => name !== '' && this.isReadFrom(name, to))
      .flatMap((name) => {
        const other = run?.of(name) ?? name;
        this.kept.set(name, other);
        return both(name, other);
      });
    const weights = this.graph.initializers.filter(({ name }) => used.has(name));
    const graph = {
      name: 'chunk',
      nodes,
      inputs: [...given, ...inputs],
      outputs: [...keeps, ...outputs],
      initializers: [...weights, ...constants],
    };
    const names = (values: { name: string }[]) => values.map(({ name }) => name);
    return {
      segments: composeModel(this.low.model, file.size, graph, file.name),
      feeds: names(given),
      keeps: names(keeps),
      drops,
      nodes: to - from,
    };
  }
}

interface WrittenChunk {
  nodes: NewNode[];
  constants: Iterable<NewTensor>;
  inputs?: NewValue[];
  outputs?: NewValue[];
  run?: Values;
}

/** Tensors of its own graph, or of those around it, that a node reads, also inside its bodies. */
export function namesReadBy({ inputs, subgraphs }: OnnxNode): Set<string> {
  const reads = new Set(inputs.filter((name) => name !== ''));
  for (const { graph } of subgraphs) {
    const own = new Set([...graph.inputs, ...graph.initializers].map(({ name }) => name));
    for (const node of graph.nodes) {
      for (const name of namesReadBy(node)) if (!own.has(name)) reads.add(name);
      for (const name of node.outputs) own.add(name);
    }
    for (const { name } of graph.outputs) if (!own.has(name)) reads.add(name);
  }
  return reads;
}
