import type { Terminal } from './terminal.ts';

/** Says what would be downloaded, and asks unless that was answered already. */
export async function confirmDownload(terminal: Terminal, yes: boolean, text: string): Promise<boolean> {
  terminal.note(text);
  if (yes) return true;
  const answer = await terminal.ask('Download it?');
  if (answer === undefined) terminal.note('Nobody is there to ask: --yes downloads it without asking.');
  return answer ?? false;
}
