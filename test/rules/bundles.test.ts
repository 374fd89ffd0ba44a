import { readFileSync } from 'node:fs';
import { build, type BuildOptions, type Metafile } from 'esbuild';
import { beforeAll, expect, it } from 'vitest';
// @ts-expect-error -- the build script is plain JavaScript
import { bundles } from '../../esbuild.mjs';

interface Shipped {
  /** What its chunks are made of, those that are loaded later too. */
  inputs: string[];
  /** What is read when it starts. */
  start: string[];
  external: string[];
}
const shipped = new Map<string, Shipped>();
/** What the command line reads for `trtlens inspect`. */
let inspecting: string[] = [];

beforeAll(async () => {
  for (const options of bundles() as BuildOptions[]) {
    const { metafile } = await build({ ...options, write: false, metafile: true });
    for (const [out, { entryPoint }] of Object.entries(metafile!.outputs)) {
      if (entryPoint !== undefined && entries.has(entryPoint)) shipped.set(out, shippedWith(metafile!, out));
      if (entryPoint === 'src/features/engines/node/cli/inspect.ts') inspecting = shippedWith(metafile!, out).start;
    }
  }
});

const entries = new Set([
  'src/shell/vscode/extension.ts',
  'src/shell/server/main.ts',
  'src/shell/cli/main.ts',
  'webview/editor/main.ts',
  'webview/report/main.ts',
]);

function shippedWith({ inputs, outputs }: Metafile, entry: string): Shipped {
  const chunks = new Set([entry]);
  for (const out of chunks)
    for (const { path, external } of outputs[out]!.imports) if (external !== true) chunks.add(path);
  const all = [...chunks].map((out) => outputs[out]!);
  // A bundle in one piece also lists what only its workers are made of.
  const within =
    Object.keys(outputs).length === 1
      ? Object.keys(inputs)
      : [...new Set(all.flatMap((out) => Object.keys(out.inputs)))];
  // What is behind a dynamic import runs later, in a bundle of one piece, too.
  const start = new Set([outputs[entry]!.entryPoint!]);
  for (const path of start)
    for (const { path: next, kind, external } of inputs[path]?.imports ?? [])
      if (external !== true && kind !== 'dynamic-import') start.add(next);
  return {
    inputs: within,
    start: [...start],
    external: all.flatMap(({ imports }) => imports.filter((i) => i.external).map((i) => i.path)),
  };
}

const roomsOf = ({ inputs }: Shipped) =>
  new Set(
    inputs.flatMap((path) =>
      path.startsWith('worker:') || path.startsWith('webview/')
        ? 'webview'
        : path.startsWith('src/')
          ? (/\/(cli|vscode|server|node)\//.exec(path)?.[1] ?? 'pure')
          : [],
    ),
  );

const allowed: Record<string, string[]> = {
  // Agents call commands of the command line.
  'dist/extension.cjs': ['pure', 'node', 'vscode', 'cli'],
  'dist/server.cjs': ['pure', 'server'],
  'dist/cli.js': ['pure', 'node', 'cli'],
  'dist/webview/editor.js': ['pure', 'webview'],
  'dist/webview/report.js': ['pure', 'webview'],
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
  expect(asking).toEqual(['dist/extension.cjs']);
  for (const [out, { external }] of shipped) if (out.startsWith('dist/webview/')) expect(external).toEqual([]);
});

it('the extension starts without the code that reads, builds, changes and serves', () => {
  const { inputs, start } = shipped.get('dist/extension.cjs')!;
  for (const part of [
    'node_modules/vscode-languageclient/',
    'node_modules/yaml/',
    'node_modules/protobufjs/',
    'src/kernel/read/tensorrt/readBuildLog.ts',
    'src/kernel/fusion/createReport.ts',
    'src/kernel/node/run/runBuild.ts',
    'src/features/trials/vscode/internal/surgeryCommands.ts',
  ]) {
    expect(inputs.some((path) => path.includes(part))).toBe(true);
    expect(start.filter((path) => path.includes(part))).toEqual([]);
  }
});

it('the command line starts without its commands, and identifies a file without what builds, edits and reports', () => {
  const { start } = shipped.get('dist/cli.js')!;
  expect(
    start
      .filter((path) => path.startsWith('src/') && !/^src\/(?:shell|kernel\/node)\/cli\/\w+\.ts$/.test(path))
      .toSorted(),
  ).toEqual([
    'src/kernel/base/problem.ts',
    'src/kernel/node/files/exists.ts',
    'src/kernel/node/files/userError.ts',
    'src/kernel/node/run/buildSteps.ts',
    'src/registry.ts',
  ]);
  expect(inspecting).toContain('src/kernel/read/onnx/readModel.ts');
  const heavy =
    /node_modules|src\/kernel\/(fusion|report|build)\/|src\/features\/precision\/|src\/kernel\/node\/(run|store|tools)\/|\/(parsedFiles|writeModel)\.ts/;
  expect(inspecting.filter((path) => heavy.test(path))).toEqual([]);
});

it('onnx-proto decodes in tests only, elkjs lays out in benchmarks only', () => {
  for (const { inputs } of shipped.values())
    expect(inputs.filter((path) => /node_modules\/(onnx-proto|elkjs)\//.test(path))).toEqual([]);
});

it('what the pages of the editor load is in the package', () => {
  const page = readFileSync('src/kernel/vscode/platform/setPage.ts', 'utf8');
  const loaded = [...page.matchAll(/file\('([\w.]+)'\)/g)].map(([, name]) => `!dist/webview/${name!}`);
  expect(loaded.toSorted()).toEqual(['!dist/webview/editor.css', '!dist/webview/editor.js']);
  const own = ['!dist/extension.cjs', '!dist/server.cjs'];
  expect(readFileSync('.vscodeignore', 'utf8').split('\n')).toEqual(expect.arrayContaining([...loaded, ...own]));
});
