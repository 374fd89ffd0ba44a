// Names on one line, lines and columns, UTF-8, closest words, quoted commands; numbers, times and counts as text.

/** Names are other people's text: control characters, line ends and marks of writing direction become one space. */
export const oneLine = (text: string): string =>
  text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ');

/** A name in one line of at most `most` characters, both ends kept: a ForeignNode is known by them. */
export function shorten(name: string, most = 60): string {
  const whole = oneLine(name);
  if (whole.length <= most) return whole;
  const end = Math.floor((most - 1) / 2);
  return `${whole.slice(0, most - 1 - end)}…${end === 0 ? '' : whole.slice(-end)}`;
}

/**
 * The same text in memory of its own. A part of a string may keep the whole string alive after it: what is kept from a
 * chunk of a large file is copied, so that the chunk can go.
 */
export function ownText(text: string): string {
  return text.length < 13 ? text : ` ${text}`.slice(1);
}

/** Longest single argument that Linux passes to a program (MAX_ARG_STRLEN), in bytes; Windows allows 32,767 for all together. */
export const maxArgumentBytes = 131_071;

/** Bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** A place in a text, both counted from 1; columns count UTF-16 units. */
export interface TextPlace {
  line: number;
  column: number;
}

/** Turns offsets of a text into lines and columns. Lines end at LF only. */
export class LineIndex {
  readonly #text: string;
  #starts: number[] | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  /** Place of `offset`; offsets outside the text give the nearest place inside. */
  placeOf(offset: number): TextPlace {
    const starts = (this.#starts ??= lineStarts(this.#text));
    const inside = Math.max(0, Math.min(offset, this.#text.length));
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= inside) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: inside - starts[low]! + 1 };
  }
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** Every runtime that core runs in has it: Node, browsers, workers. */
declare const TextDecoder: new (
  label: string,
  options?: { ignoreBOM: boolean },
) => {
  decode(input?: Uint8Array, options?: { stream: boolean }): string;
};

/**
 * Decodes UTF-8 in pieces that may be cut inside a character; UTF-16 where its start shows it, as PowerShell
 * writes what is redirected into a file. Bytes that are not text become U+FFFD; a byte order mark is dropped.
 */
export class Utf8Decoder {
  #decoder: InstanceType<typeof TextDecoder> | undefined;
  #whole = false;
  /** The first bytes of a character whose last ones have not come yet. */
  #rest: Uint8Array = new Uint8Array(0);
  /** Each byte of the last piece is one character of the text that `push` returned. */
  isPlain = false;

  push(bytes: Uint8Array): string {
    this.isPlain = false;
    if (bytes.length === 0) return '';
    if (this.#decoder === undefined) {
      const encoding = encodingOf(bytes);
      this.#decoder = new TextDecoder(encoding);
      this.#whole = encoding === 'utf-8';
    }
    // Node decodes UTF-8 that ends with a whole character several times faster than a stream.
    if (!this.#whole) return this.#decoder.decode(bytes, { stream: true });
    const all = this.#rest.length === 0 ? bytes : joined(this.#rest, bytes);
    const end = all.length - openBytes(all);
    if (end < all.length || this.#rest.length > 0) this.#rest = all.slice(end);
    const text = this.#decoder.decode(all.subarray(0, end));
    this.isPlain = text.length === bytes.length && all === bytes;
    // Only the first piece begins with a byte order mark.
    if (end > 0) this.#decoder = inner;
    return text;
  }

  end(): string {
    return this.#decoder?.decode(this.#rest) ?? '';
  }
}

const inner = new TextDecoder('utf-8', { ignoreBOM: true });

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

/** How many bytes at the end are the beginning of a character of UTF-8. */
function openBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes.at(-back)!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? back : 0;
  }
  return 0;
}

/** The encoding that the byte order mark at a text's start names; without one, UTF-16 of ASCII is known by its zeros. */
export function encodingOf(head: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  if (isWideAscii(head, 0)) return 'utf-16le';
  return isWideAscii(head, 1) ? 'utf-16be' : 'utf-8';
}

/** Whether eight characters of ASCII text stand at every other byte from `at`, and zeros between them. */
function isWideAscii(head: Uint8Array, at: 0 | 1): boolean {
  if (head.length < 16) return false;
  for (let i = 0; i < 16; i += 2) {
    const byte = head[i + at]!;
    const isText = (byte >= 0x20 && byte < 0x7f) || (byte >= 0x09 && byte <= 0x0d) || byte === 0x1b;
    if (!isText || head[i + 1 - at] !== 0) return false;
  }
  return true;
}

/** The text of bytes that are all there. */
export function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes);
}

