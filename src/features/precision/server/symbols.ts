import { FoldingRangeKind, SymbolKind } from 'vscode-languageserver';
import type { DocumentSymbol, FoldingRange } from 'vscode-languageserver';
import { toRange } from '../../../kernel/server/places.ts';
import type { OverrideAnalysis } from './overrideAnalysis.ts';

/** The outline: sections by the comments that are on lines of their own, with directives and rules in them. */
export function overrideSymbols({ file, document }: OverrideAnalysis): DocumentSymbol[] {
  const symbols: DocumentSymbol[] = [];
  let section: DocumentSymbol | null = null;
  for (const { statement, comment } of file.lines) {
    if (!statement && comment) {
      const name = comment.text.replace(/^#+\s*(?:region\b\s*)?/, '').trim();
      const range = toRange(comment.range);
      if (/^#\s*endregion\b/.test(comment.text)) {
        if (section) section.range = { start: section.range.start, end: range.end };
        section = null;
        continue;
      }
      section =
        name === '' ? section : { name, kind: SymbolKind.Namespace, range, selectionRange: range, children: [] };
      if (section && section.range === range) symbols.push(section);
    }
    if (!statement) continue;
    const range = toRange(statement.range);
    const text = document.getText(range);
    const rule = statement.kind === 'rule';
    const symbol: DocumentSymbol = {
      name: rule
        ? statement.selectors.map(({ range: own }) => document.getText(toRange(own))).join(', ') || text
        : statement.name,
      detail: rule ? (statement.type?.text ?? '') : (statement.value ?? ''),
      kind: rule ? SymbolKind.Property : SymbolKind.Constant,
      range,
      selectionRange: range,
    };
    if (section) {
      section.children?.push(symbol);
      section.range = { start: section.range.start, end: range.end };
    } else {
      symbols.push(symbol);
    }
  }
  return symbols.filter(({ name }) => name !== '');
}

/** Each section folds. */
export function overrideFolding(analysis: OverrideAnalysis): FoldingRange[] {
  return overrideSymbols(analysis)
    .filter(({ kind, range }) => kind === SymbolKind.Namespace && range.end.line > range.start.line)
    .map(({ range }) => ({ startLine: range.start.line, endLine: range.end.line, kind: FoldingRangeKind.Region }));
}
