import { verdictWords } from '../../../../kernel/rules/precisionPlan.ts';
import type { RuleVerdictInfo } from '../../../../kernel/protocol/language.ts';

type Verdict = RuleVerdictInfo['verdict'];

/** The codicon of each verdict. */
export const verdictIcon: Record<Verdict, string> = {
  obeyed: 'pass',
  disobeyed: 'error',
  unseen: 'question',
  unbuilt: 'circle-outline',
};

/** A verdict as text. */
export function verdictWord({ verdict, certain }: RuleVerdictInfo): string {
  if (verdict === 'unbuilt') return 'not built yet';
  if (verdict === 'obeyed' && !certain) return 'probably obeyed';
  return verdictWords[verdict];
}
