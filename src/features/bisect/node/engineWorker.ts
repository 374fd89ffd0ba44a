import { dirname, isAbsolute, join } from 'node:path';
import type { Launcher } from '../../../kernel/build/launcher.ts';
import { externalPath } from '../../../kernel/node/files/externalFile.ts';
import { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { externalLocations } from '../../../kernel/node/files/writeModel.ts';
import { Launch } from '../../../kernel/node/run/launch.ts';
import { interpreterWith } from '../../../kernel/node/run/tensorrtJob.ts';
import { PythonSession, Refused } from '../../../kernel/node/tools/pythonSession.ts';
import { Cancelled } from '../../../kernel/node/files/userError.ts';

/** Where one process loads TensorRT and builds many engines. */
export interface WorkerPlace {
  /** An interpreter with TensorRT and NumPy, and what it needs in its environment. */
  python: string;
  environment?: Record<string, string>;
  /** Path of `engine_worker.py`. */
  script: string;
  module: 'tensorrt' | 'tensorrt_rtx';
  plugins: readonly string[];
  /** Runs it elsewhere, as builds do; the process stays there. */
  launcher?: Launcher | undefined;
  signal?: AbortSignal | undefined;
}

/** What `engine_worker.py` imports from its own folder. */
const modules = [
  'build_engine.py',
  'conversation.py',
  'cuda_memory.py',
  'image_files.py',
  'job.py',
  'network_options.py',
  'record_choices.py',
  'run_engine.py',
  'tensor_files.py',
  'trt_binding.py',
];

/** Where the settings of a build run TensorRT; null: nowhere. */
export async function workerPlace({
  rtx,
  python,
  launcher,
  scripts,
  plugins,
}: {
  rtx: boolean;
  python: string | undefined;
  launcher: Launcher | undefined;
  /** Folder of the scripts. */
  scripts: string;
  plugins: readonly string[];
}): Promise<WorkerPlace | null> {
  const module = rtx ? 'tensorrt_rtx' : 'tensorrt';
  const place = { script: join(scripts, 'engine_worker.py'), module, plugins } as const;
  if (launcher !== undefined) return { ...place, python: launcher.program ?? 'python3', launcher };
  const found = await interpreterWith({ rtx, numpy: true, python }).catch(() => null);
  return found && { ...place, ...found };
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
  readonly #launch: Launch | undefined;
  #session: PythonSession | null = null;
  #info: WorkerInfo | null = null;
  /** How many builds began. */
  builds = 0;

  /** @param folder where the model and everything else is that it reads and writes */
  constructor(place: WorkerPlace, folder: string) {
    this.#place = place;
    const { launcher, script } = place;
    this.#launch = launcher && new Launch(launcher, folder, join(folder, 'model.onnx'), script);
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
    return this.#orRefused(async () => {
      const placed = await Promise.all(args.map(async (arg) => (isAbsolute(arg) ? this.#send(arg) : arg)));
      const written = [log, layers].map((path) => path && this.#there(path));
      const answer = await this.#ask<BuildAnswer>({
        do: 'build',
        engine,
        args: placed,
        log: written[0],
        layers: written[1],
      });
      for (const path of [log, layers]) if (path !== null) await this.#fetchAny(path);
      return answer;
    });
  }

  /** Loads an engine that exists. @throws {UserError} if it cannot be loaded here */
  async load(engine: string, path: string): Promise<unknown> {
    return this.#ask({ do: 'load', engine, path: await this.#send(path) });
  }

  /** Runs an engine and stores its outputs. */
  run(engine: string, inputs: string, outputs: string, time = false): Promise<RunAnswer | { refused: string }> {
    return this.#orRefused(async () => {
      const request = { do: 'run', engine, inputs: [await this.#send(inputs)], outputs: this.#there(outputs), time };
      const answer = await this.#ask<RunAnswer>(request);
      await this.#launch?.fetch(outputs, this.#place.signal);
      return answer;
    });
  }

  async free(engine: string): Promise<void> {
    if (this.#session !== null) await this.#ask({ do: 'free', engine }).catch(() => {});
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    await session?.close();
  }

  /** Ends it for good. */
  async end(): Promise<void> {
    await this.close();
    await this.#launch?.end([], undefined);
  }

  /** Copies a file back, if it was written: an engine for another GPU has no layers. */
  async #fetchAny(path: string): Promise<void> {
    try {
      await this.#launch?.fetch(path, this.#place.signal);
    } catch (error) {
      if (error instanceof Cancelled) throw error;
    }
  }

  /** The path that a file to write has where the process is. */
  #there(path: string): string {
    return this.#launch?.there(path) ?? path;
  }

  /** The same for a file to read, which is there then; a model with its weights. */
  async #send(path: string): Promise<string> {
    const launch = this.#launch;
    const { signal } = this.#place;
    if (launch === undefined) return path;
    if (path.endsWith('.onnx'))
      for (const location of externalLocations((await new ParsedFiles().model(path)).value))
        await launch.send(await externalPath(dirname(path), location), location, signal);
    return launch.send(path, undefined, signal);
  }

  async #ask<Result>(request: object): Promise<Result> {
    this.#session ??= await this.#started();
    return this.#session.ask<Result>(request);
  }

  async #started(): Promise<PythonSession> {
    const { python, environment, script, module, signal } = this.#place;
    const launch = this.#launch;
    for (const name of launch ? modules : []) await this.#send(join(dirname(script), name));
    const there = await this.#send(script);
    const plugins = await Promise.all(this.#place.plugins.map((path) => this.#send(path)));
    return new PythonSession({
      python,
      ...(environment && { environment }),
      script: there,
      launch: launch && ((command) => launch.buildCommand(command, {})),
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
