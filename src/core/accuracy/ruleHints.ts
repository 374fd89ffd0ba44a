import { readOverrides } from '../precision/language/readOverrides.ts';
import type { AccuracyReport } from './accuracyReport.ts';
import { errorFigure } from './accuracyText.ts';

/** What a rule of an override file buys, at its end. Lines and columns count from 0. */
export interface RuleHint {
  line: number;
  column: number;
  label: string;
}

/**
 * For each rule of a text that is also a rule of a fix: the error that it removes, and to what. Rules whose comment
 * already gives the error have none.
 */
export function ruleHints(text: string, { fix }: Pick<AccuracyReport, 'fix'>): RuleHint[] {
  if (!fix || fix.without.length === 0) return [];
  const errors = new Map(fix.without.map(({ selector, error }) => [selector, errorFigure(error)]));
  return readOverrides(text).lines.flatMap(({ text: written, statement, comment }, line) => {
    if (statement?.kind !== 'rule' || !statement.usable || statement.type?.type !== 'fp32') return [];
    const [selector, ...others] = statement.selectors;
    if (!selector || others.length > 0) return [];
    const error = errors.get(written.slice(selector.range.column - 1, selector.range.endColumn - 1));
    if (error === undefined || comment?.text.includes(`without: ${error}`)) return [];
    return [
      { line, column: statement.range.endColumn - 1, label: `error ${errorFigure(fix.error)}, without: ${error}` },
    ];
  });
}
