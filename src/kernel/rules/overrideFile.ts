// The parts of an override file: types, names, lines, problems.
import type { Problem } from '../base/problem.ts';

/** The types that an override can request, spelled as trtexec does. */
export type PrecisionType = 'fp32' | 'fp16' | 'bf16' | 'int8' | 'fp8' | 'int4' | 'int32' | 'int64' | 'bool';

export const precisionTypes: readonly PrecisionType[] = [
  'fp32',
  'fp16',
  'bf16',
  'int8',
  'fp8',
  'int4',
  'int32',
  'int64',
  'bool',
];

const aliases: Readonly<Record<string, PrecisionType>> = {
  fp32: 'fp32',
  float32: 'fp32',
  float: 'fp32',
  f32: 'fp32',
  single: 'fp32',
  fp16: 'fp16',
  float16: 'fp16',
  half: 'fp16',
  f16: 'fp16',
  bf16: 'bf16',
  bfloat16: 'bf16',
  int8: 'int8',
  i8: 'int8',
  fp8: 'fp8',
  float8: 'fp8',
  float8e4m3fn: 'fp8',
  int4: 'int4',
  i4: 'int4',
  int32: 'int32',
  i32: 'int32',
  int64: 'int64',
  i64: 'int64',
  bool: 'bool',
  boolean: 'bool',
};

/**
 * Every word for a type, in lower case.
 * @public The generator of the schema of gate files reads it.
 */
export const precisionWords: readonly string[] = Object.keys(aliases);

/** The type that a word stands for, aliases and any case included; null for any other word. */
export function precisionType(word: string): PrecisionType | null {
  const key = word.toLowerCase().replace(/^datatype\./, '');
  return Object.hasOwn(aliases, key) ? (aliases[key] ?? null) : null;
}

const onnx: Readonly<Record<PrecisionType, string>> = {
  fp32: 'float',
  fp16: 'float16',
  bf16: 'bfloat16',
  int8: 'int8',
  fp8: 'float8e4m3fn',
  int4: 'int4',
  int32: 'int32',
  int64: 'int64',
  bool: 'bool',
};

/** ONNX's own name of a type, as in `OnnxTensor.type`. */
export function onnxTypeOf(type: PrecisionType): string {
  return onnx[type];
}

const engine: Readonly<Record<string, PrecisionType>> = {
  float: 'fp32',
  fp32: 'fp32',
  half: 'fp16',
  fp16: 'fp16',
  bfloat16: 'bf16',
  bf16: 'bf16',
  int8: 'int8',
  fp8: 'fp8',
  e4m3: 'fp8',
  int4: 'int4',
  int32: 'int32',
  int64: 'int64',
  bool: 'bool',
};

/** The type behind an engine tensor's short type name (`Half`, `BFloat16`); null for a name that is not known. */
export function typeOfEngineTensor(name: string | null): PrecisionType | null {
  if (name === null) return null;
  const key = name.toLowerCase();
  return Object.hasOwn(engine, key) ? (engine[key] ?? null) : null;
}

const floating: ReadonlySet<string> = new Set(['fp32', 'fp16', 'bf16', 'fp8']);

/** True for the types of ordinary computation: the ones that a precision override can choose between. */
export function isFloating(type: PrecisionType): boolean {
  return floating.has(type);
}

