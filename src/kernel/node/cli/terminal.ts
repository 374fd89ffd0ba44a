/** Where a command writes: results to `out`, everything else to `note`. */
export interface Terminal {
  /**
   * Resolves when the reader has the text: the process must not exit before.
   * @param kind `data` is for another program: it gets no color
   */
  out: (text: string, kind?: 'data') => Promise<void>;
  /** One line of progress or warning. */
  note: (line: string) => void;
  /** A line that the next one replaces, on an interactive terminal; null clears it. */
  status: (line: string | null) => void;
  /** Asks a yes-or-no question; undefined if not interactive. */
  ask: (question: string) => Promise<boolean | undefined>;
  /** Aborted by Ctrl-C, SIGTERM, or SIGHUP (the terminal was closed). */
  signal: AbortSignal;
}

/** Characters of JSON that are collected before they are written. */
const pieceLength = 1 << 16;

/** Prints JSON: one document and a line end. It goes out in pieces, because the text of a large report takes more memory than the report. */
export async function printJson(terminal: Terminal, value: unknown): Promise<void> {
  let piece = '';
  for (const text of jsonTexts(value, '')) {
    piece += text;
    if (piece.length < pieceLength) continue;
    // oxlint-disable-next-line no-await-in-loop -- the next piece is made after the reader took this one
    await terminal.out(piece, 'data');
    piece = '';
  }
  await terminal.out(`${piece}\n`, 'data');
}

/** The text of `JSON.stringify(value, null, 2)`, in pieces: the members of an object, and the elements of their lists. */
function* jsonTexts(value: unknown, indent: string): Generator<string> {
  const isList = Array.isArray(value);
  // Deeper down, pieces would be too small to be worth it.
  if (typeof value !== 'object' || value === null || indent.length > 2) {
    yield (JSON.stringify(value, null, 2) ?? 'null').replaceAll('\n', `\n${indent}`);
    return;
  }
  const entries = isList ? value.entries() : Object.entries(value).filter(([, member]) => member !== undefined);
  let separator = isList ? '[' : '{';
  for (const [key, member] of entries) {
    yield `${separator}\n${indent}  ${isList ? '' : `${JSON.stringify(key)}: `}`;
    yield* jsonTexts(member, `${indent}  `);
    separator = ',';
  }
  const close = isList ? ']' : '}';
  yield separator === ',' ? `\n${indent}${close}` : separator + close;
}

/**
 * Text from files, safe for a terminal: control characters, which could move the cursor or set colors and title, are
 * written as escapes. The escapes are valid in JSON, too.
 */
export const visibleText = (text: string): string =>
  text.replaceAll(
    /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Prints what would be downloaded, and asks unless `yes` answers already. */
export async function confirmDownload(terminal: Terminal, yes: boolean, text: string): Promise<boolean> {
  terminal.note(text);
  if (yes) return true;
  const answer = await terminal.ask('Download it?');
  if (answer === undefined) terminal.note('Not interactive: pass --yes to accept.');
  return answer ?? false;
}
