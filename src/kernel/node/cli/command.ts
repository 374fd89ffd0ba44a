import type { ParseArgsConfig } from 'node:util';
import type { Terminal } from './terminal.ts';

/** Where the pages of docs/ are: no package contains them. */
export const docsUrl = 'https://github.com/tensorrt-lens/tensorrt-lens/blob/main/docs';

/** Exit statuses of all commands. */
export const exitCodes = { done: 0, checkFailed: 1, cannot: 2 } as const;

/** Names, short names and types of options. */
export type Options = NonNullable<ParseArgsConfig['options']>;

/** One command, one file. */
export interface Command {
  /** What `--help` prints. */
  help: string;
  /** Its options; of all its subcommands, if it has some. Shells complete them. */
  options: Options;
  subcommands?: readonly string[];
  /** What it reads is not in memory until it ends, so V8's young generation may grow. */
  keepsLittle?: true;
  /**
   * Runs with the arguments after the command's name and returns the exit status.
   * @throws {Usage} for invalid arguments
   * @throws {UserError} if it cannot be done
   */
  run: (args: string[], terminal: Terminal) => Promise<number>;
}

/** Invalid arguments; the message says which. */
export class Usage extends Error {
  override readonly name = 'Usage';
}
