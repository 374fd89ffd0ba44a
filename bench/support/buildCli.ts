import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
// @ts-expect-error -- the build script is plain JavaScript
import { cliBundle } from '../../esbuild.mjs';

/** Builds the command line of these sources in a folder, as it ships. @returns the path of its entry */
export async function buildCli(folder: string): Promise<string> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  await build({ ...cliBundle(folder, { minify: true }), absWorkingDir: root, logLevel: 'error' });
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  return join(folder, 'cli.js');
}
