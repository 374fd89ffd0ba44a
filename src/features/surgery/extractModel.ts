// Cuts a subgraph out of a model.
import { similarText } from '../../kernel/base/text.ts';
import { type EditedModel, SEVERAL_PIECES } from '../../kernel/read/onnx/editModel.ts';
import {
  byteLength,
  type DataType,
  dataTypeNumber,
  type OnnxTensor,
  type OnnxValue,
  segmentsSize,
} from '../../kernel/read/onnx/onnxModel.ts';
import { composeModel, ExternalData, type NewTensor, type NewValue } from '../../kernel/read/onnx/writeModel.ts';
import type { InferredTensors } from '../../kernel/network/network.ts';
import { bodyOf, type ModelGraph, readsOf } from '../../kernel/network/modelGraph.ts';

/** A part of a network that can be a model of its own: nodes of the main graph, with what crosses the border. */
export interface Subgraph {
  /** Indices of nodes of the main graph, in file order; their bodies belong to them. */
  nodes: number[];
  /** Indices of tensors that are made outside and read inside, in the order in which they are read. */
  inputs: number[];
  /** Indices of tensors that are made inside and read outside, or are outputs of the model. */
  outputs: number[];
  /** Indices of initializers that are read inside. */
  initializers: number[];
}

/** A selection that cannot be a model of its own: one sentence with what to pick instead. */
export interface Unfit {
  reason: string;
}

/**
 * The subgraph that these nodes make. Constant nodes that they read join in, so that constants stay constants.
 * @param ids of nodes of the main graph
 */
export function subgraphOfNodes(graph: ModelGraph, ids: Iterable<string>): Subgraph | Unfit {
  const chosen = new Set<number>();
  for (const id of ids) {
    const index = graph.indexOfId.get(id);
    if (index === undefined) return { reason: missingNode(graph, id) };
    if (graph.owner[index]! >= 0) {
      const owner = graph.nodes[outermost(graph, index)]!;
      return {
        reason: `${words(graph, index)} is inside ${owner.op} node ${owner.id}, which cannot be cut. Select node ${owner.id} instead`,
      };
    }
    chosen.add(index);
  }
  if (chosen.size === 0) return { reason: 'No node is selected' };
  const between = nodeBetween(graph, chosen);
  if (between !== undefined)
    return {
      reason: `${words(graph, between)} is on a path that leaves the selected nodes and returns to them. Select it, too`,
    };
  return subgraphOf(graph, chosen, null);
}

/**
 * The subgraph that computes some tensors from others: all nodes that the last need, back to the first.
 * @param from names of tensors of the main graph where the subgraph begins; the model's own inputs are taken where it needs them
 * @param to names of tensors that it gives
 */
export function subgraphBetween(graph: ModelGraph, from: readonly string[], to: readonly string[]): Subgraph | Unfit {
  const missing = [...from, ...to].find((name) => !graph.byName.has(name));
  if (missing !== undefined) return { reason: missingTensor(graph, missing) };
  const begins = new Set(from.map((name) => graph.byName.get(name)!));
  const ends = to.map((name) => graph.byName.get(name)!);
  const chosen = new Set<number>();
  const reached = new Set<number>();
  const open = [...ends];
  for (let tensor = open.pop(); tensor !== undefined; tensor = open.pop()) {
    if (begins.has(tensor)) {
      reached.add(tensor);
      continue;
    }
    const { producer } = graph.tensors[tensor]!;
    if (producer < 0 || chosen.has(producer)) continue;
    chosen.add(producer);
    open.push(...readsOf(graph, producer));
  }
  const unused = from.find((name) => !reached.has(graph.byName.get(name)!));
  if (unused !== undefined)
    return { reason: `"${unused}" does not lead to ${to.map((name) => `"${name}"`).join(', ')}` };
  if (chosen.size === 0) return { reason: 'No node is between these tensors' };
  return subgraphOf(graph, chosen, ends);
}

/** The nodes up to `distance` edges away from some nodes, these included. Ids of nodes inside subgraphs stand for their owners. */
export function nodesAround(graph: ModelGraph, ids: readonly string[], distance: number): string[] {
  const start = ids.flatMap((id) => graph.indexOfId.get(id) ?? []).map((index) => outermost(graph, index));
  const near = nodesWithin(graph, start, distance, (node) => graph.owner[node]! < 0);
  return closed(graph, near).map((index) => graph.nodes[index]!.id);
}

