/** How long to wait for a sign of life, in ms: it takes a second or two, some more on a loaded machine or a slow line. */
const patience = [8000, 16_000, 32_000];

/** Does something again while no sign of life follows, three times at most, longer apart each time. */
export class Retry {
  readonly #again: () => void;
  readonly #giveUp: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(again: () => void, giveUp: () => void) {
    this.#again = again;
    this.#giveUp = giveUp;
  }

  /** What it is about has begun just now: waits for the sign from here on, with all of its patience. */
  begin(): void {
    this.#wait(0);
  }

  /** The sign has come, or none is to be expected any more. */
  end(): void {
    clearTimeout(this.#timer);
  }

  #wait(tries: number): void {
    this.end();
    this.#timer = setTimeout(
      () => {
        if (tries === patience.length) {
          this.#giveUp();
          return;
        }
        this.#again();
        this.#wait(tries + 1);
      },
      patience[tries] ?? patience.at(-1),
    );
  }
}
