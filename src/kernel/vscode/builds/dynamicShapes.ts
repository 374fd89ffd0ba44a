import type { ShapeRange } from '../../build/buildManifest.ts';
import type { GraphTensor } from '../../picture/graph/viewData.ts';
import { shapeArgument } from '../../base/text.ts';

/** A size that a model leaves open: one name may be in several places. */
export interface OpenSize {
  /** The model's own name for it, or `input[axis]` if it gives none. */
  name: string;
  /** Where it stands: input and axis. */
  places: { input: string; axis: number }[];
}

/** Smallest, usual and largest value of a size. */
export type SizeRange = [min: number, opt: number, max: number];

/** The sizes that must be given before a model can be built, in the order of its inputs. */
export function openSizes(inputs: readonly GraphTensor[]): OpenSize[] {
  const sizes = new Map<string, OpenSize>();
  for (const { name: input, shape, initializer } of inputs) {
    if (initializer) continue;
    (shape ?? []).forEach((size, axis) => {
      if (typeof size === 'number' && size >= 0) return;
      const name = typeof size === 'string' && size !== '' ? size : `${input}[${axis}]`;
      const known = sizes.get(name);
      if (known === undefined) sizes.set(name, { name, places: [{ input, axis }] });
      else known.places.push({ input, axis });
    });
  }
  return [...sizes.values()];
}

/** Reads `1 8 32`, or one number for all three. @returns the range, or undefined if the text is none */
export function readSizeRange(text: string): SizeRange | undefined {
  const numbers = text.trim().split(/[\s,;/]+/);
  if (!numbers.every((number) => /^\d{1,9}$/.test(number))) return undefined;
  const [min, opt = min, max = opt] = numbers.map(Number);
  if (numbers.length > 3 || numbers.length === 2 || min === undefined || opt === undefined || max === undefined)
    return undefined;
  return min <= opt && opt <= max ? [min, opt, max] : undefined;
}

/** One optimization profile: the shapes of every input that has an open size. */
export function toProfile(
  inputs: readonly GraphTensor[],
  sizes: readonly OpenSize[],
  ranges: readonly SizeRange[],
): Record<string, ShapeRange> {
  const chosen = new Map(
    sizes.flatMap(({ places }, index) =>
      places.map(({ input, axis }) => [`${axis}\n${input}`, ranges[index]!] as const),
    ),
  );
  const open = new Set(sizes.flatMap(({ places }) => places.map(({ input }) => input)));
  const profile: Record<string, ShapeRange> = {};
  for (const { name, shape } of inputs) {
    if (!open.has(name) || shape === null) continue;
    const text = (which: 0 | 1 | 2) =>
      shapeArgument(shape.map((size, axis) => chosen.get(`${axis}\n${name}`)?.[which] ?? Number(size)));
    profile[name] = { min: text(0), opt: text(1), max: text(2) };
  }
  return profile;
}