/** The nodes up to `distance` edges away over nodes that are allowed, those of `start` included. */
export function nodesWithin(
  graph: ModelGraph,
  start: readonly number[],
  distance: number,
  isAllowed: (node: number) => boolean,
): Set<number> {
  const found = new Set(start);
  let edge = start;
  for (let step = 0; step < distance && edge.length > 0; step += 1) {
    const next: number[] = [];
    for (const node of edge) {
      const before = readsOf(graph, node).map((tensor) => graph.tensors[tensor]!.producer);
      const behind = graph.outputs[node]!.flatMap((tensor) => graph.tensors[tensor]!.consumers);
      for (const other of [...before, ...behind]) {
        if (other < 0 || found.has(other) || !isAllowed(other)) continue;
        found.add(other);
        next.push(other);
      }
    }
    edge = next;
  }
  return found;
}

/** With the nodes on paths between them: the least that can be cut out. Linear in the edges. */
export function closed(graph: ModelGraph, nodes: ReadonlySet<number>): number[] {
  const before = reachable(graph, nodes, 'before');
  const between = [...reachable(graph, nodes, 'behind')].filter((node) => before.has(node));
  return [...new Set([...nodes, ...between])].toSorted((a, b) => a - b);
}

/**
 * Border and content of chosen nodes, which may have holes: what a node outside makes of the subgraph's own outputs is an
 * input then. Constant nodes that they read join in.
 * @param picked indices of nodes of the main graph
 * @param ends the outputs that are wanted; null: whatever is needed outside
 */
export function subgraphOf(graph: ModelGraph, picked: Iterable<number>, ends: readonly number[] | null): Subgraph {
  const chosen = new Set(picked);
  for (const node of chosen)
    for (const tensor of readsOf(graph, node)) {
      const { producer } = graph.tensors[tensor]!;
      if (producer >= 0 && graph.nodes[producer]!.op === 'Constant' && graph.owner[producer]! < 0) chosen.add(producer);
    }
  const nodes = [...chosen].toSorted((a, b) => a - b);
  const made = new Set(nodes.flatMap((node) => graph.outputs[node]!));
  const read = new Set(nodes.flatMap((node) => [...readsOf(graph, node), ...initializersInside(graph, node)]));
  const inputs: number[] = [];
  const initializers: number[] = [];
  for (const tensor of read) {
    const { kind, producer } = graph.tensors[tensor]!;
    if (made.has(tensor)) continue;
    if (kind === 'initializer') initializers.push(tensor);
    else if (producer >= 0 || kind === 'input') inputs.push(tensor);
  }
  const isOutput = new Set(graph.graphOutputs);
  // A constant that is read outside, too, comes along there.
  const isConstant = (tensor: number) => graph.nodes[graph.tensors[tensor]!.producer]?.op === 'Constant';
  const outside = (tensor: number) =>
    isOutput.has(tensor) ||
    (!isConstant(tensor) &&
      graph.tensors[tensor]!.consumers.some((reader) => graph.owner[reader]! < 0 && !chosen.has(reader)));
  const outputs = ends ? [...ends] : [...made].filter(outside);
  // Dead ends: no one reads them, but a model needs an output.
  if (outputs.length === 0)
    outputs.push(...[...made].filter((tensor) => graph.tensors[tensor]!.consumers.length === 0));
  if (outputs.length === 0) outputs.push(...made);
  return { nodes, inputs, outputs: [...new Set(outputs)], initializers };
}

/** Initializers of the main graph that the bodies of a node read. */
function initializersInside(graph: ModelGraph, node: number): number[] {
  return bodyOf(graph, node).flatMap((inner) =>
    graph.inputs[inner]!.filter((tensor) => tensor >= 0 && graph.tensors[tensor]!.owner < 0),
  );
}

/** A node outside that depends on the chosen ones and that one of them depends on. */
function nodeBetween(graph: ModelGraph, chosen: ReadonlySet<number>): number | undefined {
  const behind = reachable(graph, chosen, 'behind');
  const before = reachable(graph, chosen, 'before');
  return [...behind].filter((node) => !chosen.has(node) && before.has(node)).toSorted((a, b) => a - b)[0];
}

/** Nodes of the main graph that depend on some nodes, or that these depend on. Linear in the edges. */
export function reachable(graph: ModelGraph, from: ReadonlySet<number>, direction: 'before' | 'behind'): Set<number> {
  const found = new Set<number>();
  const open = [...from];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const next =
      direction === 'before'
        ? readsOf(graph, node).map((tensor) => graph.tensors[tensor]!.producer)
        : graph.outputs[node]!.flatMap((tensor) => graph.tensors[tensor]!.consumers);
    for (const other of next) {
      if (other < 0 || graph.owner[other]! >= 0 || found.has(other)) continue;
      found.add(other);
      open.push(other);
    }
  }
  return found;
}

