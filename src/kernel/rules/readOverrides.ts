// Reads and formats an override file.
import { readOverrideLine } from './internal/readOverrideLine.ts';
import {
  type Directive,
  isBareName,
  type OverrideFile,
  type OverrideLine,
  problemAt,
  quoteName,
  removeLine,
  type Rule,
  type Selector,
} from './overrideFile.ts';

/** Characters that take two columns of a monospaced font: East Asian wide and full-width ones, emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu;
/** Characters that take none: marks that are on the one before, joiners and variation selectors. */
const narrow = /[\p{M}\u200b-\u200d\u2060\ufeff]/gu;
const ascii = /^[ -~]*$/;

/** How many columns of a monospaced font a text takes. */
export function columnsOf(text: string): number {
  if (ascii.test(text)) return text.length;
  return Array.from(text.replace(narrow, '')).length + (text.match(wide)?.length ?? 0);
}

/**
 * Reads an override file. Never throws: a line that cannot be read is an error with its range, and the others count.
 * Rules on lines that stand as they stood in `before` are the very same objects, so that a keystroke costs one line here
 * and in everything that is remembered by rule.
 */
export function readOverrides(text: string, before: OverrideFile | null = null): OverrideFile {
  const file: OverrideFile = {
    lines: [],
    rules: [],
    model: null,
    base: null,
    require: null,
    scales: null,
    problems: [],
  };
  const lines = text.split(/\r\n|\n|\r/);
  for (const [index, content] of lines.entries()) {
    const old = before?.lines[index];
    // A directive's use depends on other lines.
    const kept = old?.text === content && old.statement?.kind !== 'directive';
    const line = kept ? old : readOverrideLine(content, index + 1);
    file.lines.push(line);
    for (const problem of line.problems) file.problems.push(problem);
    if (line.statement?.kind === 'rule') file.rules.push(line.statement);
    if (line.statement?.kind === 'directive') placeDirective(file, line.statement);
  }
  return file;
}

function placeDirective(file: OverrideFile, directive: Directive): void {
  const earlier = file[directive.name];
  if (earlier === null || (!earlier.usable && directive.usable)) {
    file[directive.name] = directive;
    return;
  }
  const problem = problemAt(
    directive.range,
    'error',
    'duplicate-directive',
    `Line ${earlier.range.line} already sets "${directive.name}", and only that one applies. Keep one of them.`,
    [{ title: 'Remove this line', edits: [removeLine(directive.range.line)], preferred: true }],
  );
  problem.related.push({ range: earlier.range, message: `first "${directive.name}" line` });
  directive.usable = false;
  file.problems.push(problem);
}

/** Longest selector list that takes part in a block's column; longer ones stand out alone. */
const widest = 64;

interface Piece {
  head: string;
  tail: string;
  comment: string;
}

/**
 * Formats an override file: one space between words, types by their short names in one column a block, comments where
 * they are. Lines that cannot be read keep their text; line ends stay what they are. Formatting twice changes nothing.
 */
export function formatOverrides(marked: string): string {
  const mark = marked.startsWith('\ufeff') ? '\ufeff' : '';
  const text = marked.slice(mark.length);
  const file = readOverrides(text);
  const ends = [...text.matchAll(/\r\n|\n|\r/g)].map(([end]) => end);
  const lines = text.split(/\r\n|\n|\r/);
  const pieces = file.lines.map((line, i) => pieceOf(line, lines[i] ?? '', file));
  let out = mark;
  for (let i = 0; i < pieces.length;) {
    let end = i + 1;
    while (end < pieces.length && sameBlock(pieces[i], pieces[end], file.lines[i], file.lines[end])) end++;
    let column = 0;
    for (const piece of pieces.slice(i, end)) {
      const size = width(piece);
      if (size <= widest) column = Math.max(column, size);
    }
    for (; i < end; i++) out += layOut(pieces[i], lines[i] ?? '', column) + (ends[i] ?? '');
  }
  return out;
}

/** Lines in a row of the same kind share a column; an empty line or a comment of its own starts another block. */
function sameBlock(
  a: Piece | null | undefined,
  b: Piece | null | undefined,
  x?: OverrideLine,
  y?: OverrideLine,
): boolean {
  return Boolean(a?.tail && b?.tail) && x?.statement?.kind === y?.statement?.kind;
}

function width(piece: Piece | null): number {
  return piece?.tail ? columnsOf(piece.head) : 0;
}

function layOut(piece: Piece | null | undefined, raw: string, column: number): string {
  if (!piece) return raw.trimEnd();
  const body = piece.tail
    ? `${piece.head}${' '.repeat(Math.max(0, column - width(piece)))}  ${piece.tail}`
    : piece.head;
  return [body, piece.comment].filter((part) => part !== '').join('  ');
}

function pieceOf(line: OverrideLine, raw: string, file: OverrideFile): Piece | null {
  const comment = line.comment?.text.trimEnd() ?? '';
  const { statement } = line;
  if (!statement) return { head: '', tail: '', comment };
  if (!statement.usable && !isRepeated(statement, file)) return null;
  if (statement.kind === 'rule') return { head: selectorsText(statement, raw), tail: typesText(statement), comment };
  const { column, endColumn } = statement.valueRange;
  return { head: statement.name, tail: raw.slice(column - 1, endColumn - 1).trim(), comment };
}

/** A second `base` line is an error, but it can be read. */
function isRepeated(statement: Rule | OverrideLine['statement'], file: OverrideFile): boolean {
  return statement?.kind === 'directive' && statement.value !== null && file[statement.name] !== statement;
}

function selectorsText(rule: Rule, raw: string): string {
  const texts = rule.selectors.map((selector) => selectorText(selector, raw));
  // After a space, a pattern such as `#*` would be a comment.
  return texts.map((text, i) => (i === 0 ? text : text.startsWith('#') ? `,${text}` : `, ${text}`)).join('');
}

/** A selector as it is written; a bare name that the grammar wants in quotes gets them. */
function selectorText(selector: Selector, raw: string): string {
  const { range, textRange } = selector;
  const written = raw.slice(range.column - 1, range.endColumn - 1);
  if (selector.kind !== 'name' || selector.quoted || isBareName(selector.text)) return written;
  return raw.slice(range.column - 1, textRange.column - 1) + quoteName(selector.text);
}

function typesText(rule: Rule): string {
  const outputs = rule.outputs.map(({ type }) => type).join(', ');
  return `${rule.type?.type ?? ''}${outputs ? ` -> ${outputs}` : ''}`;
}
