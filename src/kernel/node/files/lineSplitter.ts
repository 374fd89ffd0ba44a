import { StringDecoder } from 'node:string_decoder';

/**
 * Turns chunks of bytes into lines. A line ends at `\n` alone: TensorRT's names hold U+001E and U+001F, where other
 * splitters break. A `\r` before it is dropped.
 */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  readonly #line: (text: string) => void;
  #parts: string[] = [];

  constructor(line: (text: string) => void) {
    this.#line = line;
  }

  push(chunk: Buffer): void {
    const pieces = this.#decoder.write(chunk).split('\n');
    for (const piece of pieces.slice(0, -1)) {
      this.#parts.push(piece);
      this.#flush();
    }
    const rest = pieces.at(-1)!;
    if (rest !== '') this.#parts.push(rest);
  }

  /** Returns the last line, where it has no end. */
  end(): void {
    const rest = this.#decoder.end();
    if (rest !== '') this.#parts.push(rest);
    if (this.#parts.length > 0) this.#flush();
  }

  #flush(): void {
    const line = this.#parts.join('');
    this.#parts = [];
    this.#line(line.endsWith('\r') ? line.slice(0, -1) : line);
  }
}
