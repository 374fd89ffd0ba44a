import * as vscode from 'vscode';
import type { RuleVerdictInfo } from '../../protocol/language.ts';

type Verdict = RuleVerdictInfo['verdict'];

/** Codicons, one a verdict. */
export const verdictIcon: Record<Verdict, string> = { obeyed: 'pass', disobeyed: 'error', unseen: 'question' };

/** A verdict in words. */
export function verdictWord({ verdict, certain }: RuleVerdictInfo): string {
  if (verdict === 'obeyed' && !certain) return vscode.l10n.t('probably obeyed');
  const words: Record<Verdict, string> = {
    obeyed: vscode.l10n.t('obeyed'),
    disobeyed: vscode.l10n.t('not obeyed'),
    unseen: vscode.l10n.t('cannot be seen'),
  };
  return words[verdict];
}
