// What TensorRT makes of an operator.
import type { OnnxNode, OnnxValue } from '../read/onnx/onnxModel.ts';
import { constantOf, type Elements, elementsOf, valueOf } from './internal/shapeValues.ts';
import { inDataOrder, isStandardDomain, type ModelGraph, readsOf, standardOpset } from './modelGraph.ts';

/** What a node is by the graph alone, before anything is known about an engine. */
export type NodeRole =
  /** Works on data that only the inference knows. */
  | 'data'
  /** A constant, or everything that it depends on is constant, or all that is read of its shape is. */
  | 'constant'
  /** Computes a shape from shapes: runs on the host where shapes are dynamic. */
  | 'shape'
  /** Hands its input on unchanged. */
  | 'identity'
  /** Nothing that the model gives back depends on it. */
  | 'dead';

/** Which inputs of an operator are shapes, axes, sizes or counts rather than data. */
const shapeInputs = new Map<string, number[]>(
  Object.entries({
    Reshape: [1],
    Expand: [1],
    Slice: [1, 2, 3, 4],
    ConstantOfShape: [0],
    Range: [0, 1, 2],
    Resize: [1, 2, 3],
    Upsample: [1],
    Tile: [1],
    Pad: [1, 3],
    Squeeze: [1],
    Unsqueeze: [1],
    TopK: [1],
    Split: [1],
    OneHot: [1],
    CumSum: [1],
    Trilu: [1],
    CenterCropPad: [1],
    NonMaxSuppression: [2],
    ReduceSum: [1],
    ReduceMean: [1],
    ReduceMax: [1],
    ReduceMin: [1],
    ReduceProd: [1],
    ReduceL1: [1],
    ReduceL2: [1],
    ReduceLogSum: [1],
    ReduceLogSumExp: [1],
    ReduceSumSquare: [1],
  }),
);

/** Operators whose result's shape depends on values, so that it is known only when the engine runs. */
const shapeFromData = new Set([
  'NonZero',
  'NonMaxSuppression',
  'Unique',
  'Compress',
  'StringSplit',
  'If',
  'Loop',
  'Scan',
]);
/** Operators whose results differ from run to run. */
export const randomOperators: ReadonlySet<string> = new Set([
  'RandomNormal',
  'RandomNormalLike',
  'RandomUniform',
  'RandomUniformLike',
  'Multinomial',
  'Bernoulli',
]);
const identities = new Set(['Identity', 'Dropout']);
const owners = new Set(['If', 'Loop', 'Scan', 'SequenceMap']);

/** Operators that only give a tensor another shape: free wherever the data is in order. */
export const viewsData = new Set(['Reshape', 'Flatten', 'Squeeze', 'Unsqueeze', 'Identity', 'Dropout']);

export interface NodeRoles {
  /** By index of the node. */
  roles: NodeRole[];
  /** 1 for a node that depends on shapes and constants only, and on some shape that is not wholly known before the build. */
  arithmetic: Uint8Array;
  /** True where the graph's shapes are known before the build: then shape arithmetic is constant. */
  staticShapes: boolean;
}

/**
 * Sorts nodes into data, constants, shape arithmetic, identities and dead code, by the graph alone.
 * `live`: tensors that the engine gives back besides the model's outputs (outputs marked at build time).
 * `copied`: tensors that the engine copies from the host, where they are computed though nothing needs them as a shape.
 * `logged`: what a log says of shapes and constants, which counts more than the model's declarations.
 */
export function nodeRoles(
  graph: ModelGraph,
  live: readonly number[] = [],
  copied: readonly number[] = [],
  logged: LoggedShapes = nothingLogged,
): NodeRoles {
  const { constant, arithmetic, staticShapes } = constness(graph, logged);
  foldUnread(graph, constant, arithmetic);
  const host = hostShapes(graph, constant, arithmetic, copied);
  const alive = liveNodes(graph, live);
  const roles = graph.nodes.map((node, index): NodeRole => {
    if (constant[index] && !arithmetic[index]) return 'constant';
    if (!alive[index]) return 'dead';
    if (constant[index]) return 'constant';
    // Shape and Size read no data: even if no one needs the value as a shape, the host knows it.
    if (host[index] || isShapeOp(node)) return 'shape';
    return identities.has(node.op) && isStandardDomain(node.domain) ? 'identity' : 'data';
  });
  return { roles, arithmetic, staticShapes };
}

/** What TensorRT logs of shapes and constants, and where a declared shape does not count. */
export interface LoggedShapes {
  /** Tensors whose declared shape their inputs contradict. */
  contradicted: ReadonlySet<number>;
  /** What Shape and Size nodes read, by the parser: -1 for a dimension that it does not know. */
  inputDims: ReadonlyMap<number, readonly number[]>;
  /** Nodes of whose results TensorRT made constants. */
  constants: ReadonlySet<number>;
}

const nothingLogged: LoggedShapes = { contradicted: new Set(), inputDims: new Map(), constants: new Set() };

const isShapeOp = (node: OnnxNode): boolean =>
  (node.op === 'Shape' || node.op === 'Size') && isStandardDomain(node.domain);

