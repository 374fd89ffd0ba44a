import { scaleSequential } from 'd3-scale';
import { paints } from '../../src/core/scene/overlay.ts';
import type { Theme } from '../shared/theme.ts';

type Rgb = [red: number, green: number, blue: number];

/** Colours of a theme by the paints of core/scene, opaque, so that shapes may overlap. */
export interface Palette {
  theme: Theme;
  /** Outline of what is painted so, and its fill. */
  strong(paint: number): string;
  soft(paint: number): string;
  /** Fill of a boundary around a group of that colour; `level` 1 is a boundary within a boundary. */
  area(colour: number, level: 0 | 1): string;
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
  const strong = (paint: number): string => {
    const hues = theme.categorical.length;
    if (paint < hues) return theme.categorical[paint]!;
    if (paint < 2 * hues) return text(mix(parse(theme.categorical[paint - hues]!), foreground, 0.4));
    if (paint >= paints.time && paint < paints.time + paints.timeSteps) return warm(paint - paints.time);
    if (paint === paints.grey) return theme.grey;
    return theme.strong;
  };
  const softs = new Map<string, string>();
  const softer = (paint: number, share: number): string => {
    const key = `${paint}/${share}`;
    let colour = softs.get(key);
    if (colour === undefined) {
      colour = text(mix(background, parse(strong(paint)), share));
      softs.set(key, colour);
    }
    return colour;
  };
  const fill = theme.contrast ? 0 : theme.dark ? 0.3 : 0.2;
  const area = theme.contrast ? 0 : theme.dark ? 0.16 : 0.1;
  return {
    theme,
    strong,
    soft: (paint) => {
      if (paint === paints.grey || paint === paints.unknown) return theme.background;
      if (paint === paints.plain) return softer(paint, theme.contrast ? 0 : 0.12);
      return paint >= paints.time ? softer(paint, theme.contrast ? 0 : 0.85) : softer(paint, fill);
    },
    area: (colour, level) => softer(colour, level === 0 ? area : area + (theme.contrast ? 0 : 0.09)),
    card: text(mix(background, foreground, theme.contrast ? 0 : 0.05)),
  };
}

function parse(colour: string): Rgb {
  const found = colour.match(/[\d.]+/g)?.map(Number) ?? [];
  // `color(srgb 0.1 0.2 0.3)` counts from 0 to 1.
  const scale = colour.startsWith('color(') ? 255 : 1;
  return [(found[0] ?? 128) * scale, (found[1] ?? 128) * scale, (found[2] ?? 128) * scale];
}

const mix = (a: Rgb, b: Rgb, share: number): Rgb => [
  a[0] + (b[0] - a[0]) * share,
  a[1] + (b[1] - a[1]) * share,
  a[2] + (b[2] - a[2]) * share,
];
const text = ([red, green, blue]: Rgb): string => `rgb(${Math.round(red)}, ${Math.round(green)}, ${Math.round(blue)})`;
