import { PythonSession, Refused } from '../../../kernel/node/tools/pythonSession.ts';
import { Cancelled } from '../../../kernel/node/files/userError.ts';

/** Where one process loads TensorRT and builds many engines. */
export interface WorkerPlace {
  /** An interpreter with TensorRT and NumPy, its first arguments, and what it needs in its environment. */
  python: string;
  environment?: Record<string, string>;
  /** Path of `engine_worker.py`. */
  script: string;
  module: 'tensorrt' | 'tensorrt_rtx';
  plugins: readonly string[];
  signal?: AbortSignal | undefined;
}

/** What the process says of itself. */
export interface WorkerInfo {
  module: string;
  version: string;
  gpu: string;
  computeCapability: string | null;
}

/** What a build answers: an engine, or why there is none. */
export type BuildAnswer = { seconds: number; engineBytes: number } | { refused: string };

export interface RunAnswer {
  outputs: { name: string; shape: number[]; type: string }[];
  /** Of one run, the least of ten; null: not timed. */
  milliseconds: number | null;
  samples: number;
}

/** TensorRT in a process of its own, which stays: loading it takes ten times longer than to build a small network. */
export class EngineWorker {
  readonly #place: WorkerPlace;
  #session: PythonSession | null = null;
  #info: WorkerInfo | null = null;
  /** How many builds began. */
  builds = 0;

  constructor(place: WorkerPlace) {
    this.#place = place;
  }

  /** Loads TensorRT. @throws {UserError} if there is no TensorRT or no GPU */
  async start(): Promise<WorkerInfo> {
    await this.#ask({ do: 'free', engine: '' });
    return this.#info!;
  }

  /**
   * Builds an engine and keeps it under a name. A crash of TensorRT costs this engine only.
   * @param args options of `build_engine.py`
   */
  async build(engine: string, args: readonly string[], log: string, layers: string | null): Promise<BuildAnswer> {
    this.builds += 1;
    return this.#orRefused(() => this.#ask<BuildAnswer>({ do: 'build', engine, args, log, layers }));
  }

  /** Loads an engine that exists. @throws {UserError} if it cannot be loaded here */
  load(engine: string, path: string): Promise<unknown> {
    return this.#ask({ do: 'load', engine, path });
  }

  /** Runs an engine and stores its outputs. */
  run(engine: string, inputs: string, outputs: string, time = false): Promise<RunAnswer | { refused: string }> {
    return this.#orRefused(() => this.#ask<RunAnswer>({ do: 'run', engine, inputs: [inputs], outputs, time }));
  }

  async free(engine: string): Promise<void> {
    if (this.#session !== null) await this.#ask({ do: 'free', engine }).catch(() => {});
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    await session?.close();
  }

  #ask<Result>(request: object): Promise<Result> {
    this.#session ??= this.#started();
    return this.#session.ask<Result>(request);
  }

  #started(): PythonSession {
    const { python, environment, script, module, plugins, signal } = this.#place;
    return new PythonSession({
      python,
      ...(environment && { environment }),
      script,
      signal,
      request: { module, plugins },
      report: (event) => {
        if (event.event === 'start') this.#info = event as unknown as WorkerInfo;
      },
    });
  }

  /** A refusal is an answer; a process that is gone is started again by the next request. */
  async #orRefused<Result>(ask: () => Promise<Result>): Promise<Result | { refused: string }> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof Cancelled) throw error;
      if (error instanceof Refused && error.stage !== 'cuda') return { refused: error.message };
      await this.close();
      return { refused: error instanceof Error ? error.message : String(error) };
    }
  }
}
