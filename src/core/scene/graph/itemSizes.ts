import type { GraphIndex } from './graphIndex.ts';
import type { Hierarchy } from './hierarchy.ts';
import { itemTitle, shortTitle } from './scene.ts';
import type { Scene } from './scene.ts';

/** Width of an average character at the size in which titles are drawn; the same everywhere, so that pictures are too. */
const character = 7.9;
const narrowest = 84;
const widest = 232;

/** Sizes of all items in pixels at scale 1; for an open module the least that its label needs. Depends on names only. */
export function itemSizes(
  graph: GraphIndex,
  hierarchy: Hierarchy,
  scene: Scene,
): { width: Float32Array; height: Float32Array } {
  const width = new Float32Array(scene.kind.length);
  const height = new Float32Array(scene.kind.length);
  scene.kind.forEach((kind, item) => {
    const ref = scene.ref[item]!;
    const title = itemTitle(graph, hierarchy, scene, item).length * character;
    switch (kind) {
      case 'node': {
        const small = graph.data.nodes[ref]!.op === 'Constant';
        const name = small ? 0 : shortTitle(graph, hierarchy, ref).length * character * 0.88;
        width[item] = clamp(Math.max(title, name) + 30, small ? 64 : narrowest, widest);
        height[item] = small ? 22 : 42;
        break;
      }
      case 'closed':
        // A repetition says how often, and whether all of it is fused alike.
        width[item] =
          hierarchy.modules[ref]!.times > 1 ? clamp(title * 1.2 + 94, 286, 340) : clamp(title * 1.2 + 48, 176, 300);
        height[item] = 58;
        break;
      case 'open':
        width[item] = clamp(title + 150, 200, 420);
        height[item] = 60;
        break;
      case 'input':
      case 'output':
        width[item] = clamp(title + 30, narrowest, widest);
        height[item] = 28;
        break;
    }
  });
  return { width, height };
}

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value));
