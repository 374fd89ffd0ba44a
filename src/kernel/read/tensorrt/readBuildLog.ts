// Reads a build log in pieces.
import type { Problem } from '../../base/problem.ts';
import { ownText, Utf8Decoder } from '../../base/text.ts';
import type { BuildEvent, BuildLogRead, LoggedBuild } from './buildOutput.ts';
import { goOn, heldLine, isOpen } from './internal/brokenNames.ts';
import { DockerLog } from './internal/dockerLog.ts';
import { emptyCursor, type LogCursor } from './internal/logCursor.ts';
import {
  closeList,
  finishLists,
  onListLine,
  onProfileLine,
  openList,
  readTorchProfile,
  resumeList,
} from './internal/logEngine.ts';
import { addMessage, keepStray, onMessage, onMessageContinued } from './internal/logMessages.ts';
import { onForeignNodeContinued, onFusion, onGraphNode } from './internal/logOptimizer.ts';
import { keepNodeNames, readNodeInputs } from './internal/logParser.ts';
import { LogMarkup } from './internal/logMarkup.ts';
import { phraseAt } from './internal/logPhrases.ts';
import { droppedOf, type LogState, newLogState } from './internal/logState.ts';
import { isParserText, leaveBlock, MAX_PREFIX, readStrayMessage } from './internal/logStrays.ts';
import { onTableRow, onTacticLine } from './internal/logTactics.ts';
import { readQuietLine } from './internal/quietLines.ts';
import { readCommonForm, readLogPrefix } from './internal/readLogPrefix.ts';
import { finishOutcome, finishProduct } from './internal/logFrame.ts';
import { endsMessage, isFence } from './internal/strayLine.ts';

const LETTERS: Record<string, string> = { VERBOSE: 'V', INFO: 'I', WARNING: 'W', ERROR: 'E', INTERNAL_ERROR: 'E' };

/**
 * Reads one of the driver's own lines, `{"event":"log","severity":"VERBOSE","message":"…"}`: each line of the message
 * goes to `read` as if it stood in a log; other events say nothing about the build's own words. A broken line is
 * skipped.
 */
export function readDriverLine(cursor: LogCursor, read: (cursor: LogCursor) => void): void {
  let event: unknown;
  try {
    event = JSON.parse(cursor.text.slice(cursor.from, cursor.to));
  } catch {
    return;
  }
  if (typeof event !== 'object' || event === null) return;
  const { event: kind, severity, message } = event as Record<string, unknown>;
  if (typeof message !== 'string' || (kind !== 'log' && kind !== 'error')) return;
  const letter = kind === 'error' ? 'E' : (LETTERS[String(severity)] ?? 'V');
  const { line } = cursor;
  message.split('\n').forEach((text, index) => {
    cursor.text = index === 0 ? `[${letter}] ${kind === 'log' ? '[TRT] ' : ''}${text}` : text;
    cursor.from = 0;
    cursor.to = cursor.text.length;
    cursor.line = line;
    read(cursor);
  });
}

/** Longest line that is read whole, in characters; what is longer is cut, and a problem says so. */
const MAX_LINE = 16_000_000;

/** Bytes decoded at a time: V8 gives a longer text memory of its own, which takes several times as long. */
const DECODED = 1 << 16;

/** Characters that are kept of the last line. */
const MAX_LAST = 300;

/** Texts up to this length are shared with what is kept of them, longer ones are not: see `copies`. */
const SHARED_LENGTH = 64_000_000;

/** Reads a whole log. See `BuildLogReader`. */
export function readBuildLog(text: string): BuildLogRead {
  const reader = new BuildLogReader({ copies: text.length > SHARED_LENGTH });
  reader.push(text);
  return reader.end();
}

