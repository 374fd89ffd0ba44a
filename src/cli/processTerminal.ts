import { createInterface } from 'node:readline/promises';
import type { Terminal } from './terminal.ts';
import { visibleText } from './visibleText.ts';

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const { stdout, stderr, stdin } = process;
  const abort = new AbortController();
  let shown = false;
  const clear = () => {
    if (shown) stderr.write('\r\x1b[K');
    shown = false;
  };
  // A second Ctrl-C must still kill a process that does not stop by itself.
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => abort.abort(name));
  // `trtlens … | head`: the reader has enough.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  return {
    signal: abort.signal,
    out: (text) =>
      new Promise((resolve, reject) => {
        clear();
        stdout.write(stdout.isTTY ? visibleText(text) : text, (error) => {
          if (error && (error as NodeJS.ErrnoException).code !== 'EPIPE') reject(error);
          else resolve();
        });
      }),
    note: (line) => {
      clear();
      stderr.write(`${stderr.isTTY ? visibleText(line) : line}\n`);
    },
    status: (line) => {
      if (!stderr.isTTY) return;
      clear();
      if (line === null) return;
      stderr.write(visibleText(line.replaceAll('\n', ' ')).slice(0, Math.max(20, (stderr.columns || 80) - 1)));
      shown = true;
    },
    ask: async (question) => {
      if (!stdin.isTTY || !stderr.isTTY) return undefined;
      const reader = createInterface({ input: stdin, output: stderr });
      try {
        return /^y(es)?$/i.test((await reader.question(`${question} [y/N] `, { signal: abort.signal })).trim());
      } finally {
        reader.close();
      }
    },
  };
}
