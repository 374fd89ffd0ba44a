import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/**
 * A rule that has never fired is no rule. Each test plants one violation in a copy of the house (its configuration
 * and empty rooms) and expects the lock to name it.
 */
let house: string;
const rooms = ['src/kernel', 'src/kernel/node', 'src/kernel/server', 'src/shell/cli', 'src/kernel/vscode', 'webview'];
const projects = ['src/tsconfig.pure.json', 'src/tsconfig.node.json', 'src/tsconfig.vscode.json', 'webview'];
const files = [
  '.oxlintrc.json',
  'tsconfig.base.json',
  'src/never.d.ts',
  ...projects.map((path) => (path.endsWith('.json') ? path : `${path}/tsconfig.json`)),
  'package.json',
];

beforeAll(() => {
  house = mkdtempSync(join(tmpdir(), 'house-'));
  for (const file of files) {
    mkdirSync(dirname(join(house, file)), { recursive: true });
    cpSync(file, join(house, file));
  }
  const references = projects.map((path) => ({ path }));
  writeFileSync(join(house, 'tsconfig.json'), JSON.stringify({ files: [], references }));
  symlinkSync(join(process.cwd(), 'node_modules'), join(house, 'node_modules'));
  for (const room of rooms) mkdirSync(join(house, room), { recursive: true });
  for (const room of rooms) writeFileSync(join(house, room, 'sound.ts'), 'export const sound = 1;\n');
});

afterAll(() => rmSync(house, { recursive: true, force: true }));

function run(program: string, ...args: string[]): string {
  const { stdout, stderr } = spawnSync(join('node_modules/.bin', program), args, { cwd: house, encoding: 'utf8' });
  return stdout + stderr;
}

/** A violation: its title, the file to plant, its code, and what the lock says of it. */
type Violation = readonly [title: string, file: string, code: string, expected: string | RegExp];

/** Each in a file of its own, so that one run of a lock judges them all. */
const apart = (violations: readonly Violation[]): Violation[] =>
  violations.map(([title, file, ...rest], index) => [title, file.replace('bad.ts', `bad${index}.ts`), ...rest]);

/** What a lock says of each file while all of them are planted. */
function plant(violations: readonly Violation[], check: () => Map<string, string>): Map<string, string> {
  for (const [, file, code] of violations) {
    mkdirSync(dirname(join(house, file)), { recursive: true });
    writeFileSync(join(house, file), code);
  }
  try {
    return check();
  } finally {
    for (const [, file] of violations) rmSync(join(house, file));
  }
}

function grouped(said: readonly { file: string; text: string }[]): Map<string, string> {
  const byFile = new Map<string, string>();
  for (const { file, text } of said) byFile.set(file, `${byFile.get(file) ?? ''}${text}\n`);
  return byFile;
}

const compile = () => run('tsc', '-b');
const lint = (...more: string[]) => run('oxlint', '--type-aware', ...more, 'src', 'webview');

const compiled = () =>
  grouped(
    [...compile().matchAll(/^(\S+?)\(\d+,\d+\): (.*)$/gm)].map(([, file, text]) => ({ file: file!, text: text! })),
  );

const linted = () => {
  const { diagnostics } = JSON.parse(lint('--format=json')) as {
    diagnostics: { filename: string; message: string; code: string; help?: string }[];
  };
  return grouped(
    diagnostics.map(({ filename, message, code, help }) => ({ file: filename, text: `${code} ${message} ${help}` })),
  );
};

describe('the compiler keeps the rooms apart', () => {
  it('is quiet in a sound house', () => {
    expect(compile()).toBe('');
  });

  const violations = apart([
    [
      'pure code reads a file',
      'src/kernel/bad.ts',
      "import { readFileSync } from 'node:fs';\nreadFileSync('x');",
      /TS2591|TS2307/,
    ],
    ['pure code touches the page', 'src/kernel/bad.ts', 'export const x = document.title;', /TS2584/],
    ['pure code asks the process', 'src/kernel/bad.ts', 'export const x = process.env;', /TS2591|TS2580/],
    [
      'pure code imports code for Node',
      'src/kernel/bad.ts',
      "export { sound } from './node/sound.ts';",
      /TS6307|TS6059/,
    ],
    [
      'pure code imports the views',
      'src/kernel/bad.ts',
      "export { sound } from '../../webview/sound.ts';",
      /TS6307|TS6059/,
    ],
    [
      'pure code uses the editor',
      'src/kernel/bad.ts',
      "import * as v from 'vscode';\nexport const x = v.window;",
      /TS2339/,
    ],
    [
      'pure code imports the extension',
      'src/kernel/bad.ts',
      "export { sound } from './vscode/sound.ts';",
      /TS6307|TS6059/,
    ],
    [
      'server uses the editor',
      'src/kernel/server/bad.ts',
      "import * as v from 'vscode';\nexport const x = v.window;",
      /TS2339/,
    ],
    [
      'the extension imports the views',
      'src/kernel/vscode/bad.ts',
      "export { sound } from '../../../webview/sound.ts';",
      /TS6307|TS6059/,
    ],
    [
      'the command line imports the extension',
      'src/shell/cli/bad.ts',
      "export { sound } from '../../kernel/vscode/sound.ts';",
      /TS6307|TS6059/,
    ],
    [
      'a view reads a file',
      'webview/bad.ts',
      "import { readFileSync } from 'node:fs';\nreadFileSync('x');",
      /TS2591|TS2307/,
    ],
    [
      'a view imports code for Node',
      'webview/bad.ts',
      "export { sound } from '../src/kernel/node/sound.ts';",
      /TS6307|TS6059/,
    ],
  ]);

  describe('and names', () => {
    let said: Map<string, string>;
    beforeAll(() => void (said = plant(violations, compiled)));

    it.each(violations)('%s', (_, file, __, expected) => expect(said.get(file)).toMatch(expected));
  });
});

