/** Where a command writes: results to `out`, everything else to `note`. */
export interface Terminal {
  /** Resolves when the reader has the text: the process must not exit before. */
  out: (text: string) => Promise<void>;
  /** One line of progress or warning. */
  note: (line: string) => void;
  /** A line that the next one replaces, on an interactive terminal; null clears it. */
  status: (line: string | null) => void;
  /** Asks a yes-or-no question; undefined if not interactive. */
  ask: (question: string) => Promise<boolean | undefined>;
  /** Aborted by Ctrl-C or SIGTERM. */
  signal: AbortSignal;
}

/** Prints one JSON document and a line end, the same in every command. */
export const printJson = (terminal: Terminal, value: unknown): Promise<void> =>
  terminal.out(`${JSON.stringify(value, null, 2)}\n`);
