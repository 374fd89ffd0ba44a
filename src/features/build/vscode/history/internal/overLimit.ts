import type { Build } from '../../../../../kernel/node/store/buildFolder.ts';

/** A build with the bytes that its folder takes. */
export interface SizedBuild {
  build: Build;
  bytes: number;
}

/** The builds that must go so that the others take no more than `limit` bytes; the oldest go, the newest of each model never. */
export function overLimit(newestFirst: readonly SizedBuild[], limit: number): Build[] {
  const seen = new Set<string>();
  const over: Build[] = [];
  let sum = 0;
  for (const { build, bytes } of newestFirst) {
    const { model, result } = build.manifest;
    sum += bytes;
    const kept = !seen.has(model.file) || result === 'running';
    seen.add(model.file);
    if (sum <= limit || kept) continue;
    over.push(build);
    sum -= bytes;
  }
  return over;
}
