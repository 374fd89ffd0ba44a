// Which tensors are quantized; float islands.
import { totalMs } from './fusionReport.ts';
import { oneLine } from '../base/text.ts';
import { byteLength, type DataType, dataTypeName, type OnnxTensor } from '../read/onnx/onnxModel.ts';
import type { FusionReport, ReportLayer } from './fusionReport.ts';
import type { InferredTensors } from '../network/network.ts';
import { inDataOrder, type ModelGraph, products } from '../network/modelGraph.ts';

/**
 * Operators that give some of the values of their first input as they are: TensorRT moves Q backward and DQ forward
 * over them. Concat does so where all its inputs are dequantized, and Gather of activations: of a table of embeddings, it
 * gives values that are dequantized weights.
 */
export const movers: ReadonlySet<string> = new Set(
  `Reshape Transpose Identity Squeeze Unsqueeze Flatten Slice Split Expand Tile DepthToSpace SpaceToDepth
  MaxPool`.split(/\s+/),
);

export const isQuantize = (op: string): boolean => op === 'QuantizeLinear';
export const isDequantize = (op: string): boolean => op === 'DequantizeLinear';
export const isPart = (op: string): boolean => isQuantize(op) || isDequantize(op);

/** `INT8`; of another type its name in ONNX. */
export const typeWord = (type: DataType): string =>
  ({ int8: 'INT8', uint8: 'UINT8', float8e4m3fn: 'FP8', int4: 'INT4', uint4: 'UINT4', float4e2m1: 'FP4' })[type] ??
  type;

export type ZeroPoints = ReadonlyMap<OnnxTensor, readonly number[]>;

/** What is known of the Q/DQ nodes of a model. */
export class QuantizedGraph {
  readonly graph: ModelGraph;
  /** Tensors that are known before the build. */
  readonly #constant = new Set<number>();
  readonly #dequantized = new Map<number, number>();
  readonly #zeros: ZeroPoints;

