import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { expect, it } from 'vitest';
import table from '../../src/features/arrows.json' with { type: 'json' };

/** Which file imports which, types included. */
interface Edge {
  from: string;
  to: string;
}

const sources = ['src', 'webview'].flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((file) => join(root, file).replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts')),
);

const edgesOf = (read: (file: string) => string): Edge[] =>
  sources.flatMap((from) =>
    [...read(from).matchAll(/(?:from|import|import\() ?'(?:worker:)?(\.[^']+)'/g)].map(([, path]) => ({
      from,
      to: posix.join(dirname(from), path!),
    })),
  );

const edges = edgesOf((file) => readFileSync(file, 'utf8'));

/** `features/NAME`, `kernel`, `shell` or `webview`; the page of a comparison belongs to diff, and what mounts pages to the shell. */
function unitOf(file: string): string {
  if (file.startsWith('webview/compare/')) return 'features/diff';
  if (file === 'src/registry.ts' || /^webview\/\w+\/main\.ts$/.test(file)) return 'shell';
  return /^src\/(features\/[^/]+(?=\/)|kernel(?=\/)|shell(?=\/))/.exec(file)?.[1] ?? file.split('/')[0]!;
}

/** By feature, those that it may import, each with its reason. */
const arrows = new Map(Object.entries<Record<string, string>>(table.arrows));

/** May a file of `from` import one of `to`? The kernel imports no feature, nothing the shell, which puts features together. */
function isAllowed(from: string, to: string): boolean {
  if (from === to || from === 'shell' || !/^(?:features\/|shell)/.test(to)) return true;
  const [source, target] = [from, to].map((unit) => unit.replace('features/', ''));
  return arrows.get(source!)?.[target!] !== undefined;
}

const wrong = (all: readonly Edge[]): string[] => [
  ...new Set(
    all.filter(({ from, to }) => !isAllowed(unitOf(from), unitOf(to))).map(({ from, to }) => `${from} -> ${to}`),
  ),
];

it('imports between features, kernel and shell are those of src/features/arrows.json', () => {
  expect(wrong(edges)).toEqual([]);
});

it('a kernel that imports a feature and an arrow that is not in the file would be found', () => {
  const [kernel, check, build] = ['src/kernel/base/problem.ts', 'src/features/check/x.ts', 'src/features/build/x.ts'];
  expect(wrong([{ from: kernel, to: check }])).toHaveLength(1);
  expect(wrong([{ from: build, to: 'src/features/gate/x.ts' }])).toHaveLength(1);
  expect(wrong([{ from: build, to: kernel }])).toEqual([]);
});

it('every arrow is used, and no features depend on each other in a circle', () => {
  const used = new Set(edges.map(({ from, to }) => `${unitOf(from)} ${unitOf(to)}`));
  const walk = (feature: string, above: readonly string[]): void => {
    expect(above).not.toContain(feature);
    for (const target of Object.keys(arrows.get(feature) ?? {})) walk(target, [...above, feature]);
  };
  for (const [feature, targets] of arrows) {
    walk(feature, []);
    for (const target of Object.keys(targets)) expect([...used]).toContain(`features/${feature} features/${target}`);
  }
});

/** The folders of the kernel: `kernel/base`, `kernel/node/files`, `kernel/read/onnx`. */
const folderOf = (file: string): string =>
  /^src\/kernel\/(?:(?:node|vscode|read|picture)\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? '';

/** The imports that lie on a cycle of folders. */
function cyclic(all: readonly Edge[]): string[] {
  const between = all.filter(({ from, to }) => folderOf(from) && folderOf(to) && folderOf(from) !== folderOf(to));
  const next = new Map<string, Set<string>>();
  for (const { from, to } of between)
    next.set(folderOf(from), (next.get(folderOf(from)) ?? new Set()).add(folderOf(to)));
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean => {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return [...(next.get(from) ?? [])].some((folder) => reaches(folder, to, seen));
  };
  return between
    .filter(({ from, to }) => reaches(folderOf(to), folderOf(from)))
    .map(({ from, to }) => `${from} -> ${to}`);
}

it('the folders of the kernel import each other without a cycle', () => {
  expect(cyclic(edges)).toEqual([]);
});

it('a cycle would be found, with the imports that make it', () => {
  const planted = { from: 'src/kernel/node/files/writeWhole.ts', to: 'src/kernel/node/store/buildFolder.ts' };
  expect(cyclic([...edges, planted])).toContain(`${planted.from} -> ${planted.to}`);
});
