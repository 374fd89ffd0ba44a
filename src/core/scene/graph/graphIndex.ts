import { rowsBy } from '../../layout/compressedRows.ts';
import type { CompressedRows } from '../../layout/compressedRows.ts';
import { SmallestFirst } from '../../layout/smallestFirst.ts';
import type { GraphData, GraphTensor } from '../panel/viewData.ts';
import { addTo } from '../../text/addTo.ts';

/**
 * A graph with everything numbered, for views that must answer within a frame. Points are numbered in this order:
 * the model's nodes (as in `data.nodes`), its inputs, its outputs. Lists over points are in compressed rows: the edges
 * that leave point p are `outEdges[outStart[p]] … outEdges[outStart[p + 1] - 1]`, each a position in `from`, `to`, `tensor`.
 */
export interface GraphIndex {
  data: GraphData;
  /** Number of the model's nodes; points from here on are its inputs, then its outputs. */
  nodes: number;
  points: number;
  byId: Map<string, number>;
  from: Int32Array;
  to: Int32Array;
  /** Position in `tensorNames` of what an edge carries. */
  tensor: Int32Array;
  tensorNames: string[];
  outStart: Int32Array;
  outEdges: Int32Array;
  inStart: Int32Array;
  inEdges: Int32Array;
  /** For a node of a subgraph its owner's point, otherwise -1. */
  owner: Int32Array;
  /** For a node of a subgraph the attribute that holds it (`then_branch`), else ''. */
  branch: string[];
  /** Points in an order in which every edge runs forward, as close to the file's order as that allows. */
  order: Int32Array;
  /** Position of each point in `order`. */
  rank: Int32Array;
  /** Tensors by name; one that has `producer` by `tensorKey`. */
  tensors: Map<string, GraphTensor>;
}

/** Where `GraphIndex.tensors` has a tensor whose name is that of an earlier one. */
export const tensorKey = (producer: string, name: string): string => `${producer}\n${name}`;

/**
 * Numbers a graph's points and edges in one pass. Names that nothing produces are no edges (weights, a subgraph's own
 * inputs); of two nodes that claim the same output, the last one before the reader wins, as in ONNX Runtime's checker.
 * Cycles, which a broken file can hold, are cut at the node that comes first in the file.
 */
export function indexGraph(data: GraphData): GraphIndex {
  const nodes = data.nodes.length;
  const points = nodes + data.inputs.length + data.outputs.length;
  const byId = new Map<string, number>();
  data.nodes.forEach(({ id }, point) => byId.set(id, point));
  data.inputs.forEach(({ name }, i) => byId.set(`input:${name}`, nodes + i));
  data.outputs.forEach(({ name }, i) => byId.set(`output:${name}`, nodes + data.inputs.length + i));

  const scope = scopesOf(data, byId);
  const edges = collectEdges(data, scope.paths);
  const outgoing = rowsBy(points, edges.from);
  const incoming = rowsBy(points, edges.to);
  const order = topologicalOrder(data, edges, outgoing, incoming.start);
  const rank = new Int32Array(points);
  order.forEach((point, position) => (rank[point] = position));
  return {
    data,
    nodes,
    points,
    byId,
    ...edges,
    outStart: outgoing.start,
    outEdges: outgoing.list,
    inStart: incoming.start,
    inEdges: incoming.list,
    owner: scope.owner,
    branch: scope.branch,
    order,
    rank,
    tensors: new Map(
      data.tensors.map((tensor) => [
        tensor.producer === undefined ? tensor.name : tensorKey(tensor.producer, tensor.name),
        tensor,
      ]),
    ),
  };
}

/** `20/then_branch/3`: owner 20, branch `then_branch`, path `20/then_branch`. */
function scopesOf(
  data: GraphData,
  byId: Map<string, number>,
): { owner: Int32Array; branch: string[]; paths: string[] } {
  const owner = new Int32Array(data.nodes.length).fill(-1);
  const branch: string[] = [];
  const paths = data.nodes.map(({ id }, point) => {
    const last = id.lastIndexOf('/');
    if (last < 0) {
      branch.push('');
      return '';
    }
    const path = id.slice(0, last);
    const before = path.lastIndexOf('/');
    owner[point] = before < 0 ? -1 : (byId.get(path.slice(0, before)) ?? -1);
    branch.push(path.slice(before + 1));
    return path;
  });
  return { owner, branch, paths };
}

