import { draft, type Draft } from './draft.ts';
import type { GraphIndex } from '../graphIndex.ts';

/** What a build says about points: the group of each (-1: none), and which are not computed. */
export interface BuiltGroups {
  groupOf: Int32Array;
  idle: Uint8Array;
  /** A group's name: `stages.2/blocks.2 · LayerNorm + MLP`. */
  labelOf(group: number): string;
}

/** Fewer boxes than these are as easily seen one by one. */
const fewest = 3;

/**
 * Puts what one module has of a group, next to others, into a part of its own, from the inside out: so what is within a
 * group can be closed, and what is around it open.
 * @returns the group that all of a module is in, -1 for several or none, -2 where nothing in it is computed
 */
export function gatherGroups(graph: GraphIndex, module: Draft, built: BuiltGroups): number {
  const { groupOf, idle } = built;
  const buckets = new Map<number, { own: number[]; children: Draft[] }>();
  const bucketOf = (group: number) => {
    const known = buckets.get(group) ?? { own: [], children: [] };
    buckets.set(group, known);
    return known;
  };
  for (const child of module.children) bucketOf(gatherGroups(graph, child, built)).children.push(child);
  for (const point of module.own) bucketOf(idle[point] === 1 ? -2 : groupOf[point]!).own.push(point);
  const groups = [...buckets.keys()].filter((group) => group !== -2);
  if (groups.length < 2) return groups[0] ?? -2;
  // Blocks of a repetition stay next to each other.
  if (module.kind === 'repeat') return -1;
  for (const group of groups) {
    const { own, children } = buckets.get(group)!;
    if (group < 0 || own.length + children.length < fewest || isAround(graph, own, built)) continue;
    const part = draft(`${module.id}/#group${group}`, built.labelOf(group), 'part');
    const members = new Set([...own, ...children.flatMap(pointsIn)]);
    // What is not computed goes with what alone reads it.
    const helpers = (buckets.get(-2)?.own ?? []).filter((point) => {
      const [from, to] = [graph.outStart[point]!, graph.outStart[point + 1]!];
      return from < to && graph.outEdges.subarray(from, to).every((edge) => members.has(graph.to[edge]!));
    });
    part.own = [...own, ...helpers].sort((a, b) => graph.rank[a]! - graph.rank[b]!);
    part.children = children;
    part.first = Math.min(...children.map(({ first }) => first), graph.rank[part.own[0] ?? -1] ?? Infinity);
    const taken = new Set(part.own);
    module.own = module.own.filter((point) => !taken.has(point));
    module.children = [...module.children.filter((child) => !children.includes(child)), part];
  }
  module.children.sort((a, b) => a.first - b.first);
  return -1;
}

/** Whether a node of another group is between two of these: in one box they would be before and after it. */
function isAround(graph: GraphIndex, own: readonly number[], { idle }: BuiltGroups): boolean {
  const members = new Set(own);
  const readers = (point: number) =>
    Array.from(graph.outEdges.subarray(graph.outStart[point]!, graph.outStart[point + 1]!), (edge) => graph.to[edge]!);
  return own.some((point) =>
    readers(point).some(
      (next) => !members.has(next) && idle[next] === 0 && readers(next).some((after) => members.has(after)),
    ),
  );
}

const pointsIn = (module: Draft): number[] => [...module.own, ...module.children.flatMap(pointsIn)];
