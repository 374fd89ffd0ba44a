import type { Terminal } from './terminal.ts';

/** Prints what would be downloaded, and asks unless `yes` answers already. */
export async function confirmDownload(terminal: Terminal, yes: boolean, text: string): Promise<boolean> {
  terminal.note(text);
  if (yes) return true;
  const answer = await terminal.ask('Download it?');
  if (answer === undefined) terminal.note('Not interactive: pass --yes to accept.');
  return answer ?? false;
}
