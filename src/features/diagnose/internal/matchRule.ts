import type { LogMessage } from '../../../kernel/read/tensorrt/buildOutput.ts';
import { sizeText } from '../../../kernel/base/text.ts';
import { causeText, layerBefore } from '../../../kernel/build/causeText.ts';
import type { RuleContext, RuleValues } from './ruleContext.ts';
import { NAMED_VALUES } from './namedValues.ts';
import { bareText, onnxType } from './valueText.ts';
import {
  type Advice,
  type Case,
  type DiagnosisRule,
  matchOf,
  patternOf,
  type Program,
  type ValueSpec,
  type ValueTable,
} from './ruleTable.ts';

/** What a rule makes of one event. */
export interface Finding {
  rule: DiagnosisRule;
  /** `this node` in it becomes the name of the layer if there is one. */
  cause: string;
  advice: string;
  severity: 'error' | 'warning';
  layer: string | undefined;
  op: string | undefined;
  input: string | undefined;
  tensors: string[];
  names: string[] | null;
  /** What stands before the words that the rule knows. */
  before: string;
}

/** Longest text in which broken lines are joined for a second look, in characters. */
const MAX_JOINED = 6000;

/** The first rule that knows a message; undefined: none does. */
export function applyRules(
  rules: readonly DiagnosisRule[],
  { text, severity }: Pick<LogMessage, 'text' | 'severity'>,
  context: RuleContext,
  programs: readonly Program[],
): Finding | undefined {
  // A terminal breaks lines within words; others break them between words.
  const isBroken = text.includes('\n') && text.length <= MAX_JOINED;
  const forms = isBroken ? [text, text.replaceAll('\n', ''), text.replace(/\s*\n\s*/g, ' ')] : [text];
  for (const form of forms)
    for (const rule of rules) {
      const finding = findingOf(rule, form, severity, context, programs);
      if (finding) return finding;
    }
  return undefined;
}

function findingOf(
  rule: DiagnosisRule,
  text: string,
  severity: 'error' | 'warning',
  context: RuleContext,
  programs: readonly Program[],
): Finding | undefined {
  if (rule.product !== undefined && context.product !== null && rule.product !== context.product) return undefined;
  const match = matchOf(rule, text);
  if (match === null || !(rule.phase === undefined || rule.phase === context.phase)) return undefined;
  const groups = mergedGroups(match);
  const op = groups['op'] ?? context.op;
  if (!fitsOperator(rule, op, context)) return undefined;
  const known = knownValues(rule, match, text, { ...context, op }, groups);
  const layer = known['layer'];
  const values = withSpecs(rule, known, text);
  if (rule.requires !== undefined && values[rule.requires] === undefined) return undefined;
  const becomes = rule.becomes && chosen(rule.becomes, values);
  return {
    rule,
    cause: fillText(rule.cause, values).trim(),
    advice: fillText(inWordsOf(rule.advice, programs), values).trim(),
    severity:
      becomes === 'error' || becomes === 'warning'
        ? becomes
        : severity === 'warning'
          ? severity
          : (rule.severity ?? severity),
    layer,
    op: values['op'],
    input: values['input'],
    tensors: groups['tensor'] === undefined ? [] : [groups['tensor']],
    names: values['names']?.split(', ').filter(Boolean) ?? null,
    before: text.slice(0, match.index),
  };
}

/** Groups by their names, those with a number at the end also without it: `file2` gives `file` where no other does. */
function mergedGroups({ groups = {} }: RegExpExecArray): RuleValues {
  const merged: RuleValues = {};
  for (const [name, value] of Object.entries(groups)) {
    if (value === undefined) continue;
    merged[name.replace(/\d+$/, '')] ??= value;
    merged[name] = value;
  }
  return merged;
}

function fitsOperator({ at }: DiagnosisRule, op: string | undefined, { product }: RuleContext): boolean {
  const pattern = typeof at === 'object' ? (at[product ?? 'other'] ?? at['other']) : at;
  return pattern === undefined || (op !== undefined && patternOf(pattern).test(op));
}