interface Constness {
  constant: Uint8Array;
  /** Depends on shapes and constants only. */
  arithmetic: Uint8Array;
  staticShapes: boolean;
}

function constness(graph: ModelGraph, logged: LoggedShapes): Constness {
  const count = graph.nodes.length;
  const constant = new Uint8Array(count);
  const arithmetic = new Uint8Array(count);
  /** The shapes of the node's outputs are known before the build. */
  const fixed = new Uint8Array(count);
  const isConstant = (tensor: number): boolean => {
    const { producer, kind } = graph.tensors[tensor]!;
    return kind === 'initializer' || (producer >= 0 && constant[producer] === 1);
  };
  const isFixed = (tensor: number): boolean => {
    const { producer, kind, value } = graph.tensors[tensor]!;
    if (kind === 'initializer' || (hasStaticShape(value) && !logged.contradicted.has(tensor))) return true;
    return producer >= 0 && (constant[producer] === 1 || fixed[producer] === 1);
  };
  const isArithmetic = (tensor: number): boolean => {
    const { producer } = graph.tensors[tensor]!;
    return producer >= 0 && arithmetic[producer] === 1;
  };
  const elements = new ShapeElements(graph, logged);
  for (const index of inDataOrder(graph)) {
    const node = graph.nodes[index]!;
    const reads = readsOf(graph, index);
    const isOwner = owners.has(node.op) || node.subgraphs.length > 0;
    if (isShapeOp(node)) {
      const isDeclared = reads.length > 0 && reads.every(isFixed) && !logged.inputDims.get(index)?.includes(-1);
      if (isDeclared || elements.areKnown(index) || logged.constants.has(index)) constant[index] = 1;
      if (!isDeclared) arithmetic[index] = 1;
      fixed[index] = 1;
      continue;
    }
    if (!isOwner && !randomOperators.has(node.op)) {
      if (reads.every((tensor) => isConstant(tensor) || isArithmetic(tensor))) {
        if (reads.some(isArithmetic)) arithmetic[index] = 1;
        if (elements.areKnown(index) || reads.every(isConstant) || logged.constants.has(index)) constant[index] = 1;
      }
    }
    if (constant[index] || hasFixedShape(graph, index, reads, isConstant, isFixed, logged)) fixed[index] = 1;
  }
  const staticShapes = graph.tensors.every(({ kind, value }) => kind !== 'input' || hasStaticShape(value));
  return { constant, arithmetic, staticShapes };
}

function hasFixedShape(
  graph: ModelGraph,
  index: number,
  reads: readonly number[],
  isConstant: (tensor: number) => boolean,
  isFixed: (tensor: number) => boolean,
  { contradicted }: LoggedShapes,
): boolean {
  const node = graph.nodes[index]!;
  const isDeclared = (tensor: number): boolean =>
    hasStaticShape(graph.tensors[tensor]!.value) && !contradicted.has(tensor);
  if (graph.outputs[index]!.every(isDeclared)) return true;
  if (shapeFromData.has(node.op) || !reads.every(isFixed)) return false;
  return (shapeInputs.get(node.op) ?? []).every((at) => {
    const tensor = graph.inputs[index]![at] ?? -1;
    return tensor < 0 || isConstant(tensor);
  });
}

/** The elements of shape arithmetic: what is selected of a shape may be known where the shape is not. */
class ShapeElements {
  readonly #graph: ModelGraph;
  readonly #logged: LoggedShapes;
  readonly #opset: number;
  readonly #elements = new Map<number, Elements | null>();

  constructor(graph: ModelGraph, logged: LoggedShapes) {
    this.#graph = graph;
    this.#logged = logged;
    this.#opset = standardOpset(graph.model);
  }

