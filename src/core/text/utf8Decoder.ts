/** Every runtime that core runs in has it: Node, browsers, workers. */
declare const TextDecoder: new (label: string) => {
  decode(input?: Uint8Array, options?: { stream: boolean }): string;
};

/**
 * Decodes UTF-8 in pieces that may be cut inside a character; UTF-16 where its start shows it, as PowerShell
 * writes what is redirected into a file. Bytes that are not text become U+FFFD; a byte order mark is dropped.
 */
export class Utf8Decoder {
  #decoder: InstanceType<typeof TextDecoder> | undefined;

  push(bytes: Uint8Array): string {
    if (bytes.length === 0) return '';
    this.#decoder ??= new TextDecoder(encodingOf(bytes));
    return this.#decoder.decode(bytes, { stream: true });
  }

  end(): string {
    return this.#decoder?.decode() ?? '';
  }
}

/** The encoding that the byte order mark at a text's start names; without one, UTF-16 of ASCII is known by its zeros. */
export function encodingOf(head: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  if (isWideAscii(head, 0)) return 'utf-16le';
  return isWideAscii(head, 1) ? 'utf-16be' : 'utf-8';
}

/** Whether eight characters of ASCII text stand at every other byte from `at`, and zeros between them. */
function isWideAscii(head: Uint8Array, at: 0 | 1): boolean {
  if (head.length < 16) return false;
  for (let i = 0; i < 16; i += 2) {
    const byte = head[i + at]!;
    const isText = (byte >= 0x20 && byte < 0x7f) || (byte >= 0x09 && byte <= 0x0d) || byte === 0x1b;
    if (!isText || head[i + 1 - at] !== 0) return false;
  }
  return true;
}

/** The text of bytes that are all there. */
export function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes);
}
