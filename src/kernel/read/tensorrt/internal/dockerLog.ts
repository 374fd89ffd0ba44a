import type { LogCursor } from './logCursor.ts';

/** `{"log":"[V] [TRT] text\n","stream":"stdout",…}`, as Docker keeps the output of containers, its keys in any order. */
const dockerLine = /^\{ ?"(?:log|stream|time|attrs)" ?: ?/;

/** Longest line that is put together from several entries, in characters. */
const mostHeld = 16_000_000;

/** Takes lines out of the files of Docker's `json-file` driver, which cuts lines of more than 16 KB into several entries. */
export class DockerLog {
  #held = '';

  /**
   * Puts the entry's line in the cursor.
   * @returns `held`: only a part of a line, whose rest comes with the next entry; null: no entry
   */
  unpack(cursor: LogCursor): 'line' | 'held' | null {
    if (cursor.text.charCodeAt(cursor.from) !== 0x7b) return null;
    if (!dockerLine.test(cursor.text.slice(cursor.from, cursor.from + 16))) return null;
    const log = textOf(cursor.text.slice(cursor.from, cursor.to));
    if (log === null) return null;
    if (!log.endsWith('\n') && this.#held.length < mostHeld) {
      this.#held += log;
      return 'held';
    }
    const line = this.#held + log.replace(/\r?\n$/, '');
    this.#held = '';
    put(cursor, line);
    return 'line';
  }

  /** What is held of a line whose end never came, as a line. */
  rest(cursor: LogCursor): boolean {
    if (this.#held === '') return false;
    put(cursor, this.#held);
    this.#held = '';
    return true;
  }
}

/** null: a line that only looks like an entry. */
function textOf(line: string): string | null {
  try {
    const { log } = JSON.parse(line) as { log?: unknown };
    return typeof log === 'string' ? log : null;
  } catch {
    return null;
  }
}

function put(cursor: LogCursor, line: string): void {
  cursor.text = line;
  cursor.from = 0;
  cursor.to = line.length;
}
