import type { GraphIndex } from './graphIndex.ts';
import type { Hierarchy } from './hierarchy.ts';
import { itemTitle, shortTitle } from './scene.ts';
import type { Scene } from './scene.ts';
import { addTo } from '../../text/addTo.ts';

/** Sizes of letters at scale 1; pictures draw them so large, times the scale. */
export const letters = { title: 13, note: 11.5, module: 13.5, terminal: 12 } as const;

/** Widths of letters as parts of their size, in common fonts; the same everywhere, so that pictures are too. */
const narrow = /[ijl.,:;|!'()[\]/ft -]/g;
const wide = /[mwMW@%&]/g;
const capital = /[A-Z_0-9…▸]/g;

/** Width of a text in pixels at scale 1, rather a little more than less. */
function textWidth(text: string, size: number, bold: boolean): number {
  const count = (letter: RegExp) => text.match(letter)?.length ?? 0;
  const [thin, broad, tall] = [count(narrow), count(wide), count(capital)];
  const units = thin * 0.36 + broad * 0.92 + tall * 0.68 + (text.length - thin - broad - tall) * 0.58;
  return units * size * (bold ? 1.1 : 1.03);
}

const widths = {
  constant: [64, 140],
  node: [84, 220],
  closed: [176, 320],
  repeat: [240, 360],
  open: [200, 420],
  terminal: [84, 232],
} as const;

/**
 * Sizes of all items in pixels at scale 1; for an open module the least that its label needs. Nodes of one operator in
 * one module are equally wide, so are closed modules: wide enough for the longest of their names, within bounds. Depends
 * on names only.
 */
export function itemSizes(
  graph: GraphIndex,
  hierarchy: Hierarchy,
  scene: Scene,
): { width: Float32Array; height: Float32Array } {
  const width = new Float32Array(scene.kind.length);
  const height = new Float32Array(scene.kind.length);
  const alike = new Map<string, number[]>();
  scene.kind.forEach((_, item) => {
    const own = ownSize(graph, hierarchy, scene, item);
    const [least, most] = widths[own.type];
    width[item] = Math.min(most, Math.max(least, Math.ceil(own.width)));
    height[item] = own.height;
    if (own.alike !== '') addTo(alike, `${scene.parent[item]!} ${own.alike}`, item);
  });
  for (const items of alike.values()) {
    const widest = items.reduce((most, item) => Math.max(most, width[item]!), 0);
    for (const item of items) width[item] = widest;
  }
  return { width, height };
}

/** What an item needs by itself, and what it shares with others of its width ('': its width is its own). */
function ownSize(
  graph: GraphIndex,
  hierarchy: Hierarchy,
  scene: Scene,
  item: number,
): { type: keyof typeof widths; width: number; height: number; alike: string } {
  const ref = scene.ref[item]!;
  const title = itemTitle(graph, hierarchy, scene, item);
  switch (scene.kind[item]!) {
    case 'node': {
      const small = title === 'Constant';
      const name = small ? 0 : textWidth(shortTitle(graph, hierarchy, ref), letters.note, false);
      return {
        type: small ? 'constant' : 'node',
        width: Math.max(textWidth(title, letters.title, true), name) + 24,
        height: small ? 22 : 42,
        alike: `node ${title}`,
      };
    }
    case 'closed': {
      // A repetition says how often, and whether all of it is fused alike.
      const repeat = hierarchy.modules[ref]!.times > 1;
      return {
        type: repeat ? 'repeat' : 'closed',
        width: textWidth(title, letters.module, true) + (repeat ? 90 : 44),
        height: 58,
        alike: repeat ? 'repeat' : 'closed',
      };
    }
    case 'open':
      return { type: 'open', width: textWidth(title, letters.module, true) + 60, height: 60, alike: '' };
    case 'input':
    case 'output':
      return { type: 'terminal', width: textWidth(title, letters.terminal, false) + 30, height: 28, alike: '' };
  }
}
