import { dirname, resolve } from 'node:path';
import { runTensorrt, type TensorrtPlace } from './tensorrtJob.ts';

export interface TimingCacheRequest extends TensorrtPlace {
  cache: string;
}

/** A timing cache as TensorRT reads it (`timing_caches.py`). */
export interface TimingCacheReading {
  version: string;
  gpu: string;
  /** null: this version of TensorRT cannot list them. */
  entries: TimingCacheEntry[] | null;
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
 * Reads a timing cache through TensorRT's Python API.
 * @throws {UserError} if there is no interpreter with TensorRT, no GPU, or TensorRT refuses the cache
 */
export async function readTimingCache(request: TimingCacheRequest): Promise<TimingCacheReading> {
  const { cache, ...place } = request;
  const path = resolve(cache);
  const { result } = await runTensorrt<TimingCacheReading>({
    ...place,
    script: 'timing_caches.py',
    modules: ['job.py', 'trt_binding.py'],
    rtx: false,
    folder: dirname(path),
    model: path,
    args: (there) => ['--cache', there(path)],
    results: [],
  });
  return result;
}
