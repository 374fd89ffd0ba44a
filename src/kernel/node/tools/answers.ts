import { Cancelled, stopIfCancelled } from '../files/userError.ts';

/** Caches answers of programs by question, so that each question is asked once. */
export class Answers<T> {
  readonly #asked = new Map<string, Promise<T>>();

  /**
   * The answer to a question. A failure is none: who wants to know afterwards asks again.
   * @param ask asks, and gives up once `signal` is aborted
   * @throws {Cancelled} once `signal` is aborted, also where someone else has asked and still waits
   */
  async get(question: string, ask: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const asked = this.#asked.get(question);
    if (asked === undefined) return this.#ask(question, ask);
    try {
      return await unlessCancelled(asked, signal);
    } catch (error) {
      // Who asked first gave up: that is no answer for the others.
      if (error instanceof Cancelled && !signal?.aborted) return this.get(question, ask, signal);
      throw error;
    }
  }

  async #ask(question: string, ask: () => Promise<T>): Promise<T> {
    const asked = ask();
    this.#asked.set(question, asked);
    try {
      return await asked;
    } catch (error) {
      this.#asked.delete(question);
      throw error;
    }
  }
}

async function unlessCancelled<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  stopIfCancelled(signal);
  let giveUp = () => {};
  const cancelled = new Promise<never>((_, reject) => {
    giveUp = () => reject(new Cancelled());
  });
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([work, cancelled]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
