import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

/** `FOLDER/file.ts -> FOLDER/other.ts`: which file of a module imports which file of another of its folders. */
interface Edge {
  from: string;
  to: string;
}

/** Every import between two folders of a module; files outside of the folders put them together and do not count. */
function edgesOf(module: string, read: (file: string) => string): Edge[] {
  const files = readdirSync(module, { recursive: true, encoding: 'utf8' }).map((file) => file.replaceAll('\\', '/'));
  return files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((from) =>
      [...read(join(module, from)).matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map(([, path]) => ({
        from,
        to: relative(module, join(module, dirname(from), path!)).replaceAll('\\', '/'),
      })),
    )
    .filter(({ from, to }) => !to.startsWith('..') && folderOf(from) !== folderOf(to))
    .filter(({ from, to }) => folderOf(from) !== '' && folderOf(to) !== '');
}

/** The first folder of a path; a group of readers in `formats` is one of its own. */
const folderOf = (file: string): string => /^(?:formats\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? '';

/** The imports that lie on a cycle of folders. */
function cyclic(edges: Edge[]): string[] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of edges) next.set(folderOf(from), (next.get(folderOf(from)) ?? new Set()).add(folderOf(to)));
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean => {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return [...(next.get(from) ?? [])].some((one) => reaches(one, to, seen));
  };
  return edges
    .filter(({ from, to }) => reaches(folderOf(to), folderOf(from)))
    .map(({ from, to }) => `${from} -> ${to}`);
}

const modules = ['core', 'builder', 'server', 'host', 'cli', 'protocol'].map((name) => `src/${name}`);

it.each([...modules, 'webview'])('the folders of %s import each other without a cycle', (module) => {
  expect(cyclic(edgesOf(module, (file) => readFileSync(file, 'utf8')))).toEqual([]);
});

it('a cycle would be found, with the imports that make it', () => {
  const planted = (file: string) =>
    readFileSync(file, 'utf8') +
    (file.endsWith('files/writeWhole.ts') ? "\nimport type { Build } from '../store/buildFolder.ts';\n" : '');
  const found = cyclic(edgesOf('src/builder', planted));
  expect(found).toContain('files/writeWhole.ts -> store/buildFolder.ts');
  expect(found).toContain('store/buildFolder.ts -> files/writeWhole.ts');
});
