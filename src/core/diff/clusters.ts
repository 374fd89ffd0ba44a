import type { Group, Groups } from './groups.ts';
import { addTo } from '../text/addTo.ts';

/** Groups of both sides that share nodes: the least that can be compared. */
export interface Cluster {
  a: Group[];
  b: Group[];
  /** Nodes that both sides compute, as positions in A. */
  shared: number[];
  /** Both sides compute just the same nodes together. */
  alike: boolean;
}

/**
 * Joins groups of two builds to clusters. Groups with the same nodes on both sides are clusters of their own, so that a
 * node in several kernels does not tie them all together.
 * @param shared positions in A of a group's nodes that both sides compute, ascending
 */
export function clusters(
  a: Groups,
  b: Groups,
  shared: { a: (group: Group) => number[]; b: (group: Group) => number[] },
): Cluster[] {
  const entries = [
    ...a.groups.map((group) => ({ group, side: 'a' as const, nodes: shared.a(group) })),
    ...b.groups.map((group) => ({ group, side: 'b' as const, nodes: shared.b(group) })),
  ];
  const bySet = new Map<string, typeof entries>();
  for (const entry of entries) {
    const key = entry.nodes.join();
    addTo(bySet, key, entry);
  }
  const found: Cluster[] = [];
  const rest: typeof entries = [];
  for (const list of bySet.values()) {
    const [ofA, ofB] = [list.filter(({ side }) => side === 'a'), list.filter(({ side }) => side === 'b')];
    if (list[0]!.nodes.length === 0) for (const entry of list) found.push(cluster([entry], false));
    // Which of several kernels of the same nodes became which is not known.
    else if (ofA.length === ofB.length) found.push(cluster(list, true));
    else rest.push(...list);
  }
  // Union of what is left through shared nodes.
  const parent = new Map<number, number>();
  const root = (node: number): number => {
    let at = node;
    while (parent.get(at) !== at) {
      parent.set(at, parent.get(parent.get(at)!)!);
      at = parent.get(at)!;
    }
    return at;
  };
  for (const { nodes } of rest) {
    for (const node of nodes) if (!parent.has(node)) parent.set(node, node);
    for (const node of nodes) parent.set(root(node), root(nodes[0]!));
  }
  const components = new Map<number, typeof entries>();
  for (const entry of rest) {
    const key = root(entry.nodes[0]!);
    addTo(components, key, entry);
  }
  for (const list of components.values()) found.push(cluster(list, false));
  return found;
}

function cluster(entries: { group: Group; side: 'a' | 'b'; nodes: number[] }[], alike: boolean): Cluster {
  const of = (side: 'a' | 'b') => entries.filter((entry) => entry.side === side).map(({ group }) => group);
  const shared = [...new Set(entries.flatMap(({ nodes }) => nodes))].toSorted((x, y) => x - y);
  return { a: of('a'), b: of('b'), shared, alike };
}
