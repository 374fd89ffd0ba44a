import type { CommandArguments } from '../protocol/language.ts';
import type { Command } from 'vscode-languageserver';
/** A command with its one argument. */
export function command(title: string, id: string, argument: CommandArguments): Command {
  return { title, command: id, arguments: [argument] };
}
