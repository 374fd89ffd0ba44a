// A network: a model with what follows from it, made once; the types and shapes of every tensor.
import { addTo } from '../base/addTo.ts';
import {
  type DataType,
  intAttribute,
  intsAttribute,
  isIntegerType,
  type OnnxAttribute,
  type OnnxFunction,
  type OnnxGraph,
  type OnnxModel,
  type OnnxNode,
} from '../read/onnx/onnxModel.ts';
import { outputShapes } from './internal/shapeRules.ts';
import { type Elements, elementsOf, valueOf } from './internal/shapeValues.ts';
import {
  createModelGraph,
  expandFunctions,
  graphPathOf,
  inDataOrder,
  isStandardDomain,
  type ModelGraph,
  type ModelTensor,
  standardOpset,
} from './modelGraph.ts';
import { nodeRoles, type NodeRoles } from './nodeRoles.ts';
import { axisOf, common, containerOf, contentOf, isKnown, outputTypes, refined, type Shape } from './outputTypes.ts';

export { isOfOneProduct, moving, scalesAt } from './internal/scales.ts';
export { transposedPadding } from './internal/windowShapes.ts';

/**
 * A model as a network: its nodes, tensors, scopes and edges by number, and what follows from them without a build. Each
 * part is made at its first use, and once.
 */
export interface Network extends ModelGraph {
  /** Type and shape of every tensor, by its index. */
  readonly inferred: InferredTensors;
  /** What each node is for, as far as the model alone says it. */
  readonly roles: NodeRoles;
  /** The type of a tensor as seen in the graph with this path ('' is the main graph); null: cannot be told. */
  typeOf(graphPath: string, tensor: string): DataType | null;
  /** Types of one node's outputs, in order. */
  outputTypesOf(node: OnnxNode): (DataType | null)[];
  /** The tensors of that name in all graphs, those of an owner before those of its subgraphs. */
  tensorsNamed(name: string): readonly ModelTensor[];
}

const networks = new WeakMap<OnnxModel, Network>();

/** The network of a model, which must not change afterwards: the same for all who ask. Never fails, see `createModelGraph`. */
export function networkOf(model: OnnxModel): Network {
  let network = networks.get(model);
  if (!network) networks.set(model, (network = createNetwork(model)));
  return network;
}

const expansions = new WeakMap<OnnxModel, OnnxModel>();

/** The network that TensorRT takes of a model: each call of a local function has the function's body as a subgraph. */
export function builtNetworkOf(model: OnnxModel): Network {
  if (model.functions.length === 0) return networkOf(model);
  let expanded = expansions.get(model);
  if (!expanded) expansions.set(model, (expanded = expandFunctions(model)));
  return networkOf(expanded);
}

function createNetwork(model: OnnxModel): Network {
  let inferred: InferredTensors | undefined;
  let roles: NodeRoles | undefined;
  let named: Map<string, ModelTensor[]> | undefined;
  return {
    ...createModelGraph(model),
    get inferred() {
      return (inferred ??= inferTensors(this));
    },
    get roles() {
      return (roles ??= nodeRoles(this));
    },
    typeOf(path, tensor) {
      return this.inferred.types[this.tensorAt(path, tensor)] ?? null;
    },
    outputTypesOf(node) {
      const path = graphPathOf(node.id);
      return node.outputs.map((tensor) => (tensor === '' ? null : this.typeOf(path, tensor)));
    },
    tensorsNamed(name) {
      if (!named) {
        named = new Map();
        for (const tensor of this.tensors) addTo(named, tensor.name, tensor);
      }
      return name === '' ? [] : (named.get(name) ?? []);
    },
  };
}

/** Static type and shape of every tensor, by its index in the graph. */
export interface InferredTensors {
  /** Element type, `seq(float)` of what holds tensors; null: not known. */
  types: readonly (DataType | null)[];
  shapes: readonly Shape[];
  /** Elements of small integer tensors, by index, as far as they follow from shapes and constants. */
  values?: ReadonlyMap<number, Elements>;
}

/** What is known of one tensor. */
interface Known {
  type: DataType | null;
  shape: Shape;
  value: Elements | null;
}

const nothing: Known = { type: null, shape: null, value: null };
/** Functions may call one another this deep. */
const deepest = 64;
/** As many different calls as shapes are followed through. */
const mostCalls = 2000;

/** What a tensor's producer makes of its inputs, where the file declares something that cannot be it. */
export interface Contradiction {
  tensor: number;
  declared: Shape;
  inferred: Shape;
}

/**
 * Where the file declares a shape of an intermediate tensor or output that its inputs contradict: another size, or one
 * size where the inputs leave it open. Exporters write such where they traced the model with one batch.
 */
