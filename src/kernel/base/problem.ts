// `Problem and Read, what each reader returns; a source of bytes; the text of an error.

/** What was thrown, as text: an error's message, or the value itself. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Random access to bytes that may be larger than memory. Implementations live outside core (a file, an editor's
 * file system); `bytesOf` serves bytes that are in memory already.
 */
export interface ByteSource {
  /** Total size in bytes. */
  readonly size: number;
  /**
   * Resolves to the bytes from `offset`, `length` of them or as many as there are.
   * @param into memory that is no longer needed: the bytes may be written there
   */
  read(offset: number, length: number, into?: Uint8Array): Promise<Uint8Array>;
}

/** A source over bytes in memory. */
export function bytesOf(bytes: Uint8Array): ByteSource {
  return { size: bytes.length, read: (offset, length) => Promise.resolve(bytes.subarray(offset, offset + length)) };
}

/** How bad a problem is. */
export type Severity =
  /** the result is missing something that was requested */
  | 'error'
  /** the result may be incomplete or wrong in places */
  | 'warning'
  /** worth knowing */
  | 'info';

/**
 * Something the user should know about an input: what is wrong, where, and (in the message) what to do next.
 * Lines and columns count from 1, as editors and compilers show them; `endColumn` is exclusive.
 */
export interface Problem {
  /** How bad it is. */
  severity: Severity;
  /** Stable, kebab-case: scripts and tests rely on it. */
  code: string;
  /** What is wrong and what to do. */
  message: string;
  /** Name of the file. */
  file?: string;
  /** Line, from 1. */
  line?: number;
  /** Column, from 1. */
  column?: number;
  /** Column after the last one. */
  endColumn?: number;
  /** Byte offset in a binary file. */
  offset?: number;
  /** Id of the ONNX node concerned. */
  node?: string;
}

/** What every reader returns: a value (undefined only when nothing could be read at all) and what was wrong. Readers never throw on bad input. */
export interface Read<T> {
  value: T | undefined;
  problems: Problem[];
}

/** The lines of a message in one line. */
export const foldLines = (text: string): string =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter(Boolean)
    .join(' ');
