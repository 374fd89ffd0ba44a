import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { moveResult } from '../files/writeResult.ts';
import { removeTree } from '../files/persist.ts';
import { temporaryFolder, temporaryFor, writeWhole } from '../files/writeWhole.ts';
import { runTensorrt, type TensorrtPlace } from './tensorrtJob.ts';

export interface TimingCachesRequest extends TensorrtPlace {
  /** Paths of caches; several are merged. */
  caches: readonly string[];
  /** Where to write the result. */
  out?: string | undefined;
  /** Merge caches of other GPUs. */
  ignoreMismatch?: boolean | undefined;
  /** Keys of the entries to keep. */
  keep?: ReadonlySet<string> | undefined;
}

/** A timing cache as TensorRT reads it (`timing_caches.py`). */
export interface TimingCacheReading {
  version: string;
  gpu: string;
  /** null: this version of TensorRT cannot list them. */
  entries: TimingCacheEntry[] | null;
  /** How many entries were pruned. */
  removed: number;
  bytes: number;
  messages: { severity: 'W' | 'E' | 'F'; message: string }[];
}

export interface TimingCacheEntry {
  /** `0x` and 32 digits. */
  key: string;
  tacticHash: string;
  milliseconds: number | null;
}

/**
 * Reads timing caches through TensorRT's Python API, and merges or prunes them.
 * @throws {UserError} if there is no interpreter with TensorRT, no GPU, or TensorRT refuses a cache
 */
export async function useTimingCaches({ keep, ...request }: TimingCachesRequest): Promise<TimingCacheReading> {
  if (keep === undefined) return runScript(request);
  const folder = await temporaryFolder(tmpdir(), 'tensorrt-lens-keys-');
  try {
    const file = join(folder, 'keys.txt');
    await writeWhole(file, [...keep, ''].join('\n'));
    return await runScript(request, file);
  } finally {
    await removeTree(folder);
  }
}

/** @param keep path of a file with the keys to keep, one on each line */
async function runScript(
  { caches, out, ignoreMismatch, ...place }: Omit<TimingCachesRequest, 'keep'>,
  keep?: string,
): Promise<TimingCacheReading> {
  const files = caches.map((path) => resolve(path));
  const written = out === undefined ? [] : [await temporaryFor(resolve(out))];
  const { result } = await runTensorrt<TimingCacheReading>({
    ...place,
    script: 'timing_caches.py',
    modules: ['job.py', 'trt_binding.py'],
    rtx: false,
    folder: dirname(written[0] ?? files[0]!),
    model: files[0]!,
    args: (there) => [
      ...files.flatMap((path) => ['--cache', there(path)]),
      ...written.flatMap((path) => ['--output', there(path)]),
      ...(keep === undefined ? [] : ['--keep', there(keep)]),
      ...(ignoreMismatch ? ['--ignore-mismatch'] : []),
    ],
    results: written,
  });
  if (out !== undefined) await moveResult(written[0]!, resolve(out), 'timing-cache');
  return result;
}
