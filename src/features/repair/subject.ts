import { type Network, networkOf } from '../../kernel/network/network.ts';
import { graphPathOf, isStandardDomain, standardOpset } from '../../kernel/network/modelGraph.ts';
import type { Shape } from '../../kernel/network/outputTypes.ts';
import {
  elementCount,
  type OnnxAttribute,
  type OnnxGraph,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
} from '../../kernel/read/onnx/onnxModel.ts';
import {
  type AttributeLists,
  type OpenExternal,
  readAttributeLists,
  readElements,
  readSparseElements,
  readStrings,
} from '../../kernel/read/onnx/readElements.ts';
import type { ByteSource } from '../../kernel/base/problem.ts';

/** A tensor whose elements are known. */
export interface Constant {
  type: string;
  shape: number[];
  values: Float64Array;
}

/** A tensor that ONNX Runtime computed, as raw data. */
export interface ComputedTensor {
  type: string;
  shape: number[];
  bytes: Uint8Array;
}

export interface SubjectOptions {
  /** Shapes of the inputs that the model is built for, one set for each of min, opt and max; empty: those of the model. */
  shapes: readonly ReadonlyMap<string, readonly number[]>[];
  /** Values that were given in place of an input's shape. */
  values?: ReadonlyMap<string, readonly number[]>;
  open: OpenExternal;
  /** Computes tensors of the main graph that depend on no input; a tensor that cannot be computed is missing. */
  compute: (names: readonly string[]) => Promise<ReadonlyMap<string, ComputedTensor>>;
}

/** The version of ONNX's operators for models of ai.onnx.ml that import none. */
export const addedOpset = 13;

export const importsOnnx = ({ opsets }: OnnxModel): boolean => opsets.some(({ domain }) => isStandardDomain(domain));

/** Elements of the largest constant that is kept. */
const mostKept = 1 << 20;

/** A model that is to be repaired, with what is known of it. Declared types of inner tensors are not trusted: they may be stale. */
export class RepairSubject {
  readonly model: OnnxModel;
  readonly source: ByteSource;
  readonly graph: Network;
  readonly opset: number;
  readonly options: SubjectOptions;
  /** Names of all tensors and nodes: new ones must differ. */
  readonly names: Set<string>;
  readonly #initializers = new Map<string, OnnxTensor>();
  #inferred: Network[] | undefined;
  readonly #constants = new Map<string, Promise<Constant | null>>();

  /** `model` was read from `source` with spans. */
  constructor(model: OnnxModel, source: ByteSource, options: SubjectOptions) {
    this.model = model;
    this.source = source;
    this.options = options;
    this.graph = networkOf(model);
    this.opset = importsOnnx(model) ? standardOpset(model) : addedOpset;
    this.names = new Set([...this.graph.tensors.map(({ name }) => name), ...model.nodes.map(({ name }) => name)]);
    for (const tensor of model.graph.initializers) this.#initializers.set(tensor.name, tensor);
  }

  /** The operator of ONNX's own domain, or `domain:Operator`. */
  op(node: OnnxNode): string {
    return isStandardDomain(node.domain) ? node.op : `${node.domain}:${node.op}`;
  }

  /** Index of a tensor as a node sees it; -1: there is none. */
  tensor(node: OnnxNode, name: string): number {
    return name === '' ? -1 : this.graph.tensorAt(graphPathOf(node.id), name);
  }

  producer(node: OnnxNode, name: string): OnnxNode | null {
    return this.graph.nodes[this.graph.tensors[this.tensor(node, name)]?.producer ?? -1] ?? null;
  }

  /** The nodes that read a tensor, those inside of subgraphs included. */
  readers(node: OnnxNode, name: string): OnnxNode[] {
    const readers = new Set(this.graph.tensors[this.tensor(node, name)]?.consumers ?? []);
    return [...readers].map((index) => this.graph.nodes[index]!);
  }

