import type { LayoutInput, LayoutResult } from '../../../src/core/layout/layoutTypes.ts';
import { nestedLayout } from '../../../src/core/layout/nestedLayout.ts';
import code from 'worker:./layoutWorker.ts';

type Answer = { id: number; result: LayoutResult } | { id: number; error: string };

/**
 * Layouts in a worker, so that the page answers while a large one is made. Only the newest request is answered: what
 * was asked before is no longer wanted. Where no worker may start, the layout is made here.
 */
export class LayoutClient {
  #worker: Worker | null = null;
  #newest = 0;
  #waiting: ((answer: Answer) => void) | null = null;

  constructor() {
    try {
      const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
      this.#worker = new Worker(url);
      URL.revokeObjectURL(url);
      this.#worker.onmessage = ({ data }: MessageEvent<Answer>) => {
        if (data.id === this.#newest) this.#waiting?.(data);
      };
      this.#worker.onerror = (event) => {
        event.preventDefault();
        this.#worker = null;
        this.#waiting?.({ id: this.#newest, error: event.message });
      };
    } catch {
      this.#worker = null;
    }
  }

  /** Whether a layout is on its way: what is on the screen is about to be replaced. */
  get busy(): boolean {
    return this.#waiting !== null;
  }

  /** Calls `done` with the layout, unless a newer one is requested before it is ready. */
  layout(input: LayoutInput, done: (result: LayoutResult) => void): void {
    this.#newest += 1;
    const id = this.#newest;
    if (this.#worker === null) {
      done(nestedLayout(input));
      return;
    }
    this.#waiting = (answer) => {
      this.#waiting = null;
      // A worker that was stopped from outside (a policy, too little memory) is no reason for an empty picture.
      done('result' in answer ? answer.result : nestedLayout(input));
    };
    this.#worker.postMessage({ id, input });
  }

  close(): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.#waiting = null;
  }
}
