import fc from 'fast-check';
import { expect, test } from 'vitest';
import { closestWords, editDistance } from '../../../../src/core/base/text.ts';

/** The definition itself. */
function levenshtein(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  if (a.charAt(0) === b.charAt(0)) return levenshtein(a.slice(1), b.slice(1));
  return 1 + Math.min(levenshtein(a.slice(1), b), levenshtein(a, b.slice(1)), levenshtein(a.slice(1), b.slice(1)));
}

test('the distance is Levenshtein’s, up to the limit', () => {
  const word = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 6 }).map((letters) => letters.join(''));
  fc.assert(
    fc.property(word, word, fc.nat(6), (a, b, limit) => {
      const exact = levenshtein(a, b);
      expect(Math.min(editDistance(a, b, limit), limit + 1)).toBe(Math.min(exact, limit + 1));
    }),
    { numRuns: 2000 },
  );
});

test('the nearest words come first, and none that is far', () => {
  expect(closestWords('fp3', ['fp32', 'fp16', 'int8', 'fp8'], 2)).toEqual(['fp32', 'fp8']);
  expect(closestWords('softmax', ['Conv'], 3)).toEqual([]);
});