  /** Whether something but nodes reads the tensor: it is an output of the model or of a subgraph. */
  isOutput(node: OnnxNode, name: string): boolean {
    const tensor = this.tensor(node, name);
    if (this.graph.graphOutputs.includes(tensor)) return true;
    return [...this.graph.bodyOutputs.values()].some((outputs) => outputs.includes(tensor));
  }

  isUsed(node: OnnxNode, name: string): boolean {
    return name !== '' && (this.isOutput(node, name) || this.readers(node, name).length > 0);
  }

  type(node: OnnxNode, name: string): string | null {
    const [first] = this.#sets();
    return first!.typeOf(graphPathOf(node.id), name) ?? this.graph.inferred.types[this.tensor(node, name)] ?? null;
  }

  /** The shape of a tensor in each of the sets of input shapes; what the model declares of inner tensors does not count. */
  shapes(node: OnnxNode, name: string): Shape[] {
    return this.#sets().map((network) => network.inferred.shapes[network.tensorAt(graphPathOf(node.id), name)] ?? null);
  }

  /** The shape with the dimensions that are the same in all sets; the others are null. */
  shape(node: OnnxNode, name: string): Shape {
    const [first = null, ...others] = this.shapes(node, name);
    if (first === null) return null;
    if (others.some((other) => other?.length !== first.length)) return null;
    return first.map((dim, axis) => (others.every((other) => other![axis] === dim) ? dim : null));
  }

  /** The rank, if it is the same in all sets; otherwise what the model declares. */
  rank(node: OnnxNode, name: string): number | null {
    const ranks = new Set(this.shapes(node, name).map((shape) => shape?.length ?? null));
    const [rank = null] = ranks;
    if (ranks.size === 1 && rank !== null) return rank;
    return this.graph.tensors[this.tensor(node, name)]?.value?.shape?.length ?? null;
  }

