// Splits a model in a chain.
import type { ShapeRange } from '../../kernel/build/buildManifest.ts';
import { valueAt } from '../../kernel/base/addTo.ts';
import { shapeArgument } from '../../kernel/base/text.ts';
import { byteLength, type OnnxValue } from '../../kernel/read/onnx/onnxModel.ts';
import type { InferredTensors } from '../../kernel/network/network.ts';
import { inDataOrder, type ModelGraph, readsOf } from '../../kernel/network/modelGraph.ts';
import { type BorderTensor, missingTensor, type Subgraph, subgraphOf, type Unfit, withSizes } from './extractModel.ts';

/** A place where a network can be cut in two. */
export interface CutPoint {
  tensor: string;
  /** Names of all tensors that cross the cut, this one included. */
  crossing: string[];
  /** What they weigh; symbolic and unknown dimensions count as 1. */
  bytes: number;
  /** Every dimension of them is known. */
  exact: boolean;
  /** Nodes before and behind the cut, Constant nodes aside. */
  nodes: [number, number];
  /** The module that ends here, by its path in the names of the nodes; null: none does. */
  module: string | null;
}

/**
 * The parts of a network that is cut at some tensors: the first part is all that the first tensor needs, the next what
 * the next tensor needs beyond that, the last one the rest. Each part reads inputs of the model and outputs of earlier
 * parts; together they have every node once. What computes sizes of tensors that a part reads anyway is in each part that
 * needs it, as constants are: as inputs, sizes would have to be given by hand.
 * @param names of tensors of the main graph, in any order
 */
export function splitAt(graph: ModelGraph, names: readonly string[]): Subgraph[] | Unfit {
  const order = mainNodes(graph);
  const rank = new Map(order.map((node, index) => [node, index]));
  const cuts: { name: string; producer: number }[] = [];
  for (const name of new Set(names)) {
    const tensor = graph.byName.get(name);
    if (tensor === undefined) return { reason: missingTensor(graph, name) };
    const { producer } = graph.tensors[tensor]!;
    if (!rank.has(producer))
      return { reason: `"${name}" is an input or a constant: cut at a tensor that a node computes from the inputs` };
    cuts.push({ name, producer });
  }
  cuts.sort((a, b) => rank.get(a.producer)! - rank.get(b.producer)!);
  const taken = new Set<number>();
  const parts: number[][] = [];
  for (const { name, producer } of cuts) {
    const part = needed(graph, producer, taken);
    if (part.length === 0)
      return { reason: `"${name}" comes from the same node as another cut: leave out one of them` };
    parts.push(part);
  }
  const rest = order.filter((node) => !taken.has(node));
  if (rest.length === 0) return { reason: `No node is left after "${cuts.at(-1)!.name}": cut at an earlier tensor` };
  const plain = [...parts, rest].map((part) => subgraphOf(graph, part, null));
  const whole = plain.map((part) => withSizes(graph, part));
  const read = new Set([...graph.graphOutputs, ...whole.flatMap(({ inputs }) => inputs)]);
  // Who cuts at a size wants it to cross.
  if (cuts.some(({ name }) => !read.has(graph.byName.get(name)!))) return withOtherOutputs(graph, plain);
  const unread = new Set(plain.flatMap(({ inputs }) => inputs).filter((tensor) => !read.has(tensor)));
  const used = whole.map((part) => ({ ...part, outputs: part.outputs.filter((tensor) => !unread.has(tensor)) }));
  return withOtherOutputs(graph, used);
}

/**
 * The parts, the last one with the model's outputs that no part computes: initializers, constants, and inputs that the
 * model passes on.
 */
function withOtherOutputs(graph: ModelGraph, parts: readonly Subgraph[]): Subgraph[] {
  const computed = new Set(parts.flatMap(({ outputs }) => outputs));
  const others = graph.graphOutputs.filter((tensor) => !computed.has(tensor));
  const last = parts.at(-1)!;
  const joined = (own: readonly number[], kind: string) => [
    ...new Set([...own, ...others.filter((tensor) => graph.tensors[tensor]!.kind === kind)]),
  ];
  const constants = others.map((tensor) => graph.tensors[tensor]!.producer).filter((node) => node >= 0);
  return [
    ...parts.slice(0, -1),
    {
      nodes: [...new Set([...last.nodes, ...constants])].toSorted((a, b) => a - b),
      inputs: joined(last.inputs, 'input'),
      outputs: [...last.outputs, ...others],
      initializers: joined(last.initializers, 'initializer'),
    },
  ];
}

