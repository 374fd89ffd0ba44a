// One script, all bundles. `--watch` rebuilds on change; `--minify` is for packaging; `--clean` empties dist first.
import { cp, mkdir, rm } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { build, context } from 'esbuild';

/** Inside a webview a worker must start from a Blob: `import code from 'worker:./layoutWorker.ts'` gives its bundled text. */
const workers = {
  name: 'workers',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^worker:/ }, async ({ path, resolveDir }) => {
      const found = await resolve(path.slice('worker:'.length), { resolveDir, kind: 'import-statement' });
      return { path: found.path, namespace: 'worker' };
    });
    onLoad({ filter: /.*/, namespace: 'worker' }, async ({ path }) => {
      const options = { bundle: true, format: 'iife', target: 'es2022', minify: true, write: false, metafile: true };
      const { outputFiles, metafile } = await build({ ...options, entryPoints: [path] });
      return { contents: outputFiles[0].text, loader: 'text', watchFiles: Object.keys(metafile.inputs) };
    });
  },
};

/** Options of every bundle that ships. */
export function bundles({ minify = false, sourcemap = false } = {}) {
  const shared = { bundle: true, minify, sourcemap, logLevel: 'warning', metafile: true, legalComments: 'none' };
  const node = { ...shared, platform: 'node', format: 'cjs', target: 'node20' };
  const browser = { ...shared, platform: 'browser', format: 'iife', target: 'es2022', plugins: [workers] };
  return [
    { ...node, entryPoints: ['src/host/extension.ts'], outfile: 'dist/extension.cjs', external: ['vscode'] },
    { ...node, entryPoints: ['src/server/main.ts'], outfile: 'dist/server.cjs' },
    { ...node, entryPoints: ['src/cli/main.ts'], outfile: 'dist/cli.js', banner: { js: '#!/usr/bin/env node' } },
    ...['graph', 'fusion', 'playground'].map((view) => ({
      ...browser,
      entryPoints: [`webview/${view}/main.ts`],
      outfile: `dist/webview/${view}.js`,
    })),
  ];
}

async function main(flags) {
  const watch = flags.includes('--watch');
  if (flags.includes('--clean')) await rm('dist', { recursive: true, force: true });
  await mkdir('dist/driver', { recursive: true });
  await mkdir('dist/webview', { recursive: true });
  await cp('src/driver', 'dist/driver', { recursive: true, filter: (path) => !path.includes('__pycache__') });
  await cp('webview/playground/index.html', 'dist/webview/playground.html');
  await Promise.all(
    bundles({ minify: flags.includes('--minify'), sourcemap: watch && 'linked' }).map(async (options) =>
      watch ? (await context(options)).watch() : build(options),
    ),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main(process.argv.slice(2));
