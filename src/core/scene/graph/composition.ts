import type { FusionGroups } from './fusionGroups.ts';
import type { GraphIndex } from './graphIndex.ts';
import type { Hierarchy } from './hierarchy.ts';
import type { Overlay } from './overlay.ts';
import { paints } from './overlay.ts';
import type { Scene } from './scene.ts';
import { addTo } from '../../text/addTo.ts';

/** What the nodes of a module are painted with: stretches from left to right, as fractions of its nodes. */
export interface Stretch {
  paint: number;
  share: number;
  nodes: number;
  /** The group of these nodes; -1 where the overlay does not paint by group, or they are in none. */
  group: number;
}

/** Where a group is in a closed module: a part of its bar, from left to right as fractions of its width. */
export interface BarSegment {
  item: number;
  from: number;
  to: number;
}

/**
 * For every module on the scene its stretches. By fusion: its groups in the order in which the graph comes to them,
 * then what is not computed, then what is unknown. By anything else: in the order of the paints.
 */
export function composeItems(
  graph: GraphIndex,
  hierarchy: Hierarchy,
  scene: Scene,
  overlay: Overlay,
  { groupOf }: FusionGroups,
): Map<number, Stretch[]> {
  const result = new Map<number, Stretch[]>();
  const byGroup = overlay.kind === 'fusion';
  scene.kind.forEach((kind, item) => {
    if (kind !== 'closed' && kind !== 'open') return;
    const found = new Map<number, { paint: number; group: number; nodes: number; first: number }>();
    const { start, end } = hierarchy.modules[scene.ref[item]!]!;
    for (let i = start; i < end; i++) {
      const point = hierarchy.sequence[i]!;
      const paint = overlay.paintOf[point]!;
      const group = byGroup && paint < paints.grey ? groupOf[point]! : -1;
      const key = group >= 0 ? group : -1 - paint;
      const known = found.get(key);
      const rank = group >= 0 ? graph.rank[point]! : graph.points + paint;
      if (known === undefined) found.set(key, { paint, group, nodes: 1, first: rank });
      else {
        known.nodes += 1;
        known.first = Math.min(known.first, rank);
      }
    }
    const stretches = [...found.values()].sort((a, b) => a.first - b.first);
    result.set(
      item,
      stretches.map(({ paint, group, nodes }) => ({ paint, group, nodes, share: nodes / (end - start) })),
    );
  });
  return result;
}

/** Where each group is in the bars of closed modules. */
export function segmentsOf(scene: Scene, composed: Map<number, Stretch[]>): Map<number, BarSegment[]> {
  const result = new Map<number, BarSegment[]>();
  for (const [item, stretches] of composed) {
    if (scene.kind[item] !== 'closed') continue;
    let at = 0;
    for (const { group, share } of stretches) {
      const segment = { item, from: at, to: at + share };
      at += share;
      if (group < 0) continue;
      addTo(result, group, segment);
    }
  }
  return result;
}
