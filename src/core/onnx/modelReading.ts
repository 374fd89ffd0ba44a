import type { Problem } from '../text/problem.ts';
import type { ByteSpan, OnnxNode } from './onnxModel.ts';
import { HEAD, type Reading, type WireCursor, WireError } from './wireCursor.ts';
import { ENTRY, OPSET } from './onnxFields.ts';

/** A broken file can have as many problems as bytes; more than this many help nobody. */
const PROBLEM_LIMIT = 20;
/** Two bytes can make a node: a hostile file must not become a hundred times its size in memory. */
const ITEM_LIMIT = 3_000_000;

/** What all parts of the reader share while they read one file. */
export class ModelReading {
  readonly cursor: WireCursor;
  readonly spans: boolean;
  readonly problems: Problem[] = [];
  /** Every node of the model in file order; bodies of functions go into a list of their own. */
  nodes: OnnxNode[] = [];
  /** Pieces of the main graph met so far. */
  graphs = 0;
  private items = 0;
  private unreported = 0;

  constructor(cursor: WireCursor, spans: boolean) {
    this.cursor = cursor;
    this.spans = spans;
  }

  report(problem: Problem): void {
    if (this.problems.length < PROBLEM_LIMIT) this.problems.push(problem);
    else this.unreported++;
  }

  /** The problems, with a last one that counts those that were left out. */
  allProblems(): Problem[] {
    const { unreported } = this;
    if (unreported === 0) return this.problems;
    const message = `${unreported} more problem${unreported > 1 ? 's' : ''} of this kind in the same file.`;
    return [...this.problems, { severity: 'error', code: 'more-problems', message }];
  }

  /** Counts what is kept, so that the memory stays within bounds. */
  count(): void {
    if (++this.items <= ITEM_LIMIT) return;
    throw new WireError('too-many', `it holds more than ${ITEM_LIMIT} nodes, tensors and attributes`, this.cursor.at);
  }

  /** The span of the field whose head was read last, to be spread into what it holds. */
  span(): { span?: ByteSpan } {
    const { at, pos, size } = this.cursor;
    return this.spans ? { span: { at, offset: pos, length: size } } : {};
  }

  /**
   * After an error inside a message that ends at `end`: reports it and goes on behind the message where its end can
   * be trusted, else passes the error on with `what` added to its place.
   */
  recover(error: unknown, end: number, what: string, node?: string): void {
    if (!(error instanceof WireError)) throw error;
    error.where.push(what);
    error.node ??= node;
    if (error.kind === 'truncated' || error.kind === 'too-many' || end > this.cursor.fileSize) throw error;
    this.report(problemOf(error));
    this.cursor.seek(end);
  }
}

/** Adds a place to an error on its way out. */
export function within(error: unknown, what: string): unknown {
  if (error instanceof WireError) error.where.push(what);
  return error;
}

/** An error as a person should read it. */
export function problemOf(error: WireError): Problem {
  const where = error.where.join(' of ') || 'the model';
  const message = {
    truncated: `The file is cut off: ${error.message}, in the middle of ${where}. Get it again, whole.`,
    malformed: `Cannot read ${where}: ${error.message} (byte ${error.offset}). What is in it is missing here.`,
    'too-deep': `Cannot read ${where}: ${error.message}. What is in it is missing here.`,
    'too-many': `Reading stopped in ${where}: ${error.message}. Is this file an ONNX model?`,
  }[error.kind];
  const node = error.node === undefined ? {} : { node: error.node };
  return { severity: 'error', code: error.kind, message, offset: error.offset, ...node };
}

/** Fills a key and a value from a StringStringEntryProto. */
export function* readEntry(cursor: WireCursor, entry: { key: string; value: string }, end: number): Reading {
  while (cursor.pos < end) {
    if (cursor.lacks(HEAD)) yield HEAD;
    const tag = cursor.field(end);
    if (tag === ENTRY.key) entry.key = cursor.hasText ? cursor.text() : yield* cursor.longText();
    else if (tag === ENTRY.value) entry.value = cursor.hasText ? cursor.text() : yield* cursor.longText();
    else cursor.skip();
  }
}

/** Fills domain and version from an OperatorSetIdProto. */
export function* readOpset(cursor: WireCursor, opset: { domain: string; version: number }, end: number): Reading {
  while (cursor.pos < end) {
    if (cursor.lacks(HEAD)) yield HEAD;
    const tag = cursor.field(end);
    if (tag === OPSET.domain) opset.domain = cursor.hasText ? cursor.text() : yield* cursor.longText();
    else if (tag === OPSET.version) opset.version = cursor.value;
    else cursor.skip();
  }
}
