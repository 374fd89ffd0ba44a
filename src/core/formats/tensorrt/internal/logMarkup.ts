import type { LogCursor, LogSeverity } from './logCursor.ts';

/**
 * What other programs put before every line of a log: containers (`builder-1  | `), collectors (a timestamp), ROS, Android,
 * journald, `grep -n`, an indentation. Some leave TensorRT's own prefix behind theirs, some put theirs in its place.
 * Its form is learned from the first line in which a prefix or a phrase of TensorRT follows something else.
 */
export class LogWrapper {
  readonly #forms: Form[] = [];
  /** Looks left until the log is taken for one without. */
  #looks = 4000;
  #colored = false;
  #quoted = false;

  /** No line with TensorRT's own prefix at its start holds anything else. */
  get isOver(): boolean {
    return this.#looks <= 0 && !this.#colored && !this.#quoted;
  }

  /** Notes what a piece of the text may hold, so that lines need not be searched for it. */
  see(text: string): void {
    if (!this.#colored && text.includes('\u001b[')) this.#colored = true;
  }

  /**
   * Moves `cursor.from` behind the wrapper and takes colors away. Returns the severity that the wrapper gives where it
   * is in the place of TensorRT's own prefix; otherwise undefined.
   */
  unwrap(cursor: LogCursor): LogSeverity | undefined {
    if (this.#colored) uncolor(cursor);
    if (this.#looks > 0 || this.#quoted || this.#forms.length > 0) return this.#strip(cursor);
    return undefined;
  }

  #strip(cursor: LogCursor): LogSeverity | undefined {
    if (unquote(cursor)) this.#quoted = true;
    const { text, from, to } = cursor;
    if (from === to) return undefined;
    if (isOwn(text, from)) {
      if (this.#looks > 0) this.#looks -= 20;
      return undefined;
    }
    const head = text.slice(from, Math.min(to, from + mostLength * 2));
    const found = this.#match(cursor, head);
    if (found !== null) return found;
    if (this.#looks <= 0 || this.#forms.length >= mostForms) return undefined;
    this.#looks--;
    const form = learn(head);
    if (form === null) return undefined;
    this.#forms.push(form);
    return this.#match(cursor, head) ?? undefined;
  }

  /** null: the line has none of the wrappers known. */
  #match(cursor: LogCursor, head: string): LogSeverity | undefined | null {
    for (const form of this.#forms) {
      const match = form.pattern.exec(head);
      if (match === null) continue;
      cursor.from += match[0].length;
      form.replaces ??= decide(head.slice(match[0].length));
      if (!form.replaces || isContinued.test(head.slice(match[0].length, match[0].length + 40))) return undefined;
      return severities[match.groups?.['level'] ?? ''] ?? 'info';
    }
    return null;
  }
}

interface Form {
  pattern: RegExp;
  /** It is in the place of TensorRT's prefix; null: not seen yet. */
  replaces: boolean | null;
}

/** No wrapper is longer; more forms than these in one log are no wrappers. */
const mostLength = 250;
const mostForms = 8;

const severities: Record<string, LogSeverity> = {};
for (const [words, severity] of [
  ['V D VERBOSE DEBUG verbose debug', 'verbose'],
  ['I INFO Info info', 'info'],
  ['W WARN WARNING warn warning', 'warning'],
  ['E F ERROR FATAL CRITICAL error fatal', 'error'],
] as const)
  for (const word of words.split(' ')) severities[word] = severity;
const levels = Object.keys(severities)
  .toSorted((a, b) => b.length - a.length)
  .join('|');

/** `[V] `, `[11/21/2026-09:29:17] `, `[TRT] `, `&&&& `: TensorRT's prefix, at the start of the line already. */
const own = /^(?:\[(?:[A-Z!]\]|\d\d\/\d\d\/\d{4}-|TRT\]|TensorRT\])|&&&& )/;
/** Forms that are read as TensorRT's prefix, with what they say of it. */
const known =
  /^(?:\u001b\[|\{"event":|(?:\S+ \S+ )?(?:\[[A-Z]:onnxruntime:|[A-Z] onnxruntime:)|[IWEF]\d{4} [\d:.]+ +\d+ |[A-Z]+: \[TRT\]|[A-Z]+: ?(?:torch_tensorrt)? ?\[)/;
/** TensorRT's prefix behind something else. */
const inner =
  /\[\d\d\/\d\d\/\d{4}-\d\d:\d\d:\d\d\] \[[VIWEF]\] |\[[VIWEF]\] \[TRT\] |\[TRT\] \[[VIWEF]\] |&&&& RUNNING /;
/** Phrases that only TensorRT writes, behind something else. */
const phrase =
  /(?<=[ :>\])-])(?:\[MemUsageChange\] |(?:Input filename|Opset version): |(?:Static check for parsing|Parsing) node: |Registering (?:layer|tensor): |Searching for input: |Importing initializer: |={15} Computing |\*{15} Autotuning |-{15} Timing Runner: |(?:Original|After [\w -]+): \d+ layers$|Building graph using backend strategy )/;
/** Lines that continue a message even where each line of it got the wrapper. */
const isContinued = /^(?:Name: |Layer\(|Bindings:|I\/O Tensors:|\s*$)/;

function isOwn(text: string, at: number): boolean {
  const first = text.charCodeAt(at);
  return (first === 0x5b || first === 0x26) && own.test(text.slice(at, at + 14));
}

/** What a line behind a wrapper says of the wrapper. */
const decide = (rest: string): boolean | null =>
  own.test(rest) && !rest.startsWith('&&&& ') ? false : phrase.exec(` ${rest}`)?.index === 1 ? true : null;

function learn(head: string): Form | null {
  if (known.test(head)) return null;
  const before = inner.exec(head);
  const found = before ?? phrase.exec(head);
  if (found === null || found.index === 0 || found.index > mostLength) return null;
  const pattern = patternOf(head.slice(0, found.index));
  return pattern === null
    ? null
    : { pattern, replaces: before === null ? true : before[0].startsWith('&&&& ') ? null : false };
}

/** Numbers, levels, months and the width of columns change from line to line; the rest is the wrapper's own text. */
function patternOf(wrapper: string): RegExp | null {
  const parts = wrapper.match(/[A-Za-z]+|\d+| +|[^A-Za-z\d ]/g);
  // A name that holds a phrase is no wrapper.
  if (parts === null || wrapper.includes('": ')) return null;
  let hasLevel = false;
  const source = parts.map((part, index) => {
    if (/^\d/.test(part)) return '\\d+';
    if (part.startsWith(' ')) return index === parts.length - 1 ? `(?: {${part.length}}|$)` : ' +';
    if (severities[part] !== undefined && !hasLevel) {
      hasLevel = true;
      return `(?<level>${levels})`;
    }
    if (/^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun)$/.test(part))
      return '[A-Z][a-z]{2}';
    return part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  });
  return new RegExp(`^${source.join('')}`);
}

/** Takes the marks of Markdown away, `> ` and what makes a line code or bold; true: the line is one of a quotation. */
function unquote(cursor: LogCursor): boolean {
  const { text, from, to } = cursor;
  while (text.charCodeAt(cursor.from) === 0x3e && cursor.from < to) {
    const next = text.charCodeAt(cursor.from + 1);
    if (next !== 0x20 && cursor.from + 1 < to) break;
    cursor.from = Math.min(cursor.from + 2, to);
  }
  const mark = text.charCodeAt(cursor.from);
  const isQuoted = cursor.from > from;
  if (mark !== 0x60 && mark !== 0x2a) return isQuoted;
  const found = marked.exec(text.slice(cursor.from, Math.min(to, cursor.from + 40)));
  if (found === null) return isQuoted;
  cursor.from += found[1]!.length;
  if (text.endsWith(found[1]!, to) && cursor.from < to - found[1]!.length) cursor.to -= found[1]!.length;
  return isQuoted;
}

/** `**ERROR: [TRT]: …**`, `` `[TensorRT] ERROR: …` `` */
const marked = /^(`{1,3}|\*{1,3})(?=\[|[A-Z]+: |&&&& |\d{1,2}: \[)/;

function uncolor(cursor: LogCursor): void {
  const line = cursor.text.slice(cursor.from, cursor.to);
  if (!line.includes('\u001b[')) return;
  cursor.text = line.replace(/\u001b\[[\d;]*[A-Za-z]/g, '');
  cursor.from = 0;
  cursor.to = cursor.text.length;
}
