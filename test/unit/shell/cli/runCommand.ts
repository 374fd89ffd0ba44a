import type { Command } from '../../../../src/kernel/node/cli/command.ts';

/** Runs a command as `main` does, where nobody is there to answer, and gives its exit status and what it writes. */
export async function runCommand(
  command: Command,
  ...args: string[]
): Promise<{ code: number; out: string; err: string }> {
  const ran = { code: 0, out: '', err: '' };
  ran.code = await command.run(args, {
    out: (text) => Promise.resolve(void (ran.out += text)),
    note: (line) => void (ran.err += `${line}\n`),
    status: () => {},
    ask: () => Promise.resolve(undefined),
    signal: new AbortController().signal,
  });
  return ran;
}
