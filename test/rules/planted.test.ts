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
const rooms = ['src/core', 'src/protocol', 'src/builder', 'src/server', 'src/host', 'src/cli', 'webview'];
const files = [
  '.oxlintrc.json',
  'tsconfig.base.json',
  'src/never.d.ts',
  ...rooms.map((room) => `${room}/tsconfig.json`),
];

beforeAll(() => {
  house = mkdtempSync(join(tmpdir(), 'house-'));
  for (const file of files) {
    mkdirSync(dirname(join(house, file)), { recursive: true });
    cpSync(file, join(house, file));
  }
  const references = rooms.map((path) => ({ path }));
  writeFileSync(join(house, 'tsconfig.json'), JSON.stringify({ files: [], references }));
  symlinkSync(join(process.cwd(), 'node_modules'), join(house, 'node_modules'));
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
      'core reads a file',
      'src/core/bad.ts',
      "import { readFileSync } from 'node:fs';\nreadFileSync('x');",
      /TS2591|TS2307/,
    ],
    ['core touches the page', 'src/core/bad.ts', 'export const x = document.title;', /TS2584/],
    ['core asks the process', 'src/core/bad.ts', 'export const x = process.env;', /TS2591|TS2580/],
    ['core imports builder', 'src/core/bad.ts', "export { sound } from '../builder/sound.ts';", /TS6307|TS6059/],
    ['core imports the views', 'src/core/bad.ts', "export { sound } from '../../webview/sound.ts';", /TS6307|TS6059/],
    ['core uses the editor', 'src/core/bad.ts', "import * as v from 'vscode';\nexport const x = v.window;", /TS2339/],
    ['protocol imports host', 'src/protocol/bad.ts', "export { sound } from '../host/sound.ts';", /TS6307|TS6059/],
    [
      'builder imports protocol',
      'src/builder/bad.ts',
      "export { sound } from '../protocol/sound.ts';",
      /TS6307|TS6059/,
    ],
    ['server imports builder', 'src/server/bad.ts', "export { sound } from '../builder/sound.ts';", /TS6307|TS6059/],
    [
      'server uses the editor',
      'src/server/bad.ts',
      "import * as v from 'vscode';\nexport const x = v.window;",
      /TS2339/,
    ],
    ['host imports the views', 'src/host/bad.ts', "export { sound } from '../../webview/sound.ts';", /TS6307|TS6059/],
    ['host imports the server', 'src/host/bad.ts', "export { sound } from '../server/sound.ts';", /TS6307|TS6059/],
    ['the command line imports host', 'src/cli/bad.ts', "export { sound } from '../host/sound.ts';", /TS6307|TS6059/],
    [
      'a view reads a file',
      'webview/bad.ts',
      "import { readFileSync } from 'node:fs';\nreadFileSync('x');",
      /TS2591|TS2307/,
    ],
    ['a view imports builder', 'webview/bad.ts', "export { sound } from '../src/builder/sound.ts';", /TS6307|TS6059/],
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
      'src/cli/bad.ts',
      "import { writeFile } from 'node:fs/promises';\nexport const x = writeFile;",
      'Results are written by builder/files/writeResult.ts',
    ],
    [
      'builder renames a file past the writer',
      'src/builder/bad.ts',
      "import { renameSync } from 'node:fs';\nexport const x = renameSync;",
      'Results are written by builder/files/writeResult.ts',
    ],
    [
      'host copies a file past the writer',
      'src/host/bad.ts',
      "import { copyFile } from 'node:fs/promises';\nexport const x = copyFile;",
      'Results are written by builder/files/writeResult.ts',
    ],
    [
      'a command replaces a file without a look',
      'src/cli/bad.ts',
      "import { writeWhole } from '../builder/files/writeWhole.ts';\nexport const x = writeWhole;",
      'Results are written by builder/files/writeResult.ts',
    ],
    [
      'core, a type of the editor',
      'src/core/bad.ts',
      "import type { Uri } from 'vscode';\nexport type X = Uri;",
      'src/core is pure',
    ],
    ['core, node', 'src/core/bad.ts', "export { join } from 'node:path';", 'src/core is pure'],
    ['core, d3', 'src/core/bad.ts', "export { select } from 'd3-selection';", 'src/core is pure'],
    ['core, another room', 'src/core/bad.ts', "export { sound } from '../server/sound.ts';", 'Nothing points back'],
    ['core, the clock', 'src/core/bad.ts', 'export const now = () => Date.now();', 'no-restricted-globals'],
    [
      'protobufjs outside core/formats/onnx',
      'src/core/formats/tensorrt/bad.ts',
      "export { Reader } from 'protobufjs';",
      'protobufjs belongs',
    ],
    [
      'core/formats/onnx, node',
      'src/core/formats/onnx/bad.ts',
      "export { join } from 'node:path';",
      'src/core is pure',
    ],
    ['protocol, host', 'src/protocol/bad.ts', "export { sound } from '../host/sound.ts';", 'contracts only'],
    [
      'builder, the editor',
      'src/builder/bad.ts',
      "import type { Uri } from 'vscode';\nexport type X = Uri;",
      'without an editor',
    ],
    [
      'server, the client',
      'src/server/bad.ts',
      "export { State } from 'vscode-languageclient';",
      'src/server may import',
    ],
    [
      'host, the server package',
      'src/host/bad.ts',
      "export { createConnection } from 'vscode-languageserver';",
      'src/host may import',
    ],
    [
      'the command line, the editor',
      'src/cli/bad.ts',
      "import type { Uri } from 'vscode';\nexport type X = Uri;",
      'src/cli may import',
    ],
    ['a view, node', 'webview/bad.ts', "export { join } from 'node:path';", 'webview may import'],
    ['console in core', 'src/core/bad.ts', "console.log('x');\nexport {};", 'no-console'],
    ['a default export', 'src/core/bad.ts', 'export default 1;', 'no-default-export'],
    [
      'a promise nobody waits for',
      'src/core/bad.ts',
      'const f = async () => 1;\nf();\nexport {};',
      'no-floating-promises',
    ],
    [
      'a forgotten case',
      'src/core/bad.ts',
      "export function f(x: 'a' | 'b'): number {\n  switch (x) {\n    case 'a':\n      return 1;\n  }\n  return 0;\n}",
      'switch-exhaustiveness-check',
    ],
    [
      'a circle of imports',
      'src/core/circle.ts',
      "import { other } from './other.ts';\nexport const circle = () => other;\n",
      'no-cycle',
    ],
    [
      'its other half',
      'src/core/other.ts',
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
  it('has one project a room, each in the solution', () => {
    const solution = JSON.parse(readFileSync('tsconfig.json', 'utf8')) as { references: { path: string }[] };
    expect(solution.references.map(({ path }) => path)).toEqual([...rooms, 'test'].map((room) => `./${room}`));
  });
});
