import { dirname, resolve } from 'node:path';
import { moveResult } from '../files/writeResult.ts';
import { temporaryFor } from '../files/writeWhole.ts';
import { runTensorrt, type TensorrtPlace } from './tensorrtJob.ts';

export interface TimingCachesRequest extends TensorrtPlace {
  /** Paths of caches; several are merged. */
  caches: readonly string[];
  /** Where to write the result. */
  out?: string | undefined;
  /** Merge caches of other GPUs. */
  ignoreMismatch?: boolean | undefined;
  /** Path of a file with the keys to keep, one on each line. */
  keep?: string | undefined;
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
export async function useTimingCaches(request: TimingCachesRequest): Promise<TimingCacheReading> {
  const { caches, out, ignoreMismatch, keep, ...place } = request;
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
      ...(keep === undefined ? [] : ['--keep', there(resolve(keep))]),
      ...(ignoreMismatch ? ['--ignore-mismatch'] : []),
    ],
    results: written,
  });
  if (out !== undefined) await moveResult(written[0]!, resolve(out), 'timing-cache');
  return result;
}
