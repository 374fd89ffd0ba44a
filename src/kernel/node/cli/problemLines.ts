import { foldLines } from '../../base/problem.ts';
import type { Problem } from '../../base/problem.ts';

/** A problem as compilers print theirs: `FILE:LINE:COLUMN: severity code: message`. */
export function problemLine(path: string, { severity, code, message, line, column }: Problem): string {
  const place = [path, ...(line === undefined ? [] : [line, column ?? 1])].join(':');
  return `${place}: ${severity} ${code}: ${foldLines(message)}`;
}

/** A problem in JSON. Keys that a problem does not have are omitted. */
export const problemJson = ({ code, severity, message, line, column, endColumn }: Problem) => ({
  code,
  severity,
  message,
  line,
  column,
  endColumn,
});

export const hasErrors = (problems: readonly Problem[]): boolean =>
  problems.some(({ severity }) => severity === 'error');

/** `2 errors, 1 warning`; '' if there are none. */
export function countProblems(problems: readonly Problem[]): string {
  const parts = (['error', 'warning'] as const).map((kind) => {
    const count = problems.filter(({ severity }) => severity === kind).length;
    return count === 0 ? '' : `${count} ${kind}${count === 1 ? '' : 's'}`;
  });
  return parts.filter((part) => part !== '').join(', ');
}

/** What the texts of the core call by its name, and the command that does it here. The editor has buttons instead. */
const commands: readonly [name: string, command: string][] = [
  ['typed copy of the model', 'trtlens precision apply'],
  ['A check of the replay', 'trtlens precision replay check'],
  ['an inspection of the engine', 'trtlens inspect'],
  ['A bisection of the engine', 'trtlens bisect'],
  ['One can be written from the engine', 'trtlens setup triton'],
  ['This report is on build', 'trtlens show --build-number N'],
  ['This report is on profile', 'trtlens show --optimization-profile N'],
];

/** A message with the command of `trtlens` that does what it advises. */
export function withCommands(text: string): string {
  const found = commands.filter(([name, command]) => text.includes(name) && !text.includes(command));
  return found.length === 0 ? text : `${text} (run ${found.map(([, command]) => command).join(', ')})`;
}
