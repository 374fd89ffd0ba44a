// JSON with places and exact numbers.
import type { Problem, Severity } from './problem.ts';
import { LineIndex } from './text.ts';

/** A JSON value with its place in the text: `start` and `end` (exclusive) are offsets in UTF-16 units. */
export type JsonNode = JsonObject | JsonArray | JsonString | JsonNumber | JsonLiteral;

export interface JsonObject {
  kind: 'object';
  start: number;
  end: number;
  members: JsonMember[];
}

export interface JsonMember {
  key: string;
  /** Where the key stands, quotes included. */
  keyStart: number;
  keyEnd: number;
  value: JsonNode;
}

export interface JsonArray {
  kind: 'array';
  start: number;
  end: number;
  items: JsonNode[];
}

export interface JsonString {
  kind: 'string';
  start: number;
  end: number;
  value: string;
}

/** A number as it is written: ids of 64 bits stay whole. `nan`, `inf` and `-inf` count as numbers, too. */
export interface JsonNumber {
  kind: 'number';
  start: number;
  end: number;
  text: string;
}

export interface JsonLiteral {
  kind: 'literal';
  start: number;
  end: number;
  value: boolean | null;
}

/** The member of an object by its key; the last one where a key is repeated, as in JSON.parse. */
export function memberOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  return node?.kind === 'object' ? node.members.findLast((member) => member.key === key)?.value : undefined;
}

/** A plain value as `JSON.parse` would give it; numbers that a double cannot hold exactly stay text. */
export function plainValue(node: JsonNode): unknown {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries(node.members.map(({ key, value }) => [key, plainValue(value)]));
    case 'array':
      return node.items.map(plainValue);
    case 'string':
      return node.value;
    case 'number':
      return plainNumber(node.text);
    case 'literal':
      return node.value;
  }
}

/** The number, or its own text where it is an integer beyond 2^53. */
function plainNumber(text: string): number | string {
  const word = text.replace(/^[+-]/, '').toLowerCase();
  if (word === 'nan') return Number.NaN;
  if (word.startsWith('inf')) return text.startsWith('-') ? -Infinity : Infinity;
  const value = Number(text);
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(value) ? text : value;
}

export interface JsonOptions {
  /** Members whose strings (or lists of strings) are not escaped: backslashes are plain, and a quote ends the string only where a value can end. */
  rawMembers?: ReadonlySet<string>;
}

export interface JsonRead {
  /** Every document of the text, in order; usually one. */
  documents: JsonNode[];
  problems: Problem[];
}

const MAX_DEPTH = 400;
const MAX_PROBLEMS = 50;

/**
 * Reads JSON and keeps what `JSON.parse` loses: places, the text of numbers, and everything readable around an error.
 * Text between or after documents is skipped with a problem. Problems have line, column and a stable code:
 * `json-syntax`, `json-string`, `json-control`, `json-number`, `json-word`, `json-comma`, `json-depth`,
 * `json-comment`, `json-trailing`, `json-end`.
 */
export function readLosslessJson(text: string, options: JsonOptions = {}): JsonRead {
  return new JsonReader(text, options).read();
}

const NUMBER = /[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf(?:inity)?)\b(?:\([^)]*\))?/iy;
const STRICT_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
const WORD = /[A-Za-z_]\w*/y;
const ESCAPES: Record<string, string> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

class JsonReader {
  readonly #text: string;
  readonly #raw: ReadonlySet<string>;
  readonly #lines: LineIndex;
  readonly #problems: Problem[] = [];
  #at = 0;
  /** The rest is not read. */
  #ended = false;

  constructor(text: string, options: JsonOptions) {
    this.#text = text;
    this.#raw = options.rawMembers ?? new Set();
    this.#lines = new LineIndex(text);
  }