function layerOf(
  { layer, layerBefore: words = [] }: DiagnosisRule,
  match: RegExpExecArray,
  text: string,
  groups: RuleValues,
) {
  const found = layer === undefined ? undefined : firstGroup(patternOf(layer).exec(text));
  const before = [words].flat().map((one) =>
    layerBefore(
      text,
      one.replace('{match}', () => match[0]),
    ),
  );
  // `(name: text`: the bracket is not part of the name, that of `(Unnamed Layer* 3) [Shuffle]` is.
  return (found ?? before.find(Boolean) ?? groups['layer']?.replace(/^\((?!Unnamed)/, '')) || undefined;
}

const firstGroup = (match: RegExpExecArray | null): string | undefined =>
  match?.slice(1).find((one) => one !== undefined);

/** What the log, the pattern and what the row uses give. */
function knownValues(
  rule: DiagnosisRule,
  match: RegExpExecArray,
  text: string,
  context: RuleContext,
  groups: RuleValues,
): RuleValues {
  const { phase, usual, version, suspect, lowered, gpu, op, types } = context;
  const values: RuleValues = {
    phase,
    usual,
    version: version ?? undefined,
    suspect,
    lowered,
    gpu: gpu ?? undefined,
    onlyType: types.length === 1 ? types[0] : undefined,
    ...groups,
    op,
    match: match[0],
    near: text.slice(match.index, match.index + NEAR),
    text,
    first: firstGroup(match),
  };
  const made = rule.use === undefined ? {} : NAMED_VALUES[rule.use]!(values, text, context);
  return { ...values, ...made, layer: made['layer'] ?? layerOf(rule, match, text, groups) };
}

/** The same with the values that the row makes of them. */
function withSpecs(rule: DiagnosisRule, known: RuleValues, text: string): RuleValues {
  if (rule.values === undefined) return known;
  const values: RuleValues = { ...known, said: causeText(text) };
  for (const [name, spec] of Object.entries(rule.values ?? {})) {
    if (typeof spec === 'object' && 'rows' in spec) Object.assign(values, rowOf(spec, values));
    else values[name] = valueOf(spec, values, text, values[name]);
  }
  return values;
}

/** As much of a text counts from a match on, in characters. */
const NEAR = 400;

function valueOf(spec: ValueSpec, values: RuleValues, text: string, known: string | undefined): string | undefined {
  if (typeof spec === 'string') return filled(spec, values);
  if (isCases(spec)) return chosen(spec, values);
  return known ?? ('find' in spec ? firstGroup(patternOf(spec.find).exec(text)) : layerBefore(text, spec.before));
}

const isCases = (spec: ValueSpec): spec is readonly Case[] => Array.isArray(spec);

function chosen(cases: readonly Case[], values: RuleValues): string | undefined {
  for (const { of = '{match}', is, then } of cases) {
    const found = is === undefined ? undefined : patternOf(is).exec(filled(of, values) ?? '');
    if (found === null) continue;
    return then === null ? undefined : filled(then, { ...values, ...found?.groups });
  }
  return undefined;
}

function rowOf({ of = '{match}', rows, or = {} }: ValueTable, values: RuleValues): RuleValues {
  for (const template of [of].flat()) {
    const words = filled(template, values) ?? '';
    for (const [pattern, made] of rows) {
      const found = patternOf(pattern).exec(words);
      if (found) return fillAll(made, { ...values, ...found.groups });
    }
  }
  return fillAll(or, values);
}

const fillAll = (made: Readonly<Record<string, string>>, values: RuleValues): RuleValues =>
  Object.fromEntries(Object.entries(made).map(([name, text]) => [name, filled(text, values) || undefined]));

/** An advice in the words of the program that wrote the log, where there is one. */
export function inWordsOf(advice: Advice, programs: readonly Program[]): string {
  if (typeof advice === 'string') return advice;
  for (const program of programs) if (advice[program] !== undefined) return advice[program];
  return advice.other;
}

/**
 * A text of a rule with its values: `{name}` becomes the value, `{name|filter}` what a filter makes of it; a part in
 * double brackets is omitted where one of its values is unknown. RuleValues are not read again: a name in a log may hold
 * braces.
 */
export const fillText = (template: string, values: RuleValues): string => fillParts(template, values).text;

/** The same, undefined where a value outside of double brackets is unknown. */
function filled(template: string, values: RuleValues): string | undefined {
  const { text, whole } = fillParts(template, values);
  return whole ? text : undefined;
}

function fillParts(template: string, values: RuleValues): { text: string; whole: boolean } {
  const parts = template.split(/\[\[([\s\S]*?)\]\]/).map((part) => fill(part, values));
  return {
    text: parts.map(({ text, whole }, index) => (index % 2 === 0 || whole ? text : '')).join(''),
    whole: parts.every(({ whole }, index) => index % 2 === 1 || whole),
  };
}

function fill(part: string, values: RuleValues): { text: string; whole: boolean } {
  let whole = true;
  const text = part.replace(/\{(\w+)(?:\|(\w+))?\}/g, (_, name: string, filter?: string) => {
    const value = values[name];
    if (value === undefined) whole = false;
    return value === undefined ? '(not named)' : filter === undefined ? value : FILTERS[filter]!(value);
  });
  return { text, whole };
}

/** What a text may make of a value: `{bytes|size}`. */
export const FILTERS: Readonly<Record<string, (value: string) => string>> = {
  /** Bytes as a size. */
  size: (value) => sizeText(Number(value)),
  /** The same, where a small number counts MiB. */
  mebibytes: (value) => (Number(value) < 1 << 20 ? `${value} MiB` : sizeText(Number(value))),
  /** The reason in a message, without TensorRT's prefixes and the punctuation at its end. */
  cause: (value) => causeText(value).replace(/[.:]$/, ''),
  /** Without full stops and brackets at the end that none opens. */
  bare: bareText,
  /** Without punctuation at the end. */
  trim: (value) => value.replace(/[).]+$/, ''),
  upper: (value) => value.toUpperCase(),
  /** Without an article, and in small letters what is no abbreviation. */
  noun: (value) => {
    const name = value.trim().replace(/^(?:The|the|All|all) /, '');
    return /^[A-Z][a-z]/.test(name) ? name[0]!.toLowerCase() + name.slice(1) : name;
  },
  /** A number of ONNX as an element type. */
  type: (value) => onnxType(Number(value)),
};