/** The node of the main graph that a node is inside, or the node itself. */
export function outermost(graph: ModelGraph, node: number): number {
  let at = node;
  while (graph.owner[at]! >= 0) at = graph.owner[at]!;
  return at;
}

/** For messages on a name that is not there. */
export const nodeNames = ({ nodes }: ModelGraph): string[] => nodes.flatMap(({ name }) => name || []);

/** Why there is no such node in the main graph; those of a function are known to reports by their call. */
export function missingNode(graph: ModelGraph, id: string): string {
  const call = graph.indexOfId.get(id.split('/')[0]!);
  if (call === undefined) {
    const named = graph.nodes.find(({ name }) => name === id);
    if (named) return `There is no node with the id ${id}; the node of this name has the id ${named.id}`;
    return `There is no node ${id}${similarText(id, nodeNames(graph))}`;
  }
  const { id: own, op } = graph.nodes[call]!;
  return `Node ${id} is inside ${op} node ${own}, which cannot be cut. Select node ${own} instead`;
}

/** Why there is no such tensor in the main graph. */
export function missingTensor(graph: ModelGraph, name: string): string {
  const inner = graph.tensors.find((tensor) => tensor.name === name && tensor.owner >= 0);
  if (!inner) {
    const names = graph.tensors.flatMap((tensor) => (tensor.owner < 0 ? tensor.name || [] : []));
    return `There is no tensor "${name}" in the main graph${similarText(name, names)}`;
  }
  const { id, op } = graph.nodes[outermost(graph, inner.owner)]!;
  return `"${name}" is inside ${op} node ${id}, which cannot be cut. Pick a tensor that node ${id} reads or computes`;
}

const words = (graph: ModelGraph, index: number): string => {
  const { id, name, op } = graph.nodes[index]!;
  return name === '' ? `Node ${id} (${op})` : `Node ${id} "${name}" (${op})`;
};

/** Type and shape of a tensor that crosses the border of a subgraph. */
export interface BorderTensor {
  name: string;
  type: DataType;
  /** null: rank unknown. A text is a symbolic dimension, null one of unknown size. */
  shape: (number | string | null)[] | null;
}

/** What else says the types of tensors, such as a build log: by the tensor's name. shape null: rank unknown. */
export type KnownTensors = ReadonlyMap<string, { type: DataType; shape: readonly (number | string | null)[] | null }>;

/**
 * Where the weights of an extracted model are:
 * - `references`: where they were, in the files next to the model or in the model itself. The new model must be in the
 * same folder.
 * - `data`: in a file of its own, only the ranges that are used
 * - `embed`: inside the new model
 * - `none`: nowhere; large ones are declared in a file of that name, which nothing writes
 */
export type WeightsPlace =
  | { kind: 'references'; modelFile: string }
  | { kind: 'data'; location: string }
  | { kind: 'embed' }
  | { kind: 'none'; location: string };

/** Smaller tensors may be shapes, axes and other constants without which a model is another one. */
const LARGE = 1 << 12;

/** A subgraph as a model of its own, as pieces of the old file and new bytes. */
export interface ExtractedModel extends EditedModel {
  inputs: BorderTensor[];
  outputs: BorderTensor[];
}

/** From here on initializers need not be inputs, too. A newer version stays as it is: older programs refuse newer ones. */
export const OLDEST_IR = 4;

/** Protobuf's readers take no message of 2 GiB or more. */
const SIZE_LIMIT = 2 ** 31 - 1;

/**
 * Makes a subgraph of a model a model of its own; names, operator sets, functions and metadata stay. Weights are not read.
 * @param graph of a model that was read with spans
 * @param size of the model's file in bytes
 */
