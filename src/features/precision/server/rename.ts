import type { Position, Range, TextEdit, WorkspaceEdit } from 'vscode-languageserver';
import { quoteName, type Selector, writeName } from '../../../kernel/rules/overrideFile.ts';
import { toRange } from '../../../kernel/server/places.ts';
import { type OverrideAnalysis, ruleAt } from './overrideAnalysis.ts';

/** The selector to rename at a place, with its text; null if there is none. */
export function prepareOverrideRename(
  analysis: OverrideAnalysis,
  place: Position,
): { range: Range; placeholder: string } | null {
  const selector = ruleAt(analysis, place)?.selector;
  return selector ? { range: toRange(selector.textRange), placeholder: selector.text } : null;
}

/** Renames a selector wherever the file has the same one: after an export gave the nodes other names. */
export function overrideRename(analysis: OverrideAnalysis, place: Position, newName: string): WorkspaceEdit | null {
  const selector = ruleAt(analysis, place)?.selector;
  if (!selector || newName === '') return null;
  const edits: TextEdit[] = [];
  for (const rule of analysis.file.rules) {
    for (const other of rule.selectors) {
      if (isSame(selector, other)) edits.push({ range: toRange(other.textRange), newText: written(other, newName) });
    }
  }
  return { changes: { [analysis.document.uri]: edits } };
}

/** Every place of the file with the same selector, for highlighting. */
export function overrideHighlights(analysis: OverrideAnalysis, place: Position): Range[] {
  const selector = ruleAt(analysis, place)?.selector;
  if (!selector) return [];
  return analysis.file.rules.flatMap((rule) =>
    rule.selectors.filter((other) => isSame(selector, other)).map(({ textRange }) => toRange(textRange)),
  );
}

function isSame(a: Selector, b: Selector): boolean {
  return a.kind === b.kind && a.text === b.text && a.domain === b.domain;
}

/** A pattern stays a pattern where the new text has pattern characters; a name never becomes one. */
function written(selector: Selector, text: string): string {
  if (selector.kind === 'glob' && /[*?[]/.test(text) && !/[\s,"#]|->|^(?:op|group|not):/.test(text)) return text;
  if (selector.kind === 'op' && selector.domain !== null && !text.includes('::'))
    return `${selector.domain}::${writeName(text)}`;
  return selector.kind === 'group' ? quoteName(text) : writeName(text);
}
