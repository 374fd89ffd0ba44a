// All bundles. `--watch` rebuilds on change; `--minify` is for packaging; `--clean` empties dist first.
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, context } from 'esbuild';
import { writeSamples } from './scripts/samples.mjs';

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

const shared = { bundle: true, logLevel: 'warning', metafile: true, legalComments: 'none' };
const views = { ...shared, target: 'es2022', plugins: [workers], loader: { '.svg': 'text' } };
// Modules, split where an import is dynamic: a process reads what it runs. Libraries in CommonJS ask for `require`.
const js = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
const processes = { ...shared, platform: 'node', format: 'esm', target: 'node20', splitting: true, banner: { js } };

const cli = { ...processes, entryPoints: { cli: 'src/shell/cli/main.ts' }, chunkNames: 'cli-[hash]' };

/** The command line: `cli.js` and its parts. The folder needs a package.json that says "module". */
export const cliBundle = (outdir, options = {}) => ({ ...cli, ...options, outdir });

/** Options of every bundle that ships. */
export const bundles = (options = {}) => [
  {
    ...shared,
    ...options,
    // One file each: an editor starts it sooner than a hundred parts, and code behind a dynamic import is not run before.
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    define: { 'import.meta.dirname': '__dirname' },
    entryPoints: { extension: 'src/shell/vscode/extension.ts', server: 'src/shell/server/main.ts' },
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    external: ['vscode'],
  },
  cliBundle('dist', options),
  { ...views, ...options, entryPoints: ['webview/editor/main.ts'], outfile: 'dist/webview/editor.js' },
  { ...views, ...options, entryPoints: ['webview/report/main.ts'], outfile: 'dist/webview/report.js' },
];

async function main(flags) {
  const watch = flags.includes('--watch');
  if (flags.includes('--clean')) await rm('dist', { recursive: true, force: true });
  await mkdir('dist/webview', { recursive: true });
  // The names of parts change with what is in them.
  const parts = (await readdir('dist')).filter((name) => /^cli-\w+\.js/.test(name));
  await Promise.all(parts.map((name) => rm(join('dist', name))));
  await cp('src/driver', 'dist/driver', { recursive: true, filter: (path) => !path.includes('__pycache__') });
  await writeFile('dist/package.json', '{ "type": "module" }\n');
  await writeSamples('dist/samples');
  const options = { minify: flags.includes('--minify'), sourcemap: watch && 'linked' };
  await Promise.all(bundles(options).map(async (each) => (watch ? (await context(each)).watch() : build(each))));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main(process.argv.slice(2));
