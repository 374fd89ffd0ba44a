/** Every runtime that core runs in has it: Node, browsers, workers. */
declare const TextDecoder: new (label: string) => {
  decode(input?: Uint8Array, options?: { stream: boolean }): string;
};

/**
 * Decodes UTF-8 in pieces that may be cut inside a character; UTF-16 where a byte order mark says so, as PowerShell
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

/** The encoding that the byte order mark at a text's start names. */
export function encodingOf(head: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : 'utf-8';
}

/** The text of bytes that are all there. */
export function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes);
}
