import type { Problem } from '../../../base/problem.ts';
import { ENTRY, OPSET } from './onnxFields.ts';
import type { ByteSpan, OnnxNode } from '../onnxModel.ts';
import { HEAD, MISSING, type Reading, type WireCursor, WireError } from './wireCursor.ts';

/** A broken file can have as many problems as bytes; more than this many help no one. */
const PROBLEM_LIMIT = 20;
/** Two bytes can make a node: a hostile file must not become a hundred times its size in memory. */
const ITEM_LIMIT = 3_000_000;

/** What all parts of the reader share while they read one file. */
export class ModelReading {
  readonly cursor: WireCursor;
  readonly spans: boolean;
  readonly counting: boolean;
  readonly problems: Problem[] = [];
  /** Every node of the model in file order; bodies of functions go into a list of their own. */
  nodes: OnnxNode[] = [];
  /** Pieces of the main graph met so far. */
  graphs = 0;
  /** What the field at hand leaves to be read after it, because it may take any number of windows. */
  later: Reading[] = [];
  /** Memory for the next bytes. */
  spare: Uint8Array | undefined;
  private items = 0;
  private unreported = 0;

  constructor(cursor: WireCursor, { spans = false, counting = false }: { spans?: boolean; counting?: boolean }) {
    this.cursor = cursor;
    this.spans = spans;
    this.counting = counting;
  }

  /**
   * Reads the fields of a message that ends at `end`, one after the other: `read` gets a field's tag with the cursor
   * behind the head, leaves the cursor behind the field, and may be called again for the same field. `limit`: how far
   * a field may reach.
   */
  *fields(end: number, read: (tag: number) => void, limit = end): Reading {
    const { cursor } = this;
    while (cursor.pos < end) {
      const start = cursor.pos;
      if (!cursor.holds(HEAD)) {
        this.spare = cursor.forget();
        yield HEAD;
      }
      try {
        read(cursor.field(limit));
      } catch (error) {
        if (error !== MISSING) throw error;
        this.later = [];
        yield cursor.missing;
        cursor.seek(start);
        continue;
      }
      cursor.release();
      if (this.later.length > 0) yield* this.readLater();
    }
  }

  private *readLater(): Reading {
    const after = this.cursor.pos;
    const { later } = this;
    this.later = [];
    for (const reading of later) yield* reading;
    this.cursor.seek(after);
  }

  report(problem: Problem): void {
    if (this.problems.length < PROBLEM_LIMIT) this.problems.push(problem);
    else this.unreported++;
  }

  /** The problems, with a last one that counts those that were omitted. */
  allProblems(): Problem[] {
    const { unreported } = this;
    if (unreported === 0) return this.problems;
    const message = `${unreported} more problem${unreported > 1 ? 's' : ''} of this kind in the same file.`;
    return [...this.problems, { severity: 'error', code: 'more-problems', message }];
  }

  /** Counts what is kept, so that the memory stays within bounds. */
  count(items = 1): void {
    this.items += items;
    if (this.items <= ITEM_LIMIT) return;
    throw new WireError(
      'too-many',
      `it contains more than ${ITEM_LIMIT} nodes, tensors and attributes`,
      this.cursor.at,
    );
  }

  /** Keeps the span of the field whose head was read last, if spans were requested. */
  mark(item: { span?: ByteSpan }): void {
    const { at, pos, size } = this.cursor;
    if (this.spans) item.span = { at, offset: pos, length: size };
  }

  /**
   * After an error inside a message that ends at `end`: reports it and goes on behind the message where its end can
   * be trusted, else passes the error on with `what` added to its place.
   */
  recover(error: unknown, end: number, what: () => string, node?: string): void {
    if (!(error instanceof WireError)) throw error;
    error.where.push(what());
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

/** An error as the user should read it. */
export function problemOf(error: WireError): Problem {
  const where = error.where.join(' of ') || 'the model';
  const message = {
    truncated: `The file is truncated: ${error.message}, in the middle of ${where}. Download or export it again.`,
    malformed: `Cannot read ${where}: ${error.message} (byte ${error.offset}). Its content is missing from the result.`,
    'too-deep': `Cannot read ${where}: ${error.message}. Its content is missing from the result.`,
    'too-many': `Reading stopped in ${where}: ${error.message}. Check that the file is an ONNX model.`,
  }[error.kind];
  const node = error.node === undefined ? {} : { node: error.node };
  return { severity: 'error', code: error.kind, message, offset: error.offset, ...node };
}

/** A name in a message, shortened; empty for no name. */
export const quoted = (name: string): string =>
  name ? ` "${name.length > 200 ? `${name.slice(0, 200)}…` : name}"` : '';

/** The StringStringEntryProto in the field at the cursor. */
export function readEntry(cursor: WireCursor): { key: string; value: string } {
  const entry = { key: '', value: '' };
  const end = cursor.payloadEnd;
  while (cursor.pos < end) {
    const tag = cursor.field(end);
    if (tag === ENTRY.key) entry.key = cursor.text();
    else if (tag === ENTRY.value) entry.value = cursor.text();
    else cursor.skip();
  }
  return entry;
}

/** The OperatorSetIdProto in the field at the cursor. */
export function readOpset(cursor: WireCursor): { domain: string; version: number } {
  const opset = { domain: '', version: 0 };
  const end = cursor.payloadEnd;
  while (cursor.pos < end) {
    const tag = cursor.field(end);
    if (tag === OPSET.domain) opset.domain = cursor.text();
    else if (tag === OPSET.version) opset.version = cursor.value;
    else cursor.skip();
  }
  return opset;
}
