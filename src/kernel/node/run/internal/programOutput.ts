import { writeFile } from 'node:fs/promises';
import { BuildProgress, type ReportedStep, type TimeLine } from '../../../build/buildManifest.ts';
import { type DriverProgress, type DriverEvent, type ParserError, readDriverEvent } from './driverEvent.ts';
import type { BuildPlan } from '../buildPlan.ts';
import { createWriteStream, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { fileTrouble } from '../../files/userError.ts';
import type { BuildLog } from '../../../read/tensorrt/buildOutput.ts';
import { BuildLogReader } from '../../../read/tensorrt/readBuildLog.ts';

/** What a caller may follow while the program runs. All are optional. */
export interface OutputEvents {
  /** A line of the log as it goes to `build.log`, `[V] [TRT] …`. A message of several lines comes as one. */
  log?: (text: string) => void;
  /** Python backends only. */
  progress?: (progress: DriverProgress) => void;
  /** The build went on: `progress.state(ms)` says how far. Comes often; look at it no more often than can be shown. */
  changed?: (progress: BuildProgress) => void;
  /** The parser's errors, with the nodes that they name. */
  parserErrors?: (errors: ParserError[]) => void;
}

/** What a build's program has said by its end. */
export interface ProgramSummary extends Watched {
  /** The driver's first and last word; undefined for other programs, and where it did not get there. */
  start: Extract<DriverEvent, { event: 'start' }> | undefined;
  end: Extract<DriverEvent, { event: 'done' | 'error' }> | undefined;
  /** The last line of the log that reports an error; '' if there is none. */
  lastError: string;
}

/**
 * Takes what a build's program prints, line by line: the log goes to its file, to the caller and to the progress, layer
 * info of the driver to a file of its own.
 */
export class ProgramOutput {
  readonly #format: BuildPlan['output'];
  readonly #events: OutputEvents;
  readonly #log: LogFile;
  readonly #watch: LogWatch;
  readonly #layersPath: string;
  #command = '';
  #layers: Promise<void> | undefined;
  #start: ProgramSummary['start'];
  #end: ProgramSummary['end'];
  #lastError = '';

  /**
   * @param files paths of log and layer info
   * @param expectedSeconds how long the same build took before
   */
  constructor(
    files: { log: string; layers: string },
    format: BuildPlan['output'],
    expectedSeconds: number | null,
    events: OutputEvents,
  ) {
    this.#format = format;
    this.#events = events;
    this.#layersPath = files.layers;
    this.#log = new LogFile(files.log);
    const expectedMs = expectedSeconds === null ? null : expectedSeconds * 1000;
    this.#watch = new LogWatch(expectedMs, (progress) => events.changed?.(progress));
  }

  /** The program is about to run with these arguments. */
  begin(args: readonly string[]): void {
    this.#command = args.join(' ').replaceAll(/[\r\n]/g, ' ');
  }

  /** A line of its standard output. */
  stdout(line: string): void {
    const event = this.#format === 'events' ? readDriverEvent(line) : undefined;
    if (event === undefined) return this.#write(line);
    switch (event.event) {
      case 'log':
        return this.#write(`[${event.severity}] [TRT] ${event.message}`);
      case 'progress':
        this.#watch.step(event);
        return this.#events.progress?.(event);
      case 'start':
        this.#start = event;
        return this.#frame('RUNNING');
      case 'network':
        return;
      case 'layers':
        this.#layers = writeFile(this.#layersPath, event.text);
        // Awaited at the end; until then a failure must not count as unhandled.
        this.#layers.catch(() => {});
        return;
      case 'done':
        this.#end = event;
        return this.#frame('PASSED');
      case 'error':
        this.#end = event;
        if (event.details?.length) this.#events.parserErrors?.(event.details);
        // A cancelled build's log ends without a verdict, as trtexec's does.
        if (event.stage === 'cancelled') return;
        this.#write(`[E] ${event.message}`);
        return this.#frame('FAILED');
    }
  }

  /** A line of its standard error. */
  stderr(line: string): void {
    this.#write(this.#format === 'log' ? line : `[W] [stderr] ${line}`);
  }

  /**
   * Resolves when both files are whole.
   * @throws {UserError} if the log could not be written; the error of the file system for the layer info
   */
  async close(): Promise<void> {
    await this.#log.end();
    await this.#layers;
  }

  /** What it has said. To be asked once, if there are no more lines. */
  said(): ProgramSummary {
    return { ...this.#watch.end(), start: this.#start, end: this.#end, lastError: this.#lastError };
  }

  /** The frame that trtexec puts around its log: it names product, version and outcome. */
  #frame(word: 'RUNNING' | 'PASSED' | 'FAILED'): void {
    if (!this.#start) return;
    const program = `${this.#start.module === 'tensorrt_rtx' ? 'TensorRT_RTX' : 'TensorRT'}.build_engine`;
    const [major = 0, minor = 0, patch = 0, build = 0] = this.#start.version.split('.').map(Number);
    const short = major < 10 && program.startsWith('TensorRT.');
    const number = short ? `${major}${minor}${two(patch)}` : `${major}${two(minor)}${two(patch)}`;
    this.#write(`&&&& ${word} ${program} [TensorRT v${number}] [b${build}] # ${this.#command}`);
  }

  #write(line: string): void {
    if (/^(\[[\d/:-]+\] )?\[[EF]\] /.test(line)) this.#lastError = line;
    this.#log.write(line);
    this.#events.log?.(line);
    this.#watch.line(line);
  }
}

const two = (number: number): string => String(number).padStart(2, '0');

/** A log that grows line by line, whole on disk when `end` resolves. */
class LogFile {
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

/** What a log said in the end. */
interface Watched {
  log: BuildLog;
  timeLine: TimeLine;
}

/** Reads a build's log as it is written, and knows what the build is doing. */
class LogWatch {
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
