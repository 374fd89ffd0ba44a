import type { Fate, LayerKind } from '../../src/kernel/fusion/fusionReport.ts';
import { layerColor } from './theme.ts';

/** What decides how a block looks. */
export interface Painted {
  kind: LayerKind | Fate | 'module' | 'model';
  foreignNode: number | null;
  exact: boolean;
}

/** Kinds that share a name between layers and fates mean the same in both. */
const grays = new Set(['folded', 'removed', 'shape', 'constant', 'other']);

/** CSS paint: color of the group, gray for what is not computed, hatched for the unknown, cross-hatched for what may be lost. */
export function paintOf({ kind, foreignNode }: Painted): string {
  if (kind === 'unknown') return 'url(#lens-hatched)';
  if (kind === 'unaccounted') return 'url(#lens-crossed)';
  if (kind === 'module' || kind === 'model') return 'var(--lens-strong)';
  if (grays.has(kind)) return 'var(--lens-gray)';
  const index = layerColor(kind as LayerKind, foreignNode);
  return index === null ? 'var(--lens-gray)' : `var(--lens-c${index})`;
}

/** The color of a mark's ribbons and outlines: never a pattern. */
export const lineOf = (painted: Painted): string =>
  painted.kind === 'unknown'
    ? 'var(--lens-muted)'
    : painted.kind === 'unaccounted'
      ? 'var(--lens-error)'
      : paintOf(painted);

/** Adds the patterns that `url(#lens-hatched)` and `url(#lens-crossed)` name; once a page is enough. */
export function definePatterns(svg: SVGSVGElement): void {
  if (document.getElementById('lens-hatched') !== null) return;
  const make = (name: string, attributes: Record<string, string>) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const size = { width: '6', height: '6' };
  const pattern = (id: string, ...lines: Element[]): Element => {
    const made = make('pattern', { id, ...size, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' });
    made.append(make('rect', { ...size, class: 'hatch-ground' }), ...lines);
    return made;
  };
  const defs = make('defs', {});
  defs.append(
    pattern('lens-hatched', make('rect', { width: '2', height: '6', class: 'hatch-line' })),
    pattern(
      'lens-crossed',
      make('rect', { width: '2', height: '6', class: 'cross-line' }),
      make('rect', { width: '6', height: '2', class: 'cross-line' }),
    ),
  );
  svg.append(defs);
}
