import type { Range, TextEdit } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { formatOverrides } from '../../../kernel/rules/readOverrides.ts';

/** Edits that format an override file, one per changed line, so that cursors and folds stay where they are. */
export function formatEdits(document: TextDocument, range: Range | null = null): TextEdit[] {
  const before = document.getText().split(/\r\n|\n|\r/);
  const after = formatOverrides(document.getText()).split(/\r\n|\n|\r/);
  const edits: TextEdit[] = [];
  // Whole lines are selected up to the beginning of the next one.
  const last =
    range && range.end.character === 0 && range.end.line > range.start.line ? range.end.line - 1 : range?.end.line;
  for (const [line, text] of before.entries()) {
    const formatted = after[line] ?? '';
    if (text === formatted || (range && (line < range.start.line || line > (last ?? line)))) continue;
    edits.push({ range: { start: { line, character: 0 }, end: { line, character: text.length } }, newText: formatted });
  }
  return edits;
}
