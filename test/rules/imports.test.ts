import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { expect, it } from 'vitest';

/** Which file imports which, types included. */
type Imports = ReadonlyMap<string, readonly string[]>;

const sources = ['src', 'webview'].flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((file) => join(root, file).replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts')),
);

function importsOf(read: (file: string) => string): Imports {
  const known = new Set(sources);
  return new Map(
    sources.map((file) => [
      file,
      [...read(file).matchAll(/(?:from|import|import\() ?'(?:worker:)?(\.[^']+)'/g)]
        .map(([, path]) => posix.join(dirname(file), path!))
        .filter((path) => known.has(path)),
    ]),
  );
}

const imports = importsOf((file) => readFileSync(file, 'utf8'));

/** The folder that a file belongs to: `internal`, with what is in it, is a part of the folder above it. */
const folderOf = (file: string): string => dirname(file).replace(/\/internal(?:\/.*)?$/, '');

/** `FILE -> FILE` for each import of another folder's internal file. */
const trespasses = (all: Imports): string[] =>
  [...all].flatMap(([from, targets]) =>
    targets
      .filter((to) => /\/internal(?:\/|$)/.test(dirname(to)) && folderOf(to) !== folderOf(from))
      .map((to) => `${from} -> ${to}`),
  );

/** Groups of files that import each other in a circle (Tarjan's strongly connected components). */
function circles(all: Imports): string[][] {
  const found: string[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const visit = (file: string): number => {
    const own = index.size;
    index.set(file, own);
    low.set(file, own);
    open.push(file);
    for (const to of all.get(file) ?? []) {
      const reached = index.has(to) ? (open.includes(to) ? index.get(to)! : own) : visit(to);
      low.set(file, Math.min(low.get(file)!, reached));
    }
    if (low.get(file) === own) {
      const group = open.splice(open.indexOf(file));
      if (group.length > 1) found.push(group.toSorted());
    }
    return low.get(file)!;
  };
  for (const file of all.keys()) if (!index.has(file)) visit(file);
  return found;
}

it('what a folder has in internal/ is imported by that folder only', () => {
  expect(trespasses(imports)).toEqual([]);
});

it('no files import each other in a circle, types included', () => {
  expect(circles(imports)).toEqual([]);
});

it('an import of an internal file and a circle of types would be found', () => {
  const [from, inner] = ['src/kernel/base/problem.ts', 'src/kernel/fusion/internal/nodeFates.ts'];
  const planted = importsOf((file) =>
    file === from
      ? "import type { Fate } from '../fusion/internal/nodeFates.ts';"
      : file === inner
        ? "import type { Problem } from '../../base/problem.ts';"
        : '',
  );
  expect(trespasses(planted)).toEqual([`${from} -> ${inner}`]);
  expect(circles(planted)).toEqual([[from, inner]]);
});
