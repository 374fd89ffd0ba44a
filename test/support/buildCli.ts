import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';
// @ts-expect-error -- the build script is plain JavaScript
import { cliBundle } from '../../esbuild.mjs';
// @ts-expect-error -- the script is plain JavaScript
import { writeSamples } from '../../scripts/samples.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the command line that `copyCli` copies. */
    cli: string;
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Before the first test of a project: builds `trtlens` with the scripts that it runs, for all its test files. A hook of
 * a test file would build it under that hook's time limit.
 */
export async function setup({ provide }: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'tensorrt-lens-cli-'));
  await build({ ...cliBundle(folder), absWorkingDir: root, logLevel: 'error' });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  cpSync(join(root, 'src/driver'), join(folder, 'driver'), { recursive: true });
  await (writeSamples as (to: string) => Promise<void>)(join(folder, 'samples'));
  provide('cli', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
