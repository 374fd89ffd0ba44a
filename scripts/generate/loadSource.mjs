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
  // What is imported from a text has no folder, and CommonJS in it asks for `require`.
  const inText = {
    define: { 'import.meta.dirname': '""' },
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('file:///');" },
  };
  const { outputFiles } = await build({ ...options, ...inText, entryPoints: [path] });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
