import type { LogMessage, PrecisionLine } from '../buildOutput.ts';
import type { LogCursor } from './logCursor.ts';
import { keep, keepPart, type LogState, own, type PhraseHandler } from './logState.ts';
import { isNode } from './logParser.ts';
import { shapeText } from '../../../base/text.ts';

/** Longest text kept of one message, in characters. */
const MAX_MESSAGE = 20_000;

/** Lines about precision; the warnings among them are kept as messages, too. */
export const PRECISION_PHRASES: [string, PhraseHandler][] = [
  ['Set layer ', onSetLayer],
  ['Set output ', onSetOutput],
  ['Skipped setting ', onSkipped],
  ['--layerPrecision', onIgnored],
  ['For layer ', onNonConforming],
  ['No implementation of layer ', onNonConforming],
  ['Detected layernorm nodes in FP16', onLayerNorm],
];

function addPrecision(state: LogState, cursor: LogCursor, line: Omit<PrecisionLine, 'line'>): void {
  if (!keep(state.room.precision, line.layer.length + (line.reason?.length ?? 0))) return;
  state.log.precision.push({ ...line, line: cursor.line });
}

function onSetLayer(state: LogState, cursor: LogCursor, at: number): void {
  const match = /^(.*) to precision (\S+)$/.exec(cursor.text.slice(at, cursor.to));
  if (match)
    addPrecision(state, cursor, {
      kind: 'set',
      layer: own(state, match[1]!),
      type: own(state, match[2]!),
      reason: null,
    });
}

/** `Set output 0 of layer X to type fp32` */
function onSetOutput(state: LogState, cursor: LogCursor, at: number): void {
  const match = /^(\d+) of layer (.*) to type (\S+)$/.exec(cursor.text.slice(at, cursor.to));
  if (match)
    addPrecision(state, cursor, {
      kind: 'set-output',
      layer: own(state, match[2]!),
      type: own(state, match[3]!),
      reason: `output ${match[1]}`,
    });
}

function onSkipped(state: LogState, cursor: LogCursor, at: number): void {
  const match = /^(?:precision|output type|output types?) for (?:output \d+ of )?layer (.*) because (.*)$/.exec(
    cursor.text.slice(at, cursor.to),
  );
  if (match)
    addPrecision(state, cursor, {
      kind: 'skipped',
      layer: own(state, match[1]!),
      type: null,
      reason: own(state, match[2]!),
    });
}

function onIgnored(state: LogState, cursor: LogCursor): void {
  const text = cursor.text.slice(cursor.from, cursor.to);
  if (text.includes('have no effect'))
    addPrecision(state, cursor, { kind: 'ignored', layer: '', type: null, reason: own(state, text) });
}

function onNonConforming(state: LogState, cursor: LogCursor, at: number): void {
  const text = cursor.text.slice(at, cursor.to);
  const match = /^(.*?) (?:a non-conforming implementation was chosen|obeys the requested constraints)/.exec(text);
  if (match)
    addPrecision(state, cursor, {
      kind: 'non-conforming',
      layer: own(state, match[1]!),
      type: null,
      reason: own(state, text.slice(match[1]!.length + 1)),
    });
}

/** `…: a, b, , c`: empty names are nodes with a precision of their own; newer versions give no names. */
function onLayerNorm(state: LogState, cursor: LogCursor, at: number): void {
  const text = cursor.text.slice(at, cursor.to);
  const names = text.startsWith(':')
    ? text
        .slice(1)
        .split(', ')
        .map((name) => name.trim())
    : [''];
  for (const name of names)
    if (name !== '' || names.length === 1)
      addPrecision(state, cursor, { kind: 'layernorm-fp16', layer: own(state, name), type: 'fp16', reason: null });
}

/** A warning or error begins. */
export function onMessage(state: LogState, cursor: LogCursor): void {
  addMessage(state, cursor, cursor.severity === 'error' ? 'error' : 'warning');
}

export function addMessage(state: LogState, cursor: LogCursor, severity: 'warning' | 'error'): void {
  const whole = cursor.text.slice(cursor.from, Math.min(cursor.to, cursor.from + MAX_MESSAGE));
  // Newer versions print where NVIDIA's sources were: `parsers/onnx/ModelImporter.cpp:961: `.
  const text = own(state, SOURCE_FOLDER.test(whole) ? whole.replace(SOURCE_FOLDER, '') : whole);
  state.block = 'message';
  state.stray = false;
  state.message = null;
  if (severity === 'error' && (FATAL.test(text) || isCritical(cursor)))
    state.verdict = { outcome: 'failed', line: cursor.line };
  state.onEvent?.({ kind: 'message', severity, text, line: cursor.line });
  // Errors have a room of their own: a log of warnings must not displace the cause of its end.
  if (!keep(severity === 'error' ? state.room.errors : state.room.messages, text.length)) return;
  const message: LogMessage = {
    severity,
    text,
    line: cursor.line,
    code: codeOf(text),
    subject: subjectOf(state, text),
    ...(!cursor.library && { library: false }),
  };
  state.log.messages.push(message);
  state.message = message;
  groupParserErrors(state, message);
}

const SOURCE_FOLDER = /^(?:[\w.-]*[\\/])+(?=\w+\.[ch]pp:\d+: )/;

/** Longest stray line that is kept, in characters. */
const MAX_STRAY = 1000;
const FIRST_STRAYS = 600;
const LAST_STRAYS = 300;