/**
 * Reads a build log while it is written: `push` takes the text in pieces cut anywhere, `pushBytes` the bytes, `end` gives
 * the result. Lines end at LF only (a CR before it is dropped; U+001E is part of a line). Memory does not grow with the
 * log: of each kind of line a fixed number is kept, the rest is counted in `dropped`. Never throws on what a log says.
 */
export class BuildLogReader {
  readonly #state: LogState;
  readonly #cursor: LogCursor = emptyCursor();
  readonly #docker = new DockerLog();
  readonly #decoder = new Utf8Decoder();
  readonly #markup = new LogMarkup();
  /** Pieces of a line whose end has not come yet. */
  #pieces: string[] = [];
  #length = 0;
  #lines = 0;
  #cut: number[] = [];
  /** The last line that is not empty, as it stands in `text`. */
  readonly #last = { text: '', from: 0, to: 0, line: 0 };
  readonly #only: LoggedBuild;
  /** What quiet lines say is of no use. */
  readonly #skips: boolean;

  /**
   * @param options.copies false saves time if all of the text stays in memory anyway
   * @param options.times false skips what each tactic took, what the optimizer did, and what the engine lists; a
   *   diagnosis does not need it
   * @param options.registered false skips the layers that the parser makes of each node; without a model, a diagnosis
   *   does not need them
   * @param options.only one build of several: all other lines are only counted
   */
  constructor(
    options: {
      onEvent?: (event: BuildEvent) => void;
      copies?: boolean;
      times?: boolean;
      registered?: boolean;
      only?: LoggedBuild;
    } = {},
  ) {
    const { onEvent, copies = true, times = true, registered = true } = options;
    this.#state = newLogState(onEvent, { copies, times, registered });
    this.#only = options.only ?? { line: 1, end: Infinity };
    this.#skips = !times && !registered && onEvent === undefined;
  }

