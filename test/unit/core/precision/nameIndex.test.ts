import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGlob, matchesGlob, NameIndex } from '../../../../src/core/precision/resolveOverrides.ts';

const tried = (names: readonly string[], pattern: string): number[] => {
  const glob = compileGlob(pattern);
  return names.flatMap((name, i) => (matchesGlob(glob, name) ? [i] : []));
};

describe('NameIndex', () => {
  it('finds what trying every name finds, for any names and patterns', () => {
    const piece = fc.constantFrom('/', 'layers.', '1', '12', 'attn', 'at', 'MatMul', 'é', '\uffff', '\u{1f600}', 'x');
    const wild = fc.constantFrom('*', '**', '**/', '?', '[a-m]', '[!1]');
    const names = fc.array(
      fc.array(piece, { maxLength: 6 }).map((all) => all.join('')),
      { maxLength: 40 },
    );
    const pattern = fc.array(fc.oneof(piece, piece, wild), { maxLength: 6 }).map((all) => all.join(''));
    fc.assert(
      fc.property(names, pattern, (all, text) => {
        expect(Array.from(new NameIndex(all).matching(text))).toEqual(tried(all, text));
      }),
    );
  });

  it('does so where a beginning is no help, and where names have more letters than it tells apart', () => {
    const many = Array.from(
      { length: 6000 },
      (_, i) => `/layers.${i % 3000}/${String.fromCharCode(0x4e00 + (i % 500))}/Mul`,
    );
    const index = new NameIndex(many);
    for (const pattern of [
      '/layers.*/一/Mul',
      '**/layers.17/**',
      '/layers.2[0-3]/?/Mul',
      '*',
      '**',
      '/nothing/*',
      '**/二/Mul',
    ])
      expect(Array.from(index.matching(pattern))).toEqual(tried(many, pattern));
  });

  it('gives the names that have three characters', () => {
    const index = new NameIndex(['abcabc', 'xabc', 'ab', '']);
    expect(Array.from(index.having('_abc', 1))).toEqual([0, 1]);
    expect(Array.from(index.having('abz', 0))).toEqual([]);
  });
});