  read(): JsonRead {
    const documents: JsonNode[] = [];
    if (this.#text.charCodeAt(0) === 0xfeff) this.#at = 1;
    for (;;) {
      this.#space();
      if (this.#at >= this.#text.length) break;
      const start = this.#at;
      const first = this.#text[this.#at];
      if (first !== '{' && first !== '[' && (documents.length > 0 || !this.#startsScalar())) {
        this.#at = first === ',' ? start + 1 : this.#nextDocument(start);
        this.#problem(
          'warning',
          'json-trailing',
          'Unexpected text outside the JSON document was skipped.',
          start,
          this.#at,
        );
        continue;
      }
      const node = this.#value(0, undefined);
      if (node !== undefined) documents.push(node);
      else if (this.#at === start) this.#at++;
    }
    return { documents, problems: this.#problems };
  }

  #startsScalar(): boolean {
    return /["\d\-tfn]/.test(this.#text[this.#at] ?? '');
  }

  /** The next line that starts a document, or the end. */
  #nextDocument(from: number): number {
    const pattern = /(?:^|\n)[ \t,]*[[{]/g;
    pattern.lastIndex = from;
    const match = pattern.exec(this.#text);
    if (match === null) return this.#text.length;
    return match.index + match[0].length - 1;
  }

  #problem(severity: Severity, code: string, message: string, start: number, end = start + 1): void {
    if (this.#problems.length >= MAX_PROBLEMS) return;
    const place = this.#lines.placeOf(start);
    const last = this.#lines.placeOf(end);
    this.#problems.push({
      severity,
      code,
      message,
      ...place,
      ...(last.line === place.line ? { endColumn: Math.max(last.column, place.column + 1) } : {}),
    });
  }

  #space(): void {
    const { length } = this.#text;
    while (this.#at < length) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0x2f && this.#comment()) continue;
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at++;
    }
  }

  /** Passes over a comment, so that quotes and brackets in it do no harm. */
  #comment(): boolean {
    const start = this.#at;
    const [mark, end] = this.#text[start + 1] === '*' ? ['*', '*/'] : ['/', '\n'];
    if (this.#text[start + 1] !== mark) return false;
    const found = this.#text.indexOf(end, start + 2);
    this.#at = found < 0 ? this.#text.length : mark === '*' ? found + 2 : found;
    this.#problem('warning', 'json-comment', 'JSON does not allow comments; this one was skipped.', start, this.#at);
    return true;
  }

  #value(depth: number, key: string | undefined, inList = false): JsonNode | undefined {
    this.#space();
    const start = this.#at;
    const first = this.#text[start];
    if (depth > MAX_DEPTH && (first === '{' || first === '[')) return this.#tooDeep();
    if (first === '{') return this.#object(depth);
    if (first === '[') return this.#array(depth, key);
    if (first === '"') return this.#string(key, inList);
    return this.#number() ?? this.#literal();
  }

  #tooDeep(): undefined {
    this.#problem(
      'error',
      'json-depth',
      `Values are nested more than ${MAX_DEPTH} deep; the rest was not read.`,
      this.#at,
    );
    this.#at = this.#text.length;
    // What is open is not missing its end: the reader did not look.
    this.#ended = true;
    return undefined;
  }

