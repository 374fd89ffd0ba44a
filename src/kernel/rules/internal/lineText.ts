import {
  type Fix,
  lexOverrideLine,
  type OverrideToken,
  type PrecisionProblem,
  problemAt,
  type TextRange,
  type WordToken,
} from '../overrideFile.ts';
import { closeQuote, flawText, mendEscapes, putInQuotes } from '../readerFixes.ts';

/** A line of an override file with its tokens and the places in it; `problems` collects what is wrong. */
export class LineText {
  readonly problems: PrecisionProblem[] = [];
  /** Without the comment. */
  readonly tokens: readonly OverrideToken[];
  readonly comment: OverrideToken | undefined;
  readonly text: string;
  /** From 1. */
  readonly line: number;

  constructor(text: string, line: number) {
    this.text = text;
    this.line = line;
    const all = lexOverrideLine(text);
    this.comment = all.at(-1)?.kind === 'comment' ? all.pop() : undefined;
    this.tokens = all;
  }

  range(start: number, end: number): TextRange {
    return { line: this.line, column: start + 1, endColumn: end + 1 };
  }

  /** Where the statement ends, without the comment. */
  end(): number {
    return this.tokens.at(-1)?.end ?? 0;
  }

  /** The blank to write at a place that has none before it, such as at the arrow of `/a->fp16`. */
  gap(at: number): '' | ' ' {
    return at === 0 || /\s/.test(this.text.charAt(at - 1)) ? '' : ' ';
  }

  error(start: number, end: number, code: string, message: string, fixes: Fix[] = []): void {
    this.problems.push(problemAt(this.range(start, Math.max(start, end)), 'error', code, message, fixes));
  }

  flaw(word: WordToken): void {
    const range = this.range(word.textStart, word.end);
    const code = word.flaw === 'unclosed' ? 'unclosed-quote' : word.flaw === 'escape' ? 'bad-escape' : 'unquoted-name';
    this.problems.push(problemAt(range, 'error', code, flawText(word), this.flawFixes(word)));
  }

  flawFixes(word: WordToken): Fix[] {
    const range = this.range(word.textStart, word.end);
    if (word.flaw === 'unclosed') return [closeQuote(this.text, range)];
    if (word.flaw === 'escape') return [mendEscapes(this.text, range)];
    return [putInQuotes(word.text, range)];
  }
}
