import { inDataOrder, type ModelGraph } from '../model/modelGraph.ts';
import type { DataType, OnnxTensor } from '../onnx/onnxModel.ts';
import { dataTypeName } from '../onnx/tensorTypes.ts';

/** Operators that pass dequantized values on as they are. */
export const movers: ReadonlySet<string> = new Set([
  'Reshape',
  'Transpose',
  'Identity',
  'Squeeze',
  'Unsqueeze',
  'Flatten',
]);

export const isQuantise = (op: string): boolean => op === 'QuantizeLinear';
export const isDequantise = (op: string): boolean => op === 'DequantizeLinear';
export const isPart = (op: string): boolean => isQuantise(op) || isDequantise(op);

/** What is known of the Q/DQ nodes of a model. */
export class QuantisedGraph {
  readonly graph: ModelGraph;
  /** Tensors that are known before the build. */
  readonly #constant = new Set<number>();
  readonly #initializers: Map<string, OnnxTensor>;

  constructor(graph: ModelGraph) {
    this.graph = graph;
    this.#initializers = new Map(graph.model.graph.initializers.map((tensor) => [tensor.name, tensor]));
    for (const [tensor, { kind }] of graph.tensors.entries()) if (kind === 'initializer') this.#constant.add(tensor);
    for (const node of inDataOrder(graph)) {
      const { op } = graph.nodes[node]!;
      const reads = graph.inputs[node]!.filter((tensor) => tensor >= 0);
      const fixed =
        op === 'Constant' || ((isPart(op) || movers.has(op)) && reads.every((tensor) => this.#constant.has(tensor)));
      if (fixed) for (const tensor of graph.outputs[node]!) this.#constant.add(tensor);
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
    let node = this.producer(tensor);
    while (node >= 0 && movers.has(this.op(node))) node = this.producer(this.input(node, 0));
    return node >= 0 && isDequantise(this.op(node)) ? node : -1;
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

  /** Of several, the first; 0 where there is none, null where its value cannot be read. */
  zeroPoint(node: number): number | null {
    if (this.input(node, 2) < 0) return 0;
    const zero = this.constantAt(node, 2);
    // The small elements of a float type are not read: TensorRT and ONNX Runtime take 0 only.
    return zero === undefined ? null : (zero.ints?.[0] ?? (zero.type.startsWith('float') ? 0 : null));
  }

  attribute(node: number, name: string, otherwise: number): number {
    const value = this.graph.nodes[node]!.attributes.find((attribute) => attribute.name === name)?.value;
    return typeof value === 'number' ? value : otherwise;
  }

  /** The axis of a product's weights (input 1) that is one output channel per entry; undefined: they have none. */
  outputAxis(node: number, rank: number): number | undefined {
    const op = this.op(node);
    if (rank < 2) return undefined;
    if (op === 'MatMul') return rank - 1;
    if (op === 'Gemm') return this.attribute(node, 'transB', 0) ? 0 : 1;
    return op === 'Conv' ? 0 : 1;
  }

  words(node: number): string {
    const { id, name, op } = this.graph.nodes[node]!;
    return name === '' ? `${op} (node ${id})` : `${op} "${name}"`;
  }
}
