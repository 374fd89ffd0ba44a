import { createWriteStream, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { fileTrouble } from '../userError.ts';

/** A log that grows line by line, whole on disk when `end` resolves. */
export class LogFile {
  readonly #path: string;
  readonly #stream: WriteStream;
  #error: Error | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#stream = createWriteStream(path);
    this.#stream.on('error', (error) => {
      this.#error = error;
    });
  }

  write(line: string): void {
    this.#stream.write(`${line}\n`);
  }

  /** @throws {UserError} if a line could not be written: the disk is full, say */
  async end(): Promise<void> {
    this.#stream.end();
    await finished(this.#stream).catch(() => {});
    if (this.#error) throw fileTrouble(this.#path, this.#error);
  }
}
