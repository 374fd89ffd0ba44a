import type { GraphIndex } from './graphIndex.ts';
import { lastPart } from './hierarchy.ts';
import type { Hierarchy } from './hierarchy.ts';

/** What is drawn as one box. */
export const itemKinds = ['node', 'closed', 'open', 'input', 'output'] as const;
export type ItemKind = (typeof itemKinds)[number];

/** What is visible when some modules are open. Arrays run over items; parents come before what is in them. */
export interface Scene {
  kind: ItemKind[];
  /** The point (node, input, output) or the module that an item stands for. */
  ref: Int32Array;
  /** The open module around it, -1 for none. */
  parent: Int32Array;
  /** The item that stands for each point of the graph. */
  itemOfPoint: Int32Array;
  /** The item of each module that is itself visible, otherwise -1. */
  itemOfModule: Int32Array;
  /** Edges between items that are not open, merged, in the order of their sources. */
  from: Int32Array;
  to: Int32Array;
  /** How many of the graph's edges each one stands for, and the first of them. */
  weight: Int32Array;
  edge: Int32Array;
}

/** The visible items and edges for a set of open modules' ids; a module inside a closed one is not visible, open or not. */
export function buildScene(graph: GraphIndex, hierarchy: Hierarchy, open: ReadonlySet<string>): Scene {
  const kind: ItemKind[] = [];
  const ref: number[] = [];
  const parent: number[] = [];
  const itemOfPoint = new Int32Array(graph.points);
  const itemOfModule = new Int32Array(hierarchy.modules.length).fill(-1);
  const add = (what: ItemKind, of: number, inside: number): number => {
    kind.push(what);
    ref.push(of);
    parent.push(inside);
    return kind.length - 1;
  };
  const fill = (index: number, inside: number): void => {
    const module = hierarchy.modules[index]!;
    // In order of the graph, modules between the nodes around them: that is the order in which rows are filled.
    const entries: [first: number, point: number, inner: number][] = module.own.map((point) => [
      graph.rank[point]!,
      point,
      -1,
    ]);
    for (const inner of module.modules)
      entries.push([graph.rank[hierarchy.sequence[hierarchy.modules[inner]!.start]!]!, -1, inner]);
    entries.sort((a, b) => a[0] - b[0] || a[2] - b[2]);
    for (const [, point, inner] of entries) {
      if (inner < 0) {
        itemOfPoint[point] = add(pointKind(graph, point), point, inside);
        continue;
      }
      const { id, start, end } = hierarchy.modules[inner]!;
      const isOpen = open.has(id);
      const item = add(isOpen ? 'open' : 'closed', inner, inside);
      itemOfModule[inner] = item;
      if (isOpen) fill(inner, item);
      else for (let i = start; i < end; i++) itemOfPoint[hierarchy.sequence[i]!] = item;
    }
  };
  fill(0, -1);
  const items = { kind, ref: Int32Array.from(ref), parent: Int32Array.from(parent), itemOfPoint, itemOfModule };
  return { ...items, ...mergeEdges(graph, hierarchy, items) };
}

export function pointKind(graph: GraphIndex, point: number): 'node' | 'input' | 'output' {
  if (point < graph.nodes) return 'node';
  return point < graph.nodes + graph.data.inputs.length ? 'input' : 'output';
}

function mergeEdges(
  graph: GraphIndex,
  hierarchy: Hierarchy,
  { kind, ref, itemOfPoint }: Pick<Scene, 'kind' | 'ref' | 'itemOfPoint'>,
): Pick<Scene, 'from' | 'to' | 'weight' | 'edge'> {
  const from: number[] = [];
  const to: number[] = [];
  const weight: number[] = [];
  const edge: number[] = [];
  const seenFor = new Int32Array(kind.length).fill(-1);
  const seenAs = new Int32Array(kind.length);
  const leave = (item: number, point: number) => {
    for (let i = graph.outStart[point]!; i < graph.outStart[point + 1]!; i++) {
      const e = graph.outEdges[i]!;
      const reader = itemOfPoint[graph.to[e]!]!;
      if (reader === item) continue;
      if (seenFor[reader] === item) {
        weight[seenAs[reader]!]! += 1;
        continue;
      }
      seenFor[reader] = item;
      seenAs[reader] = from.length;
      from.push(item);
      to.push(reader);
      weight.push(1);
      edge.push(e);
    }
  };
  for (let item = 0; item < kind.length; item++) {
    if (kind[item] === 'open') continue;
    if (kind[item] !== 'closed') {
      leave(item, ref[item]!);
      continue;
    }
    const { start, end } = hierarchy.modules[ref[item]!]!;
    for (let i = start; i < end; i++) leave(item, hierarchy.sequence[i]!);
  }
  return {
    from: Int32Array.from(from),
    to: Int32Array.from(to),
    weight: Int32Array.from(weight),
    edge: Int32Array.from(edge),
  };
}

/** How an item stays recognisable when others open or close, and between two builds: `node:14`, `module:/blocks.0`. */
export function itemKey(graph: GraphIndex, hierarchy: Hierarchy, scene: Scene, item: number): string {
  const ref = scene.ref[item]!;
  switch (scene.kind[item]!) {
    case 'closed':
    case 'open':
      return `module:${hierarchy.modules[ref]!.id}`;
    case 'node':
      return `node:${graph.data.nodes[ref]!.id}`;
    case 'input':
      return `input:${graph.data.inputs[ref - graph.nodes]!.name}`;
    case 'output':
      return `output:${graph.data.outputs[ref - graph.nodes - graph.data.inputs.length]!.name}`;
  }
}

/** The first line in an item's box: the operator, the module's name, the tensor's name. */
export function itemTitle(graph: GraphIndex, hierarchy: Hierarchy, scene: Scene, item: number): string {
  const ref = scene.ref[item]!;
  switch (scene.kind[item]!) {
    case 'closed':
    case 'open':
      return hierarchy.modules[ref]!.label;
    case 'node':
      return graph.data.nodes[ref]!.op;
    case 'input':
      return graph.data.inputs[ref - graph.nodes]!.name;
    case 'output':
      return graph.data.outputs[ref - graph.nodes - graph.data.inputs.length]!.name;
  }
}

/**
 * A node's name as far as the modules around it do not say it already, and without the operator that is above it:
 * `/blocks.0/attn/proj/MatMul` inside `attn` is `proj`; `/blocks.0/attn/MatMul_1` is `MatMul_1`.
 */
export function shortTitle(graph: GraphIndex, hierarchy: Hierarchy, point: number): string {
  const { name, op, label } = graph.data.nodes[point]!;
  if (label !== undefined) return label === op ? '' : label;
  const module = hierarchy.modules[hierarchy.moduleOf[point]!]!;
  let rest = name;
  if (module.kind === 'scope' && name.startsWith(`${module.id}/`)) rest = name.slice(module.id.length + 1);
  else if (module.kind !== 'scope' && name.includes('/')) rest = name.replace(/^\//, '');
  if (lastPart(rest) === op && rest !== op) rest = rest.slice(0, rest.length - op.length - 1);
  return rest === op ? '' : rest;
}
