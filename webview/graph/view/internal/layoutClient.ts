import { nestedLayout } from '../../../../src/kernel/picture/layout/nestedLayout.ts';
import { type LayoutInput, type LayoutResult } from '../../../../src/kernel/picture/layout/layoutTypes.ts';
import { few } from './firstOpen.ts';
import code from 'worker:./layoutWorker.ts';

type Answer = { id: number; result: LayoutResult } | { id: number; error: string };

/**
 * Makes large layouts in a worker, so that the page answers meanwhile, and small ones here. Only the newest request is
 * answered: what was asked before is no longer wanted. Where no worker may start, every layout is made here.
 */
export class LayoutClient {
  /** undefined: not started yet; null: none may start. */
  #worker: Worker | null | undefined;
  #newest = 0;
  #waiting: ((answer: Answer) => void) | null = null;

  /** Whether a layout is on its way: what is on the screen is about to be replaced. */
  get busy(): boolean {
    return this.#waiting !== null;
  }

  /**
   * Calls `done` with the layout, unless a newer one is requested before it is ready.
   * @param atOnce a small layout is made here and now
   */
  layout(input: LayoutInput, done: (result: LayoutResult) => void, atOnce: boolean): void {
    this.#newest += 1;
    const id = this.#newest;
    this.#waiting = null;
    const worker = atOnce && input.width.length <= few ? null : this.start();
    if (worker === null) {
      done(nestedLayout(input));
      return;
    }
    this.#waiting = (answer) => {
      this.#waiting = null;
      // A worker that was stopped from outside (a policy, too little memory) is no reason for an empty picture.
      done('result' in answer ? answer.result : nestedLayout(input));
    };
    worker.postMessage({ id, input });
  }

  /** Starts the worker if it is not there: for the first layout that needs it, or before. */
  start(): Worker | null {
    if (this.#worker !== undefined) return this.#worker;
    this.#worker = null;
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
    return this.#worker;
  }
}