  /** The one integer or boolean of a tensor that follows from the shapes, if it is the same in all sets; null: not known. */
  value(node: OnnxNode, name: string): number | null {
    const values = this.#sets().map((network) =>
      network.inferred.values?.get(network.tensorAt(graphPathOf(node.id), name)),
    );
    const [first] = values;
    const number = first?.length === 1 ? first[0] : null;
    return typeof number === 'number' && values.every((value) => value?.length === 1 && value[0] === number)
      ? number
      : null;
  }

  /** The elements of a sparse initializer with its zeros; null: they cannot be read. */
  sparse(tensor: OnnxTensor): Promise<Float64Array | null> {
    return readSparseElements(tensor, this.source);
  }

  /** The elements of an initializer or Constant; null: it is none, or they cannot be read. */
  constant(node: OnnxNode, name: string | undefined): Promise<Constant | null> {
    if (!name) return Promise.resolve(null);
    const known = this.#constants.get(`${graphPathOf(node.id)}\n${name}`);
    if (known) return known;
    const read = this.#constant(node, name);
    // Large ones are read again: they would stay in memory.
    const size = elementCount(this.constantTensor(node, name)?.shape ?? []);
    if (size <= mostKept) this.#constants.set(`${graphPathOf(node.id)}\n${name}`, read);
    return read;
  }

  async #constant(node: OnnxNode, name: string): Promise<Constant | null> {
    const tensor = this.constantTensor(node, name);
    if (tensor) {
      const values = await readElements(tensor, this.source, this.options.open);
      return values && { type: tensor.type, shape: tensor.shape, values };
    }
    const attribute = this.#constantNode(node, name)?.attributes[0];
    if (!attribute) return null;
    const numbers = (list: number[], type: string, shape: number[]): Constant => ({
      type,
      shape,
      values: Float64Array.from(list),
    });
    const value = attribute.value;
    if (attribute.name === 'value_int') return numbers([value as number], 'int64', []);
    if (attribute.name === 'value_float') return numbers([value as number], 'float', []);
    if (attribute.name !== 'value_ints' && attribute.name !== 'value_floats') return null;
    const { ints, floats } = await this.#lists(attribute);
    return attribute.name === 'value_ints'
      ? numbers(ints, 'int64', [ints.length])
      : numbers(floats, 'float', [floats.length]);
  }

  /** Whether a tensor is an initializer or the result of a Constant. */
  isConstant(node: OnnxNode, name: string): boolean {
    return this.constantTensor(node, name) !== null || this.#constantNode(node, name) !== null;
  }

  /** The initializer, or the tensor of a Constant. */
  constantTensor(node: OnnxNode, name: string): OnnxTensor | null {
    const tensor = this.graph.tensors[this.tensor(node, name)];
    if (tensor?.kind === 'initializer') {
      if (tensor.owner < 0) return this.#initializers.get(name) ?? null;
      return this.#innerInitializer(node, name);
    }
    const attribute = this.#constantNode(node, name)?.attributes.find((one) => one.name === 'value');
    const value = attribute?.value;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  }

  /** The elements of a constant of strings; null: it is none. */
  async strings(node: OnnxNode, name: string): Promise<string[] | null> {
    const tensor = this.constantTensor(node, name);
    return tensor && readStrings(tensor, this.source);
  }

  /** The strings of an attribute that is a tensor; null: it is none. */
  async attributeStrings(node: OnnxNode, name: string): Promise<string[] | null> {
    const value = node.attributes.find((one) => one.name === name)?.value;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    return readStrings(value, this.source);
  }

  /** The value that a ConstantOfShape fills its output with; null: not known. */
  async filling(node: OnnxNode): Promise<number | null> {
    if (!node.attributes.some(({ name }) => name === 'value')) return 0;
    return (await this.tensorAttribute(node, 'value'))?.[0] ?? null;
  }

  /** The elements of an attribute that is a tensor; null: it is none, or they cannot be read. */
  async tensorAttribute(node: OnnxNode, name: string): Promise<Float64Array | null> {
    const value = node.attributes.find((one) => one.name === name)?.value;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    return readElements(value, this.source, this.options.open);
  }

  #innerInitializer(node: OnnxNode, name: string): OnnxTensor | null {
    for (const { subgraphs } of this.graph.nodes)
      for (const { graph } of subgraphs)
        if (graphPathOf(node.id).startsWith(graph.path)) {
          const found = graph.initializers.find((tensor) => tensor.name === name);
          if (found) return found;
        }
    return null;
  }

  #constantNode(node: OnnxNode, name: string): OnnxNode | null {
    const producer = this.producer(node, name);
    return producer && this.op(producer) === 'Constant' ? producer : null;
  }

  #lists(attribute: OnnxAttribute): Promise<AttributeLists> {
    return readAttributeLists(attribute.span!, this.source);
  }

  /** The whole lists of an attribute; null: it is absent. */
  async lists(node: OnnxNode, name: string): Promise<AttributeLists | null> {
    const attribute = node.attributes.find((one) => one.name === name);
    return attribute ? this.#lists(attribute) : null;
  }

  #sets(): Network[] {
    return (this.#inferred ??= (this.options.shapes.length > 0 ? this.options.shapes : [new Map()]).map((shapes) =>
      networkOf(withShapes(this.model, shapes)),
    ));
  }
}

/** The model without what it declares of inner tensors and outputs, with the given shapes of its inputs. */
function withShapes(model: OnnxModel, shapes: ReadonlyMap<string, readonly number[]>): OnnxModel {
  const nodes: OnnxNode[] = [];
  const bare = (graph: OnnxGraph): OnnxGraph => {
    const copies = graph.nodes.map((node) => {
      const copy: OnnxNode = { ...node };
      nodes.push(copy);
      if (node.subgraphs.length > 0)
        copy.subgraphs = node.subgraphs.map(({ attribute, graph: body }) => ({ attribute, graph: bare(body) }));
      return copy;
    });
    const outputs = graph.outputs.map((value) => ({ ...value, type: null, shape: null }));
    return { ...graph, nodes: copies, values: [], outputs };
  };
  const graph = bare(model.graph);
  graph.inputs = graph.inputs.map((value) => {
    const shape = shapes.get(value.name);
    return shape?.length === value.shape?.length && shape ? { ...value, shape: [...shape] } : value;
  });
  return { ...model, graph, nodes };
}
