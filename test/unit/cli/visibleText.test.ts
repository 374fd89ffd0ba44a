import { expect, test } from 'vitest';
import { visibleText } from '../../../src/cli/visibleText.ts';

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
