import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const declared =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:interface|type|class|function\*?|const|let|enum)\s+([\w$]+)/gm;

/** The files that export each name. */
function exportsBelow(...folders: string[]): Map<string, Set<string>> {
  const files = new Map<string, Set<string>>();
  for (const folder of folders)
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = `${folder}/${name}`;
      if (!name.endsWith('.ts')) continue;
      for (const [, exported] of readFileSync(path, 'utf8').matchAll(declared))
        files.set(exported!, (files.get(exported!) ?? new Set()).add(path));
    }
  return files;
}

test('no two files export the same name', () => {
  const files = exportsBelow('src', 'webview');
  expect(files.size).toBeGreaterThan(500);
  expect(Object.fromEntries([...files].filter(([, paths]) => paths.size > 1))).toEqual({});
});

test('finds a name that two files export', () => {
  const files = exportsBelow('test/rules/twice');
  expect(files.get('Thing')?.size).toBe(2);
  expect(files.get('make')?.size).toBe(2);
});
