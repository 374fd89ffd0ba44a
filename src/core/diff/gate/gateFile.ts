import type { PrecisionType } from '../../precision/language/precisionType.ts';
import type { Place } from './gateResult.ts';

/** A gate file: what a build must keep to. Lines and columns count from 1. */
export interface GateFile {
  /** Path of the model, as written; null: not named. */
  model: string | null;
  /** Path of the baseline report, as written; null: none. */
  baseline: string | null;
  checks: Check[];
  allow: Permission[];
}

/** One thing to check: a key of a rule with its limit. */
export interface Check {
  rule: RuleName;
  /** `kernels.max`, `time./blocks.*`, `attention`: unique in its file. */
  id: string;
  /** The key below the rule; '' for a rule that is one word. */
  key: string;
  limit: Limit;
  /** What cannot be judged does not fail. */
  optional: boolean;
  place: Place;
}

export type RuleName =
  | 'attention'
  | 'foreignNodes'
  | 'kernels'
  | 'layers'
  | 'reformats'
  | 'nodes'
  | 'precision'
  | 'time'
  | 'memory'
  | 'quantised'
  | 'accuracy';

/** Counts, milliseconds, bytes or shares, by the rule's unit. */
export type Limit =
  | { kind: 'max' | 'min'; value: number; text: string }
  /** Against the baseline: a share of its value in percent, or a difference. */
  | { kind: 'percent' | 'difference'; value: number; text: string }
  | { kind: 'word'; text: string }
  | { kind: 'type'; type: PrecisionType; text: string }
  /** A largest error, and how to find it: paths as written, and the precision. */
  | { kind: 'accuracy'; value: number; text: string; inputs?: string; rules?: string; low?: string };

/** A rule that may fail until a day. */
export interface Permission {
  /** A rule, or the id of one of its checks. */
  rule: string;
  /** `2027-03-01`: the last day on which it counts. */
  until: string;
  why: string;
  place: Place;
}
