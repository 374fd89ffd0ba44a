import type { Problem } from '../../text/problem.ts';

/** A stretch of one line: line and columns count from 1, `endColumn` is exclusive, columns count UTF-16 units. */
export interface TextRange {
  line: number;
  column: number;
  endColumn: number;
}

/** One replacement inside an override file. An `endLine` past the line joins or removes lines. */
export interface TextEdit {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
  text: string;
}

/** A fix that an editor can offer: its edits solve the problem. */
export interface Fix {
  title: string;
  edits: TextEdit[];
  /** The one that most people want; at most one a problem. */
  preferred?: boolean;
}

/** A problem of an override file, always with a range, with related places and fixes. */
export interface PrecisionProblem extends Problem {
  line: number;
  column: number;
  endColumn: number;
  fixes: Fix[];
  /** Other lines of the same file that belong to it. */
  related: { range: TextRange; message: string }[];
  /** The text has no effect and may be greyed out. */
  unnecessary?: boolean;
}

/** A problem at a range, without fixes until some are added. */
export function problemAt(
  range: TextRange,
  severity: Problem['severity'],
  code: string,
  message: string,
  fixes: Fix[] = [],
): PrecisionProblem {
  const { line, column, endColumn } = range;
  return { severity, code, message, line, column, endColumn, fixes, related: [] };
}

/** An edit that puts `text` in place of a range. */
export function replaceRange(range: TextRange, text: string): TextEdit {
  return { line: range.line, column: range.column, endLine: range.line, endColumn: range.endColumn, text };
}

/** An edit that removes a whole line, its line break included. */
export function removeLine(line: number): TextEdit {
  return { line, column: 1, endLine: line + 1, endColumn: 1, text: '' };
}
