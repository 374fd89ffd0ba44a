import type { RuleVerdictInfo } from '../../protocol/language.ts';

type Verdict = RuleVerdictInfo['verdict'];

/** Codicons, one a verdict. */
export const verdictIcon: Record<Verdict, string> = { obeyed: 'pass', disobeyed: 'error', unseen: 'question' };

/** A verdict in words. */
export function verdictWord({ verdict, certain }: RuleVerdictInfo): string {
  if (verdict === 'obeyed' && !certain) return 'probably obeyed';
  const words: Record<Verdict, string> = {
    obeyed: 'obeyed',
    disobeyed: 'not obeyed',
    unseen: 'cannot be seen',
  };
  return words[verdict];
}
