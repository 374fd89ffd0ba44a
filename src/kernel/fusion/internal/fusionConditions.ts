// Why TensorRT does not compute an attention in one kernel: rows of fusionConditions.json, found by `bench/heldBack`.
import type { AttentionFacts } from '../attentionFacts.ts';
import type { FusionReport, HeldBackCondition } from '../fusionReport.ts';
import rows from './fusionConditions.json' with { type: 'json' };

/** Facts of an attention as an engine computes it: `type` is the engine's word, as `fp16`. */
export type EngineAttention = Omit<AttentionFacts, 'type'> & { type: string | null };

interface Range {
  below?: number;
  above?: number;
  notMultipleOf?: number;
}

/** What must be true of an attention, all of it: one of some words, a size that is not fused, true or false. */
type When = { [Fact in keyof EngineAttention]?: readonly string[] | Range | boolean };

/** A form that was never fused in the builds of the experiment. */
export interface FusionCondition {
  condition: HeldBackCondition;
  product: 'tensorrt' | 'tensorrt-rtx';
  /** Major and minor version of the builds. */
  version: string;
  /** What they were built for. */
  gpu: string;
  when: When;
  /** How many attentions of these builds have the form; none of them is fused. */
  seen: number;
  /** The end of "… not as one kernel, because". */
  because: string;
  /** What is fused instead, a sentence. */
  advice: string;
}

export const fusionConditions = rows as readonly FusionCondition[];

/** Whether a row is about an attention; what is not known fits no row. */
export function fitsCondition({ when }: FusionCondition, facts: EngineAttention): boolean {
  return Object.entries(when).every(([fact, wanted]) => {
    const value = facts[fact as keyof EngineAttention];
    if (Array.isArray(wanted)) return wanted.includes(value);
    if (typeof wanted === 'boolean') return (Array.isArray(value) ? value.length > 0 : value) === wanted;
    const { below, above, notMultipleOf } = wanted as Range;
    return (
      typeof value === 'number' &&
      (below === undefined || value < below) &&
      (above === undefined || value > above) &&
      (notMultipleOf === undefined || value % notMultipleOf !== 0)
    );
  });
}

/** Rows on builds of this TensorRT: of its own minor version, else of its major version; of the product where the version is not known. */
export function conditionsFor({ product, version }: FusionReport['tensorrt']): readonly FusionCondition[] {
  const [major, minor] = version?.split('.') ?? [];
  const ofMajor = fusionConditions.filter(
    (row) => row.product === product && (major === undefined || row.version.split('.')[0] === major),
  );
  const own = ofMajor.filter((row) => row.version === `${major}.${minor}`);
  return own.length > 0 ? own : ofMajor;
}