export function extractModel(
  graph: ModelGraph,
  size: number,
  subgraph: Subgraph,
  inferred: InferredTensors,
  weights: WeightsPlace,
  known: KnownTensors = new Map(),
): ExtractedModel | Unfit {
  const { model } = graph;
  if (!model.graph.span) return { reason: SEVERAL_PIECES };
  const declared = new Map<string, OnnxValue>();
  for (const value of [...model.graph.values, ...model.graph.outputs, ...model.graph.inputs])
    declared.set(value.name, value);
  const border = (tensors: readonly number[]) => tensors.map((tensor) => borderTensor(graph, tensor, inferred, known));
  const inputs = border(subgraph.inputs);
  const outputs = border(subgraph.outputs);
  const unknown = [...inputs, ...outputs].find((tensor) => typeof tensor === 'string');
  if (unknown !== undefined) {
    const type = inferred.types[graph.byName.get(unknown) ?? -1] ?? null;
    return {
      reason:
        type === null
          ? `The type of tensor "${unknown}" is unknown. Cut elsewhere, or pass a verbose build log of the model`
          : `"${unknown}" has the type ${type}, and a part can begin and end only at tensors. Cut elsewhere`,
    };
  }
  const external = new ExternalData('location' in weights ? weights.location : '');
  const byName = new Map(model.graph.initializers.map((tensor) => [tensor.name, tensor]));
  const nameOf = (tensor: number) => graph.tensors[tensor]!.name;
  const read = new Set(subgraph.initializers.map(nameOf));
  const there = new Set([
    ...read,
    ...[...subgraph.inputs, ...subgraph.nodes.flatMap((node) => graph.outputs[node]!)].map(nameOf),
  ]);
  const others = (model.graph.others ?? []).filter(({ tensor }) => tensor === undefined || there.has(tensor));
  // Only annotations may name these.
  for (const { parameters = [] } of others) for (const name of parameters) if (!there.has(name)) read.add(name);
  const initializers = [...read].flatMap((name) => {
    const found = byName.get(name);
    return found ? [placed(found, weights, external)] : [];
  });
  const inner = new Set(
    subgraph.nodes.flatMap((node) => graph.outputs[node]!.map((tensor) => graph.tensors[tensor]!.name)),
  );
  for (const { name } of outputs as BorderTensor[]) inner.delete(name);
  const segments = composeModel(
    model,
    size,
    {
      name: model.graph.name || 'extracted',
      nodes: subgraph.nodes.map((node) => graph.nodes[node]!),
      inputs: (inputs as BorderTensor[]).map(newValue),
      outputs: (outputs as BorderTensor[]).map(newValue),
      initializers,
      values: model.graph.values.filter(({ name, span }) => span && inner.has(name)),
      others,
    },
    weights.kind === 'references' ? weights.modelFile : null,
    OLDEST_IR,
  );
  const whole = segmentsSize(segments);
  if (whole > SIZE_LIMIT)
    return {
      reason:
        'The extracted model would have 2 GiB or more. Omit --weights embed to write its weights to a separate file',
    };
  return {
    segments,
    size: whole,
    external:
      external.segments.length === 0 || weights.kind === 'none'
        ? null
        : { location: external.location, segments: external.segments, size: external.size },
    inputs: inputs as BorderTensor[],
    outputs: outputs as BorderTensor[],
  };
}

/** The tensor as the border of a model declares it; its name alone where its type is not known. */
export function borderTensor(
  graph: ModelGraph,
  tensor: number,
  { types, shapes }: InferredTensors,
  known: KnownTensors,
): BorderTensor | string {
  const { name } = graph.tensors[tensor]!;
  const logged = known.get(name);
  const type = types[tensor] ?? logged?.type ?? null;
  if (type === null || dataTypeNumber(type) === undefined) return name;
  const shape = shapes[tensor] ?? logged?.shape ?? null;
  // What the model leaves open may be known to the log.
  const sizes = logged?.shape?.length === shape?.length ? logged?.shape : null;
  return { name, type, shape: shape && shape.map((dim, axis) => dim ?? sizes?.[axis] ?? null) };
}

const newValue = ({ name, type, shape }: BorderTensor): NewValue => ({ name, newType: type, ...(shape && { shape }) });

/** A tensor with its elements where they should be. */
function placed(tensor: OnnxTensor, weights: WeightsPlace, external: ExternalData): OnnxTensor | NewTensor {
  const { data, name, type, shape } = tensor;
  if (weights.kind === 'none') return leftOut(tensor, weights.location, external);
  if (weights.kind === 'references' || !data || !('external' in data)) return tensor;
  const { location, offset = '0', length } = data.external;
  const size = length === undefined ? byteLength(type, shape) : Number(length);
  if (location === undefined || size === undefined) return tensor;
  const copy = { copy: { file: location, offset: Number(offset), length: size } };
  if (weights.kind === 'embed') return { name, newType: type, shape, bytes: { copy, size } };
  const at = external.place(copy, size);
  return {
    name,
    newType: type,
    shape,
    bytes: { external: { location: weights.location, offset: String(at), length: String(size) } },
  };
}

