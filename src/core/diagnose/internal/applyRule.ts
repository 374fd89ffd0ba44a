import type { LogMessage } from '../../formats/tensorrt/buildOutput.ts';
import type { Advice, Named, Program, DiagnosisRule, RuleContext } from './rule.ts';

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
  message: Pick<LogMessage, 'text' | 'severity'>,
  context: RuleContext,
  programs: readonly Program[],
): Finding | undefined {
  const { text, severity } = message;
  const found = firstMatch(rules, text, context);
  if (found) return findingOf(found, text, severity, programs);
  if (!text.includes('\n') || text.length > MAX_JOINED) return undefined;
  // A terminal breaks lines within words; others break them between words.
  for (const joined of [text.replaceAll('\n', ''), text.replace(/\s*\n\s*/g, ' ')]) {
    const broken = firstMatch(rules, joined, context);
    if (broken) return findingOf(broken, joined, severity, programs);
  }
  return undefined;
}

interface Match {
  rule: DiagnosisRule;
  match: RegExpExecArray;
  /** With the operator that the message names, where it names one. */
  context: RuleContext;
}

function firstMatch(rules: readonly DiagnosisRule[], text: string, context: RuleContext): Match | undefined {
  for (const rule of rules) {
    if (rule.product !== undefined && context.product !== null && rule.product !== context.product) continue;
    const match = rule.pattern.exec(text);
    if (match === null) continue;
    const op = match.groups?.['op'] ?? match.groups?.['op2'] ?? context.op;
    if (rule.at !== undefined && !(op !== undefined && rule.at.test(op))) continue;
    const here = op === context.op ? context : { ...context, op };
    if (rule.when !== undefined && !rule.when(here)) continue;
    return { rule, match, context: here };
  }
  return undefined;
}

function findingOf(
  { rule, match, context }: Match,
  text: string,
  severity: 'error' | 'warning',
  programs: readonly Program[],
): Finding {
  const named: Named = rule.named?.(match, text, context) ?? {};
  const groups = match.groups ?? {};
  const op = named.values?.['op'] ?? context.op;
  const values: Record<string, string | undefined> = {
    phase: context.phase,
    usual: context.usual,
    version: context.version ?? undefined,
    suspect: context.suspect,
    lowered: context.lowered,
    gpu: context.gpu ?? undefined,
    ...groups,
    op,
    ...named.values,
  };
  const layer = (named.layer ?? groups['layer']) || undefined;
  values['layer'] ??= layer;
  return {
    rule,
    cause: fillText(rule.cause, values).trim(),
    advice: fillText(inWordsOf(rule.advice, programs), values).trim(),
    severity: named.severity ?? (severity === 'warning' ? severity : (rule.severity ?? severity)),
    layer,
    op,
    input: values['input'],
    tensors: named.tensors ?? [groups['tensor']].filter((one) => one !== undefined),
    names: named.names ?? null,
    before: text.slice(0, match.index),
  };
}

/** An advice in the words of the program that wrote the log, where there is one. */
export function inWordsOf(advice: Advice, programs: readonly Program[]): string {
  if (typeof advice === 'string') return advice;
  for (const program of programs) if (advice[program] !== undefined) return advice[program];
  return advice.other;
}

/**
 * A text of a rule with its values: `{name}` becomes the value; a part in double brackets is omitted where one of its
 * values is unknown. Values are not read again: a name in a log may hold braces.
 */
function fillText(template: string, values: Readonly<Record<string, string | undefined>>): string {
  return template
    .split(/\[\[([\s\S]*?)\]\]/)
    .map((part, index) => {
      const filled = fill(part, values);
      return index % 2 === 0 ? filled.text : filled.whole ? filled.text : '';
    })
    .join('');
}

function fill(part: string, values: Readonly<Record<string, string | undefined>>): { text: string; whole: boolean } {
  let whole = true;
  const text = part.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) whole = false;
    return value ?? '(not named)';
  });
  return { text, whole };
}
