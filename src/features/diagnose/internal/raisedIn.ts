import type { BuildLog, LogMessage } from '../../../kernel/read/tensorrt/buildOutput.ts';

/** A frame of a traceback in a package that is installed. */
const FRAME = /^\s*File "[^"]*[\\/](?:site|dist)-packages[\\/](?<name>\w+)[\\/.][^"]*", line \d+/;

/** As many lines before an exception as belong to its traceback, at most. */
const MOST_LINES = 200;

/** The Python package in which an exception was raised: that of its innermost frame, or of its class. */
export function packageOf({ strays = [] }: BuildLog, { line, text }: LogMessage): string | undefined {
  const frames = strays.filter((one) => one.line < line && one.line >= line - MOST_LINES);
  const found = frames.flatMap((one) => FRAME.exec(one.text)?.groups?.['name'] ?? []);
  return found.at(-1) ?? /^(\w+)\.[\w.]+: /.exec(text)?.[1];
}
