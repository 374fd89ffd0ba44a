import type { Hierarchy } from './hierarchy.ts';
import type { Overlay } from './overlay.ts';
import { paints } from './overlay.ts';
import type { Scene } from './scene.ts';

/** What the nodes of a module are painted with: stretches from left to right, as fractions of its nodes. */
export interface Stretch {
  paint: number;
  share: number;
  nodes: number;
}

/** For every module on the scene its stretches; colours first, then what is not computed, then what is unknown. */
export function composeItems(hierarchy: Hierarchy, scene: Scene, overlay: Overlay): Map<number, Stretch[]> {
  const result = new Map<number, Stretch[]>();
  const counts = new Int32Array(paints.plain + 1);
  scene.kind.forEach((kind, item) => {
    if (kind !== 'closed' && kind !== 'open') return;
    counts.fill(0);
    const { start, end } = hierarchy.modules[scene.ref[item]!]!;
    for (let i = start; i < end; i++) counts[overlay.paintOf[hierarchy.sequence[i]!]!]! += 1;
    const stretches: Stretch[] = [];
    counts.forEach((nodes, paint) => {
      if (nodes > 0) stretches.push({ paint, share: nodes / (end - start), nodes });
    });
    result.set(item, stretches);
  });
  return result;
}
