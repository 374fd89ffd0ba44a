/** What the texts of the core call by its name, and the command that does it here. The editor has buttons instead. */
const commands: readonly [name: string, command: string][] = [
  ['typed copy of the model', 'trtlens precision apply'],
  ['A check of the replay', 'trtlens replay check'],
  ['an inspection of the engine', 'trtlens inspect'],
  ['One can be written from the engine', 'trtlens triton'],
  ['This report is on build', 'trtlens fusion --build-number N'],
  ['This report is on profile', 'trtlens fusion --optimization-profile N'],
];

/** A message with the command of `trtlens` that does what it advises. */
export function withCommands(text: string): string {
  const found = commands.filter(([name, command]) => text.includes(name) && !text.includes(command));
  return found.length === 0 ? text : `${text} (${found.map(([, command]) => command).join(', ')})`;
}
