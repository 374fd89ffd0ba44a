/** How bad a problem is. `error`: the result is missing something that was requested. */
export type Severity = 'error' | 'warning' | 'info';

/**
 * Something the user should know about an input: what is wrong, where, and (in the message) what to do next.
 * Lines and columns count from 1, as editors and compilers show them; `endColumn` is exclusive.
 */
export interface Problem {
  severity: Severity;
  /** Stable, kebab-case: scripts and tests rely on it. */
  code: string;
  message: string;
  file?: string;
  line?: number;
  column?: number;
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
