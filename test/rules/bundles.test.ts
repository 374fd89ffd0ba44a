import { readFileSync } from 'node:fs';
import { build, type BuildOptions } from 'esbuild';
import { beforeAll, expect, it } from 'vitest';
// @ts-expect-error -- the build script is plain JavaScript
import { bundles } from '../../esbuild.mjs';

interface Shipped {
  inputs: string[];
  external: string[];
}
const shipped = new Map<string, Shipped>();

beforeAll(async () => {
  for (const options of bundles() as BuildOptions[]) {
    const { metafile } = await build({ ...options, write: false, metafile: true });
    const outputs = Object.values(metafile!.outputs);
    shipped.set(options.outfile ?? `${options.outdir}/${Object.keys(options.entryPoints!)[0]}.js`, {
      inputs: Object.keys(metafile!.inputs),
      external: outputs.flatMap(({ imports }) => imports.filter((i) => i.external).map((i) => i.path)),
    });
  }
}, 120_000);

const roomsOf = ({ inputs }: Shipped) =>
  new Set(
    inputs.flatMap((path) => /^(src\/\w+|webview)\//.exec(path)?.[1] ?? (path.startsWith('worker:') ? 'webview' : [])),
  );

const allowed: Record<string, string[]> = {
  'dist/extension.cjs': ['src/core', 'src/protocol', 'src/builder', 'src/host'],
  'dist/clientLibrary.cjs': ['src/host'],
  'dist/server.cjs': ['src/core', 'src/protocol', 'src/server'],
  'dist/cli.js': ['src/core', 'src/builder', 'src/cli'],
  'dist/webview/editor.js': ['src/core', 'src/protocol', 'webview'],
  'dist/webview/playground.js': ['src/core', 'src/protocol', 'webview'],
};

it('every bundle that ships is checked here', () => {
  expect([...shipped.keys()].toSorted()).toEqual(Object.keys(allowed).toSorted());
});

it.each(Object.entries(allowed))('%s holds only what its room may import', (out, rooms) => {
  const bundle = shipped.get(out)!;
  expect(bundle.inputs.length).toBeGreaterThan(3);
  expect([...roomsOf(bundle)].filter((room) => !rooms.includes(room))).toEqual([]);
});

it("only the extension asks for the editor's API, and no view for Node", () => {
  const asking = [...shipped].filter(([, { external }]) => external.includes('vscode')).map(([out]) => out);
  expect(asking).toEqual(['dist/extension.cjs', 'dist/clientLibrary.cjs']);
  for (const [out, { external }] of shipped) if (out.startsWith('dist/webview/')) expect(external).toEqual([]);
});

it('the library of the language client is loaded with the first document that needs it', () => {
  const { inputs, external } = shipped.get('dist/extension.cjs')!;
  expect(inputs.filter((path) => path.includes('vscode-languageclient'))).toEqual([]);
  expect(external).toContain('./clientLibrary.cjs');
});

it('onnx-proto decodes in tests only, elkjs lays out in benchmarks only', () => {
  for (const { inputs } of shipped.values())
    expect(inputs.filter((path) => /node_modules\/(onnx-proto|elkjs)\//.test(path))).toEqual([]);
});

it('what the pages of the editor load is in the package', () => {
  const page = readFileSync('src/host/platform/setPage.ts', 'utf8');
  const loaded = [...page.matchAll(/file\('([\w.]+)'\)/g)].map(([, name]) => `!dist/webview/${name!}`);
  expect(loaded.toSorted()).toEqual(['!dist/webview/editor.css', '!dist/webview/editor.js']);
  expect(readFileSync('.vscodeignore', 'utf8').split('\n')).toEqual(expect.arrayContaining(loaded));
});
