import type { Terminal } from './terminal.ts';

/** What a script learns from a command's exit status. */
export const exitCodes = { done: 0, doesNotHold: 1, cannot: 2 } as const;

/** One command, one file. */
export interface Command {
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** What `--help` prints. */
  help: string;
  /**
   * Runs with the arguments after the command's name and gives the exit status.
   * @throws {Usage} arguments make no sense
   * @throws {UserError} it cannot be done
   */
  run: (args: string[], terminal: Terminal) => Promise<number>;
}

/** Arguments that make no sense; the message says which. */
export class Usage extends Error {
  override readonly name = 'Usage';
}
