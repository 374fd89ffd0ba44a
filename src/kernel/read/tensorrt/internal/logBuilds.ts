import type { LoggedBuild } from '../buildOutput.ts';

/**
 * Finds where builds begin in a log that may contain several: a task that ran twice, `cat a.log b.log`, the iterations
 * of `polygraphy debug`. A build begins at the frame of its program, or where it parses its model; a run without either
 * only loads an engine and belongs to the build before it.
 */
export class LogBuilds {
  readonly #builds: (LoggedBuild & { counts: boolean })[] = [];
  /** Line of a frame that no parsing has followed yet. */
  #frame: number | null = null;
  /** The build has got beyond the first lines of its parsing. */
  #isOn = false;

  frame(line: number): void {
    this.#frame ??= line;
  }

  /** A model is about to be parsed. Two lines may say so of the same one. */
  parse(line: number): void {
    if (this.#builds.length === 0 || this.#isOn) this.#begin(line);
  }

  /** A node was parsed. */
  goOn(): void {
    this.#isOn = true;
  }

  /** The optimizer begins. INT8 calibration and backend strategies do so several times in one build. */
  optimize(line: number): void {
    if (this.#builds.length === 0 || this.#frame !== null) this.#begin(line);
    this.#isOn = true;
    this.#builds.at(-1)!.counts = true;
  }

  #begin(line: number): void {
    const first = this.#builds.length === 0;
    this.#builds.push({ line: first ? 1 : (this.#frame ?? line), end: 0, counts: this.#frame !== null });
    this.#frame = null;
    this.#isOn = false;
  }

  /** All builds of a log of so many lines. What was only parsed, to see whether it can be, is none. */
  end(lines: number): LoggedBuild[] {
    const builds = this.#builds.filter(({ counts }, index) => counts || index === this.#builds.length - 1);
    return builds.map(({ line }, index) => ({
      line: index === 0 ? 1 : line,
      end: (builds[index + 1]?.line ?? lines + 1) - 1,
    }));
  }
}