describe('the linter keeps the rules', () => {
  it('visits every room and is quiet in a sound house', () => {
    const said = lint();
    expect(said).toContain('Found 0 warnings and 0 errors');
    expect(Number(/on (\d+) files/.exec(said)?.[1])).toBeGreaterThanOrEqual(rooms.length);
  });

  const violations = apart([
    [
      'a command writes a file past the writer',
      'src/shell/cli/bad.ts',
      "import { writeFile } from 'node:fs/promises';\nexport const x = writeFile;",
      'Results are written by kernel/node/files/writeResult.ts',
    ],
    [
      'code for Node renames a file past the writer',
      'src/kernel/node/bad.ts',
      "import { renameSync } from 'node:fs';\nexport const x = renameSync;",
      'Results are written by kernel/node/files/writeResult.ts',
    ],
    [
      'the extension copies a file past the writer',
      'src/kernel/vscode/bad.ts',
      "import { copyFile } from 'node:fs/promises';\nexport const x = copyFile;",
      'Results are written by kernel/node/files/writeResult.ts',
    ],
    [
      'a command replaces a file without a look',
      'src/shell/cli/bad.ts',
      "import { writeWhole } from '../../kernel/node/files/writeWhole.ts';\nexport const x = writeWhole;",
      'Results are written by kernel/node/files/writeResult.ts',
    ],
    [
      'pure code, a type of the editor',
      'src/kernel/bad.ts',
      "import type { Uri } from 'vscode';\nexport type X = Uri;",
      'Pure modules take data',
    ],
    ['pure code, node', 'src/kernel/bad.ts', "export { join } from 'node:path';", 'Pure modules take data'],
    ['pure code, d3', 'src/kernel/bad.ts', "export { select } from 'd3-selection';", 'Pure modules take data'],
    [
      'pure code, the server',
      'src/kernel/bad.ts',
      "export { sound } from './server/sound.ts';",
      'Pure modules take data',
    ],
    ['pure code, the clock', 'src/kernel/bad.ts', 'export const now = () => Date.now();', 'no-restricted-globals'],
    [
      'protobufjs outside kernel/read/onnx',
      'src/kernel/read/tensorrt/bad.ts',
      "export { Reader } from 'protobufjs';",
      'protobufjs belongs',
    ],
    [
      'kernel/read/onnx, node',
      'src/kernel/read/onnx/bad.ts',
      "export { join } from 'node:path';",
      'Pure modules take data',
    ],
    [
      'server, code for Node',
      'src/kernel/server/bad.ts',
      "export { sound } from '../node/sound.ts';",
      'The language server imports',
    ],
    [
      'the extension, the server',
      'src/kernel/vscode/bad.ts',
      "export { sound } from '../server/sound.ts';",
      'through src/kernel/protocol',
    ],
    [
      'code for Node, the editor',
      'src/kernel/node/bad.ts',
      "import type { Uri } from 'vscode';\nexport type X = Uri;",
      'without an editor',
    ],
    [
      'server, the client',
      'src/kernel/server/bad.ts',
      "export { State } from 'vscode-languageclient';",
      'The language server imports',
    ],
    [
      'the extension, the server package',
      'src/kernel/vscode/bad.ts',
      "export { createConnection } from 'vscode-languageserver';",
      'through src/kernel/protocol',
    ],
    [
      'the command line, the editor',
      'src/shell/cli/bad.ts',
      "import type { Uri } from 'vscode';\nexport type X = Uri;",
      'without an editor',
    ],
    ['a view, node', 'webview/bad.ts', "export { join } from 'node:path';", 'A view imports'],
    ['console in pure code', 'src/kernel/bad.ts', "console.log('x');\nexport {};", 'no-console'],
    ['a default export', 'src/kernel/bad.ts', 'export default 1;', 'no-default-export'],
    [
      'a promise nobody waits for',
      'src/kernel/bad.ts',
      'const f = async () => 1;\nf();\nexport {};',
      'no-floating-promises',
    ],
    [
      'a forgotten case',
      'src/kernel/bad.ts',
      "export function f(x: 'a' | 'b'): number {\n  switch (x) {\n    case 'a':\n      return 1;\n  }\n  return 0;\n}",
      'switch-exhaustiveness-check',
    ],
    [
      'a circle of imports',
      'src/kernel/circle.ts',
      "import { other } from './other.ts';\nexport const circle = () => other;\n",
      'no-cycle',
    ],
    [
      'its other half',
      'src/kernel/other.ts',
      "import { circle } from './circle.ts';\nexport const other = () => circle;\n",
      'no-cycle',
    ],
  ]);

  describe('and names', () => {
    let said: Map<string, string>;
    beforeAll(() => void (said = plant(violations, linted)));

    it.each(violations)('%s', (_, file, __, expected) => expect(said.get(file)).toMatch(expected));
  });
});

describe('the house itself', () => {
  it('has one project for each kind of code, each in the solution', () => {
    const solution = JSON.parse(readFileSync('tsconfig.json', 'utf8')) as { references: { path: string }[] };
    expect(solution.references.map(({ path }) => path)).toEqual([...projects, 'test'].map((path) => `./${path}`));
  });
});
