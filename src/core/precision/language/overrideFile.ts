import type { PrecisionProblem, TextRange } from './precisionProblem.ts';
import type { PrecisionType } from './precisionType.ts';

/** A `*.trtprec` file after reading. Lines that cannot be read are in `problems`, and the other lines still count. */
export interface OverrideFile {
  /** One entry a line of the text, empty lines included. */
  lines: OverrideLine[];
  /** All rules in order, unusable ones included. */
  rules: Rule[];
  model: Directive | null;
  base: Directive | null;
  require: Directive | null;
  scales: Directive | null;
  problems: PrecisionProblem[];
}

export interface OverrideLine {
  /** The line in its current state, without its line break. */
  text: string;
  statement: Rule | Directive | null;
  comment: { text: string; range: TextRange } | null;
  /** What is wrong with this line by itself. */
  problems: PrecisionProblem[];
}

/** `model path`, `base keep|fp16|bf16`, `require obey|prefer`, `scales path`. */
export interface Directive {
  kind: 'directive';
  name: 'model' | 'base' | 'require' | 'scales';
  /** Decoded; null if it is missing. */
  value: string | null;
  valueRange: TextRange;
  range: TextRange;
  usable: boolean;
}

/** `selector, selector type -> type, type` */
export interface Rule {
  kind: 'rule';
  /** The rule in its current state, without a comment. */
  text: string;
  range: TextRange;
  selectors: Selector[];
  /** The compute type; null if it is missing. */
  type: TypeWord | null;
  /** Output types after `->`: none, one for all outputs, or one each. */
  outputs: TypeWord[];
  /** False when the line has an error: it is then no part of any result. */
  usable: boolean;
}

export interface Selector {
  kind: 'name' | 'glob' | 'op' | 'group';
  negated: boolean;
  quoted: boolean;
  /** Decoded, without prefixes: a name, a pattern, an operator type, a ForeignNode's name or its beginning. */
  text: string;
  /** `op:` only: the domain before `::`, or null. */
  domain: string | null;
  /** The whole selector with `not:`. */
  range: TextRange;
  /** Only the text, quotes included. */
  textRange: TextRange;
}

export interface TypeWord {
  /** null: no type that is known. */
  type: PrecisionType | null;
  text: string;
  range: TextRange;
}
