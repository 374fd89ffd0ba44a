import type { LogCursor } from './logCursor.ts';

/**
 * What a terminal and Markdown put around the lines of a log: colors, `> ` of a quotation, and what makes a line code or
 * bold. What other programs put before every line (containers, collectors, ROS) is not taken away.
 */
export class LogMarkup {
  #colored = false;
  #quoted = false;

  /** No line seen so far holds any. */
  get isPlain(): boolean {
    return !this.#colored && !this.#quoted;
  }

  /** Notes what a piece of the text may hold, so that lines need not be searched for it. */
  see(text: string): void {
    if (!this.#colored && text.includes('\u001b[')) this.#colored = true;
  }

  /** Moves `cursor` to what is inside the markup of a line. */
  strip(cursor: LogCursor): void {
    if (this.#colored) uncolor(cursor);
    if (unquote(cursor)) this.#quoted = true;
  }
}

/** Takes the marks of Markdown away, `> ` and what makes a line code or bold; true: the line is one of a quotation. */
function unquote(cursor: LogCursor): boolean {
  const { text, from, to } = cursor;
  // A log that someone kept as comments: `#[02/19/2022-05:35:26] [I] …`.
  if (text.charCodeAt(from) === 0x23)
    cursor.from += commented.exec(text.slice(from, Math.min(to, from + 14)))?.[0].length ?? 0;
  while (text.charCodeAt(cursor.from) === 0x3e && cursor.from < to) {
    const next = text.charCodeAt(cursor.from + 1);
    if (next !== 0x20 && cursor.from + 1 < to) break;
    cursor.from = Math.min(cursor.from + 2, to);
  }
  const mark = text.charCodeAt(cursor.from);
  const isQuoted = cursor.from > from;
  if (mark !== 0x60 && mark !== 0x2a) return isQuoted;
  const found = marked.exec(text.slice(cursor.from, Math.min(to, cursor.from + 40)));
  if (found === null) return isQuoted;
  cursor.from += found[1]!.length;
  if (text.endsWith(found[1]!, to) && cursor.from < to - found[1]!.length) cursor.to -= found[1]!.length;
  return isQuoted;
}

const commented = /^# ?(?=\[\d\d\/\d\d\/\d{4}-)/;

/** `**ERROR: [TRT]: …**`, `` `[TensorRT] ERROR: …` `` */
const marked = /^(`{1,3}|\*{1,3})(?=\[|[A-Z]+: |&&&& |\d{1,2}: \[)/;

function uncolor(cursor: LogCursor): void {
  const line = cursor.text.slice(cursor.from, cursor.to);
  if (!line.includes('\u001b[')) return;
  cursor.text = line.replace(/\u001b\[[\d;]*[A-Za-z]/g, '');
  cursor.from = 0;
  cursor.to = cursor.text.length;
}
