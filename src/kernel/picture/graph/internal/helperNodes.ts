import { draft, type Draft } from './draft.ts';
import type { GraphIndex } from '../graphIndex.ts';
import { addTo } from '../../../base/addTo.ts';
import { thousands } from '../../../base/text.ts';

/**
 * 1 for points that carry no data of the network's inputs: constants, what is computed from weights alone, and
 * arithmetic on shapes. In a subgraph only constants and what follows from them, since its inputs are no edges.
 */
export function helperPoints(graph: GraphIndex): Uint8Array {
  const helper = new Uint8Array(graph.points);
  for (const point of graph.order) {
    const node = graph.data.nodes[point];
    if (node === undefined) continue;
    if (node.op === 'Constant' || node.op === 'Shape' || node.op === 'Size') {
      helper[point] = 1;
      continue;
    }
    const begin = graph.inStart[point]!;
    const end = graph.inStart[point + 1]!;
    // A node of a subgraph may read what the subgraph is given: as many edges as inputs means that it does not.
    if (graph.owner[point]! >= 0 && end - begin < node.inputs.filter((name) => name !== '').length) continue;
    let all = 1;
    for (let i = begin; i < end && all === 1; i++) all = helper[graph.from[graph.inEdges[i]!]!]!;
    helper[point] = all;
  }
  return helper;
}

/**
 * Puts helpers of one module that belong together (`Shape → Gather → Concat`) into a part of their own, so that the
 * network's own flow is what is seen first. A single constant stays where it is; so does everything where nearly all
 * nodes are helpers.
 */
export function gatherHelpers(graph: GraphIndex, module: Draft, helper: Uint8Array): void {
  const own = module.own.filter((point) => helper[point] === 1);
  if (own.length < 3 || own.length > 0.8 * module.own.length) return;
  const here = new Map(own.map((point, i) => [point, i]));
  const root = own.map((_, i) => i);
  const find = (i: number): number => {
    while (root[i] !== i) i = root[i] = root[root[i]!]!;
    return i;
  };
  own.forEach((point, i) => {
    // What a constant that several share has to do with one of them says nothing about the others.
    if (graph.outStart[point + 1]! - graph.outStart[point]! > 1 && graph.inStart[point + 1] === graph.inStart[point])
      return;
    for (let k = graph.outStart[point]!; k < graph.outStart[point + 1]!; k++) {
      const reader = here.get(graph.to[graph.outEdges[k]!]!);
      if (reader !== undefined) root[find(i)] = find(reader);
    }
  });
  const groups = new Map<number, number[]>();
  own.forEach((point, i) => {
    addTo(groups, find(i), point);
  });
  const gathered = new Set<number>();
  let count = 0;
  for (const points of groups.values()) {
    if (points.length < 3) continue;
    const part = draft(`${module.id}/#helpers${count}`, labelOf(graph, points), 'part');
    part.own = points;
    part.first = Math.min(...points.map((point) => graph.rank[point]!));
    module.children.push(part);
    for (const point of points) gathered.add(point);
    count += 1;
  }
  if (gathered.size > 0) module.own = module.own.filter((point) => !gathered.has(point));
}

function labelOf(graph: GraphIndex, points: number[]): string {
  const ops = points.map((point) => graph.data.nodes[point]!.op).filter((op) => op !== 'Constant');
  if (ops.length === 0) return `Constants (${thousands(points.length)})`;
  const first = ops[0]!;
  const last = ops.at(-1) ?? first;
  return first === last ? first : `${first} … ${last}`;
}
