import type { LogCursor, LogSeverity } from './logCursor.ts';

const OPEN = 0x5b;
const CLOSE = 0x5d;
const SPACE = 0x20;
const ESCAPE = 0x1b;

const LETTERS: (LogSeverity | undefined)[] = [];
for (const [letters, severity] of [
  ['VDXSU', 'verbose'],
  ['I', 'info'],
  ['W', 'warning'],
  ['EF!', 'error'],
] as const)
  for (const letter of letters) LETTERS[letter.charCodeAt(0)] = severity;

const WORDS: Record<string, LogSeverity> = {
  VERBOSE: 'verbose',
  DEBUG: 'verbose',
  GRAPH: 'verbose',
  INFO: 'info',
  WARNING: 'warning',
  WARN: 'warning',
  ERROR: 'error',
  INTERNAL_ERROR: 'error',
  'INTERNAL ERROR': 'error',
  CRITICAL: 'error',
  BUG: 'error',
};

/** Forms that start with something else than `[L]`, `[time]` or `[TRT]`; the first group is the level. */
const OTHER_FORMS: { form: RegExp; writer: LogCursor['writer']; library: boolean; host?: LogCursor['host'] }[] = [
  // TensorRT 7 in Python
  { form: /^\[TensorRT\] (VERBOSE|INFO|WARNING|INTERNAL ERROR|ERROR): ?/, writer: 'python', library: true },
  // onnx2trt: `[2021-02-25 12:00:00     BUG] text`
  {
    form: /^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +(VERBOSE|INFO|WARNING|ERROR|BUG)\] ?/,
    writer: null,
    library: true,
  },
  // Polygraphy inside a callback, and its own words for levels
  { form: /^\[(VERBOSE|INFO|WARNING|ERROR|CRITICAL)\] ?/, writer: null, library: false },
  // ONNX Runtime: `2023-08-22 10:07:46.5 [E:onnxruntime:Default, tensorrt_execution_provider.h:61 log] [2023-08-22 01:07:46   ERROR] text`
  {
    form: /^(?:\S+ \S+ )?(?:\[[VIWEF]:onnxruntime:[^\]]*\]|[VIWEFD] onnxruntime:) ?\[[-\d]+ [\d:.]+ +(VERBOSE|INFO|WARNING|ERROR|INTERNAL_ERROR)\] ?/,
    writer: 'onnxruntime',
    library: true,
  },
  { form: /^(?:\S+ \S+ )?\[([VIWEF]):onnxruntime:[^\]]*\] ?/, writer: 'onnxruntime', library: false },
  // TensorRT-LLM's C++ runtime
  {
    form: /^\[TensorRT-LLM\]\[(VERBOSE|DEBUG|INFO|WARNING|ERROR)\] ?/,
    writer: null,
    library: true,
  },
  // TensorFlow with TensorRT
  {
    form: /^\S+ [\d:.]+: ([IWEF]) \S*(?:tf2tensorrt|contrib\/tensorrt)\S*:\d+\] (?:\w*Logger )?/,
    writer: null,
    library: true,
  },
  // Nodes of ComfyUI
  { form: /^\[ComfyUI[\w-]*\|(DEBUG|INFO|WARNING|ERROR)\] -? ?/, writer: null, library: false },
  // DeepStream and others
  { form: /^(DEBUG|VERBOSE|INFO|WARNING|ERROR): \[TRT\]:? ?/, writer: null, library: true },
  // Torch-TensorRT
  {
    form: /^(DEBUG|INFO|WARNING|ERROR|CRITICAL): ?(?:torch_tensorrt)? ?\[[^\]]*\] ?[:-]+ ?/,
    writer: 'python',
    library: true,
    host: 'torch-tensorrt',
  },
  // glog, as Triton writes it
  { form: /^([IWEF])\d{4} [\d:.]+ +\d+ [\w.]+:\d+\] ?/, writer: null, library: true, host: 'triton' },
];
const ONNX_RUNTIME_END = / \[[\w.]+:\d+ onnxruntime::\w+::\w+\]$/;

/**
 * Moves `cursor.from` from the start of a line to the start of its message, and notes what the prefix says. Understands
 * trtexec, Polygraphy, TensorRT's own Python logger (order swapped, TensorRT 7 too), ONNX Runtime, TensorRT-LLM, TF-TRT,
 * Torch-TensorRT, ComfyUI, DeepStream and Triton. A line without a prefix stays as it is.
 */
export function readLogPrefix(cursor: LogCursor): void {
  cursor.severity = 'none';
  cursor.prefixed = false;
  cursor.library = false;
  cursor.writer = null;
  cursor.host = null;
  const first = cursor.text.charCodeAt(cursor.from);
  if (first === OPEN) {
    if (readCommonForm(cursor)) return;
    readBrackets(cursor);
    if (!cursor.prefixed) readOtherForm(cursor);
  } else if (first === ESCAPE || (first < 0x5b && first > 0x2f && first !== 0x4e && first !== 0x4c))
    readOtherForm(cursor);
}

/**
 * `[MM/DD/YYYY-HH:MM:SS] [L] [TRT] text`, the same without `[TRT]`, and `[L] [TRT] text`: nearly all lines of nearly all
 * logs. Leaves others as they are.
 */