  /** True where all elements of a node's result are known; to be asked in the order of the data. */
  areKnown(index: number): boolean {
    const { nodes, inputs, outputs } = this.#graph;
    const node = nodes[index]!;
    if (!isStandardDomain(node.domain) || outputs[index]!.length !== 1) return false;
    const values = inputs[index]!.map((tensor) => this.#of(tensor));
    const shapes = isShapeOp(node)
      ? [this.#dimsOf(index)]
      : values.map((value) => (value === null ? null : [value.length]));
    const made = valueOf({ node, opset: this.#opset, shapes, values });
    this.#elements.set(outputs[index]![0]!, made);
    return made?.every((element) => typeof element === 'number') ?? false;
  }

  #of(tensor: number): Elements | null {
    if (tensor < 0) return null;
    const known = this.#elements.get(tensor);
    if (known !== undefined) return known;
    const { stored, producer } = this.#graph.tensors[tensor]!;
    const node = this.#graph.nodes[producer];
    const found = stored ? elementsOf(stored) : node?.op === 'Constant' ? constantOf(node) : null;
    this.#elements.set(tensor, found);
    return found;
  }

  #dimsOf(index: number): Elements | null {
    const dims = this.#logged.inputDims.get(index);
    if (dims) return dims.map((dim) => (dim < 0 ? null : dim));
    const [tensor = -1] = this.#graph.inputs[index]!;
    if (tensor < 0 || this.#logged.contradicted.has(tensor)) return null;
    return this.#graph.tensors[tensor]!.value?.shape ?? null;
  }
}

/** Shape arithmetic whose readers are all known before the build is not needed after it. */
function foldUnread(graph: ModelGraph, constant: Uint8Array, arithmetic: Uint8Array): void {
  const results = new Set(graph.graphOutputs);
  for (const index of [...inDataOrder(graph)].toReversed()) {
    if (!arithmetic[index] || constant[index]) continue;
    const isUnread = graph.outputs[index]!.every((tensor) => {
      const { consumers, owner } = graph.tensors[tensor]!;
      const isGivenBack = results.has(tensor) || (owner >= 0 && graph.bodyOutputs.get(owner)?.includes(tensor));
      return consumers.length > 0 && !isGivenBack && consumers.every((reader) => constant[reader] === 1);
    });
    if (isUnread) constant[index] = 1;
  }
}

const hasStaticShape = (value: OnnxValue | null): boolean =>
  value?.shape?.every((dim) => typeof dim === 'number' && dim >= 0) ?? false;

/** Shape arithmetic that a shape, an axis or a size depends on: TensorRT computes exactly that on the host. */
function hostShapes(
  graph: ModelGraph,
  constant: Uint8Array,
  arithmetic: Uint8Array,
  copied: readonly number[],
): Uint8Array {
  const host = new Uint8Array(graph.nodes.length);
  const stack: number[] = [];
  const need = (tensor: number): void => {
    const producer = tensor < 0 ? -1 : graph.tensors[tensor]!.producer;
    if (producer >= 0 && arithmetic[producer] && !constant[producer] && !host[producer]) {
      host[producer] = 1;
      stack.push(producer);
    }
  };
  copied.forEach(need);
  graph.nodes.forEach((node, index) => {
    if (constant[index]) return;
    for (const at of shapeInputs.get(node.op) ?? []) need(graph.inputs[index]![at] ?? -1);
  });
  while (stack.length > 0) {
    const node = stack.pop()!;
    if (!isShapeOp(graph.nodes[node]!)) for (const tensor of readsOf(graph, node)) need(tensor);
  }
  return host;
}

/** The nodes on which an output of the model or a tensor of `live` depends. */
function liveNodes(graph: ModelGraph, live: readonly number[]): Uint8Array {
  const alive = new Uint8Array(graph.nodes.length);
  const needed = new Uint8Array(graph.tensors.length);
  const stack: number[] = [];
  const need = (tensor: number): void => {
    if (tensor < 0 || needed[tensor]) return;
    needed[tensor] = 1;
    stack.push(tensor);
  };
  for (const tensor of [...graph.graphOutputs, ...live]) need(tensor);
  while (stack.length > 0) {
    const tensor = stack.pop()!;
    const { producer, kind, owner } = graph.tensors[tensor]!;
    const node = producer >= 0 ? producer : kind === 'formal' ? owner : -1;
    if (node < 0) continue;
    if (producer >= 0) for (const made of madeInside(graph, node, tensor)) need(made);
    else for (const made of handedOn(graph, node, tensor)) need(made);
    if (alive[node]) continue;
    alive[node] = 1;
    graph.inputs[node]!.forEach(need);
    for (const made of madeInside(graph, node, -1)) need(made);
  }
  return alive;
}

const noTensors: readonly number[] = [];

/** What one round of a loop makes for the next, which reads it as that tensor of the body. */
function handedOn(graph: ModelGraph, owner: number, formal: number): readonly number[] {
  const { op, subgraphs, inputs, attributes } = graph.nodes[owner]!;
  if (op !== 'Loop' && op !== 'Scan') return noTensors;
  const scanned = Number(attributes.find(({ name }) => name === 'num_scan_inputs')?.value ?? 0);
  return subgraphs.flatMap(({ graph: body }) => {
    const at = body.inputs.findIndex(({ name }) => graph.tensorAt(body.path, name) === formal);
    // A body of a Loop is given the number of the round and the condition first, and gives back the condition.
    const carried = op === 'Loop' ? at - 1 : at < inputs.length - scanned ? at : -1;
    const result = at < 0 || (op === 'Loop' && at === 0) ? undefined : body.outputs[carried];
    return result === undefined ? [] : [graph.tensorAt(body.path, result.name)];
  });
}

/**
 * What the bodies of a node make for one of its outputs; for -1 what they make for themselves: the condition of a loop.
 */
function madeInside(graph: ModelGraph, node: number, output: number): readonly number[] {
  const { op, subgraphs, outputs } = graph.nodes[node]!;
  if (subgraphs.length === 0) return noTensors;
  const first = op === 'Loop' ? 1 : 0;
  const at = output < 0 ? -1 : outputs.indexOf(graph.tensors[output]!.name);
  return subgraphs.flatMap(({ attribute, graph: body }) => {
    const isKnown = first > 0 || op === 'Scan' || op === 'If' || attribute === op;
    const made =
      output >= 0 ? body.outputs.slice(first + at, first + at + 1) : body.outputs.slice(0, isKnown ? first : undefined);
    return made.map(({ name }) => graph.tensorAt(body.path, name));
  });
}