  /** @param zeros zero points of many channels, which the model's reader leaves in the file */
  constructor(graph: ModelGraph, zeros: ZeroPoints = new Map()) {
    this.graph = graph;
    this.#zeros = zeros;
    for (const [tensor, { kind }] of graph.tensors.entries()) if (kind === 'initializer') this.#constant.add(tensor);
    for (const node of inDataOrder(graph)) {
      const { op } = graph.nodes[node]!;
      const reads = graph.inputs[node]!.filter((tensor) => tensor >= 0);
      const fixed =
        op === 'Constant' || ((isPart(op) || movers.has(op)) && reads.every((tensor) => this.#constant.has(tensor)));
      if (fixed) for (const tensor of graph.outputs[node]!) this.#constant.add(tensor);
      const by = this.#dequantizedAfter(node);
      if (by >= 0) for (const tensor of graph.outputs[node]!) this.#dequantized.set(tensor, by);
    }
  }

  isConstant(tensor: number): boolean {
    return this.#constant.has(tensor);
  }

  op(node: number): string {
    return this.graph.nodes[node]?.op ?? '';
  }

  producer(tensor: number): number {
    return this.graph.tensors[tensor]?.producer ?? -1;
  }

  input(node: number, index: number): number {
    return this.graph.inputs[node]?.[index] ?? -1;
  }

  readers(node: number): number[] {
    return this.graph.outputs[node]!.flatMap((tensor) => this.graph.tensors[tensor]!.consumers);
  }

  /** The DequantizeLinear that a tensor comes from, through operators that only move it; -1: none. */
  dequantizedBy(tensor: number): number {
    return this.#dequantized.get(tensor) ?? -1;
  }

  /** The QuantizeLinear nodes that read a tensor, through operators that only move it. */
  quantizedAs(tensor: number): number[] {
    const found: number[] = [];
    const open = [tensor];
    for (let at = open.pop(); at !== undefined; at = open.pop())
      for (const node of this.graph.tensors[at]!.consumers)
        if (isQuantize(this.op(node))) found.push(node);
        else if (movers.has(this.op(node)) && this.input(node, 0) === at) open.push(...this.graph.outputs[node]!);
    return found;
  }

  #dequantizedAfter(node: number): number {
    const op = this.op(node);
    if (isDequantize(op)) return node;
    const moves = movers.has(op) || (op === 'Gather' && !this.isConstant(this.input(node, 0)));
    const reads = op === 'Concat' ? this.graph.inputs[node]! : moves ? [this.input(node, 0)] : [];
    const by = reads.map((tensor) => this.dequantizedBy(tensor));
    return by.includes(-1) ? -1 : (by[0] ?? -1);
  }

  /** The initializer or Constant behind an input; undefined: another tensor. */
  constantAt(node: number, index: number): OnnxTensor | undefined {
    const tensor = this.input(node, index);
    if (tensor < 0) return undefined;
    const maker = this.producer(tensor);
    if (maker < 0) return this.graph.tensors[tensor]!.stored;
    const value = this.graph.nodes[maker]!.attributes.find(({ kind }) => kind === 'tensor')?.value;
    return this.op(maker) === 'Constant' ? ((value as OnnxTensor | null) ?? undefined) : undefined;
  }

  /** How many scales a Q or DQ node has; null: not known. */
  scaleCount(node: number): number | null {
    const scale = this.constantAt(node, 1);
    return scale ? scale.shape.reduce((count, dim) => count * dim, 1) : (this.scaleNumbers(node)?.length ?? null);
  }

  /** Scales that a Constant node has as plain numbers; undefined: they are elsewhere. */
  scaleNumbers(node: number): readonly number[] | undefined {
    const maker = this.producer(this.input(node, 1));
    if (maker < 0 || this.op(maker) !== 'Constant') return undefined;
    const [attribute] = this.graph.nodes[maker]!.attributes;
    if (attribute?.kind === 'float') return [attribute.value as number];
    return attribute?.kind === 'floats' && attribute.count === undefined ? (attribute.value as number[]) : undefined;
  }

  /** Whether a Q or DQ node has a scale for each block of values along its axis. */
  isBlocked(node: number): boolean {
    return this.attribute(node, 'block_size', 0) > 0;
  }

  /** The type that a Q node quantizes to, or a DQ node reads. Where nothing says, it is what TensorRT's parser takes. */
  quantizedType(node: number): DataType {
    const given = this.constantAt(node, 2) ?? (isDequantize(this.op(node)) ? this.constantAt(node, 0) : undefined);
    const asked = this.attribute(node, 'output_dtype', 0);
    return given?.type ?? (asked > 0 ? dataTypeName(asked) : 'int8');
  }

  /** Whether nothing says which type a Q node quantizes to: ONNX takes uint8 then. */
  typeByDefault(node: number): boolean {
    return this.input(node, 2) < 0 && this.attribute(node, 'output_dtype', 0) === 0;
  }

  /** Whether a DQ node makes what a product or an Add behind it may add as a bias. */
  isBias(node: number): boolean {
    const [output] = this.graph.outputs[node]!;
    return this.readers(node).some((reader) => this.op(reader) === 'Add' || this.input(reader, 2) === output);
  }

  /** The zero points of a node; empty where there are none, undefined where their values cannot be read. */
  zeroPoints(node: number): readonly number[] | undefined {
    if (this.input(node, 2) < 0) return [];
    const zero = this.constantAt(node, 2);
    if (zero === undefined) return undefined;
    // The small elements of a float type are not read: TensorRT and ONNX Runtime take 0 only.
    return zero.ints ?? this.#zeros.get(zero) ?? (zero.type.startsWith('float') ? [] : undefined);
  }

  /** The only zero point; null where they differ, or their values cannot be read. */
  zeroPoint(node: number): number | null {
    const points = this.zeroPoints(node);
    if (points === undefined) return null;
    const [first = 0] = points;
    return points.every((point) => point === first) ? first : null;
  }

  attribute(node: number, name: string, otherwise: number): number {
    const value = this.graph.nodes[node]!.attributes.find((attribute) => attribute.name === name)?.value;
    return typeof value === 'number' ? value : otherwise;
  }

  /** The product that makes a tensor, alone or with a bias or a BatchNormalization behind it; -1: none. */
  productBefore(tensor: number): number {
    const maker = this.producer(tensor);
    if (maker < 0 || products.has(this.op(maker))) return maker;
    const own = this.graph.inputs[maker]!.filter((one) => one >= 0 && !this.isConstant(one));
    if (!['Add', 'BatchNormalization'].includes(this.op(maker)) || own.length !== 1) return -1;
    const before = this.producer(own[0]!);
    return before >= 0 && products.has(this.op(before)) ? before : -1;
  }

  /** Which input of a product has its weights: the constant one, otherwise the second. */
  weightsIndex(node: number): 0 | 1 {
    return this.isConstant(this.input(node, 0)) && !this.isConstant(this.input(node, 1)) ? 0 : 1;
  }

  /**
   * The axis of a product's weights that TensorRT takes one scale per entry of: that of the output channels. null: one
   * scale for all; undefined: they are no matrix.
   */
  weightAxis(node: number, rank: number): number | null | undefined {
    const op = this.op(node);
    if (rank < 2) return undefined;
    const left = this.weightsIndex(node) === 0;
    if (op === 'MatMul') return rank - (left ? 2 : 1);
    if (op === 'Gemm') return this.attribute(node, left ? 'transA' : 'transB', 0) ? Number(left) : Number(!left);
    return op === 'Conv' ? 0 : null;
  }

  words(node: number): string {
    const { id, name, op } = this.graph.nodes[node]!;
    return name === '' ? `${op} (node ${id})` : `${op} "${oneLine(name)}"`;
  }
}

/** Nodes that compute in floating point although quantized values come in and quantized ones go out. */
export interface FloatIsland {
  /** Ids, in the model's order. */
  nodes: string[];
  /** Operator and name of the first: `Softmax "attn"`. */
  first: string;
  /** Bytes that go in and out in floating point; null: a shape is not known. */
  bytes: number | null;
  /** Time of the layers that compute nothing else; null: no layer of a build, or none that was measured. */
  ms: number | null;
}

/**
 * The islands, in the model's order: connected nodes outside INT8 that INT8 nodes feed and that a QuantizeLinear follows.
 * @param low ids of the nodes in INT8, as `quantizedNodes` finds them
 * @param report on a build; null: none
 */
export function floatIslands(
  network: QuantizedGraph,
  low: ReadonlySet<string>,
  { types, shapes }: InferredTensors,
  report: FusionReport | null,
): FloatIsland[] {
  const { graph } = network;
  if (low.size === 0) return [];
  const isLow = (node: number) => node >= 0 && low.has(graph.nodes[node]!.id);
  const computes = (node: number) =>
    graph.owner[node]! < 0 &&
    !isLow(node) &&
    !isPart(network.op(node)) &&
    !movers.has(network.op(node)) &&
    graph.outputs[node]!.some((tensor) => !network.isConstant(tensor));
  const seen = new Set<number>();
  const islands: FloatIsland[] = [];
  for (const start of graph.nodes.keys()) {
    if (seen.has(start) || !computes(start)) continue;
    const members = new Set([start]);
    const open = [start];
    let [fed, quantized] = [false, false];
    const border = new Set<number>();
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      seen.add(node);
      for (const tensor of graph.inputs[node]!) {
        if (tensor < 0 || network.isConstant(tensor)) continue;
        const maker = network.producer(tensor);
        if (maker >= 0 && computes(maker)) visit(maker);
        else {
          border.add(tensor);
          if (isLow(maker) || network.dequantizedBy(tensor) >= 0) fed = true;
        }
      }
      for (const tensor of graph.outputs[node]!)
        for (const reader of graph.tensors[tensor]!.consumers) {
          if (computes(reader)) visit(reader);
          else {
            border.add(tensor);
            if (network.op(reader) === 'QuantizeLinear') quantized = true;
          }
        }
      function visit(other: number): void {
        if (members.has(other)) return;
        members.add(other);
        open.push(other);
      }
    }
    if (!fed || !quantized) continue;
    const sizes = [...border].map((tensor) => {
      const shape = shapes[tensor];
      const known = shape?.every((dim) => typeof dim === 'number') ? shape : null;
      return known ? (byteLength(types[tensor] ?? 'float', [...known]) ?? null) : null;
    });
    const sorted = [...members].toSorted((a, b) => a - b);
    const nodes = sorted.map((node) => graph.nodes[node]!.id);
    islands.push({
      nodes,
      first: network.words(sorted[0]!),
      ms: ownTime(nodes, report),
      bytes: sizes.reduce<number | null>((sum, size) => (sum === null || size === null ? null : sum + size), 0),
    });
  }
  return islands;
}

function ownTime(nodes: readonly string[], report: FusionReport | null): number | null {
  const own = new Set(nodes);
  const isOwn = ({ nodes: computed }: ReportLayer) => computed.length > 0 && computed.every((id) => own.has(id));
  return totalMs((report?.layers ?? []).filter(isOwn));
}