export function readCommonForm(cursor: LogCursor): boolean {
  const { text, from, to } = cursor;
  // Never behind the text's end: V8 would compile this a second time, into slower code.
  if (to < from + 10 || text.charCodeAt(from) !== OPEN) return false;
  const at = to > from + 31 && isTime(text, from) ? from + 22 : from;
  const severity = LETTERS[text.charCodeAt(at + 1)];
  if (severity === undefined || text.charCodeAt(at + 2) !== CLOSE || text.charCodeAt(at + 3) !== SPACE) return false;
  const library = text.charCodeAt(at + 4) === OPEN;
  if (library ? text.charCodeAt(at + 5) !== 0x54 || text.charCodeAt(at + 8) !== CLOSE : at === from) return false;
  const start = library ? at + 10 : at + 4;
  if (text.charCodeAt(start - 1) !== SPACE || text.charCodeAt(start) === OPEN) return false;
  cursor.from = start;
  cursor.severity = severity;
  cursor.prefixed = true;
  cursor.library = library;
  cursor.writer = at === from ? 'untimed' : null;
  cursor.host = null;
  return true;
}

/** `[MM/DD/YYYY-HH:MM:SS] [L] [TRT] ` in any order and number: a writer may print its prefix twice. */
function readBrackets(cursor: LogCursor): void {
  const { text } = cursor;
  let at = cursor.from;
  let timed = false;
  let libraryFirst = false;
  let level: LogSeverity | undefined;
  while (text.charCodeAt(at) === OPEN && at < cursor.to) {
    let length: number;
    if (text.charCodeAt(at + 2) === CLOSE) {
      const severity = LETTERS[text.charCodeAt(at + 1)];
      if (severity === undefined) break;
      level = severity;
      length = 3;
      if (cursor.library) libraryFirst = true;
    } else if (text.charCodeAt(at + 4) === CLOSE && text.startsWith('[TRT', at)) {
      cursor.library = true;
      length = 5;
    } else if (isLlm(cursor, at)) {
      length = 9;
    } else if (isTime(text, at)) {
      timed = true;
      length = 21;
    } else if (level !== undefined && isClock(text, at)) length = 10;
    else break;
    at += length;
    if (text.charCodeAt(at) === SPACE && at < cursor.to) at++;
  }
  if (level === undefined && !timed) {
    cursor.library = false;
    return;
  }
  cursor.from = Math.min(at, cursor.to);
  cursor.severity = level ?? 'none';
  cursor.prefixed = true;
  if (libraryFirst) cursor.writer = 'python';
  else if (!timed && cursor.library) cursor.writer = 'untimed';
}

/** `[TRT-LLM]` */
function isLlm(cursor: LogCursor, at: number): boolean {
  if (cursor.text.charCodeAt(at + 8) !== CLOSE || !cursor.text.startsWith('[TRT-LLM', at)) return false;
  cursor.library = true;
  return true;
}

/** `[11/21/2026-09:29:17]` */
function isTime(text: string, at: number): boolean {
  return text.charCodeAt(at + 20) === CLOSE && text.charCodeAt(at + 3) === 0x2f && text.charCodeAt(at + 11) === 0x2d;
}

/** `[09:29:17]`, which Polygraphy adds on request. */
function isClock(text: string, at: number): boolean {
  return text.charCodeAt(at + 9) === CLOSE && text.charCodeAt(at + 3) === 0x3a && text.charCodeAt(at + 6) === 0x3a;
}

function readOtherForm(cursor: LogCursor): void {
  if (cursor.text.charCodeAt(cursor.from) === ESCAPE) return readColored(cursor);
  const head = cursor.text.slice(cursor.from, Math.min(cursor.to, cursor.from + 300));
  for (const { form, writer, library, host } of OTHER_FORMS) {
    const match = form.exec(head);
    if (match === null) continue;
    const level = match[1] ?? '';
    cursor.severity = WORDS[level] ?? LETTERS[level.charCodeAt(0)] ?? 'none';
    cursor.from += match[0].length;
    cursor.prefixed = true;
    cursor.library = library;
    cursor.writer = writer;
    cursor.host =
      host ??
      (writer !== 'onnxruntime' ? null : match[0].includes('nv_execution_provider') ? 'nv-tensorrt-rtx' : writer);
    if (writer === 'onnxruntime') {
      const end = ONNX_RUNTIME_END.exec(cursor.text.slice(Math.max(cursor.from, cursor.to - 200), cursor.to));
      if (end !== null) cursor.to -= end[0].length;
    }
    return;
  }
}

/** A line in a terminal's colors: read as if it had none. */
function readColored(cursor: LogCursor): void {
  cursor.text = cursor.text.slice(cursor.from, cursor.to).replace(/\x1b\[[\d;]*[A-Za-z]/g, '');
  cursor.from = 0;
  cursor.to = cursor.text.length;
  if (cursor.text.charCodeAt(0) === OPEN) readBrackets(cursor);
  if (!cursor.prefixed && cursor.text.charCodeAt(0) !== ESCAPE) readOtherForm(cursor);
}
