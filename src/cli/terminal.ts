/** Where a command writes. Results go to `out`, everything else to `note`. */
export interface Terminal {
  /** Resolves when the text is with the reader: nothing may end the process before. */
  out: (text: string) => Promise<void>;
  /** One line of progress or warning. */
  note: (line: string) => void;
  /** A line that the next one replaces, where a person is watching; null clears it. */
  status: (line: string | null) => void;
  /** Asks a yes-or-no question; undefined: nobody is there to answer. */
  ask: (question: string) => Promise<boolean | undefined>;
  /** Aborted by Ctrl-C or SIGTERM. */
  signal: AbortSignal;
}

/** JSON as every command prints it: one document, a line end. */
export const printJson = (terminal: Terminal, value: unknown): Promise<void> =>
  terminal.out(`${JSON.stringify(value, null, 2)}\n`);