/** As many cuts are looked at closely for each one that is proposed. */
const closely = 3;

/**
 * Where to cut in two: first what crosses with the fewest bytes, then where the outermost module ends, then near the
 * middle. At least a twentieth of the nodes is on either side.
 * @param most how many to propose
 */
export function suggestCuts(graph: ModelGraph, inferred: InferredTensors, most = 10): CutPoint[] {
  const order = mainNodes(graph);
  const rank = new Map(order.map((node, index) => [node, index]));
  const computed = computedNodes(graph);
  const live = liveBytes(graph, inferred, order, computed);
  const margin = Math.max(1, Math.ceil(order.length / 20));
  const candidates = order.slice(margin - 1, -margin).flatMap((node) => {
    // Of several outputs the first one that is read names the cut.
    const tensor = graph.outputs[node]!.find((output) => {
      const { producer, consumers } = graph.tensors[output]!;
      // The name may be that of an initializer, too.
      return producer === node && consumers.length > 0;
    });
    if (tensor === undefined || !computed.has(node)) return [];
    const { module, depth } = moduleBorder(graph, tensor);
    const middle = Math.abs(2 * rank.get(node)! - order.length);
    return [{ tensor, module, depth, middle, bytes: live[rank.get(node)!]! }];
  });
  const better = (a: { bytes: number; depth: number; middle: number }, b: typeof a) =>
    a.bytes - b.bytes || a.depth - b.depth || a.middle - b.middle;
  return candidates
    .toSorted(better)
    .slice(0, most * closely)
    .flatMap((candidate) => {
      const { name } = graph.tensors[candidate.tensor]!;
      const parts = splitAt(graph, [name]);
      if ('reason' in parts) return [];
      const [before, behind] = parts as [Subgraph, Subgraph];
      const crossing = before.outputs.filter((tensor) => behind.inputs.includes(tensor));
      const weights = crossing.map((tensor) => weightOf(inferred, tensor));
      const count = ({ nodes }: Subgraph) => nodes.filter((node) => rank.has(node)).length;
      const point: CutPoint = {
        tensor: name,
        crossing: crossing.map((tensor) => graph.tensors[tensor]!.name),
        bytes: weights.reduce((sum, { bytes }) => sum + bytes, 0),
        exact: weights.every(({ exact }) => exact),
        nodes: [count(before), count(behind)],
        module: candidate.module,
      };
      return Math.min(...point.nodes) < margin ? [] : [{ point, ...candidate, bytes: point.bytes }];
    })
    .toSorted(better)
    .slice(0, most)
    .map(({ point }) => point);
}

const mainNodes = (graph: ModelGraph): number[] =>
  inDataOrder(graph).filter((node) => graph.owner[node]! < 0 && graph.nodes[node]!.op !== 'Constant');

/** What a node needs, itself included, less what is taken; that is taken, too. */
function needed(graph: ModelGraph, node: number, taken: Set<number>): number[] {
  const found: number[] = [];
  const open = [node];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (taken.has(at) || graph.nodes[at]!.op === 'Constant') continue;
    taken.add(at);
    found.push(at);
    for (const tensor of readsOf(graph, at)) {
      const { producer } = graph.tensors[tensor]!;
      if (producer >= 0) open.push(producer);
    }
  }
  return found;
}

/** Nodes that depend on an input of the model: what depends on weights alone need not cross. */
function computedNodes(graph: ModelGraph): Set<number> {
  const found = new Set<number>();
  for (const node of inDataOrder(graph)) {
    const reads = readsOf(graph, node).map((tensor) => graph.tensors[tensor]!);
    if (reads.some(({ kind, producer }) => kind === 'input' || found.has(producer))) found.add(node);
  }
  return found;
}

