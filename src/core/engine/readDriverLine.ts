import type { LogCursor } from './log/logCursor.ts';

const LETTERS: Record<string, string> = { VERBOSE: 'V', INFO: 'I', WARNING: 'W', ERROR: 'E', INTERNAL_ERROR: 'E' };

/**
 * Reads one of the driver's own lines, `{"event":"log","severity":"VERBOSE","message":"…"}`: each line of the message
 * goes to `read` as if it stood in a log; other events say nothing about the build's own words. A broken line is
 * skipped.
 */
export function readDriverLine(cursor: LogCursor, read: (cursor: LogCursor) => void): void {
  let event: unknown;
  try {
    event = JSON.parse(cursor.text.slice(cursor.from, cursor.to));
  } catch {
    return;
  }
  if (typeof event !== 'object' || event === null) return;
  const { event: kind, severity, message } = event as Record<string, unknown>;
  if (typeof message !== 'string' || (kind !== 'log' && kind !== 'error')) return;
  const letter = kind === 'error' ? 'E' : (LETTERS[String(severity)] ?? 'V');
  const { line } = cursor;
  message.split('\n').forEach((text, index) => {
    cursor.text = index === 0 ? `[${letter}] ${kind === 'log' ? '[TRT] ' : ''}${text}` : text;
    cursor.from = 0;
    cursor.to = cursor.text.length;
    cursor.line = line;
    read(cursor);
  });
}
