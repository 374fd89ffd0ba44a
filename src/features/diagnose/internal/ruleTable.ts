import type { HostProgram } from '../../../kernel/read/tensorrt/buildOutput.ts';
import type { DiagnosisCode, Sureness } from '../../../kernel/build/diagnosis.ts';
import { RULES_JSON } from './rulesData.ts';

/** Whose words an advice uses: the program that wrote the log, or the product where its options differ. */
export type Program = 'trtexec' | 'polygraphy' | 'python' | 'trtlens' | 'rtx' | HostProgram;

/** What to do, for any program, or in the words of some and for `other`. */
export type Advice = string | ({ other: string } & Partial<Record<Program, string>>);

/** The first case that fits gives the text; `of` is a template, `{match}` where omitted; without `is` it always fits. */
export interface Case {
  of?: string;
  is?: string;
  then: string | null;
}

/** The first row whose pattern fits one of the templates gives its values; `or`: where none does. */
export interface ValueTable {
  of?: string | readonly string[];
  rows: readonly (readonly [string, Readonly<Record<string, string>>])[];
  or?: Readonly<Record<string, string>>;
}

/** How a value is made: a template, cases, what a pattern finds in the text, or the layer before some words of the cause. */
export type ValueSpec = string | readonly Case[] | { find: string } | { before: string };

/** A row of `src/features/diagnose/rules/*.yaml`. `schemas/diagnosis-rules.schema.json` describes each field. */
export interface DiagnosisRule {
  id: string;
  code: DiagnosisCode;
  pattern: string;
  flags?: string;
  /** Texts of which one is in whatever the pattern matches; null: there are none that always are. */
  literals: readonly string[] | null;
  at?: string | Readonly<Record<string, string>>;
  phase?: string;
  product?: 'tensorrt' | 'tensorrt-rtx';
  requires?: string;
  cause: string;
  advice: Advice;
  severity?: 'error' | 'warning';
  becomes?: readonly Case[];
  after?: readonly string[];
  overcome?: string;
  anywhere?: boolean;
  once?: boolean;
  harmless?: boolean;
  sure?: Sureness;
  repair?: string | Readonly<Record<string, string>>;
  use?: string;
  values?: Readonly<Record<string, ValueSpec | ValueTable>>;
  layer?: string;
  layerBefore?: string | readonly string[];
  evidence?: string;
  reason?: string;
}

/** Every message that is known, the first that matches wins. */
export const RULES = JSON.parse(RULES_JSON) as readonly DiagnosisRule[];

const compiled = new Map<string, RegExp>();

/** A pattern of the rows, compiled at its first use. */
export function patternOf(source: string, flags = 'm'): RegExp {
  const key = `${flags}/${source}`;
  let pattern = compiled.get(key);
  if (pattern === undefined) compiled.set(key, (pattern = new RegExp(source, flags)));
  return pattern;
}

/** What the pattern of a rule finds in a text, which is looked at only where it holds one of the rule's literals. */
export function matchOf({ pattern, flags = '', literals }: DiagnosisRule, text: string): RegExpExecArray | null {
  if (literals !== null && !literals.some((literal) => text.includes(literal))) return null;
  return patternOf(pattern, flags).exec(text);
}

/** Whether a rule's message is what followed from a cause of some code: `any`, codes, and `not x` for all but these. */
export const isAfter = ({ after = [] }: DiagnosisRule, code: DiagnosisCode): boolean =>
  after.includes(code) || (after.includes('any') && CAUSES.has(code) && !after.includes(`not ${code}`));

/** What a program's last words may follow from. */
const CAUSES: ReadonlySet<DiagnosisCode> = new Set([
  'unsupported-op',
  'unsupported-form',
  'unsupported-type',
  'plugin-missing',
  'no-implementation',
  'profile-missing',
  'profile-inconsistent',
  'shape-values-missing',
  'unknown-input',
  'flag-conflict',
  'workspace-too-small',
  'out-of-memory',
  'engine-invalid',
  'engine-other-version',
  'engine-other-device',
  'gpu-unsupported',
  'library-missing',
  'weights-missing',
  'model-unreadable',
  'model-invalid',
  'model-missing',
  'file-missing',
  'library-mismatch',
  'calibration-missing',
  'calibration-failed',
  'quantization',
  'control-flow',
  'shape-mismatch',
  'type-mismatch',
  'dla-failed',
  'runtime-shape',
  'runtime-failed',
  'killed',
  'crashed',
  'internal',
]);
