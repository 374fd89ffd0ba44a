import { shorten } from '../../base/text.ts';

/** No line of a text for a terminal is longer. */
export const width = 100;

/** A text in lines of at most `width` characters; `indent` begins the first of them, `later` the others. */
export function wrap(text: string, indent = '', later = indent): string[] {
  const lines: string[] = [];
  let line = indent;
  let room = false;
  for (const word of text.split(' ')) {
    const start = lines.length === 0 ? indent : later;
    const piece = shorten(word, width - later.length);
    if (room && line.length + 1 + piece.length > width) {
      lines.push(line);
      line = later + piece;
    } else {
      line = room ? `${line} ${piece}` : start + piece;
    }
    room = true;
  }
  return [...lines, line];
}
