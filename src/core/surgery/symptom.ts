import type { GateFile } from '../diff/gate/gateFile.ts';
import type { CheckResult } from '../diff/gate/gateResult.ts';
import { readGate } from '../diff/gate/readGate.ts';
import type { Failure } from './failure.ts';
import type { Unfit } from './pieceOf.ts';

/** What parts of a model are to have in common with the whole: a failed build, or a build that breaks a rule. */
export type Symptom = { failure: Failure } | { rule: string };

/**
 * Reads one rule as a gate file has it: `kernels: 12`, `attention: fused`, `precision: { 'op:Softmax': fp32 }`.
 * @returns a gate file with this one check, or what is wrong with it
 */
export function readRule(text: string): GateFile | Unfit {
  const { value, problems } = readGate(`rules:\n  ${text}\n`, '2026-01-01');
  const [problem] = problems;
  if (!value || problem) return { reason: problem?.message ?? 'There is no rule' };
  const [check, another] = value.checks;
  if (!check) return { reason: 'There is no rule' };
  if (another) return { reason: `There are two rules, ${check.id} and ${another.id}. Give one` };
  if (check.limit.kind === 'percent' || check.limit.kind === 'difference')
    return { reason: `${check.limit.text} needs a baseline. Give a number without a sign` };
  if (check.limit.kind === 'accuracy') return { reason: 'The error of a part cannot be judged. Give another rule' };
  return { ...value, allow: [] };
}

/** Whether a rule is broken. What cannot be judged is not broken. */
export const breaksRule = (check: CheckResult | null): boolean =>
  check !== null && check.judged && check.verdict === 'failed';
