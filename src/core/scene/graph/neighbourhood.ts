import type { GraphData } from '../panel/viewData.ts';
import type { GraphIndex } from './graphIndex.ts';

/** Points that are at most `steps` edges away from some of these, in either direction; these included, in the graph's order. */
export function neighbourhood(graph: GraphIndex, points: readonly number[], steps: number): number[] {
  const found = new Set(points);
  let edge = [...found];
  for (let step = 0; step < steps && edge.length > 0; step++) {
    const next: number[] = [];
    for (const point of edge) {
      for (const other of [...readersOf(graph, point), ...makersOf(graph, point)]) {
        if (found.has(other)) continue;
        found.add(other);
        next.push(other);
      }
    }
    edge = next;
  }
  return inOrder(graph, found);
}

/** Points on the paths from one point to another or, if there is none, back from that to the first; [] for none either way. */
export function pathsBetween(graph: GraphIndex, a: number, b: number): number[] {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    const after = reach(graph, from, readersOf);
    if (!after.has(to)) continue;
    const before = reach(graph, to, makersOf);
    return inOrder(graph, new Set([...after].filter((point) => before.has(point))));
  }
  return [];
}

/** The part of a graph with these points only. Tensors from and to the rest stay, so that nodes keep their inputs and outputs. */
export function partOfGraph({ data, nodes }: GraphIndex, points: readonly number[]): GraphData {
  const kept = new Set(points);
  const outputs = nodes + data.inputs.length;
  return {
    ...data,
    nodes: data.nodes.filter((_, point) => kept.has(point)),
    inputs: data.inputs.filter((_, i) => kept.has(nodes + i)),
    outputs: data.outputs.filter((_, i) => kept.has(outputs + i)),
  };
}

type Neighbours = (graph: GraphIndex, point: number) => number[];

const readersOf: Neighbours = ({ outStart, outEdges, to }, point) =>
  Array.from(outEdges.subarray(outStart[point], outStart[point + 1]), (edge) => to[edge]!);
const makersOf: Neighbours = ({ inStart, inEdges, from }, point) =>
  Array.from(inEdges.subarray(inStart[point], inStart[point + 1]), (edge) => from[edge]!);

function reach(graph: GraphIndex, start: number, neighbours: Neighbours): Set<number> {
  const found = new Set([start]);
  // A set gives what is added while it is walked through.
  for (const point of found) for (const next of neighbours(graph, point)) found.add(next);
  return found;
}

const inOrder = ({ rank }: GraphIndex, points: Set<number>): number[] =>
  [...points].sort((a, b) => rank[a]! - rank[b]!);
