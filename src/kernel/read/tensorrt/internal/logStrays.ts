import type { LogCursor } from './logCursor.ts';
import { strayMessage } from './strayLine.ts';
import { closeList } from './logEngine.ts';
import { addMessage } from './logMessages.ts';
import type { LogState } from './logState.ts';

/** No prefix of another program is longer, in characters. */
export const MAX_PREFIX = 400;

/** Reads a message of TensorRT behind a prefix that is not known, or behind none; false for any other line. */
export function readStrayMessage(state: LogState, cursor: LogCursor): boolean {
  const { text, from, to } = cursor;
  const found = strayMessage(
    text.slice(from, Math.min(to, from + MAX_PREFIX)),
    state.block === 'message' && state.message?.severity === 'error',
  );
  if (found === null) return false;
  // The parser's message goes on with what each call said that failed.
  if (found.at === 0 && state.block === 'message' && isParserText(state.message?.text)) return false;
  leaveBlock(state);
  cursor.from += found.at;
  cursor.library = true;
  state.evidence.phrases++;
  addMessage(state, cursor, found.severity);
  state.stray = true;
  return true;
}

export const isParserText = (text = ''): boolean =>
  /In function \w+:|Invalid Node - |_NODE\b|While parsing node number|--- Begin node/.test(text);

/** What comes next continues nothing. */
export function leaveBlock(state: LogState): void {
  state.block = 'none';
  state.message = null;
  state.profileColumns = null;
  if (state.list !== null) closeList(state);
}
