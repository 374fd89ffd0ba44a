import { closestWords, editDistance } from '../base/text.ts';
import {
  directiveNames,
  type Fix,
  precisionType,
  precisionTypes,
  quoteName,
  replaceRange,
  type TextRange,
  type WordToken,
} from './overrideFile.ts';

/** The fix that every unreadable line has: its text stays as a comment. */
export function commentOut(line: number, column: number): Fix {
  return { title: 'Make this line a comment', edits: [replaceRange({ line, column, endColumn: column }, '# ')] };
}

/**
 * `mdoel`, `Base:`: where a word is one that begins a directive but for a letter, or for their order, that one in its
 * place. Before a type only "base" can stand.
 */
export function directiveMeant(word: string, range: TextRange, beforeType: boolean): Fix[] {
  const written = word.toLowerCase().replace(/[:=]$/, '');
  const letters = (text: string) => text.split('').toSorted().join('');
  const far = (name: string) => (letters(name) === letters(written) ? 2 : 1);
  return directiveNames
    .filter((name) => (name === 'base' || !beforeType) && editDistance(written, name, 2) <= far(name))
    .map((name) => ({ title: `Change to "${name}"`, edits: [replaceRange(range, name)], preferred: true }));
}

/** No rule can make a node of the other types: they are for models that are quantized to them. */
const choosable = precisionTypes.filter((type) => type !== 'fp8' && type !== 'int4');

/**
 * For a word that is not a type: the types that it nearly is, then `otherwise`, then the ones that most people
 * want.
 */
export function typeFixes(text: string, range: TextRange, otherwise: Fix[]): Fix[] {
  const near = closestWords(text.toLowerCase(), choosable, 2);
  if (near.length === 0 && otherwise.length > 0) return otherwise;
  return (near.length > 0 ? near : ['fp32', 'fp16']).map((word, i) => ({
    title: `Change to ${word}`,
    edits: [replaceRange(range, word)],
    preferred: near.length > 0 && i === 0,
  }));
}

/** Inserts text at a place, as the first of several fixes. */
export function insertAt(line: number, column: number, texts: readonly string[], what: string): Fix[] {
  return texts.map((text, i) => ({
    title: `${what} ${text.trim()}`,
    edits: [replaceRange({ line, column, endColumn: column }, text)],
    ...(i === 0 && { preferred: true }),
  }));
}

/** A name with characters that mean something else outside double quotes. */
export function putInQuotes(name: string, range: TextRange): Fix {
  return { title: 'Put the name in double quotes', edits: [replaceRange(range, quoteName(name))], preferred: true };
}

/** `"a b fp32`: the quote closes before the types that end the line, else at its end. */
export function closeQuote(text: string, range: TextRange): Fix {
  const open = range.column - 1;
  const types = /^(.*?)\s+([A-Za-z]\w*(?:\s*->\s*\w+(?:\s*,\s*\w+)*)?)(?:\s+#.*)?\s*$/s.exec(text.slice(open + 1));
  const words = types?.[2]?.split(/[\s,>-]+/) ?? [];
  const isTyped = words.length > 0 && words.every((word) => precisionType(word) !== null);
  const column = isTyped ? open + 2 + (types?.[1]?.length ?? 0) : text.trimEnd().length + 1;
  return {
    title: 'Close the double quote',
    edits: [replaceRange({ line: range.line, column, endColumn: column }, '"')],
    preferred: true,
  };
}

/**
 * A quoted text with an escape that is not valid in JSON: its lone backslashes doubled, since they are a Windows path's
 * (also that of `\bert.onnx`), and its control characters escaped.
 */
export function mendEscapes(text: string, range: TextRange): Fix {
  const inner = text.slice(range.column, range.endColumn - 2);
  const doubled = inner.replace(/\\(["\\/]|u[0-9a-fA-F]{4})|\\/g, (whole, known: string | undefined) =>
    known === undefined ? '\\\\' : whole,
  );
  const escaped = doubled.replace(/[\u0000-\u001f]/g, (c) => quoteName(c).slice(1, -1));
  return { title: 'Double the backslash', edits: [replaceRange(range, `"${escaped}"`)], preferred: true };
}

/** `name:fp32` as trtexec writes it: the place of the colon; null for any other text. */
export function colonBeforeType(text: string): number | null {
  const colon = text.lastIndexOf(':');
  return colon > 0 && precisionType(text.slice(colon + 1)) !== null ? colon : null;
}

/** What is wrong inside a word. */
export function flawText(word: WordToken): string {
  if (word.flaw === 'unclosed') return 'The closing double quote is missing.';
  if (word.flaw === 'escape') return 'This escape is not valid in JSON. Write a backslash as "\\\\".';
  return 'Put a name that contains a double quote in double quotes, and write the inner one as \\".';
}
