/** An agent pays for each character that it reads. */
export const mostCharacters = 999;
/** A longer command is of no use, cut off. */
const longestCommand = 260;

/**
 * A part of a text from an offset, up to the end of a line where that is not far; its last line says how to get the rest.
 * @param command prints all of it
 */
export function answerPart(whole: string, offset: number, command: string): string {
  // Columns are for eyes.
  const text = whole.replaceAll(/(?<=\S) {3,}/g, '  ').trim();
  if (offset === 0 && text.length <= mostCharacters) return text;
  if (offset >= text.length) return `The answer has ${text.length} characters: offset must be less.`;
  const all = command.length <= longestCommand ? `; all of it: ${command}` : '';
  const last = (end: number) =>
    end === text.length
      ? `[to the end, of ${text.length} characters]`
      : `[characters ${offset} to ${end} of ${text.length}; more with offset ${end}${all}]`;
  const start = text.slice(offset);
  // With the longest number that can be in it.
  const room = mostCharacters - last(text.length - 1).length - 1;
  if (start.length <= room) return `${start}\n${last(text.length)}`;
  const line = start.lastIndexOf('\n', room);
  const cut = line > room / 2 ? line + 1 : wholeCharacters(start, room);
  return `${start.slice(0, cut).trimEnd()}\n${last(offset + cut)}`;
}

/** An end that is not between the two halves of a character. */
const wholeCharacters = (text: string, end: number): number => (/[\uD800-\uDBFF]/.test(text[end - 1]!) ? end - 1 : end);
