import { scaleSequential } from 'd3-scale';
import { paints } from '../../../src/kernel/picture/graph/overlay.ts';
import type { Theme } from '../../shared/theme.ts';
import type { Fill } from './brush.ts';

type Rgb = [red: number, green: number, blue: number];

/** Colors of a theme by the paints of core/scene, opaque, so that shapes may overlap. */
export interface Palette {
  theme: Theme;
  /** Outline of what is painted so, and its fill. */
  strong(paint: number): string;
  soft(paint: number): string;
  /** A box without an outline: too small for one, or a part of a bar. What is not painted is paler than gray. */
  solid(paint: number): Fill;
  /** Fill of a boundary around a group of that color; `level` 1 is a boundary within a boundary. */
  area(color: number, level: 0 | 1): string;
  /** The background, so opaque that what is below is seen only by the rest. */
  veil(share: number): string;
  /** A box that is painted with nothing. */
  card: string;
}

/** The palette of a theme. Fills are mixed with the background instead of being translucent. */
export function makePalette(theme: Theme): Palette {
  const background = parse(theme.background);
  const foreground = parse(theme.foreground);
  const low = mix(background, parse(theme.categorical[5]!), 0.35);
  const high = parse(theme.categorical[1]!);
  const warm = scaleSequential((t: number) =>
    text(mix(low, theme.dark ? mix(high, foreground, 0.25) : mix(high, foreground, 0.3), t)),
  ).domain([0, paints.timeSteps - 1]);
  const outline = (paint: number): string => {
    const hues = theme.categorical.length;
    if (paint < hues) return theme.categorical[paint]!;
    if (paint < 2 * hues) return text(mix(parse(theme.categorical[paint - hues]!), foreground, 0.4));
    if (isTime(paint)) return warm(paint - paints.time);
    if (isDerived(paint)) return theme.categorical[paint - paints.derived]!;
    if (paint === paints.gray) return theme.gray;
    if (paint === paints.lost) return theme.error;
    return paint === paints.off ? theme.border : theme.strong;
  };
  const strongs: string[] = [];
  const strong = (paint: number): string => (strongs[paint] ??= outline(paint));
  const softs = new Map<number, string>();
  const softer = (paint: number, share: number): string => {
    // Shares are below 1.
    const key = paint + share;
    let color = softs.get(key);
    if (color === undefined) softs.set(key, (color = text(mix(background, parse(strong(paint)), share))));
    return color;
  };
  const card = text(mix(background, foreground, theme.contrast ? 0 : 0.05));
  const fill = theme.contrast ? 0 : theme.dark ? 0.3 : 0.2;
  const area = theme.contrast ? 0 : theme.dark ? 0.16 : 0.1;
  const solid = (paint: number): Fill => {
    if (paint === paints.lost) return { stripes: theme.error, over: theme.background, crossed: true };
    if (paint === paints.unknown) return { stripes: theme.foreground, over: theme.background };
    if (isDerived(paint)) return { stripes: strong(paint), over: theme.background };
    if (paint === paints.off) return card;
    return paint === paints.plain && !theme.contrast ? softer(paint, 0.5) : strong(paint);
  };
  const solids: Fill[] = [];
  return {
    theme,
    strong,
    soft: (paint) => {
      if (paint === paints.gray || paint === paints.unknown || paint === paints.off) return theme.background;
      if (paint === paints.plain) return softer(paint, theme.contrast ? 0 : 0.12);
      return isTime(paint) ? softer(paint, theme.contrast ? 0 : 0.85) : softer(paint, fill);
    },
    solid: (paint) => (solids[paint] ??= solid(paint)),
    area: (color, level) => softer(color, level === 0 ? area : area + (theme.contrast ? 0 : 0.09)),
    veil: (share) => text(background).replace('rgb(', 'rgba(').replace(')', `, ${share})`),
    card,
  };
}

const isTime = (paint: number): boolean => paint >= paints.time && paint < paints.time + paints.timeSteps;

/** Whether a paint stands for what is derived or only probable, which is drawn in stripes. */
export const isDerived = (paint: number): boolean => paint >= paints.derived && paint < paints.gray;

/** Whether the outline of a node of that paint is broken: it is not computed, unknown or derived. */
export const isDashed = (paint: number): boolean =>
  paint === paints.gray || paint === paints.unknown || isDerived(paint);

function parse(color: string): Rgb {
  const found = color.match(/[\d.]+/g)?.map(Number) ?? [];
  // `color(srgb 0.1 0.2 0.3)` counts from 0 to 1.
  const scale = color.startsWith('color(') ? 255 : 1;
  return [(found[0] ?? 128) * scale, (found[1] ?? 128) * scale, (found[2] ?? 128) * scale];
}

const mix = (a: Rgb, b: Rgb, share: number): Rgb => [
  a[0] + (b[0] - a[0]) * share,
  a[1] + (b[1] - a[1]) * share,
  a[2] + (b[2] - a[2]) * share,
];
const text = ([red, green, blue]: Rgb): string => `rgb(${Math.round(red)}, ${Math.round(green)}, ${Math.round(blue)})`;