/** Keeps a line that is no part of anything known: the first ones, and the last ones before the log ends. */
export function keepStray(state: LogState, cursor: LogCursor): void {
  if (cursor.from >= cursor.to) return;
  const { strays } = state;
  const text = cursor.text.slice(cursor.from, Math.min(cursor.to, cursor.from + MAX_STRAY));
  strays.push({ line: cursor.line, text: own(state, text) });
  if (strays.length > FIRST_STRAYS + 2 * LAST_STRAYS) strays.splice(FIRST_STRAYS, LAST_STRAYS);
}

/** Polygraphy's `[!]` ends the program; indented, it is another program's inside it. */
function isCritical(cursor: LogCursor): boolean {
  return cursor.text.startsWith('[!] ', cursor.from - 4) && cursor.text.charCodeAt(cursor.from) !== 0x20;
}

/** Errors after which no engine comes. */
const FATAL =
  /^(?:Engine could not be created|Building engine failed|Parsing model failed|Failed to (?:create engine|parse onnx)|Engine set up failed|Engine deserialization failed|Got invalid engine|Inference set up failed|Network And Config setup failed|Error opening engine file|Unknown option|Invalid (?:Engine|network|DataType)|Could not parse|Could not open file|\(deserializeOnnxModel\)|(?:Error\[\d+\]: )?IBuilder::buildSerializedNetwork: Error Code|\d+: \[builder\.cpp::buildSerializedNetwork|\w+\.cpp:\d+: (?:While parsing node number|ERROR: )|[\w.]*(?:Error|Exception): )/;

/** A line without prefix belongs to the message before it. */
export function onMessageContinued(state: LogState, cursor: LogCursor): void {
  const { message } = state;
  if (message === null) return;
  const text = cursor.text.slice(cursor.from, Math.min(cursor.to, cursor.from + MAX_MESSAGE));
  const room = message.severity === 'error' ? state.room.errors : state.room.messages;
  if (message.text.length + text.length > MAX_MESSAGE || !keepPart(room, text.length)) return;
  message.text = `${message.text}\n${own(state, text)}`;
  message.code ??= codeOf(text);
  if (state.parserErrors !== null) readNodeText(state, state.parserErrors, text);
}

/** What the parser says about one node comes as several messages, and the node's name is in its text. */
function groupParserErrors(state: LogState, message: LogMessage): void {
  const { text } = message;
  if (text.includes('While parsing node number ')) {
    state.parserErrors = { messages: [message], indent: null, named: false };
  } else if (state.parserErrors !== null && /^\w+\.cpp:\d+: /.test(text)) {
    state.parserErrors.messages.push(message);
    message.subject = state.parserErrors.messages[0]!.subject;
    readNodeText(state, state.parserErrors, text.replace(/^\w+\.cpp:\d+: /, ''));
  } else state.parserErrors = null;
}

/** `[a -> (2, 4)[FLOAT]], [w -> (5, 3)[FLOAT]], ` */
const inputsIn = (state: LogState): NonNullable<LogMessage['inputs']> =>
  [...state.nodeInputs.matchAll(/\[(\S{1,1000}) -> \(([\d, -]*)\)\[\w+\]\]/g)].map(([, name = '', dims = '']) => ({
    name: own(state, name),
    shape: shapeText(dims.split(', ').filter(Boolean).map(Number)),
  }));

/** Attributes inside the node have names, too, but stand further in than its own. */
function readNodeText(state: LogState, group: NonNullable<LogState['parserErrors']>, text: string): void {
  if (group.named) return;
  const field = /^(\s*)(?:input|output|op_type): /.exec(text);
  if (field) group.indent = field[1]!.length;
  const name = /^(\s*)name: "(.*)"\s*$/.exec(text);
  const found = name && name[1]!.length === group.indent ? name[2]! : /^\s*Node name: (.+)$/.exec(text)?.[1];
  if (found === undefined || found === '') return;
  group.named = true;
  for (const message of group.messages) message.subject = found;
  // Nodes are checked before any is parsed: what was read last may be another node's.
  const inputs = state.node?.name === found ? inputsIn(state) : [];
  if (inputs.length > 0) group.messages[0]!.inputs = inputs;
}

/** `Error[10]: …`, `Error Code 10`, `Error Code: 9`, `10: [optimizer.cpp…]`, `[6] Assertion failed` */
export function codeOf(text: string): number | null {
  const match = /^Error\[(\d+)\]|\bError Code:? (\d+)\b|^(\d{1,3}): |^\[(\d{1,3})\] /.exec(text);
  if (match === null) return null;
  return Number(match[1] ?? match[2] ?? match[3] ?? match[4]);
}

const SUBJECTS = [
  /^[^]{0,400}?implementation for node (.*?)(?: due to insufficient|\.?\)?\.?$|\.\))/,
  /^For layer (.*?) a non-conforming/,
  /^No implementation of layer (.*?) obeys/,
  /(\{ForeignNode\[.*?\]\})/,
  /In node -?\d+ with name: (.*?) and operator:/,
  /(?:for|of) layer (\S+?)(?: because|\.$|$)/,
  /Invalid Node - (.*)$/,
  /\bI[A-Z]\w+Layer (.+?): /,
];

/** Name of the node or layer that a message is about; of a node that the parser fails at, its output until its text gives the name. */
function subjectOf(state: LogState, text: string): string | null {
  const parsing = /While parsing node number \d+ \[(\S*) -> "(.*?)"/.exec(text);
  if (parsing) return own(state, parsing[2]!);
  for (const pattern of SUBJECTS) {
    const match = pattern.exec(text);
    if (match && match[1] !== '') return own(state, match[1]!);
  }
  const api = /\(([^()]*?): /.exec(text);
  if (api && state.log.parsedNodes.length > 0 && isNode(state, api[1]!)) return own(state, api[1]!);
  return null;
}
