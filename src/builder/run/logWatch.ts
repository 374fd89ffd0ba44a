import { BuildProgress, type ReportedStep, type TimeLine } from '../../core/build/buildProgress.ts';
import { diagnoseLog } from '../../core/diagnose/diagnoseLog.ts';
import type { BuildLog } from '../../core/engine/buildLog.ts';
import { BuildLogReader } from '../../core/engine/readBuildLog.ts';
import { ParsedFiles } from '../files/parsedFiles.ts';

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

/**
 * The first cause of a failed build in one line, with what to do next; undefined if the log names none.
 * @param model its file; read so that the advice can name inputs and nodes, if it can be read
 */
export async function causeOf(log: BuildLog, model: string): Promise<string | undefined> {
  const read = await new ParsedFiles().model(model).catch(() => undefined);
  const first = diagnoseLog(log, read?.value).find(({ severity, code }) => severity === 'error' && code !== 'cut-off');
  if (!first) return undefined;
  // TensorRT's own text, told as it is: there is nothing to do that would fit into a line.
  const text = first.code === 'internal' ? first.message : `${first.message} ${first.advice}`;
  return text.replaceAll(/\s*[\r\n]+\s*/g, ' ').trim();
}
