import type { KernelRows } from './nsysRows.ts';

/** Launches of one pass whose kernels did not run then: a CUDA graph was captured. */
export interface Capture {
  start: number;
  /** The place of each launch. */
  places: number[];
}

/** Where the kernels of CUDA graphs belong. */
interface GraphLaunches {
  /** Passes through an engine, those without a graph included. */
  passes: number;
  /** undefined: the kernel is not of a graph, or no one knows which launch it repeats. */
  of: (kernel: number) => { place: number; pass: number } | undefined;
}

/** A graph node's id has the graph's in its upper half and counts its nodes below. */
const graphOf = (node: number): number => Math.floor(node / 2 ** 32);

/**
 * A graph repeats the launches from which it was captured: its kernel nodes, in the order of their ids, are those
 * launches in order. A capture fits a graph if it has as many launches as the graph has kernels and ended before it ran;
 * where several fit, graphs and captures must match one to one in order, or all captures must be the same.
 * @param passes how many passes there are without the graphs
 */
export function graphLaunches(kernels: KernelRows, captures: readonly Capture[], passes: number): GraphLaunches {
  const graphs = new Map<number, { nodes: number[]; start: number }>();
  const idOf = (node: number): number => kernels.graphNodes[node]!.id;
  for (const [node, { id, start }] of kernels.graphNodes.entries()) {
    const graph = graphs.get(graphOf(id));
    if (graph) {
      graph.nodes.push(node);
      graph.start = Math.min(graph.start, start);
    } else graphs.set(graphOf(id), { nodes: [node], start });
  }
  const placeOf = new Map<number, number>();
  const sizes = new Map<number, number>();
  for (const { nodes } of graphs.values()) sizes.set(nodes.length, (sizes.get(nodes.length) ?? 0) + 1);
  const used = new Set<Capture>();
  for (const [, { nodes, start }] of [...graphs].toSorted(([a], [b]) => a - b)) {
    const fitting = captures.filter((one) => one.places.length === nodes.length && one.start < start);
    const same = fitting.every(({ places }) => places.every((place, index) => place === fitting[0]!.places[index]));
    if (!same && captures.filter(({ places }) => places.length === nodes.length).length !== sizes.get(nodes.length))
      continue;
    const capture = same ? fitting[0] : fitting.find((one) => !used.has(one));
    if (!capture) continue;
    used.add(capture);
    nodes.toSorted((a, b) => idOf(a) - idOf(b)).forEach((node, index) => placeOf.set(node, capture.places[index]!));
  }
  // Each launch of a graph is a pass.
  const passOf = new Map<number, number>();
  if (graphs.size > 0)
    for (let kernel = 0; kernel < kernels.call.length; kernel++) {
      const call = kernels.call.at(kernel);
      if (call >= 0 && placeOf.has(kernels.graphNode.at(kernel)) && !passOf.has(call))
        passOf.set(call, passes + passOf.size);
    }
  return {
    passes: passes + passOf.size,
    of: (kernel) => {
      const node = kernels.graphNode.at(kernel);
      if (node < 0) return undefined;
      const place = placeOf.get(node);
      const pass = passOf.get(kernels.call.at(kernel));
      return place === undefined || pass === undefined ? undefined : { place, pass };
    },
  };
}
