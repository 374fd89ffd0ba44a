import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SweepPrecision } from '../precisionSweep.ts';
import { cacheFolder } from '../../../kernel/node/files/cacheFolder.ts';
import { type BuildOptions, runBuild } from '../../../kernel/node/run/runBuild.ts';
import { Cancelled, UserError } from '../../../kernel/node/files/userError.ts';
import { runEngine, type RunRequest } from './runEngine.ts';
import { temporaryFolder, writeWhole } from '../../../kernel/node/files/writeWhole.ts';
import { removeTree } from '../../../kernel/node/files/persist.ts';

/** An engine was built, but cannot be run here: there is no GPU, for example. */
export class CannotRun extends UserError {}

/** How to build and run the engines of a sweep. */
export interface EngineRequest {
  build: Omit<BuildOptions, 'model' | 'overrides' | 'stronglyTyped' | 'folder' | 'engine'>;
  run: Pick<RunRequest, 'scripts' | 'python' | 'launcher'>;
}

/** What an engine gave. */
export interface MeasuredEngine {
  /** The outputs, as `trtlens run` writes them. */
  path: string;
  /** A run, without transfers; null: not timed. */
  milliseconds: number | null;
}

/**
 * Builds a model strongly typed in one precision (INT8: the Q/DQ model itself), runs the engine, and `use`s its outputs.
 * Leaves nothing behind.
 * @throws {UserError} if the build or the run fails, for example because there is no GPU
 */
export async function measureEngine<Result>(
  precision: SweepPrecision,
  {
    model,
    inputs,
    engines,
    signal,
  }: { model: string; inputs: string[]; engines: EngineRequest; signal?: AbortSignal | undefined },
  use: (engine: MeasuredEngine) => Promise<Result>,
): Promise<Result> {
  // Where builds are, which launchers know how to reach.
  const parent = join(engines.build.cache ?? cacheFolder(), 'sweep');
  const folder = await temporaryFolder(parent, 'engine-');
  try {
    const rules = join(folder, 'all.trtprec');
    const isTyped = precision === 'fp16' || precision === 'bf16';
    if (isTyped) await writeWhole(rules, `base ${precision}\n`);
    await mkdir(join(folder, 'builds'));
    const build = await runBuild(
      {
        ...engines.build,
        model,
        folder: join(folder, 'builds'),
        stronglyTyped: true,
        ...(isTyped && { overrides: rules }),
      },
      {},
      signal,
    );
    if (build.manifest.result !== 'passed')
      throw new UserError(`the build failed: ${build.manifest.error ?? 'see trtlens build'}`);
    const path = join(folder, 'outputs.npz');
    const { milliseconds } = await runEngine({ ...engines.run, build, inputs, out: path, signal }).catch(
      (error: unknown) => {
        throw error instanceof UserError && !(error instanceof Cancelled) ? new CannotRun(error.message) : error;
      },
    );
    return await use({ path, milliseconds });
  } finally {
    await removeTree(folder);
  }
}
