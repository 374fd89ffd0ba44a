import { tensorPrecision } from '../engine/tensorPrecision.ts';
import type { FusionReport } from '../fusion/fusionReport.ts';
import { counted, percentText, thousands } from '../text/numbers.ts';
import { isProductFactor } from '../model/layerNameParts.ts';

/** How much of the requested precision an engine has, by the tensors between its layers. */
export interface PrecisionShare {
  /** `fp16`, …; null: nothing was requested, or any type would do. */
  requested: string | null;
  /** Tensors with real numbers that layers write, and inputs of the engine. */
  tensors: number;
  /** How many of them have each type, the most frequent first. */
  types: Record<string, number>;
  /** Of `tensors`, those in the requested type; null: nothing was requested. */
  realised: number | null;
  /** ForeignNodes that this version shows as one layer: the types inside are not known. */
  opaque: number;
}

/**
 * Counts the types of an engine's tensors. null: its layer information has no types.
 * @param requested the type that the user asked for, as an option or as the `base` of override rules
 */
export function precisionShare({ layers }: FusionReport, requested: string | null): PrecisionShare | null {
  const found = new Map<string, string>();
  const made = new Set(layers.flatMap(({ outputs }) => outputs.map(({ name }) => name)));
  for (const { inputs, outputs } of layers)
    for (const tensor of [...outputs, ...inputs.filter(({ name }) => !made.has(name) && !isConstant(name))]) {
      const type = tensorPrecision(tensor);
      if (type !== null && type !== 'integer') found.set(tensor.name, type);
    }
  if (found.size === 0) return null;
  const counts = new Map<string, number>();
  for (const type of found.values()) counts.set(type, (counts.get(type) ?? 0) + 1);
  return {
    requested,
    tensors: found.size,
    types: Object.fromEntries([...counts].toSorted(([, a], [, b]) => b - a)),
    realised: requested === null ? null : (counts.get(requested) ?? 0),
    opaque: layers.filter(({ kind }) => kind === 'foreign').length,
  };
}

/** TensorRT 10 lists what is built into a kernel among its inputs, and the two factors of each product. */
const isConstant = (name: string): boolean => /dconst|constant|const-lit/i.test(name) || isProductFactor(name);

/**
 * `Requested fp16: 96 % of 54 floating-point tensors between layers are fp16, the others fp32 (2).` For a request without
 * effect the sentence says so.
 */
export function precisionSentence({ requested, tensors, types, realised, opaque }: PrecisionShare): string {
  const inside = opaque > 0 ? ` The types inside ${counted(opaque, 'ForeignNode')} are not known.` : '';
  const of = (count: number) => percentText((count / tensors) * 100);
  if (requested === null || realised === null) {
    const parts = Object.entries(types).map(([type, count]) => `${of(count)} ${type}`);
    return `Types of ${counted(tensors, 'floating-point tensor')} between layers: ${parts.join(', ')}.${inside}`;
  }
  const others = Object.entries(types)
    .filter(([type]) => type !== requested)
    .map(([type, count]) => `${type} (${thousands(count)})`);
  const rest = others.length > 0 ? `, the others ${others.join(', ')}` : '';
  if (realised === 0)
    return `Requested ${requested}, but none of ${counted(tensors, 'floating-point tensor')} between layers is ${requested}: they are ${others.join(', ')}.${inside}`;
  return `Requested ${requested}: ${of(realised)} of ${counted(tensors, 'floating-point tensor')} between layers ${realised === 1 ? 'is' : 'are'} ${requested}${rest}.${inside}`;
}
