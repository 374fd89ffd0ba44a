/** A text from a model as a string literal or in a comment of C++ or Python: ASCII without line breaks, in quotes. */
export const stringLiteral = (text: string): string =>
  JSON.stringify(text)
    // Surrogates one by one, as both languages would refuse them; the text is for readers and lookups by JSON.
    .replaceAll(/[^ -~]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
    // C++ reads ??/ as a backslash in old standards.
    .replaceAll('??', '?\\u003f');
