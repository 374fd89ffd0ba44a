import { expect, test } from 'vitest';
import { colored, isColored } from '../../../src/cli/color.ts';

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
