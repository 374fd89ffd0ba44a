import { expect, test } from 'vitest';
import { visibleText, printJson, type Terminal } from '../../../../src/kernel/node/cli/terminal.ts';
import fc from 'fast-check';
import { colored, isColored } from '../../../../src/kernel/node/cli/color.ts';
import { withCommands } from '../../../../src/kernel/node/cli/problemLines.ts';
import { driverCommand } from '../../../../src/kernel/build/buildCommand.ts';
import { RULES } from '../../../../src/features/diagnose/internal/ruleTable.ts';

test('what would move a cursor or set colors is written out, all else stays', () => {
  const title = '\x1b]0;title\x07red \x1b[31m \x9b31m\r\x08\x7f';
  expect(visibleText(title)).toBe(String.raw`\u001b]0;title\u0007red \u001b[31m \u009b31m\u000d\u0008\u007f`);
  const plain = 'line 1\n\tline 2: /conv/层, "ü" {ForeignNode[a...b]}\n';
  expect(visibleText(plain)).toBe(plain);
});

test('JSON means the same', () => {
  const value = { name: 'a\x9b31m\x7f\x00"\\' };
  expect(JSON.parse(visibleText(JSON.stringify(value, null, 2)))).toEqual(value);
});

async function printed(value: unknown): Promise<string[]> {
  const pieces: string[] = [];
  const terminal: Pick<Terminal, 'out'> = { out: (text) => Promise.resolve(void pieces.push(text)) };
  await printJson(terminal as Terminal, value);
  return pieces;
}

test('prints what JSON.stringify gives, whatever the value', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      expect((await printed(value)).join('')).toBe(`${JSON.stringify(value, null, 2)}\n`);
    }),
  );
  for (const value of [
    { a: undefined, b: [undefined, {}], c: { d: undefined } },
    { text: 'a\nb', list: [] },
    undefined,
  ])
    expect((await printed(value)).join('')).toBe(`${JSON.stringify(value, null, 2) ?? 'null'}\n`);
});

test('prints a large document in pieces', async () => {
  const nodes = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `/layer/${id}`, layers: [id, id + 1] }));
  const pieces = await printed({ schema: 1, nodes });
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(100_000);
  expect(JSON.parse(pieces.join(''))).toEqual({ schema: 1, nodes });
});

test('terminals get colors, pipes do not; NO_COLOR and FORCE_COLOR decide otherwise', () => {
  expect(isColored(true, {})).toBe(true);
  expect(isColored(false, {})).toBe(false);
  expect(isColored(true, { NO_COLOR: '1' })).toBe(false);
  expect(isColored(true, { NO_COLOR: '' })).toBe(true);
  expect(isColored(true, { TERM: 'dumb' })).toBe(false);
  expect(isColored(false, { FORCE_COLOR: '1' })).toBe(true);
  expect(isColored(true, { FORCE_COLOR: '0' })).toBe(false);
  expect(isColored(false, { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(true);
});

const shown = (text: string) => colored(text).replaceAll(/\x1b\[(\d+)m/g, '<$1>');

test('severities that begin a line or follow a place, and headings', () => {
  expect(shown('error no-memory: x')).toBe('<31>error<0> no-memory: x');
  expect(shown('a b.trtprec:3:9: warning unknown: error: x')).toBe('a b.trtprec:3:9: <33>warning<0> unknown: error: x');
  expect(shown('✗ 4 of 7 checks failed.\n  ✓ kernels')).toBe('<31>✗<0> 4 of 7 checks failed.\n  <32>✓<0> kernels');
  expect(shown('Warning: inputs are random')).toBe('<33>Warning<0>: inputs are random');
  expect(shown('Build:\n  build  x\n  run  y')).toBe('<1>Build:<0>\n  build  x\n  run  y');
});

test('words elsewhere, and names that only look like one, stay as they are', () => {
  for (const text of [
    '2 errors, 1 warning',
    'errors: 3',
    '/error/Conv: 3',
    'an error: x',
    'information: none',
    '',
    '\n',
  ])
    expect(shown(text)).toBe(text);
});

test('adds the command that does what a message advises', () => {
  const files = { model: 'm', engine: 'e', precisions: 'p' };
  const { notes } = driverCommand({ model: 'm', precision: 'fp16' }, files, { product: 'tensorrt-rtx' });
  expect(withCommands(notes[0]!.message)).toMatch(/typed copy of the model\. \(run trtlens precision apply\)$/);
  const { advice } = RULES.find(({ id }) => id === 'replay-tactic')!;
  expect(withCommands(advice as string)).toContain('(run trtlens precision replay check)');
  expect(withCommands('Nothing to add.')).toBe('Nothing to add.');
});
