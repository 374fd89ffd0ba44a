/**
 * The same text in memory of its own. A part of a string may keep the whole string alive after it: what is kept from a
 * chunk of a large file is copied, so that the chunk can go.
 */
export function ownText(text: string): string {
  return text.length < 13 ? text : ` ${text}`.slice(1);
}
