import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/**
 * Imports a TypeScript module of this repository, whichever version of Node runs this.
 * @param {string} path from the repository's root
 * @returns {Promise<any>} what it exports
 */
export async function loadSource(path) {
  const absWorkingDir = fileURLToPath(new URL('../..', import.meta.url));
  const options = { absWorkingDir, bundle: true, format: 'esm', platform: 'node', write: false };
  const { outputFiles } = await build({ ...options, entryPoints: [path] });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
