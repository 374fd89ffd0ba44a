import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { beforeAll } from 'vitest';
// @ts-expect-error -- the build script is plain JavaScript
import { cliBundle } from '../../esbuild.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Bundles `trtlens` into a folder of the calling test file, with the scripts that it runs; the result runs it. */
export function bundledCli(folder: string) {
  const dist = join(folder, 'dist');
  beforeAll(async () => {
    await build({ ...cliBundle(dist), absWorkingDir: root, logLevel: 'error' });
    cpSync(join(root, 'src/driver'), join(dist, 'driver'), { recursive: true });
  });
  return (...args: string[]): { code: number | null; out: string; err: string } => {
    const env = { ...process.env, TENSORRT_LENS_CACHE: join(folder, 'cache') };
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(dist, 'cli.js'), ...args], {
      encoding: 'utf8',
      env,
    });
    return { code: status, out: stdout, err: stderr };
  };
}
