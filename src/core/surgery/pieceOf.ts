import { bodyOf, type ModelGraph, readsOf } from '../model/modelGraph.ts';

/** A part of a network that can be a model of its own: nodes of the main graph, with what crosses the border. */
export interface Piece {
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
 * The piece that these nodes make. Constant nodes that they read join in, so that constants stay constants.
 * @param ids of nodes of the main graph
 */
export function pieceOfNodes(graph: ModelGraph, ids: Iterable<string>): Piece | Unfit {
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
  return pieceOf(graph, chosen, null);
}

/**
 * The piece that computes some tensors from others: all nodes that the last need, back to the first.
 * @param from names of tensors of the main graph where the piece begins; the model's own inputs are taken where it needs them
 * @param to names of tensors that it gives
 */
export function pieceBetween(graph: ModelGraph, from: readonly string[], to: readonly string[]): Piece | Unfit {
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
  return pieceOf(graph, chosen, ends);
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
 * Border and content of chosen nodes, which may have holes: what a node outside makes of the piece's own outputs is an
 * input then. Constant nodes that they read join in.
 * @param picked indices of nodes of the main graph
 * @param ends the outputs that are wanted; null: whatever is needed outside
 */
export function pieceOf(graph: ModelGraph, picked: Iterable<number>, ends: readonly number[] | null): Piece {
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

/** Why there is no such node in the main graph; those of a function are known to reports by their call. */
function missingNode(graph: ModelGraph, id: string): string {
  const call = graph.indexOfId.get(id.split('/')[0]!);
  if (call === undefined) return `There is no node ${id}`;
  const { id: own, op } = graph.nodes[call]!;
  return `Node ${id} is inside ${op} node ${own}, which cannot be cut. Select node ${own} instead`;
}

/** Why there is no such tensor in the main graph. */
export function missingTensor(graph: ModelGraph, name: string): string {
  const inner = graph.tensors.find((tensor) => tensor.name === name && tensor.owner >= 0);
  if (!inner) return `There is no tensor "${name}" in the main graph`;
  const { id, op } = graph.nodes[outermost(graph, inner.owner)]!;
  return `"${name}" is inside ${op} node ${id}, which cannot be cut. Pick a tensor that node ${id} reads or computes`;
}

const words = (graph: ModelGraph, index: number): string => {
  const { id, name, op } = graph.nodes[index]!;
  return name === '' ? `Node ${id} (${op})` : `Node ${id} "${name}" (${op})`;
};
