import type { Fate, LayerKind } from '../../src/core/fusion/fusionReport.ts';
import { layerColor } from './theme.ts';

/** What decides how a block looks. */
export interface Painted {
  kind: LayerKind | Fate | 'module' | 'model';
  foreignNode: number | null;
  exact: boolean;
}

/** Kinds that share a name between layers and fates mean the same in both. */
const grays = new Set(['folded', 'removed', 'shape', 'constant', 'other']);

/** CSS paint: color of the group, gray for what is not computed, hatched for the unknown. */
export function paintOf({ kind, foreignNode }: Painted): string {
  if (kind === 'unknown') return 'url(#lens-hatched)';
  if (kind === 'module' || kind === 'model') return 'var(--lens-strong)';
  if (grays.has(kind)) return 'var(--lens-gray)';
  const index = layerColor(kind as LayerKind, foreignNode);
  return index === null ? 'var(--lens-gray)' : `var(--lens-c${index})`;
}

/** The color of a mark's ribbons and outlines: never a pattern. */
export const lineOf = (painted: Painted): string =>
  painted.kind === 'unknown' ? 'var(--lens-muted)' : paintOf(painted);

/** Adds the pattern that `url(#lens-hatched)` names; once a page is enough. */
export function definePatterns(svg: SVGSVGElement): void {
  if (document.getElementById('lens-hatched') !== null) return;
  const make = (name: string, attributes: Record<string, string>) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const pattern = make('pattern', {
    id: 'lens-hatched',
    width: '6',
    height: '6',
    patternUnits: 'userSpaceOnUse',
    patternTransform: 'rotate(45)',
  });
  pattern.append(
    make('rect', { width: '6', height: '6', class: 'hatch-ground' }),
    make('rect', { width: '2', height: '6', class: 'hatch-line' }),
  );
  const defs = make('defs', {});
  defs.append(pattern);
  svg.append(defs);
}
