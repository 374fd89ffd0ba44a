/** One token of a line. Columns are offsets in the line, from 0. */
export type OverrideToken =
  { kind: 'comma' | 'arrow'; start: number; end: number } | { kind: 'comment'; start: number; end: number } | WordToken;

/** A bare or quoted text with the prefixes `not:`, `op:` and `group:` taken off. */
export interface WordToken {
  kind: 'word';
  start: number;
  end: number;
  negations: number;
  prefix: 'op' | 'group' | null;
  quoted: boolean;
  text: string;
  textStart: number;
  /** What is wrong inside the word. */
  flaw: 'unclosed' | 'escape' | 'quote-inside' | null;
}

const blank = /\s/;

/** Cuts a line into tokens; never fails. A `#` starts a comment at the line's start and after a space. */
export function lexOverrideLine(line: string): OverrideToken[] {
  const tokens: OverrideToken[] = [];
  let at = 0;
  while (at < line.length) {
    const c = line.charAt(at);
    if (blank.test(c) || c === '\ufeff') {
      at++;
    } else if (c === '#' && (at === 0 || blank.test(line.charAt(at - 1)) || line.charAt(at - 1) === '\ufeff')) {
      tokens.push({ kind: 'comment', start: at, end: line.length });
      at = line.length;
    } else if (c === ',') {
      tokens.push({ kind: 'comma', start: at, end: ++at });
    } else if (line.startsWith('->', at)) {
      tokens.push({ kind: 'arrow', start: at, end: (at += 2) });
    } else {
      const word = lexWord(line, at);
      tokens.push(word);
      at = word.end;
    }
  }
  return tokens;
}

function lexWord(line: string, start: number): WordToken {
  let at = start;
  let negations = 0;
  let prefix: WordToken['prefix'] = null;
  while (line.startsWith('not:', at)) {
    negations++;
    at += 4;
  }
  if (line.startsWith('op:', at)) {
    prefix = 'op';
    at += 3;
  } else if (line.startsWith('group:', at)) {
    prefix = 'group';
    at += 6;
  }
  const base = { kind: 'word' as const, start, negations, prefix, textStart: at };
  if (line.charAt(at) === '"') {
    const { end, text, flaw } = lexQuoted(line, at);
    return { ...base, end, quoted: true, text, flaw };
  }
  const end = bareEnd(line, at);
  const text = line.slice(at, end);
  return { ...base, end, quoted: false, text, flaw: text.includes('"') ? 'quote-inside' : null };
}

/** A bare text ends at a space, at `->` and at a comma that is not inside `[…]`. */
function bareEnd(line: string, start: number): number {
  let at = start;
  // Where one bracket is not closed before the next blank, no later one of the word is.
  let closing = true;
  while (at < line.length) {
    const c = line.charAt(at);
    if (blank.test(c) || c === ',' || line.startsWith('->', at)) break;
    const next = c === '[' && closing ? pastBrackets(line, at) : at + 1;
    if (c === '[' && next === at + 1) closing = false;
    at = next;
  }
  return at;
}

/** The end of `[…]`, or just past the bracket where it is not closed before a space. */
function pastBrackets(line: string, open: number): number {
  for (let at = open + 1; at < line.length; at++) {
    const c = line.charAt(at);
    if (c === ']') return at + 1;
    if (blank.test(c)) break;
  }
  return open + 1;
}

function lexQuoted(line: string, open: number): { end: number; text: string; flaw: WordToken['flaw'] } {
  let at = open + 1;
  while (at < line.length && line.charAt(at) !== '"') at += line.charAt(at) === '\\' ? 2 : 1;
  if (at >= line.length) return { end: line.length, text: line.slice(open + 1).trimEnd(), flaw: 'unclosed' };
  const end = at + 1;
  try {
    return { end, text: JSON.parse(line.slice(open, end).replaceAll('\t', '\\t')) as string, flaw: null };
  } catch {
    return { end, text: line.slice(open + 1, at), flaw: 'escape' };
  }
}