/**
 * How numbers are written for the user, everywhere: thousands separators, three significant digits for what was
 * measured, percent with one decimal below ten. JSON has the plain numbers. Without `Intl`: the product speaks English
 * only, the language server writes thousands of these at every keystroke, and a locale takes milliseconds to load.
 */

/** `22753` → `22,753` */
export function thousands(value: number): string {
  const [whole = '', fraction] = String(value).split('.');
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** A number with its noun: `1 node`, `14,163 nodes`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${thousands(value)} ${value === 1 ? one : many}`;
}

/** 0 … 100 → `4.1 %`, `93 %`; what is there but rounds to nothing is `< 0.1 %`, and what is not all is `> 99 %`. */
export function percentText(percent: number): string {
  // A share of nothing: of no nodes, of no time.
  if (Number.isNaN(percent) || percent === 0) return '0 %';
  if (percent > 0 && percent < 0.05) return '< 0.1 %';
  // A profile rounds the share of each of its layers, so all of them may add up to a little less.
  if (percent > 99 && percent < 99.999 && Math.round(percent) === 100) return '> 99 %';
  return `${percent < 9.95 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/** Milliseconds that were measured, with three significant digits: `12.4 µs`, `0.352 ms`, `3.42 s`, from a minute on `2 min 5 s`. */
export function timeText(ms: number): string {
  if (ms === 0) return '0 ms';
  if (ms < 0.09995) return `${significant(ms * 1000)} µs`;
  if (ms < 999.5) return `${significant(ms)} ms`;
  return ms < 59_950 ? `${significant(ms / 1000)} s` : durationText(ms);
}

/** A change in milliseconds, with its sign: `+12.4 µs`, `−0.352 ms`; `0 ms` for what no profiler resolves. */
export const deltaText = (ms: number): string =>
  isSameTime(ms) ? '0 ms' : `${ms > 0 ? '+' : '−'}${timeText(Math.abs(ms))}`;

/** Less than a nanosecond is rounding. */
export const isSameTime = (ms: number): boolean => Math.abs(ms) < 1e-6;

/** Milliseconds in whole seconds, for a clock that runs: `34 s`, `2 min 5 s`, `1 h 3 min`. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min${seconds % 60 ? ` ${seconds % 60} s` : ''}`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ''}`;
}

/** Bytes with three significant digits: `312 bytes`, `4.20 MiB`, `12.3 GiB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return counted(bytes, 'byte');
  let value = bytes / 1024;
  for (const unit of ['KiB', 'MiB']) {
    if (value < 999.5) return `${significant(value)} ${unit}`;
    value /= 1024;
  }
  return `${value < 999.5 ? significant(value) : thousands(Math.round(value))} GiB`;
}

/** The first few of a list: `a, b, and 3 more`. */
export function firstOf(names: readonly string[], most: number): string {
  if (names.length === 0) return 'none';
  const more = names.length > most ? `, and ${names.length - most} more` : '';
  return names.slice(0, most).join(', ') + more;
}

/** Three significant digits, never as a power of ten. */
const significant = (value: number): string => (value < 0.001 ? '< 0.001' : value.toPrecision(3));

/**
 * A command as one line that can be pasted into a terminal and runs with exactly these arguments.
 * @param shell `posix`: sh, bash, zsh; `powershell`: PowerShell
 */
export function quoteCommand(command: string[], shell: 'posix' | 'powershell' = 'posix'): string {
  if (shell === 'powershell') {
    const [program = '', ...args] = command.map((one) =>
      /^[\w\-./\\:=+]+$/.test(one) ? one : `'${one.replaceAll("'", "''")}'`,
    );
    // A quoted text alone would be printed, not run.
    return [program.startsWith("'") ? `& ${program}` : program, ...args].join(' ');
  }
  return command.map((one) => (/^[\w\-./:=+,@%]+$/.test(one) ? one : `'${one.replaceAll("'", `'\\''`)}'`)).join(' ');
}

/** Words of a shell: what is in single quotes, in double quotes, behind an escape, blank, plain. */
const pieces = {
  posix: /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|(\s+)|([^\s'"\\]+|.)/gsu,
  powershell: /'((?:[^']|'')*)'|"((?:[^"`]|`.|"")*)"|`(.)|(\s+)|([^\s'"`]+|.)/gsu,
};

/** Stands between commands, or sends what one of them prints elsewhere. */
const operator = /^(?:&&?|\|\|?|;|\d*[<>].*)$/s;

/**
 * The commands of a text as people copy it from a terminal, a script or a log, one argument per element: `quoteCommand`
 * the other way. A line's end is a space, with or without the character that makes a command go on. Nothing is
 * expanded.
 * @param shell `posix`: sh, bash, zsh; `powershell`: PowerShell
 */
export function splitCommand(text: string, shell: 'posix' | 'powershell' = 'posix'): string[][] {
  const line = shell === 'posix' ? text.replaceAll(/(?<=\s)\\\r?\n/g, ' ') : '';
  // Most commands: nothing but words.
  if (line !== '' && !/['"\\^`&|;<>]/.test(line)) {
    const words = line.trim().split(/\s+/);
    return words[0] === '' ? [] : [words];
  }
  const commands: string[][] = [[]];
  let word: string | undefined;
  let plain = true;
  const end = () => {
    if (word !== undefined) {
      if (plain && operator.test(word)) commands.push([]);
      // By itself, the character that makes a command go on in the next line, in any shell.
      else if (!plain || !/^[\\^`]$/.test(word)) commands.at(-1)!.push(word);
    }
    word = undefined;
    plain = true;
  };
  for (const [, single, double, escaped, blank, bare] of text.matchAll(pieces[shell])) {
    const goesOn = escaped !== undefined && /\s/.test(escaped);
    if (blank !== undefined || (goesOn && word === undefined)) {
      end();
    } else if (!goesOn || !/[\r\n]/.test(escaped)) {
      plain &&= bare !== undefined;
      word = (word ?? '') + (bare ?? escaped ?? unquote(single, double, shell));
    }
  }
  end();
  return commands.filter((command) => command.length > 0);
}

function unquote(single: string | undefined, double = '', shell: 'posix' | 'powershell'): string {
  if (shell === 'powershell') return single?.replaceAll("''", "'") ?? double.replaceAll(/`(.)|"(")/gs, '$1$2');
  return single ?? double.replaceAll(/\\([\\"$`])|\\\n/g, '$1');
}

/** Words of a short list that the user probably meant, best first: at most `limit`, none that is far away. */
export function closestWords(word: string, words: readonly string[], limit: number): string[] {
  return words
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate, farthest(candidate)) }))
    .filter(({ candidate, distance }) => distance <= farthest(candidate))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

/**
 * The end of a message on a name that is not there, with up to three like it from a long list: names that contain it, that
 * are close to it, or whose last part is close to its last part. '' if there is none.
 */
export function similarText(name: string, names: readonly string[]): string {
  const inside = names.filter((one) => one.includes(name));
  const near = inside.length > 0 ? inside : closeNames(name, names);
  const shown = near.slice(0, 3).map((one) => JSON.stringify(one));
  return shown.length === 0 ? '' : `. Similar names: ${shown.join(', ')}`;
}

function closeNames(name: string, names: readonly string[]): string[] {
  const close = closestWords(name, names, 3);
  if (close.length > 0) return close;
  const lastOf = (one: string) => one.slice(one.lastIndexOf('/') + 1);
  const [last] = closestWords(lastOf(name), [...new Set(names.map(lastOf))], 1);
  return last === undefined ? [] : names.filter((one) => lastOf(one) === last);
}

function farthest(word: string): number {
  return Math.max(1, Math.floor(word.length / 2));
}

/**
 * Number of single-character insertions, deletions and replacements between two texts (Levenshtein). Gives up with
 * `limit + 1` as soon as the distance must be larger than `limit`.
 */
export function editDistance(left: string, right: string, limit: number): number {
  if (Math.abs(left.length - right.length) > limit) return limit + 1;
  // Names of one model mostly differ in the middle: the same beginning and end cost nothing.
  const shorter = Math.min(left.length, right.length);
  let head = 0;
  while (head < shorter && left.charCodeAt(head) === right.charCodeAt(head)) head++;
  let tail = 0;
  while (tail < shorter - head && left.charCodeAt(left.length - 1 - tail) === right.charCodeAt(right.length - 1 - tail))
    tail++;
  const a = left.slice(head, left.length - tail);
  const b = right.slice(head, right.length - tail);
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  let current = Array.from({ length: b.length + 1 }, () => 0);
  for (let i = 1; i <= a.length; i++) {
    current[0] = i;
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1;
      const value = Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + same);
      current[j] = value;
      if (value < least) least = value;
    }
    if (least > limit) return limit + 1;
    [previous, current] = [current, previous];
  }
  return previous[b.length] ?? limit + 1;
}

/** What products, versions, types, shapes and results are called, everywhere. Numbers, times and sizes: `text/numbers`. */

/** `TensorRT-RTX`, otherwise `TensorRT`: also what is not known to be either is called that. */
export const productName = (product: string | null | undefined): 'TensorRT' | 'TensorRT-RTX' =>
  product === 'tensorrt-rtx' || product === 'tensorrt_rtx' ? 'TensorRT-RTX' : 'TensorRT';

interface Release {
  product?: string | null;
  version?: string | null;
}

/** `TensorRT 10.6.0`; without a known version `TensorRT`. */
export const releaseName = ({ product, version }: Release): string =>
  version ? `${productName(product)} ${version}` : productName(product);

/** `TensorRT 10.6.0`, `TensorRT (unknown version)`: where a reader expects the version. */
export const exactRelease = ({ product, version }: Release): string =>
  `${productName(product)} ${version ?? '(unknown version)'}`;

/** What engineers call an element type, by the names that ONNX, TensorRT, NumPy and rules have for it. */
const types: Readonly<Record<string, readonly string[]>> = {
  FP64: ['double', 'float64', 'fp64'],
  FP32: ['float', 'float32', 'fp32'],
  FP16: ['half', 'float16', 'fp16'],
  BF16: ['bfloat16', 'bf16'],
  FP8: ['float8', 'float8e4m3fn', 'fp8'],
  FP4: ['float4', 'float4e2m1', 'fp4'],
  INT64: ['int64'],
  INT32: ['int32'],
  INT8: ['int8'],
  UINT8: ['uint8'],
  INT4: ['int4'],
  BOOL: ['bool'],
};
const typeNames = new Map(Object.entries(types).flatMap(([name, all]) => all.map((one) => [one, name] as const)));

/** `FP16` of `float16`, `Half` and `fp16`; a type that is not in the table stays as it is written. */
export const typeName = (type: string): string => typeNames.get(type.toLowerCase()) ?? type;

/**
 * `1×3×224×224`, `batch×(past + 1)×768`, `scalar`. A size that is not known (null) or left open (-1) is `?`; the parts of
 * a sum or product of sizes are in parentheses.
 */
export const shapeText = (shape: readonly (number | string | null | undefined)[]): string =>
  shape.length === 0 ? 'scalar' : shape.map(dimensionText).join('×');

const dimensionText = (size: number | string | null | undefined): string => {
  if (size === null || size === undefined || size === -1) return '?';
  // `floor(width/2)` is one term; a hyphen without spaces is part of a name.
  const isTerm = typeof size === 'number' || /^\w*\([^()]*\)$/.test(size) || !/[+*/]| - /.test(size);
  return isTerm ? String(size) : `(${size})`;
};

/** A shape as the options of trtexec and its relatives write it: `1x3x224x224`. */
export const shapeArgument = (shape: readonly (number | string | null)[]): string => shape.join('x');

/** `1×8 to 8×256, optimum 4×64`; `1×8` where it is only one. */
export function shapeRange(range: Readonly<Record<'min' | 'opt' | 'max', readonly (number | null)[]>>): string {
  const [least, best, most] = [range.min, range.opt, range.max].map(shapeText);
  if (least === most) return best!;
  return `${least} to ${most}${best === least || best === most ? '' : `, optimum ${best}`}`;
}

/** `10.6` → 1006: versions in order, without their patch. */
export function versionNumber(version: string): number {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major * 100 + minor;
}
