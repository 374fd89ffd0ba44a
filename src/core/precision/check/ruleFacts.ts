import type { BuildFacts } from './buildFacts.ts';
import { buildIndexOf } from './buildIndex.ts';
import type { NodeIndex } from '../language/nodeIndex.ts';
import type { Rule } from '../language/overrideFile.ts';

/** What a rule's nodes are. */
export interface NodeCounts {
  /** Nodes that accept a precision at all. */
  eligible: number;
  /** Nodes inside ForeignNodes of the last build. */
  foreign: number;
  /** Per ForeignNode (position in the build) the number of nodes, most first. */
  groups: { group: number; nodes: number }[];
}

export interface RuleFacts extends NodeCounts {
  rule: Rule;
  line: number;
  /** Nodes that it selects. */
  nodes: number;
  /** Of these, nodes that it applies to: no later rule selects them. */
  effective: number;
}

const counted = new WeakMap<Int32Array, { build: BuildFacts | null; counts: NodeCounts }>();

/** Counts a rule's nodes (positions), once for each list. Without a build nothing is foreign. */
export function countNodes(nodes: Int32Array, index: NodeIndex, build: BuildFacts | null): NodeCounts {
  let known = counted.get(nodes);
  if (known?.build !== build) counted.set(nodes, (known = { build, counts: count(nodes, index, build) }));
  return known.counts;
}

function count(nodes: Int32Array, index: NodeIndex, build: BuildFacts | null): NodeCounts {
  let eligible = 0;
  let foreign = 0;
  const groupOf = build && nodes.length > 0 ? buildIndexOf(build).foreign : null;
  const inGroup: number[] = [];
  for (const node of nodes) {
    eligible += index.computes[node] ?? 0;
    const group = groupOf?.[node] ?? -1;
    if (group < 0) continue;
    foreign++;
    inGroup[group] = (inGroup[group] ?? 0) + 1;
  }
  const groups = inGroup
    .map((count, group) => ({ group, nodes: count }))
    .filter((entry) => entry.nodes > 0)
    .sort((a, b) => b.nodes - a.nodes);
  return { eligible, foreign, groups };
}
