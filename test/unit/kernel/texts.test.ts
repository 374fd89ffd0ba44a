import { expect, test } from 'vitest';
import { severityOf } from '../../../src/kernel/vscode/builds/internal/severityOf.ts';
import { writeFileSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { refusal } from '../../../src/features/precision/vscode/internal/refusal.ts';
import { temporaryFolder } from '../../support/rtx.ts';
import fc from 'fast-check';
import { terminalText } from '../../../src/kernel/vscode/builds/terminalText.ts';
import { plainText } from '../../../src/kernel/vscode/platform/internal/plainText.ts';

test.each([
  ['[V] [TRT] Original: 897 layers', 'verbose'],
  ['[11/21/2026-10:00:00] [E] Error[3]: bad', 'error'],
  ['[F] [TRT] internal', 'error'],
  ['[W] [stderr] hm', 'warning'],
  ['[I] done', 'info'],
  ['&&&& PASSED', 'info'],
  ['[ONNX Layer: x]', 'info'],
] as const)('severity of %s', (line, severity) => {
  expect(severityOf(line)).toBe(severity);
});

const folder = temporaryFolder();

test('why the editor cannot create a file in a folder', () => {
  const file = join(folder, 'model.onnx');
  writeFileSync(file, '');
  expect(refusal(file)).toBe(`${file} is not a folder`);
  expect(refusal(join(file, 'rules'))).toBe(`${file} is not a folder`);
  expect(refusal(join(folder, 'none/none'))).toMatch(/^ENOENT: /);
  expect(refusal(folder)).toBe('the editor refused the edit');
});

test('ends each line as a terminal wants it, and colors it by severity', () => {
  expect(terminalText('[I] done', 'info')).toBe('[I] done\r\n');
  expect(terminalText('bad', 'error')).toBe('\u001b[31mbad\u001b[0m\r\n');
  expect(terminalText('one\ntwo', 'info')).toBe('one\r\ntwo\r\n');
});

test("shows TensorRT's separators of names as spaces", () => {
  expect(terminalText('[ONNX Layer: a]\u001e[ONNX Layer: b]\u001f[c]', 'info')).toBe(
    '[ONNX Layer: a] [ONNX Layer: b] [c]\r\n',
  );
});

test('lets no control character of a name through, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      const shown = terminalText(name, 'info');
      expect(shown.slice(0, -2).replaceAll('\r\n', '')).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    }),
  );
});

const root = join(import.meta.dirname, '../../../src');

/** The editor's own functions, which make links in messages, prompts and progress. */
const own =
  /\b(?:show(?:Error|Warning|Information)Message|show(?:QuickPick|InputBox|OpenDialog|SaveDialog)|create(?:QuickPick|InputBox)|window\.withProgress)\b/;
/** The only places that call them; each takes plain texts. */
const wrappers = ['askUser.ts', 'messages.ts', 'withProgress.ts'].map((file) => `kernel/vscode/platform/${file}`);

test('makes no link', () => {
  expect(plainText('a [b](command:x) [c](d)')).toBe('a [b]\u200b(command:x) [c]\u200b(d)');
  expect(plainText('/a/b[0] (c)')).toBe('/a/b[0] (c)');
});

test('texts of messages, questions and progress go through the places that make them plain', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file: file.replaceAll('\\', '/'), text: readFileSync(join(root, file), 'utf8') }));
  expect(
    files
      .filter(({ text }) => own.test(text))
      .map(({ file }) => file)
      .toSorted(),
  ).toEqual(wrappers);
});

/** What reaches the editor; gate files and reports of accuracy name the command that writes their input. */
const folders = /(?:^|\/)(?:vscode|server)\/|^kernel\/(?:build|fusion)\/|^features\/(?:diagnose|precision)\/(?!node\/)/;
/** Help of the command line, and scripts that it writes. */
const ofCommandLine = new Set(['buildOptions.ts', 'goneNames.ts', 'launcher.ts']);
/** What is made of the rows of the diagnosis, in one line. */
const GENERATED = 'rulesData.ts';

test('no text of the editor tells people to use the command line', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => folders.test(file) && /\.(?:ts|yaml)$/.test(file) && !file.endsWith(GENERATED))
    .filter((file) => !ofCommandLine.has(basename(file)));
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap((file) => {
    const code = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '');
    return code.match(/.*\btrtlens [a-z].*/g)?.map((line) => `${file}: ${line.trim()}`) ?? [];
  });
  expect(found).toEqual([]);
});