export function contradictedShapes(graph: ModelGraph): Contradiction[] {
  // An exporter that knows no shape writes an empty one.
  const declares = ({ kind, value, consumers }: ModelGraph['tensors'][number]): boolean =>
    kind === 'node' && consumers.length > 0 && (value?.shape?.length ?? 0) > 0;
  if (!graph.tensors.some(declares)) return [];
  const { shapes } = inferTensors(graph, true);
  return graph.tensors.flatMap(({ value, kind, producer }, tensor) => {
    const declared = value?.shape ?? null;
    const inferred = shapes[tensor] ?? null;
    if (kind !== 'node' || producer < 0 || !declared || declared.length === 0 || inferred === null) return [];
    const isOther =
      declared.length !== inferred.length ||
      declared.some((dim, axis) => typeof dim === 'number' && dim >= 0 && isOtherSize(dim, inferred[axis] ?? null));
    return isOther ? [{ tensor, declared, inferred }] : [];
  });
}

const isOtherSize = (declared: number, inferred: number | string | null): boolean =>
  inferred !== null && inferred !== declared;

/**
 * Infers types and shapes forward: what the file declares, and else what the operators make of their inputs. Symbolic
 * dimensions are kept where they pass through, small integers are computed for shape arithmetic. What an unknown
 * operator makes is not known unless the file declares it.
 * @param doubted what the file declares of the shapes that nodes make does not count
 */
export function inferTensors(graph: ModelGraph, doubted = false): InferredTensors {
  return new Inference(graph, standardOpset(graph.model), new Calls(graph.model.functions, 0), doubted).run();
}

class Inference {
  readonly #graph: ModelGraph;
  readonly #opset: number;
  readonly #calls: Calls;
  readonly #types: (DataType | null)[];
  readonly #shapes: Shape[];
  readonly #values = new Map<number, Elements>();
  /** The nodes of each owner's subgraphs in data order; those of the main graph under -1. */
  readonly #inside = new Map<number, number[]>();

