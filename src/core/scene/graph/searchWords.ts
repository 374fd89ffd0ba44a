/** Whether a text is what a word of a query asks for. */
export type Match = (text: string) => boolean;

/** Words are separated by spaces; an expression between slashes and a text between quotes may contain some. */
export function wordsOf(query: string): string[] {
  return query.match(/(?:\w+:)?(?:\/(?:\\.|[^/\\])+\/|"[^"]*")(?=\s|$)|\S+/g) ?? [];
}

/**
 * What a word of a query matches: a word between slashes is a regular expression, others are plain text without regard
 * to case. null: not a regular expression.
 * @param whole the text must be the word, not contain it
 */
export function matcher(text: string, whole: boolean): Match | null {
  const expression = /^\/(.+)\/$/.exec(text)?.[1];
  // A name may itself begin and end with slashes; without any special sign it is meant as text.
  if (expression !== undefined && /[\\^$*+?()[\]{}|]/.test(expression)) {
    try {
      const compiled = new RegExp(expression, 'i');
      return (value) => compiled.test(value);
    } catch {
      return null;
    }
  }
  const wanted = text.toLowerCase();
  return whole ? (value) => value.toLowerCase() === wanted : (value) => value.toLowerCase().includes(wanted);
}
