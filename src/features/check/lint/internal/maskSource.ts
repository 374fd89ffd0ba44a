/** A part of a text; offsets in UTF-16 code units. */
export interface TextPart {
  start: number;
  end: number;
}

export interface MaskedSource {
  /** The text with comments and strings blanked out: every character is where it was. */
  code: string;
  /** What is between the quotes of each string, in order. */
  strings: TextPart[];
}

const tokens = {
  python:
    /#[^\n]*|[rRbBuUfF]{0,2}(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?)/g,
  cpp: /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\bR"(?<mark>[^\s()\\]{0,16})\([\s\S]*?(?:\)\k<mark>"|$)|"(?:\\[\s\S]|[^"\\\n])*"?|(?<!\d)'(?:\\[\s\S]|[^'\\\n])*'?/g,
} as const;

/** Separates code from comments and strings. Never throws: what does not end, ends with the line or the text. */
export function maskSource(text: string, language: keyof typeof tokens): MaskedSource {
  const strings: TextPart[] = [];
  const code = text.replace(tokens[language], (token, ...rest) => {
    const at = rest.find((part) => typeof part === 'number') as number;
    const quoted = /^(?:[rRbBuUfF]{0,2}("""|'''|"|')|R"[^(]*\()/.exec(token);
    if (quoted && !token.startsWith('//') && !token.startsWith('/*'))
      strings.push({
        start: at + quoted[0].length,
        end: at + token.length - (token.endsWith(quoted[1] ?? '"') ? (quoted[1] ?? '"').length : 0),
      });
    return token.replace(/[^\n]/g, ' ');
  });
  return { code, strings };
}

/**
 * Shell text without comments; also YAML, whose comments are alike. Strings stay: they are words of commands.
 */
export const maskShell = (text: string): string =>
  text.replace(/(^|\s)#[^\n]*/g, (comment, before: string) => before.padEnd(comment.length));