  #number(): JsonNumber | undefined {
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    if (match === null) return undefined;
    const start = this.#at;
    const text = match[0];
    this.#at += text.length;
    if (!STRICT_NUMBER.test(text))
      this.#problem(
        'info',
        'json-number',
        `"${text}" is not a valid JSON number; it was read as the number that it resembles.`,
        start,
        this.#at,
      );
    return { kind: 'number', start, end: this.#at, text };
  }

  #literal(): JsonLiteral | undefined {
    const start = this.#at;
    WORD.lastIndex = start;
    const word = WORD.exec(this.#text)?.[0] ?? '';
    const value = { true: true, false: false, null: null, True: true, False: false, None: null }[word];
    if (value !== undefined) {
      this.#at += word.length;
      if (word !== String(value))
        this.#problem('info', 'json-word', `"${word}" is not valid JSON; it was read as ${value}.`, start, this.#at);
      return { kind: 'literal', start, end: this.#at, value };
    }
    const skipped = Math.max(1, word.length);
    if (start >= this.#text.length)
      this.#problem('error', 'json-end', 'Unexpected end of the text; expected a value.', start);
    else {
      this.#problem(
        'error',
        'json-syntax',
        `Expected a value, found ${JSON.stringify(this.#text.slice(start, start + Math.min(skipped, 20)))}.`,
        start,
        start + skipped,
      );
      if (!/[,\]}:]/.test(this.#text[start]!)) this.#at += skipped;
    }
    return undefined;
  }

  #array(depth: number, key: string | undefined): JsonArray {
    const node: JsonArray = { kind: 'array', start: this.#at, end: 0, items: [] };
    this.#at++;
    for (;;) {
      this.#space();
      const at = this.#at;
      if (this.#closes(']', node.start)) break;
      if (this.#text[at] === ',') this.#strayComma();
      else {
        const item = this.#value(depth + 1, key, true);
        if (item !== undefined) node.items.push(item);
        else if (this.#at === at) this.#at++;
        this.#separator(']');
      }
    }
    node.end = this.#at;
    return node;
  }

  /** True at the end of an array or object: its bracket, the text's end, or another's bracket (which stays). */
  #closes(bracket: string, opened: number): boolean {
    const char = this.#text[this.#at];
    if (char === bracket) {
      this.#at++;
      return true;
    }
    if (char === undefined && this.#ended) return true;
    if (char === undefined || (bracket === ']' ? char === '}' : char === ']')) {
      const { line, column } = this.#lines.placeOf(opened);
      const code = char === undefined ? 'json-end' : 'json-syntax';
      this.#problem(
        'error',
        code,
        `"${bracket}" is missing: the bracket on line ${line}, column ${column} is not closed.`,
        this.#at,
      );
      // Another's bracket closes that one, too, unless there is none: then it is stray.
      if (char !== undefined && opened === 0) this.#at++;
      return true;
    }
    return false;
  }

  #separator(bracket: string): void {
    this.#space();
    const char = this.#text[this.#at];
    if (char === ',') {
      this.#at++;
      this.#space();
      if (this.#text[this.#at] === bracket)
        this.#problem('error', 'json-syntax', 'Trailing comma. Remove it.', this.#at - 1);
    } else if (char !== undefined && char !== '}' && char !== ']')
      this.#problem('error', 'json-syntax', 'Expected a comma.', this.#at);
  }

  /** A comma with nothing before it; behind text that was skipped it is in order. */
  #strayComma(): void {
    let before = this.#at - 1;
    while (/\s/.test(this.#text[before]!)) before--;
    if ('{[,'.includes(this.#text[before]!))
      this.#problem('info', 'json-comma', 'Expected a value before this comma.', this.#at);
    this.#at++;
  }

  #object(depth: number): JsonObject {
    const node: JsonObject = { kind: 'object', start: this.#at, end: 0, members: [] };
    this.#at++;
    for (;;) {
      this.#space();
      if (this.#closes('}', node.start)) break;
      if (this.#text[this.#at] === ',') {
        this.#strayComma();
        continue;
      }
      if (this.#text[this.#at] !== '"') {
        const start = this.#at;
        this.#at = this.#nextMember(start);
        this.#problem('error', 'json-syntax', 'Expected a key in double quotes.', start, this.#at);
        continue;
      }
      this.#member(node, depth);
      this.#separator('}');
    }
    node.end = this.#at;
    return node;
  }

  #nextMember(from: number): number {
    for (let at = from + 1; at < this.#text.length; at++) if ('",}]'.includes(this.#text[at]!)) return at;
    return this.#text.length;
  }

  #member(node: JsonObject, depth: number): void {
    const name = this.#string(undefined, false);
    this.#space();
    if (this.#text[this.#at] === ':') this.#at++;
    else this.#problem('error', 'json-syntax', `Expected a colon after the key "${name.value}".`, this.#at);
    const value = this.#value(depth + 1, name.value);
    if (value !== undefined) node.members.push({ key: name.value, keyStart: name.start, keyEnd: name.end, value });
  }

  #string(key: string | undefined, inList: boolean): JsonString {
    const start = this.#at;
    const raw = key !== undefined && this.#raw.has(key);
    const end = raw ? this.#rawEnd(start + 1, inList) : this.#plainEnd(start + 1);
    if (end >= this.#text.length) {
      this.#problem('error', 'json-end', 'Unterminated string at the end of the text.', start, this.#text.length);
      this.#at = this.#text.length;
      return {
        kind: 'string',
        start,
        end: this.#at,
        value: raw ? this.#text.slice(start + 1) : this.#unescape(start + 1, this.#text.length),
      };
    }
    this.#at = end + 1;
    return {
      kind: 'string',
      start,
      end: end + 1,
      value: raw ? this.#text.slice(start + 1, end) : this.#unescape(start + 1, end),
    };
  }

  /** The quote that ends a string of proper JSON; its line end or the text's if there is none. */
  #plainEnd(from: number): number {
    for (let at = from; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === 0x22) return at;
      if (code === 0x5c) at++;
    }
    return this.#text.length;
  }

  /**
   * The quote after which a value can end: a bracket, or a comma with another key (in a list: another text) after it.
   */
  #rawEnd(from: number, inList: boolean): number {
    const end = inList ? /"(?=\s*(?:\]|,\s*"))/g : /"(?=\s*(?:[}\]]|,\s*"[^"\n]*"\s*:))/g;
    end.lastIndex = from;
    return end.exec(this.#text)?.index ?? this.#text.length;
  }

  #unescape(from: number, to: number): string {
    const text = this.#text.slice(from, to);
    if (!/[\\\x00-\x1f]/.test(text)) return text;
    if (/[\x00-\x1f]/.test(text))
      this.#problem('warning', 'json-control', 'Unescaped control character in a string.', from, to);
    return text.replace(/\\(u[0-9a-fA-F]{4}|[\s\S]|$)/g, (whole, escape: string, offset: number) => {
      if (escape.length === 5) return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
      const plain = ESCAPES[escape];
      if (plain !== undefined) return plain;
      this.#problem(
        'warning',
        'json-string',
        `"${whole}" is not a valid JSON escape; it was read literally.`,
        from + offset,
        from + offset + whole.length,
      );
      return whole;
    });
  }
}

/**
 * Plain values of every JSON document in a text. Proper JSON takes the fast way; what TensorRT and trtexec write without
 * escaping, text around it and cut-off files are read as far as they go, with problems.
 */
export function readJsonDocuments(text: string, options: JsonOptions): { documents: unknown[]; problems: Problem[] } {
  const trimmed = text.trim();
  if (trimmed === '') return { documents: [], problems: [] };
  try {
    return { documents: [JSON.parse(trimmed.charCodeAt(0) === 0xfeff ? trimmed.slice(1) : trimmed)], problems: [] };
  } catch {
    const { documents, problems } = readLosslessJson(text, options);
    return { documents: documents.map(plainValue), problems };
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOr(value: unknown, otherwise: null): string | null;
export function textOr(value: unknown, otherwise: string): string;
export function textOr(value: unknown, otherwise: string | null): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : otherwise;
}

/** A number, also from the words that C++ writes for it; null for anything else. */
export function numberOr(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return null;
  const number = Number(value);
  return Number.isNaN(number) && value.toLowerCase() !== 'nan' ? null : number;
}
