import { inDataOrder, type ModelGraph } from '../model/modelGraph.ts';
import { products } from '../model/products.ts';
import type { DataType, OnnxTensor } from '../onnx/onnxModel.ts';
import { dataTypeName } from '../onnx/tensorTypes.ts';
import { oneLine } from '../text/oneLine.ts';

/**
 * Operators that give some of the values of their first input as they are: TensorRT moves Q backward and DQ forward
 * over them. Concat does so where all its inputs are dequantized, and Gather of activations: of a table of embeddings, it
 * gives values that are dequantized weights.
 */
export const movers: ReadonlySet<string> = new Set(
  `Reshape Transpose Identity Squeeze Unsqueeze Flatten Slice Split Expand Tile DepthToSpace SpaceToDepth
  MaxPool`.split(/\s+/),
);

export const isQuantise = (op: string): boolean => op === 'QuantizeLinear';
export const isDequantise = (op: string): boolean => op === 'DequantizeLinear';
export const isPart = (op: string): boolean => isQuantise(op) || isDequantise(op);

/** `INT8`; of another type its name in ONNX. */
export const typeWord = (type: DataType): string =>
  ({ int8: 'INT8', uint8: 'UINT8', float8e4m3fn: 'FP8', int4: 'INT4', uint4: 'UINT4', float4e2m1: 'FP4' })[type] ??
  type;

export type ZeroPoints = ReadonlyMap<OnnxTensor, readonly number[]>;

/** What is known of the Q/DQ nodes of a model. */
export class QuantisedGraph {
  readonly graph: ModelGraph;
  /** Tensors that are known before the build. */
  readonly #constant = new Set<number>();
  readonly #dequantised = new Map<number, number>();
  readonly #initializers: Map<string, OnnxTensor>;

  readonly #zeros: ZeroPoints;

  /** @param zeros zero points of many channels, which the model's reader leaves in the file */
  constructor(graph: ModelGraph, zeros: ZeroPoints = new Map()) {
    this.graph = graph;
    this.#zeros = zeros;
    this.#initializers = new Map(graph.model.graph.initializers.map((tensor) => [tensor.name, tensor]));
    for (const [tensor, { kind }] of graph.tensors.entries()) if (kind === 'initializer') this.#constant.add(tensor);
    for (const node of inDataOrder(graph)) {
      const { op } = graph.nodes[node]!;
      const reads = graph.inputs[node]!.filter((tensor) => tensor >= 0);
      const fixed =
        op === 'Constant' || ((isPart(op) || movers.has(op)) && reads.every((tensor) => this.#constant.has(tensor)));
      if (fixed) for (const tensor of graph.outputs[node]!) this.#constant.add(tensor);
      const by = this.#dequantisedAfter(node);
      if (by >= 0) for (const tensor of graph.outputs[node]!) this.#dequantised.set(tensor, by);
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
  dequantisedBy(tensor: number): number {
    return this.#dequantised.get(tensor) ?? -1;
  }

  /** The QuantizeLinear nodes that read a tensor, through operators that only move it. */
  quantisedAs(tensor: number): number[] {
    const found: number[] = [];
    const open = [tensor];
    for (let at = open.pop(); at !== undefined; at = open.pop())
      for (const node of this.graph.tensors[at]!.consumers)
        if (isQuantise(this.op(node))) found.push(node);
        else if (movers.has(this.op(node)) && this.input(node, 0) === at) open.push(...this.graph.outputs[node]!);
    return found;
  }

  #dequantisedAfter(node: number): number {
    const op = this.op(node);
    if (isDequantise(op)) return node;
    const moves = movers.has(op) || (op === 'Gather' && !this.isConstant(this.input(node, 0)));
    const reads = op === 'Concat' ? this.graph.inputs[node]! : moves ? [this.input(node, 0)] : [];
    const by = reads.map((tensor) => this.dequantisedBy(tensor));
    return by.includes(-1) ? -1 : (by[0] ?? -1);
  }

  /** The initializer or Constant behind an input; undefined: another tensor. */
  constantAt(node: number, index: number): OnnxTensor | undefined {
    const tensor = this.input(node, index);
    if (tensor < 0) return undefined;
    const maker = this.producer(tensor);
    if (maker < 0) return this.#initializers.get(this.graph.tensors[tensor]!.name);
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

  /** The type that a Q node quantises to, or a DQ node reads. Where nothing says, it is what TensorRT's parser takes. */
  quantisedType(node: number): DataType {
    const given = this.constantAt(node, 2) ?? (isDequantise(this.op(node)) ? this.constantAt(node, 0) : undefined);
    const asked = this.attribute(node, 'output_dtype', 0);
    return given?.type ?? (asked > 0 ? dataTypeName(asked) : 'int8');
  }

  /** Whether nothing says which type a Q node quantises to: ONNX takes uint8 then. */
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
