import { colored, isColored } from './color.ts';
import { withCommands } from './problemLines.ts';
import { fstatSync, writeSync } from 'node:fs';
import { UserError } from '../files/userError.ts';
import { errorText } from '../../base/problem.ts';
import { type Terminal, visibleText } from './terminal.ts';

/**
 * Writes all of a text.
 * @throws {UserError} when there is no room for it. `trtlens … | head` is no error: the reader has enough.
 */
async function writeAll(stdout: NodeJS.WriteStream & { fd: number }, text: string): Promise<void> {
  try {
    if (isFile(stdout.fd)) writeToFile(stdout.fd, Buffer.from(text));
    else
      await new Promise<void>((resolve, reject) => stdout.write(text, (error) => (error ? reject(error) : resolve())));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return;
    throw new UserError(`the output cannot be written: ${errorText(error)}`);
  }
}

/** Of a disk that fills up, Node's own stream takes what fits for all of it. */
function writeToFile(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
}

function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    return false;
  }
}

/** A text as a stream shows it. What another program reads gets no color, whatever the environment says. */
function shownOn(stream: NodeJS.WriteStream, text: string, kind?: 'data'): string {
  const safe = stream.isTTY ? visibleText(text) : text;
  return kind !== 'data' && isColored(stream.isTTY, process.env) ? colored(safe) : safe;
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const { stdout, stderr } = process;
  const abort = new AbortController();
  let shown = false;
  let ticking: NodeJS.Timeout | undefined;
  const clear = () => {
    if (shown) stderr.write('\r\x1b[K');
    shown = false;
  };
  const show = (line: string) => {
    clear();
    stderr.write(visibleText(line.replaceAll('\n', ' ')).slice(0, Math.max(20, (stderr.columns || 80) - 1)));
    shown = true;
  };
  // A second Ctrl-C must still kill a process that does not stop by itself. The others may come twice by themselves: the
  // kernel and the shell each send one when a terminal is closed.
  process.once('SIGINT', () => abort.abort('SIGINT'));
  for (const name of ['SIGTERM', 'SIGHUP'] as const) process.on(name, () => abort.abort(name));
  // Each write reports its own error.
  stdout.on('error', () => {});
  return {
    signal: abort.signal,
    out: async (text, kind) => {
      clear();
      await writeAll(stdout, shownOn(stdout, text, kind));
    },
    note: (line) => {
      clear();
      stderr.write(`${shownOn(stderr, withCommands(line))}\n`);
    },
    status: (line) => {
      if (!stderr.isTTY) return;
      clearInterval(ticking);
      if (line === null) return clear();
      show(line);
      const begun = Date.now();
      // What takes long without a word shows that it goes on, unless something else was written since.
      ticking = setInterval(() => {
        const seconds = Math.round((Date.now() - begun) / 1000);
        if (shown) show(`${line} ${seconds} s`);
      }, 1000).unref();
    },
    ask: async (question) => {
      // Loaded here: few commands ask anything.
      const { stdin } = process;
      if (!stdin.isTTY || !stderr.isTTY) return undefined;
      clear();
      const { createInterface } = await import('node:readline/promises');
      const reader = createInterface({ input: stdin, output: stderr });
      try {
        return /^y(es)?$/i.test((await reader.question(`${question} [y/N] `, { signal: abort.signal })).trim());
      } finally {
        reader.close();
      }
    },
  };
}
