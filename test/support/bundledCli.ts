import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

/** Puts `trtlens`, as it was built before the tests, into a folder's `dist`, with a page of the given code and style. */
export function copyCli(folder: string, { script = '', style = '' } = {}): void {
  const dist = join(folder, 'dist');
  cpSync(inject('cli'), dist, { recursive: true });
  mkdirSync(join(dist, 'webview'));
  writeFileSync(join(dist, 'webview/report.js'), script);
  writeFileSync(join(dist, 'webview/report.css'), style);
}

/** Runs `trtlens` with a cache in the given folder. */
export function bundledCli(folder: string) {
  return (...args: string[]): { code: number | null; out: string; err: string } => {
    const env = { ...process.env, TENSORRT_LENS_CACHE: join(folder, 'cache') };
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(inject('cli'), 'cli.js'), ...args], {
      encoding: 'utf8',
      env,
    });
    return { code: status, out: stdout, err: stderr };
  };
}
