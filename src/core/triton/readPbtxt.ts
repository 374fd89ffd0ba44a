import type { Problem } from '../text/problem.ts';
import { decodeUtf8 } from '../text/utf8Decoder.ts';

/** A field of a message in protobuf's text format. */
export interface TextField {
  name: string;
  value: string | TextField[];
  /** Line, from 1. */
  line: number;
}

/** Deeper nesting than this no configuration has. */
const deepest = 32;

/**
 * Reads protobuf's text format: fields with scalars, strings, messages in braces or angle brackets, lists in brackets
 * (each element a field of its own). Strings lose their quotes and escapes. Never throws; reading ends at the first
 * error, which is in `problems` with its line.
 */
export function readPbtxt(text: string): { value: TextField[]; problems: Problem[] } {
  const tokens = tokensOf(text);
  let at = 0;
  const fail = (message: string): never => {
    throw new Broken(message, tokens[Math.min(at, tokens.length - 1)]?.line ?? 1);
  };
  const isNext = (...texts: string[]): boolean =>
    at < tokens.length && tokens[at]!.quoted === undefined && texts.includes(tokens[at]!.text);

  const scalar = (): string => {
    let value = '';
    const first = tokens[at];
    if (first === undefined) return fail('the file ends where a value is expected');
    if (first.quoted === undefined) {
      if (!/^[\w.+-]+$/.test(first.text)) return fail(`'${first.text}' is not a value`);
      at++;
      return first.text;
    }
    // Adjacent strings are one.
    for (; tokens[at]?.quoted !== undefined; at++) value += tokens[at]!.quoted!;
    return value;
  };
  const element = (name: string, line: number, depth: number): TextField => {
    if (!isNext('{', '<')) return { name, value: scalar(), line };
    const end = tokens[at++]!.text === '{' ? '}' : '>';
    return { name, value: message(end, depth + 1), line };
  };
  const message = (end: string | null, depth: number): TextField[] => {
    if (depth > deepest) return fail('the messages are nested too deeply');
    const fields: TextField[] = [];
    for (;;) {
      while (isNext(',', ';')) at++;
      const token = tokens[at];
      if (token === undefined) return end === null ? fields : fail(`'${end}' is missing`);
      if (end !== null && isNext(end)) {
        at++;
        return fields;
      }
      if (token.quoted !== undefined || !/^[A-Za-z_]\w*$/.test(token.text))
        return fail(`'${token.text}' is not a field`);
      at++;
      const colon = isNext(':');
      if (colon) at++;
      if (!isNext('[')) {
        if (!colon && !isNext('{', '<')) return fail(`':' is missing after '${token.text}'`);
        fields.push(element(token.text, token.line, depth));
        continue;
      }
      at++;
      while (!isNext(']')) {
        const { line } = tokens[at] ?? token;
        fields.push(element(token.text, line, depth));
        if (isNext(',')) {
          at++;
          if (isNext(']')) return fail("a value is missing between ',' and ']'");
        } else if (!isNext(']')) return fail("']' is missing");
      }
      at++;
    }
  };
  try {
    return { value: message(null, 0), problems: [] };
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    return { value: [], problems: [{ severity: 'error', code: 'pbtxt', message: error.message, line: error.line }] };
  }
}

class Broken extends Error {
  readonly line: number;
  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

interface Token {
  text: string;
  line: number;
  /** The content of a string. */
  quoted?: string;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  const pattern = /\n|#[^\n]*|[^\S\n]+|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|[\w.+-]+|[^]/g;
  for (const match of text.matchAll(pattern)) {
    const [all, double, single] = match;
    if (all === '\n') line++;
    else if (!/^[#\s]/.test(all)) {
      const quoted = double ?? single;
      tokens.push({ text: all, line, ...(quoted !== undefined && { quoted: unescape(quoted) }) });
    }
  }
  return tokens;
}

const letters: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const escape =
  /((?:\\(?:[0-7]{1,3}|x[0-9a-fA-F]{1,2}))+)|\\u([0-9a-fA-F]{4})|\\U(00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})|\\(.)/g;

/** Octal and hexadecimal escapes are bytes of UTF-8, as protobuf's printers write what is not ASCII. */
const unescape = (text: string): string =>
  text.replaceAll(escape, (_, bytes?: string, short?: string, long?: string, code = '') => {
    if (bytes !== undefined) return decodeUtf8(Uint8Array.from(bytes.split('\\').slice(1), byteOf));
    const point = short ?? long;
    return point === undefined ? (letters[code] ?? code) : String.fromCodePoint(Number.parseInt(point, 16));
  });

const byteOf = (code: string): number =>
  code.startsWith('x') ? Number.parseInt(code.slice(1), 16) : Number.parseInt(code, 8);
