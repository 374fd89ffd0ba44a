import type { Position, Range, TextEdit } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { TextEdit as CoreEdit, TextRange } from '../rules/overrideFile.ts';
import type { Span, SpanEdit } from '../read/replay/replayFile.ts';

/** Core counts lines and columns from 1, LSP from 0; both count UTF-16 units. */
export function toRange(range: TextRange): Range {
  const line = range.line - 1;
  return { start: { line, character: range.column - 1 }, end: { line, character: range.endColumn - 1 } };
}

export function toEdit(edit: CoreEdit): TextEdit {
  return {
    range: {
      start: { line: edit.line - 1, character: edit.column - 1 },
      end: { line: edit.endLine - 1, character: edit.endColumn - 1 },
    },
    newText: edit.text,
  };
}

export function spanRange(document: TextDocument, span: Span): Range {
  return { start: document.positionAt(span.start), end: document.positionAt(span.end) };
}

export function spanEdit(document: TextDocument, edit: SpanEdit): TextEdit {
  return { range: spanRange(document, edit), newText: edit.text };
}

/** Whether a place is inside a range of one line, its end included. */
export function isInside(range: TextRange, { line, character }: Position): boolean {
  return range.line === line + 1 && range.column <= character + 1 && character + 1 <= range.endColumn;
}

/** Whether two ranges share a place. */
export function overlaps(a: Range, b: Range): boolean {
  return !isBefore(a.end, b.start) && !isBefore(b.end, a.start);
}

function isBefore(a: Position, b: Position): boolean {
  return a.line < b.line || (a.line === b.line && a.character < b.character);
}