/** Characters that end a bare name or make it a pattern, and the arrow. */
const special = /[\s,#"'*?[\]]|->/;
const prefixed = /^(?:op|group|not):/;

/** Words that begin a directive where a name would begin a rule. */
export const directiveNames: readonly string[] = ['model', 'base', 'require', 'scales'];

/** Whether a name stands for itself when it is written bare at the place of a selector. */
export function isBareName(name: string): boolean {
  return name !== '' && !special.test(name) && !prefixed.test(name) && !directiveNames.includes(name);
}

/** A name as an override file writes it: bare where that is exact, otherwise in double quotes with JSON escapes. */
export function writeName(name: string): string {
  return isBareName(name) ? name : quoteName(name);
}

/** A text in double quotes with JSON escapes; control characters and the line separators U+2028 and U+2029 are escaped, too. */
export function quoteName(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, (c) => {
    return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** A path as a `model` line writes it: bare to the line's end, in double quotes where that would be read otherwise. */
export function writePath(path: string): string {
  return /\s#|^[#"]|^\s|\s$|^$|[\u0000-\u001f]/.test(path) ? quoteName(path) : path;
}

/** A stretch of one line: line and columns count from 1, `endColumn` is exclusive, columns count UTF-16 units. */
export interface TextRange {
  line: number;
  column: number;
  endColumn: number;
}

/** One replacement inside an override file. An `endLine` past the line joins or removes lines. */
export interface TextEdit {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
  text: string;
}

/** A fix that an editor can offer: its edits solve the problem. */
export interface Fix {
  title: string;
  edits: TextEdit[];
  /** The one that most people want; at most one a problem. */
  preferred?: boolean;
}

/** A problem of an override file, always with a range, with related places and fixes. */
export interface PrecisionProblem extends Problem {
  line: number;
  column: number;
  endColumn: number;
  fixes: Fix[];
  /** Other lines of the same file that belong to it. */
  related: { range: TextRange; message: string }[];
  /** The text has no effect and may be grayed out. */
  unnecessary?: boolean;
}

/** A problem at a range, without fixes until some are added. */
export function problemAt(
  range: TextRange,
  severity: Problem['severity'],
  code: string,
  message: string,
  fixes: Fix[] = [],
): PrecisionProblem {
  const { line, column, endColumn } = range;
  return { severity, code, message, line, column, endColumn, fixes, related: [] };
}

/** An edit that puts `text` in place of a range. */
export function replaceRange(range: TextRange, text: string): TextEdit {
  return { line: range.line, column: range.column, endLine: range.line, endColumn: range.endColumn, text };
}

/** An edit that removes a whole line, its line break included. */
export function removeLine(line: number): TextEdit {
  return { line, column: 1, endLine: line + 1, endColumn: 1, text: '' };
}

/** A `*.trtprec` file after reading. Lines that cannot be read are in `problems`, and the other lines still count. */
export interface OverrideFile {
  /** One entry a line of the text, empty lines included. */
  lines: OverrideLine[];
  /** All rules in order, unusable ones included. */
  rules: Rule[];
  model: Directive | null;
  base: Directive | null;
  require: Directive | null;
  scales: Directive | null;
  problems: PrecisionProblem[];
}

export interface OverrideLine {
  /** The line in its current state, without its line break. */
  text: string;
  statement: Rule | Directive | null;
  comment: { text: string; range: TextRange } | null;
  /** What is wrong with this line by itself. */
  problems: PrecisionProblem[];
}

/** `model path`, `base keep|fp16|bf16`, `require obey|prefer`, `scales path`. */
export interface Directive {
  kind: 'directive';
  name: 'model' | 'base' | 'require' | 'scales';
  /** Decoded; null if it is missing. */
  value: string | null;
  valueRange: TextRange;
  range: TextRange;
  usable: boolean;
}

/** `selector, selector type -> type, type` */
export interface Rule {
  kind: 'rule';
  /** The rule in its current state, without a comment. */
  text: string;
  range: TextRange;
  selectors: Selector[];
  /** The compute type; null if it is missing. */
  type: TypeWord | null;
  /** Output types after `->`: none, one for all outputs, or one each. */
  outputs: TypeWord[];
  /** False when the line has an error: it is then no part of any result. */
  usable: boolean;
}

export interface Selector {
  kind: 'name' | 'glob' | 'op' | 'group';
  negated: boolean;
  quoted: boolean;
  /** Decoded, without prefixes: a name, a pattern, an operator type, a ForeignNode's name or its beginning. */
  text: string;
  /** `op:` only: the domain before `::`, or null. */
  domain: string | null;
  /** The whole selector with `not:`. */
  range: TextRange;
  /** Only the text, quotes included. */
  textRange: TextRange;
}

export interface TypeWord {
  /** null: no type that is known. */
  type: PrecisionType | null;
  text: string;
  range: TextRange;
}

/** One token of a line. Columns are offsets in the line, from 0. */
export type OverrideToken =
  | { kind: 'comma' | 'arrow'; start: number; end: number }
  | { kind: 'comment'; start: number; end: number }
  | WordToken;

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