  /** A piece of UTF-8, or of UTF-16. */
  pushBytes(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += DECODED) {
      const piece = bytes.subarray(at, at + DECODED);
      const text = this.#decoder.push(piece);
      this.#push(text, this.#skips && this.#decoder.isPlain ? piece : null);
    }
  }

  push(chunk: string): void {
    this.#push(chunk, null);
  }

  /** @param bytes the chunk's, one for each character, where quiet lines are of no use */
  #push(chunk: string, bytes: Uint8Array | null): void {
    this.#markup.see(chunk);
    let from = 0;
    let end = chunk.indexOf('\n');
    if (this.#pieces.length > 0) {
      if (end < 0) return this.#hold(chunk);
      // What is cut of a line that is too long does not matter.
      if (this.#length < MAX_LINE) this.#hold(chunk.slice(0, end));
      this.#line(this.#pieces.join(''), 0, this.#length);
      this.#pieces = [];
      this.#length = 0;
      from = end + 1;
      end = chunk.indexOf('\n', from);
    }
    for (; end >= 0; end = chunk.indexOf('\n', from)) {
      this.#line(chunk, from, end, bytes);
      from = end + 1;
    }
    keepNodeNames(this.#state);
    if (from < chunk.length) this.#hold(chunk.slice(from));
  }

  /** Ends the log: a last line without line end is read, too. */
  end(): BuildLogRead {
    this.push(this.#decoder.end());
    if (this.#pieces.length > 0) this.#line(this.#pieces.join(''), 0, this.#length);
    this.#pieces = [];
    this.#length = 0;
    if (this.#docker.rest(this.#cursor)) this.#read();
    const state = this.#state;
    readHeld(state);
    const { log } = state;
    log.lines = Math.min(this.#lines, this.#only.end);
    const builds = state.builds.end(this.#lines);
    if (builds.length > 1) log.builds = builds;
    finishLists(state);
    finishOutcome(state);
    // What no reader knows matters where something failed.
    if (state.strays.length > 0 && [log, ...(log.runs ?? [])].some(({ outcome }) => outcome !== 'passed'))
      log.strays = state.strays;
    const { line, text, from, to } = this.#last;
    if (line > 0 && log.outcome === 'unknown')
      log.lastLine = { line, text: ownText(text.slice(from, Math.min(to, from + MAX_LAST))) };
    finishProduct(state);
    log.evidence = state.evidence;
    return { value: log, problems: this.#problems() };
  }

  #hold(piece: string): void {
    if (this.#length >= MAX_LINE) return;
    this.#pieces.push(ownText(piece.length > MAX_LINE ? piece.slice(0, MAX_LINE) : piece));
    this.#length += Math.min(piece.length, MAX_LINE);
  }

  #line(text: string, from: number, end: number, bytes: Uint8Array | null = null): void {
    this.#lines++;
    if (this.#lines < this.#only.line || this.#lines > this.#only.end) return;
    let to = end;
    if (to > from && text.charCodeAt(to - 1) === 0x0d) to--;
    const cut = to - from >= MAX_LINE;
    if (cut) {
      to = from + MAX_LINE;
      if (this.#cut.length < 10) this.#cut.push(this.#lines);
    }
    if (to > from && !isFence(text, from, to)) {
      const last = this.#last;
      last.text = text;
      last.from = from;
      last.to = to;
      last.line = this.#lines;
    }
    if (bytes !== null && this.#markup.isPlain && readQuietLine(this.#state, text, bytes, from, to)) return;
    const cursor = this.#cursor;
    cursor.text = text;
    cursor.from = from;
    cursor.to = to;
    cursor.line = this.#lines;
    cursor.cut = cut;
    // Nearly all lines of nearly all logs.
    if (this.#markup.isPlain && readCommonForm(cursor)) return readMessage(this.#state, cursor);
    const entry = this.#docker.unpack(cursor);
    if (entry === 'line') this.#markup.see(cursor.text);
    if (entry !== 'held') this.#read();
  }

  #read(): void {
    this.#markup.strip(this.#cursor);
    readLine(this.#state, this.#cursor);
  }

  #problems(): Problem[] {
    const { log } = this.#state;
    const problems: Problem[] = [];
    for (const line of this.#cut)
      problems.push({
        severity: 'warning',
        code: 'line-too-long',
        message: `This line is longer than ${MAX_LINE} characters; the rest of it was not read.`,
        line,
      });
    log.dropped = droppedOf(this.#state);
    const dropped = Object.entries(log.dropped);
    if (dropped.length > 0)
      problems.push({
        severity: 'info',
        code: 'log-too-large',
        message: `The log is too large to keep completely; counted but not kept: ${dropped.map(([kind, count]) => `${count} ${kind}`).join(', ')}.`,
      });
    if (log.outcome === 'cut-off')
      problems.push({
        severity: 'warning',
        code: 'cut-off',
        message: 'The log ends before the build does, so the rest of the build is unknown. Use the complete log.',
        line: Math.max(1, log.lines),
      });
    if (
      log.outcome === 'unknown' &&
      log.phases.length === 0 &&
      log.messages.length === 0 &&
      log.engineLayers.length === 0 &&
      log.profile.length === 0 &&
      log.devices === undefined
    )
      problems.push({
        severity: 'warning',
        code: 'no-build-log',
        message:
          log.writer === 'onnxruntime'
            ? 'This log of ONNX Runtime has no lines of TensorRT. Create the session with log_severity_level=0 and TensorRT’s execution provider, and save the output.'
            : 'Not a TensorRT build log. Build with --verbose and save the output.',
      });
    return problems;
  }
}

function readLine(state: LogState, cursor: LogCursor): void {
  readLogPrefix(cursor);
  readMessage(state, cursor);
}

/** A line whose prefix is read. */
function readMessage(state: LogState, cursor: LogCursor): void {
  if (state.held !== null && continuesHeld(state, cursor)) return;
  if (cursor.prefixed) {
    const held = heldLine(state.broken, cursor.text, cursor.from, cursor.to);
    if (held) state.held = { ...held, cursor: { ...cursor } };
    else readPrefixed(state, cursor);
  } else readBare(state, cursor);
}

/** Adds a line without prefix to the one that is held, and reads that when it is whole; true where the line was its rest. */
function continuesHeld(state: LogState, cursor: LogCursor): boolean {
  const held = state.held!;
  const isRest = !cursor.prefixed && goOn(state.broken, held, cursor.text.slice(cursor.from, cursor.to));
  if (!isRest || !isOpen(state.broken, held)) readHeld(state);
  return isRest;
}

function readHeld(state: LogState): void {
  const { held } = state;
  state.held = null;
  if (held) readPrefixed(state, { ...held.cursor, text: held.text, from: held.from, to: held.text.length });
}

function readPrefixed(state: LogState, cursor: LogCursor): void {
  state.evidence.prefixed++;
  if (cursor.library) state.evidence.library++;
  if (cursor.host !== null) state.log.host ??= cursor.host;
  if (cursor.writer !== null) state.writers.set(cursor.writer, (state.writers.get(cursor.writer) ?? 0) + 1);
  if (state.block !== 'none') {
    if (state.block === 'profile' && onProfileLine(state, cursor)) return;
    state.block = 'none';
    if (state.list !== null) closeList(state);
    state.profileColumns = null;
    state.message = null;
  }
  if (cursor.severity === 'error' || cursor.severity === 'warning') onMessage(state, cursor);
  if (state.graphNodes !== null && onGraphNode(state, cursor)) return;
  if (runPhrase(state, cursor)) {
    state.evidence.phrases++;
    return;
  }
  if (state.section === 'parse') return readNodeInputs(state, cursor.text, cursor.from, cursor.to);
  if (onFusion(state, cursor)) return;
  if (state.section === 'tactics' && cursor.severity !== 'info') onTacticLine(state, cursor);
}

function runPhrase(state: LogState, cursor: LogCursor): boolean {
  const { text, from } = cursor;
  const phrase = from < cursor.to ? phraseAt(text, from) : undefined;
  if (phrase !== undefined) {
    phrase.run(state, cursor, from + phrase.text.length);
    return true;
  }
  // Polygraphy indents what a program inside its own program prints.
  if (text.charCodeAt(from) === 0x20 && text.startsWith('    ', from) && text.charCodeAt(from + 4) > 0x40) {
    cursor.from = from + 4;
    return runPhrase(state, cursor);
  }
  return false;
}

/** A line without prefix: part of what is before it, a frame, or a program's own words. */
function readBare(state: LogState, cursor: LogCursor): void {
  const { text, from } = cursor;
  const first = from < cursor.to ? text.charCodeAt(from) : 0;
  if (first === 0x26 && text.startsWith('&&&& ', from)) {
    leaveBlock(state);
    runPhrase(state, cursor);
    return;
  }
  if (state.block === 'foreign-node' && onForeignNodeContinued(state, cursor)) return;
  if (state.list !== null && onListLine(state, cursor)) return;
  if (readTorchProfile(state, cursor)) return;
  if (first === 0x7b && text.startsWith('{"event":', from)) {
    readDriverLine(cursor, (line) => readLine(state, line));
    return;
  }
  if (isOwnError(state, cursor) || readStrayMessage(state, cursor)) return;
  if (state.block !== 'message' || state.message === null) {
    if (!readLoose(state, cursor)) keepStray(state, cursor);
    return;
  }
  const { message } = state;
  const head = text.slice(from, Math.min(cursor.to, from + MAX_PREFIX));
  if (endsMessage(head)) {
    leaveBlock(state);
    return keepStray(state, cursor);
  }
  if (!state.stray || isParserText(message.text)) return onMessageContinued(state, cursor);
  leaveBlock(state);
  if (!readLoose(state, cursor)) keepStray(state, cursor);
}

const OWN_ERROR = /^(?:Could not open file |[\w.]+:\S{1,300}:\d+:(?:(?!Assertion ).)*Assertion ['`].*failed)/;
/** An exception that nothing caught: Python's own, or one with its module. Others need the traceback: scripts print `MaxError: 0.01`. */
const EXCEPTION =
  /^(?:(?:Attribute|Assertion|EOF|FileExists|FileNotFound|Import|Index|IsADirectory|Key|Memory|ModuleNotFound|Name|NotADirectory|NotImplemented|OS|Overflow|Permission|Recursion|Runtime|Syntax|Type|UnicodeDecode|Value|ZeroDivision)Error|(?:\w+\.)+\w*(?:Error|Exception)|\w+Exception): /;
const TRACED = /^[\w.]*(?:Error|Exception|Exit|Interrupt)\b/;

/** What programs print without a prefix when they fail. */
function isOwnError(state: LogState, cursor: LogCursor): boolean {
  const { text, from, to } = cursor;
  if (text.startsWith('Traceback (most recent call last)', from)) {
    leaveBlock(state);
    state.traceback = true;
    return true;
  }
  // Frames are indented; the first line that is not is the exception.
  const traced = state.traceback && text.charCodeAt(from) !== 0x20;
  if (traced) state.traceback = false;
  const code = text.charCodeAt(from);
  if (!((code > 0x40 && code < 0x5b) || (code > 0x60 && code < 0x7b))) return false;
  if (text.startsWith('Name: ', from) || text.startsWith('Layer(', from)) return false;
  const head = text.slice(from, Math.min(to, from + 400));
  if (!OWN_ERROR.test(head) && !EXCEPTION.test(head) && !(traced && TRACED.test(head))) return false;
  addMessage(state, cursor, 'error');
  return true;
}

/** Phrases that no other text starts a line with: a log that lost its prefixes, or never had any (TensorRT 5). */
const BARE_PHRASE =
  /^ *(?:-{15} Timing |={15} Computing |\*{15} Autotuning |>{15} Chose |Autotuning op |For layer .* a non-conforming |No implementation of layer |(?:Static check for parsing|Parsing) node: |Registering layer: .* (?:for ONNX node:|required by ONNX-TRT)|(?:Original|After .*): \d+ layers$|ForeignNode \{ForeignNode\[|Memory Pools +\| \[)/;
const BARE_FUSION = /^\w+Fusion: [Ff]using /;
const BARE_TACTIC = /^ *(?:Tactic(?::| Name:)? |Fastest Tactic: |The selected tactic is )/;
const BARE_ERROR =
  /^(?:Error Code:? \d+|Error\[\d+\]|Internal Error): |(?:\bI[A-Z]\w+::\w+|\[\w+\.cpp::\w+::\d+\]): Error Code \d+: /;

/** Lists that scripts print without a prefix, and lines whose prefix was taken away; false for any other line. */
function readLoose(state: LogState, cursor: LogCursor): boolean {
  const { text, from, to } = cursor;
  if ((to - from === 7 && text.startsWith('Layers:', from)) || text.startsWith('Engine Layer Information:', from)) {
    openList(state, cursor);
    return true;
  }
  if (state.operation !== null && onTableRow(state, cursor, from)) return true;
  if ((text.startsWith('Name: ', from) || text.startsWith('Layer(', from)) && resumeList(state, cursor)) return true;
  const head = text.slice(from, Math.min(to, from + 400));
  if (BARE_ERROR.test(head)) {
    addMessage(state, cursor, 'error');
    return true;
  }
  if (BARE_FUSION.test(head)) return onFusion(state, cursor);
  if (BARE_PHRASE.test(head) || ((state.section === 'tactics' || state.operation !== null) && BARE_TACTIC.test(head))) {
    while (text.charCodeAt(cursor.from) === 0x20) cursor.from++;
    if (runPhrase(state, cursor)) state.evidence.phrases++;
    return true;
  }
  return false;
}