  /** `doubted`: what the file declares of the shapes that nodes make does not count. */
  constructor(graph: ModelGraph, opset: number, calls: Calls, doubted = false) {
    this.#graph = graph;
    this.#opset = opset;
    this.#calls = calls;
    this.#types = graph.tensors.map(({ value }) => value?.type ?? null);
    this.#shapes = graph.tensors.map(({ value, kind }) => (doubted && kind === 'node' ? null : (value?.shape ?? null)));
    for (const node of inDataOrder(graph)) {
      const owner = graph.owner[node]!;
      addTo(this.#inside, owner, node);
    }
  }

  /** `given`: what is known of the graph's inputs, by position; of a function's call. */
  run(given: readonly Known[] = []): InferredTensors {
    const { model, byName } = this.#graph;
    for (const [i, { name }] of model.graph.inputs.entries()) this.#learn(byName.get(name) ?? -1, given[i] ?? nothing);
    this.#constants(model.graph);
    this.#walk(-1);
    return { types: this.#types, shapes: this.#shapes, values: this.#values };
  }

  /** What is known of the graph's outputs, after `run`. */
  outputs(): Known[] {
    return this.#graph.graphOutputs.map((tensor) => this.#known(tensor));
  }

  #constants(source: OnnxGraph): void {
    const names = this.#graph.scopes.get(source.path);
    for (const tensor of source.initializers) {
      const elements = elementsOf(tensor);
      const index = elements && names?.get(tensor.name);
      if (elements && index !== undefined && index !== null) this.#values.set(index, elements);
    }
  }

  #walk(owner: number): void {
    for (const index of this.#inside.get(owner) ?? []) {
      const node = this.#graph.nodes[index]!;
      const outputs = this.#graph.outputs[index]!;
      if (node.subgraphs.length === 0 && outputs.every((tensor) => this.#isDone(tensor))) continue;
      const made =
        node.subgraphs.length > 0
          ? this.#control(node, index)
          : (this.#calls.of(node, () => this.#inputs(index), this.#graph.model) ?? this.#node(node, index));
      let at = 0;
      for (let i = 0; i < node.outputs.length; i++)
        if (node.outputs[i] !== '') this.#learn(outputs[at++] ?? -1, made[i] ?? nothing);
    }
  }

  #inputs(index: number): Known[] {
    return this.#graph.inputs[index]!.map((tensor) => this.#known(tensor));
  }

  /** The file declares all that could be inferred: most exporters' files do. */
  #isDone(tensor: number): boolean {
    const shape = this.#shapes[tensor]!;
    const type = this.#types[tensor]!;
    return type !== null && shape !== null && isKnown(shape) && !mayBeShape(type, shape);
  }

  #node(node: OnnxNode, index: number): Known[] {
    const types: (DataType | null)[] = [];
    const shapes: Shape[] = [];
    const values: (Elements | null)[] = [];
    for (const tensor of this.#graph.inputs[index]!) {
      types.push(this.#types[tensor] ?? null);
      shapes.push(this.#shapes[tensor] ?? null);
      values.push(this.#values.get(tensor) ?? null);
    }
    const madeTypes = outputTypes(node, types);
    const madeShapes = outputShapes({ node, opset: this.#opset, shapes, values });
    const isStandard = isStandardDomain(node.domain);
    return node.outputs.map((_, i) => {
      const type = madeTypes[i] ?? null;
      const shape = madeShapes[i] ?? null;
      const hasValue = i === 0 && isStandard && mayBeShape(type, shape);
      return { type, shape, value: hasValue ? valueOf({ node, opset: this.#opset, shapes, values }) : null };
    });
  }

  /** If, Loop, Scan, SequenceMap: the bodies see what the node is given, the node gives what they make. */
  #control(node: OnnxNode, index: number): Known[] {
    const inputs = this.#inputs(index);
    const given = this.#isScan(node) ? givenToScan(node, inputs) : givenTo(node.op, inputs);
    for (const { graph: body } of node.subgraphs) {
      const names = this.#graph.scopes.get(body.path);
      for (const [i, { name }] of body.inputs.entries()) this.#learn(names?.get(name) ?? -1, given[i] ?? nothing);
      this.#constants(body);
    }
    this.#walk(index);
    const results = node.subgraphs.map(({ graph: body }) =>
      body.outputs.map(({ name }) => this.#known(this.#graph.tensorAt(body.path, name))),
    );
    return this.#isScan(node) ? scanResults(node, inputs, results) : controlResults(node, inputs, results);
  }

  /** Earlier ones have a batch axis, and their first input is no state. */
  #isScan({ op }: OnnxNode): boolean {
    return op === 'Scan' && this.#opset >= 9;
  }

  #known(tensor: number): Known {
    if (tensor < 0) return nothing;
    return {
      type: this.#types[tensor]!,
      shape: this.#shapes[tensor]!,
      value: this.#values.get(tensor) ?? null,
    };
  }

  /** What the file declares wins over what is inferred, but for dimensions that it leaves open. */
  #learn(tensor: number, { type, shape, value }: Known): void {
    if (tensor < 0) return;
    this.#types[tensor] ??= type;
    this.#shapes[tensor] = refined(this.#shapes[tensor]!, shape);
    if (value) this.#values.set(tensor, value);
  }
}

/** What a node's subgraphs get. The shape of what a Loop carries may change from one iteration to the next. */
function givenTo(op: string, inputs: Known[]): Known[] {
  const types = inputs.map(({ type }): Known => ({ ...nothing, type }));
  if (op === 'If') return [];
  if (op === 'Loop') {
    const [count, condition] = ['int64', 'bool'].map((type): Known => ({ type, shape: [], value: null }));
    return [count!, condition!, ...types.slice(2)];
  }
  return op === 'SequenceMap' ? types.map(({ type }) => ({ ...nothing, type: contentOf(type) })) : types;
}

function controlResults(node: OnnxNode, inputs: Known[], results: Known[][]): Known[] {
  const [first = [], second] = results;
  if (node.op === 'Loop') {
    const carried = inputs.length - 2;
    return first.slice(1).map(({ type, shape }, i) => {
      if (i >= carried) return { type, shape: shape && [null, ...shape], value: null };
      const start = inputs[i + 2]!;
      return { type: type ?? start.type, shape: common(start.shape, shape), value: null };
    });
  }
  if (node.op === 'SequenceMap') return first.map(({ type }) => ({ ...nothing, type: containerOf('seq', type) }));
  if (node.op === 'If')
    return first.map(({ type, shape }, i) => {
      const other = second?.[i];
      return { type: type ?? other?.type ?? null, shape: other ? common(shape, other.shape) : null, value: null };
    });
  return first.map(({ type }) => ({ ...nothing, type }));
}

/** How many inputs of a Scan are states; the others are taken apart along an axis. */
const statesOf = (node: OnnxNode, inputs: Known[]): number =>
  inputs.length - (intAttribute(node, 'num_scan_inputs') ?? inputs.length);

/** A state keeps its shape; of what is taken apart the body gets a slice. */
function givenToScan(node: OnnxNode, inputs: Known[]): Known[] {
  const states = statesOf(node, inputs);
  const axes = intsAttribute(node, 'scan_input_axes');
  return inputs.map(({ type, shape }, i) => {
    if (i < states || shape === null) return { type, shape, value: null };
    const axis = axisOf(axes?.[i - states] ?? 0, shape.length);
    return { type, shape: axis === undefined ? null : shape.toSpliced(axis, 1), value: null };
  });
}

/** The states after the last slice, then what the body makes of each slice, along an axis as long as the inputs'. */
function scanResults(node: OnnxNode, inputs: Known[], [results = []]: Known[][]): Known[] {
  const states = statesOf(node, inputs);
  const axes = intsAttribute(node, 'scan_output_axes');
  const read = inputs[states]?.shape ?? null;
  const along = axisOf(intsAttribute(node, 'scan_input_axes')?.[0] ?? 0, read?.length ?? 0);
  const slices = along === undefined ? null : (read?.[along] ?? null);
  return results.map(({ type, shape }, i) => {
    const state = inputs[i];
    if (i < states && state) return { type: type ?? state.type, shape: refined(state.shape, shape), value: null };
    const axis = shape && axisOf(axes?.[i - states] ?? 0, shape.length + 1);
    return { type, shape: typeof axis === 'number' ? shape!.toSpliced(axis, 0, slices) : null, value: null };
  });
}

/** A scalar or list of integers, which may become a shape. */
const mayBeShape = (type: DataType | null, shape: Shape): boolean =>
  shape !== null && shape.length < 2 && type !== null && (isIntegerType(type) || type === 'bool');

const callOf = (domain: string, name: string, overload = ''): string => [domain, name, overload].join('\n');

/** Model-local functions: bodies, walked with what is known at each call. */
class Calls {
  readonly #functions = new Map<string, OnnxFunction>();
  readonly #list: readonly OnnxFunction[];
  readonly #depth: number;
  /** Results by function and what it is given: functions that call one another twice would be walked without end. */
  readonly #results: Map<string, Known[]>;

  constructor(functions: readonly OnnxFunction[], depth: number, results = new Map<string, Known[]>()) {
    this.#list = functions;
    this.#depth = depth;
    this.#results = results;
    for (const fn of functions) this.#functions.set(callOf(fn.domain, fn.name, fn.overload), fn);
  }

  /** What a call gives; null: the node calls no function of the model. */
  of(node: OnnxNode, read: () => Known[], model: OnnxModel): Known[] | null {
    if (this.#functions.size === 0) return null;
    const name = callOf(node.domain, node.op, node.overload);
    const fn = this.#functions.get(name);
    if (!fn) return null;
    if (this.#depth >= deepest) return [];
    const inputs = read();
    // Shapes may be new at every call, and calls as many as two to the depth: from here on only types count.
    const given = this.#results.size < mostCalls ? inputs : inputs.map(({ type }) => ({ ...nothing, type }));
    const attributes = node.attributes.map(({ name: attribute, value }) => [attribute, value]);
    const key = JSON.stringify([name, given, attributes]);
    const known = this.#results.get(key);
    if (known) return known;
    // A function that calls itself, which ONNX forbids, learns nothing from that.
    this.#results.set(key, []);
    const inference = new Inference(
      createModelGraph(bodyModel(fn, node.attributes, model)),
      standardOpset(fn.opsets ? { opsets: fn.opsets } : model),
      new Calls(this.#list, this.#depth + 1, this.#results),
    );
    inference.run(given);
    const outputs = inference.outputs();
    this.#results.set(key, outputs);
    return outputs;
  }
}

/** A function's body as a model of its own, with the attributes of the call in it. */
function bodyModel(fn: OnnxFunction, attributes: readonly OnnxAttribute[], { irVersion }: OnnxModel): OnnxModel {
  const value = (name: string) => ({ name, type: null, shape: null });
  const given = new Map(attributes.map((attribute) => [attribute.name, attribute]));
  const nodes = fn.nodes.map((node) => {
    if (!node.attributes.some(({ reference }) => reference !== undefined)) return node;
    const filled = node.attributes.map((attribute) => {
      const found = attribute.reference === undefined ? undefined : given.get(attribute.reference);
      return found ? { ...found, name: attribute.name } : attribute;
    });
    return { ...node, attributes: filled };
  });
  const graph: OnnxGraph = {
    name: fn.name,
    path: '',
    nodes,
    inputs: fn.inputs.map(value),
    outputs: fn.outputs.map(value),
    values: [],
    initializers: [],
  };
  const all = nodes.flatMap(withBody);
  return {
    irVersion,
    producer: '',
    producerVersion: '',
    domain: '',
    opsets: fn.opsets ?? [],
    metadata: [],
    graph,
    functions: [],
    nodes: all,
  };
}

/** A node with all nodes of its bodies. */
export const withBody = (node: OnnxNode): OnnxNode[] => [
  node,
  ...node.subgraphs.flatMap(({ graph }) => graph.nodes.flatMap(withBody)),
];
