/** Every runtime that core runs in has it: Node, browsers, workers. */
declare const TextDecoder: new (label: string) => {
  decode(input?: Uint8Array, options?: { stream: boolean }): string;
};

/** Decodes UTF-8 in pieces that may be cut inside of a character. Bytes that are no UTF-8 become U+FFFD; a BOM is dropped. */
export class Utf8Decoder {
  readonly #decoder = new TextDecoder('utf-8');

  push(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes, { stream: true });
  }

  end(): string {
    return this.#decoder.decode();
  }
}

/** The text of bytes that are all there. */
export function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8').decode(bytes);
}