/** A tensor of which only type and shape stay, if it is large or its elements are elsewhere. */
function leftOut(tensor: OnnxTensor, location: string, external: ExternalData): OnnxTensor | NewTensor {
  const { data, name, type, shape, sparse } = tensor;
  const size = byteLength(type, shape);
  if (!data || size === undefined || sparse || ('inline' in data && size < LARGE)) return tensor;
  // Each one has a place of its own, where nothing is.
  const at = external.place({ copy: { file: location, offset: external.size, length: size } }, size);
  return { name, newType: type, shape, bytes: { external: { location, offset: String(at), length: String(size) } } };
}

/** TensorRT's types as ONNX has them. INT32 is not among them: TensorRT 9 and earlier call int64 so, too. */
const types: Record<string, DataType> = {
  FLOAT: 'float',
  HALF: 'float16',
  BF16: 'bfloat16',
  FP8: 'float8e4m3fn',
  INT64: 'int64',
  INT8: 'int8',
  UINT8: 'uint8',
  BOOL: 'bool',
};

/**
 * Types and shapes of tensors as the ONNX parser logs them, in lines such as
 * `NAME [OP] outputs: [a -> (2, -1)[FLOAT]], [b -> ()[BOOL]], ` (trtexec --verbose, TensorRT 8 to 11); -1: known at
 * runtime only. Where a log contains several builds, the last one counts.
 */
export class TensorsInLog {
  readonly known = new Map<string, { type: DataType; shape: (number | null)[] }>();

  push(line: string): void {
    const at = /\] (?:in|out)puts: (?=\[)/.exec(line);
    if (!at) return;
    for (const [, name, dims, logged] of line.slice(at.index + at[0].length).matchAll(tensor)) {
      const type = types[logged!];
      if (type === undefined) continue;
      const shape = dims === '' ? [] : dims!.split(', ').map((dim) => (dim === '-1' ? null : Number(dim)));
      this.known.set(name!, { type, shape });
    }
  }
}

const tensor = /\[(.{1,1000}?) -> \((|-?\d+(?:, -?\d+)*)\)\[(\w+)\]\](?:, |$)/g;

/** What computes sizes from the results of Shape, and constants from constants. */
const sizeOps = new Set(
  'Gather Slice Concat Unsqueeze Squeeze Reshape Cast Identity Add Sub Mul Div Mod Min Max'.split(' '),
);
/** So many nodes such a computation has one behind the other, at most. */
const deepest = 32;

/**
 * The subgraph that these nodes make, with copies of the nodes that compute the sizes it reads from shapes of tensors that
 * it reads anyway: as inputs, sizes would have to be given by hand, and TensorRT needs their values when it builds.
 * @param ids of nodes of the main graph
 */
export function subgraphWithSizes(graph: ModelGraph, ids: Iterable<string>): Subgraph | Unfit {
  const subgraph = subgraphOfNodes(graph, ids);
  return 'reason' in subgraph ? subgraph : withSizes(graph, subgraph);
}

/** The same for a subgraph. What the copies make is no output of it. */
export function withSizes(graph: ModelGraph, subgraph: Subgraph): Subgraph {
  const sizes = sizeNodes(graph, subgraph);
  return sizes.length === 0
    ? subgraph
    : { ...subgraphOf(graph, [...subgraph.nodes, ...sizes], null), outputs: subgraph.outputs };
}

function sizeNodes(graph: ModelGraph, subgraph: Subgraph): number[] {
  const there = new Set([...subgraph.inputs, ...subgraph.nodes.flatMap((node) => graph.outputs[node]!)]);
  const known = new Map<number, boolean>();
  const computesSizes = (node: number, depth: number): boolean => {
    const before = known.get(node);
    if (before !== undefined) return before;
    // Until it is known, for what a broken model computes from itself.
    known.set(node, false);
    const { op, domain } = graph.nodes[node]!;
    const reads = readsOf(graph, node);
    const answer =
      domain === '' &&
      depth < deepest &&
      (op === 'Constant' ||
        (op === 'Shape' && reads.every((tensor) => there.has(tensor))) ||
        (sizeOps.has(op) && reads.every((tensor) => isSize(tensor, depth + 1))));
    known.set(node, answer);
    return answer;
  };
  const isSize = (tensor: number, depth: number): boolean => {
    const { kind, producer } = graph.tensors[tensor]!;
    return producer < 0 ? kind === 'initializer' : computesSizes(producer, depth);
  };
  const found = new Set<number>();
  const open = subgraph.inputs.map((tensor) => graph.tensors[tensor]!.producer);
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node < 0 || found.has(node) || !computesSizes(node, 0)) continue;
    found.add(node);
    if (graph.nodes[node]!.op !== 'Shape')
      open.push(...readsOf(graph, node).map((tensor) => graph.tensors[tensor]!.producer));
  }
  return [...found];
}
