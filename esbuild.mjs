// One script, all bundles. `--watch` rebuilds on change; `--minify` is for packaging.
// dist/meta.json lists what went into each bundle: test/rules reads it.
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { context, build } from 'esbuild';

const watch = process.argv.includes('--watch');
const shared = {
  bundle: true,
  minify: process.argv.includes('--minify'),
  sourcemap: watch ? 'linked' : false,
  logLevel: 'warning',
  metafile: true,
  legalComments: 'linked',
};
const node = { ...shared, platform: 'node', format: 'cjs', target: 'node20' };
const browser = { ...shared, platform: 'browser', format: 'iife', target: 'es2022' };

/** A worker inside a webview must start from a Blob: `import code from 'worker:./layoutWorker.ts'` gives its bundled text. */
const workers = {
  name: 'workers',
  setup(build) {
    build.onResolve({ filter: /^worker:/ }, async ({ path, resolveDir }) => {
      const found = await build.resolve(path.slice('worker:'.length), { resolveDir, kind: 'import-statement' });
      return { path: found.path, namespace: 'worker' };
    });
    build.onLoad({ filter: /.*/, namespace: 'worker' }, async ({ path }) => {
      const result = await import('esbuild').then(({ build: run }) =>
        run({ ...browser, minify: true, sourcemap: false, write: false, entryPoints: [path] }),
      );
      return { contents: result.outputFiles[0].text, loader: 'text', watchFiles: Object.keys(result.metafile.inputs) };
    });
  },
};

const bundles = [
  { ...node, entryPoints: ['src/host/extension.ts'], outfile: 'dist/extension.cjs', external: ['vscode'] },
  { ...node, entryPoints: ['src/server/main.ts'], outfile: 'dist/server.cjs' },
  { ...node, entryPoints: ['src/cli/main.ts'], outfile: 'dist/cli.js', banner: { js: '#!/usr/bin/env node' } },
  ...['graph', 'fusion', 'playground'].map((view) => ({
    ...browser,
    plugins: [workers],
    entryPoints: [`webview/${view}/main.ts`],
    outfile: `dist/webview/${view}.js`,
  })),
];

await rm('dist', { recursive: true, force: true });
await mkdir('dist/driver', { recursive: true });
await cp('src/driver/build_engine.py', 'dist/driver/build_engine.py');
await cp('webview/playground/index.html', 'dist/webview/playground.html', { recursive: true });

const { existsSync } = await import('node:fs');
const results = await Promise.all(
  bundles
    .filter(({ entryPoints: [entry] }) => existsSync(entry))
    .map(async (options) => {
      if (watch) return (await context(options)).watch();
      return build(options);
    }),
);
if (!watch) {
  const inputs = {};
  for (const { metafile } of results) {
    for (const [out, { inputs: files, imports }] of Object.entries(metafile.outputs)) {
      inputs[out] = { inputs: Object.keys(files), external: imports.filter((i) => i.external).map((i) => i.path) };
    }
  }
  await writeFile('dist/meta.json', JSON.stringify(inputs, null, 1));
}