/** Bytes that are still to be read after each node of the order. */
function liveBytes(
  graph: ModelGraph,
  inferred: InferredTensors,
  order: readonly number[],
  computed: ReadonlySet<number>,
): number[] {
  const rank = new Map(order.map((node, index) => [node, index]));
  const change = Array<number>(order.length + 1).fill(0);
  for (const [index, node] of order.entries()) {
    if (!computed.has(node)) continue;
    for (const tensor of graph.outputs[node]!) {
      const last = Math.max(index, ...graph.tensors[tensor]!.consumers.map((reader) => rank.get(reader) ?? index));
      const { bytes } = weightOf(inferred, tensor);
      change[index]! += bytes;
      change[last]! -= bytes;
    }
  }
  let sum = 0;
  return change.map((bytes) => (sum += bytes));
}

/** A tensor of unknown type weighs as much as a float. */
function weightOf({ types, shapes }: InferredTensors, tensor: number): { bytes: number; exact: boolean } {
  const [type, shape] = [types[tensor] ?? null, shapes[tensor] ?? null];
  const known = shape?.map((dim) => (typeof dim === 'number' ? dim : 1)) ?? [];
  const bytes = type === null ? undefined : byteLength(type, known);
  const exact = bytes !== undefined && shape !== null && shape.every((dim) => typeof dim === 'number');
  return { bytes: bytes ?? byteLength('float', known)!, exact };
}

/** The outermost module whose last tensor this is; its depth is infinite where none ends. */
function moduleBorder(graph: ModelGraph, tensor: number): { module: string | null; depth: number } {
  const { producer, consumers } = graph.tensors[tensor]!;
  const own = scopeOf(graph.nodes[producer]!.name);
  const shared = consumers.map((reader) => {
    const other = scopeOf(graph.nodes[reader]!.name);
    const differs = own.findIndex((part, index) => part !== other[index]);
    return differs < 0 ? own.length : differs;
  });
  const depth = Math.max(0, ...shared);
  return depth < own.length
    ? { module: own.slice(0, depth + 1).join('/'), depth }
    : { module: null, depth: Number.POSITIVE_INFINITY };
}

/** `/layers.3/attn/MatMul` is in `/layers.3/attn`. The part before a leading slash is empty. */
const scopeOf = (name: string): string[] => name.split('/').slice(0, -1);

/**
 * Optimization profiles for a part of a model, from those of the model: an input that it shares keeps its shapes, and
 * symbolic dimensions of others get the sizes that the model's inputs give them. A size that no one knows is 1.
 * @param inputs of the model
 * @param border the inputs of the part
 */
export function partProfiles(
  profiles: readonly Record<string, ShapeRange>[],
  inputs: readonly OnnxValue[],
  border: readonly BorderTensor[],
): Record<string, ShapeRange>[] {
  return profiles.map((profile) => {
    const sizes = {
      min: symbolSizes(profile, inputs, 'min'),
      opt: symbolSizes(profile, inputs, 'opt'),
      max: symbolSizes(profile, inputs, 'max'),
    };
    return Object.fromEntries(
      border.flatMap(({ name, shape }) => {
        const own = valueAt(profile, name);
        if (own) return [[name, own]];
        if (!shape?.some((dim) => typeof dim !== 'number')) return [];
        const text = (kind: keyof ShapeRange) =>
          shapeArgument(shape.map((dim) => (typeof dim === 'number' ? dim : (sizes[kind].get(dim ?? '') ?? 1))));
        return [[name, { min: text('min'), opt: text('opt'), max: text('max') }]];
      }),
    );
  });
}

/** What a profile makes of the symbolic dimensions of the model's inputs. */
function symbolSizes(
  profile: Record<string, ShapeRange>,
  inputs: readonly OnnxValue[],
  kind: keyof ShapeRange,
): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const { name, shape } of inputs) {
    const given = valueAt(profile, name)?.[kind].split('x').map(Number);
    for (const [axis, dim] of (shape ?? []).entries())
      if (typeof dim === 'string' && given?.[axis] !== undefined) sizes.set(dim, given[axis]);
  }
  return sizes;
}
