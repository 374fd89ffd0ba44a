import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** Files that may wait for a time, and why. */
const allowed: Record<string, string> = {
  'test/host/extension/support.ts': 'has `eventually`, which looks again and again for what raises no event',
  'test/host/runtime/server.cjs': 'looks until the server of VS Code answers, and stops it by force in the end',
  'test/host/runtime/vscode-shim.cjs': 'ends a run that takes too long',
  'test/support/player.mjs': 'plays a log in the time that the build took',
  'test/webview/support/browserPage.ts': 'counts the timers of a page',
};

/** Lines of a test that sleep. `setInterval` in the text of a program that never ends is none. */
function sleeps(file: string, text: string): string[] {
  if (file in allowed) return [];
  return text
    .split('\n')
    .filter((line) => /\bsetTimeout\(|timers\/promises|waitForTimeout|scheduler\.wait|\bsleep\(\d/.test(line))
    .filter((line) => !/time\.sleep\((?:600|0\.01)\)/.test(line))
    .map((line) => `${file}: ${line.trim()}`);
}

const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((file) => join('test', file).replaceAll('\\', '/'))
  .filter((file) => /\.(?:ts|mts|mjs|cjs|py)$/.test(file) && !file.startsWith('test/rules/'));

it('no test sleeps: it awaits an event, or looks until a condition is true', () => {
  expect(files.flatMap((file) => sleeps(file, readFileSync(file, 'utf8')))).toEqual([]);
});

it.each([
  'await new Promise((resolve) => setTimeout(resolve, 1000));',
  "import { setTimeout as wait } from 'node:timers/promises';",
  'await page.waitForTimeout(500);',
  'time.sleep(2)',
])('%s would be found', (line) => {
  expect(sleeps('test/unit/planted.test.ts', `const x = 1;\n  ${line}\n`)).toHaveLength(1);
});

it('only files that exist may wait', () => {
  expect(Object.keys(allowed).filter((file) => !files.includes(file))).toEqual([]);
});

/** Unit tests that name Windows and do not run under Wine, and why. */
const notUnderWine: Record<string, string> = {
  'test/unit/kernel/node/buildPlan.test.ts': 'has tools that begin with `#!`',
  'test/unit/kernel/node/runProcess.test.ts': 'starts and ends programs, which Wine does otherwise than Windows',
  'test/unit/features/replay/inputs.test.ts': 'makes links and named pipes',
  'test/unit/shell/cli/results.test.ts': 'makes links, and one to /dev/full',
};

/** What is wrong with a list of the tests that run under Wine. */
function wrongInList(listed: readonly string[], textOf: (file: string) => string): string[] {
  const known = [...listed, ...Object.keys(notUnderWine)];
  const aboutWindows = files.filter(
    (file) => /^test\/unit\/.*\.test\.ts$/.test(file) && /\bwin32\b/.test(textOf(file)),
  );
  return [
    ...known.filter((file) => !existsSync(file)).map((file) => `${file} does not exist`),
    ...aboutWindows.filter((file) => !known.includes(file)).map((file) => `${file} names win32 and is in neither list`),
  ];
}

const underWine = [...readFileSync('test/windows/run.mjs', 'utf8').matchAll(/'(test\/[\w/]+\.test\.ts)'/g)].map(
  ([, file]) => file!,
);

it('what runs under Wine exists, and every unit test that names Windows runs there or says why not', () => {
  expect(underWine.length).toBeGreaterThan(20);
  expect(wrongInList(underWine, (file) => readFileSync(file, 'utf8'))).toEqual([]);
});

it('a test that was renamed, and a new one about Windows, would be found', () => {
  const renamed = underWine.map((file) => file.replace('writeZip', 'makeZip'));
  expect(wrongInList(renamed, () => '')).toEqual(['test/unit/kernel/node/makeZip.test.ts does not exist']);
  const planted = (file: string) =>
    file.endsWith('/terminal.test.ts') || file.endsWith('/lint.test.ts') ? "'win32'" : '';
  expect(wrongInList(underWine, planted)).toEqual([
    'test/unit/features/check/lint.test.ts names win32 and is in neither list',
  ]);
});
