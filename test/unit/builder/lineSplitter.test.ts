import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineSplitter } from '../../../src/builder/files/lineSplitter.ts';

function split(chunks: Buffer[]): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return lines;
}

test('ends lines at \\n alone: TensorRT separates with U+001E and U+001F', () => {
  expect(split([Buffer.from('a\u001eb\u001fc\u2028d\u0085e\rf\r\n\ng')])).toEqual([
    'a\u001eb\u001fc\u2028d\u0085e\rf',
    '',
    'g',
  ]);
});

test('gives the same lines wherever the chunks are cut, inside characters too', () => {
  const piece = fc.constantFrom('\n', '\r\n', 'ä', '𝄞', '\u001e', 'Conv', '', ' ');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.array(fc.nat(60), { maxLength: 10 }), (pieces, cuts) => {
      const bytes = Buffer.from(pieces.join(''));
      const at = [0, ...cuts.filter((cut) => cut <= bytes.length).sort((a, b) => a - b), bytes.length];
      const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
      expect(split(chunks)).toEqual(split([bytes]));
    }),
  );
});