interface Edges {
  from: Int32Array;
  to: Int32Array;
  tensor: Int32Array;
  tensorNames: string[];
}

function collectEdges(data: GraphData, paths: string[]): Edges {
  const nodes = data.nodes.length;
  /** Per graph path: tensor name → points that make it: the last one, or in execution order all. */
  const makers = new Map<string, Map<string, number[]>>([['', new Map()]]);
  const makersOf = (path: string) => {
    const known = makers.get(path);
    if (known !== undefined) return known;
    const made = new Map<string, number[]>();
    makers.set(path, made);
    return made;
  };
  data.inputs.forEach(({ name }, i) => makersOf('').set(name, [nodes + i]));
  data.nodes.forEach(({ outputs }, point) => {
    const own = makersOf(paths[point] ?? '');
    for (const name of outputs) {
      if (name === '') continue;
      if (data.inExecutionOrder) addTo(own, name, point);
      else own.set(name, [point]);
    }
  });

  const from: number[] = [];
  const to: number[] = [];
  const tensor: number[] = [];
  const tensorNames: string[] = [];
  const tensorIndex = new Map<string, number>();
  const link = (name: string, path: string, reader: number) => {
    const all = (name === '' ? undefined : findMakers(makers, path, name))?.filter((maker) => maker !== reader) ?? [];
    // Only a loop reads what is written after it.
    const before = data.inExecutionOrder ? all.filter((maker) => maker >= nodes || maker < reader) : all;
    const found = before.length > 0 ? before : all;
    if (found.length === 0) return;
    let index = tensorIndex.get(name);
    if (index === undefined) {
      index = tensorNames.length;
      tensorIndex.set(name, index);
      tensorNames.push(name);
    }
    for (const maker of found) {
      from.push(maker);
      to.push(reader);
      tensor.push(index);
    }
  };
  data.nodes.forEach(({ inputs }, point) => {
    const path = paths[point] ?? '';
    for (const name of inputs) link(name, path, point);
  });
  data.outputs.forEach(({ name }, i) => link(name, '', nodes + data.inputs.length + i));
  return { from: Int32Array.from(from), to: Int32Array.from(to), tensor: Int32Array.from(tensor), tensorNames };
}

/** A subgraph sees its own tensors, then those of the graphs around it. */
function findMakers(makers: Map<string, Map<string, number[]>>, path: string, name: string): number[] | undefined {
  for (let at = path; ;) {
    const found = makers.get(at)?.get(name);
    if (found !== undefined || at === '') return found;
    const owner = at.slice(0, Math.max(0, at.lastIndexOf('/')));
    at = owner.slice(0, Math.max(0, owner.lastIndexOf('/')));
  }
}

/** Of everything that could come next always the first in the file, so that a sorted file keeps its order. */
function topologicalOrder(data: GraphData, edges: Edges, outgoing: CompressedRows, inStart: Int32Array): Int32Array {
  const nodes = data.nodes.length;
  const inputs = data.inputs.length;
  const points = nodes + inputs + data.outputs.length;
  const waiting = new Int32Array(points);
  for (let p = 0; p < points; p++) waiting[p] = inStart[p + 1]! - inStart[p]!;
  const order = new Int32Array(points);
  const done = new Uint8Array(points);
  let filled = 0;
  // Graph inputs are numbered after the nodes, but belong before them: negative keys.
  const key = (point: number) => (point >= nodes && point < nodes + inputs ? point - points : point);
  const heap = new SmallestFirst();
  for (let p = 0; p < points; p++) if (waiting[p] === 0) heap.push(key(p));
  for (let cut = 0; filled < points;) {
    const next = heap.pop();
    if (next === undefined) {
      while (done[cut] === 1 || waiting[cut] === 0) cut += 1;
      waiting[cut] = 0;
      heap.push(key(cut));
      continue;
    }
    const point = next < 0 ? next + points : next;
    if (done[point] === 1) continue;
    done[point] = 1;
    order[filled] = point;
    filled += 1;
    for (let i = outgoing.start[point]!; i < outgoing.start[point + 1]!; i++) {
      const reader = edges.to[outgoing.list[i]!]!;
      if (done[reader] === 1 || waiting[reader] === 0) continue;
      waiting[reader]! -= 1;
      if (waiting[reader] === 0) heap.push(key(reader));
    }
  }
  return order;
}
