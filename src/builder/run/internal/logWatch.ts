import { BuildProgress, type ReportedStep, type TimeLine } from '../../../core/build/buildManifest.ts';
import type { BuildLog } from '../../../core/formats/tensorrt/buildOutput.ts';
import { BuildLogReader } from '../../../core/formats/tensorrt/readBuildLog.ts';

/** What a log said in the end. */
export interface Watched {
  log: BuildLog;
  timeLine: TimeLine;
}

/** Reads a build's log as it is written, and knows what the build is doing. */
export class LogWatch {
  readonly progress: BuildProgress;
  readonly #reader: BuildLogReader;
  readonly #begun = Date.now();
  readonly #changed: () => void;

  /**
   * @param expectedMs how long the same build took before
   * @param changed called whenever there is something new to see
   */
  constructor(expectedMs: number | null, changed: (progress: BuildProgress) => void) {
    this.progress = new BuildProgress({ ms: expectedMs });
    this.#changed = () => changed(this.progress);
    this.#reader = new BuildLogReader({
      onEvent: (event) => {
        this.progress.event(event, this.#now());
        this.#changed();
      },
    });
  }

  line(text: string): void {
    this.#reader.push(`${text}\n`);
  }

  step(step: ReportedStep): void {
    this.progress.step(step);
    this.#changed();
  }

  end(): Watched {
    return { log: this.#reader.end().value, timeLine: this.progress.timeLine(this.#now()) };
  }

  #now(): number {
    return Date.now() - this.#begun;
  }
}
