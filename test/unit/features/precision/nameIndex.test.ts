import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { compileGlob, matchesGlob, NameIndex } from '../../../../src/kernel/rules/resolveOverrides.ts';

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

const matches = (pattern: string, text: string) => matchesGlob(compileGlob(pattern), text);

test.each([
  ['/a/*/c', '/a/b/c', true],
  ['/a/*/c', '/a/b/b/c', false],
  ['/a/*', '/a/', true],
  ['*', 'abc', true],
  ['*', '/abc', false],
  ['**', '/a/b', true],
  ['**', '', true],
  ['**/attn/Softmax', '/layers.0/attn/Softmax', true],
  ['**/attn/Softmax', 'attn/Softmax', true],
  ['**/attn/Softmax', '/x/attn/Softmax_1', false],
  ['/layers.0/norm*/**', '/layers.0/norm1/Mul', true],
  ['/layers.0/norm*/**', '/layers.0/norm1/a/b', true],
  ['/layers.0/norm*/**', '/layers.0/norm1', false],
  ['a/**/b', 'a/b', true],
  ['a/**/b', 'a/x/y/b', true],
  ['a/**/b', 'axb', false],
  ['a**b', 'a/x/b', true],
  ['?x', 'ax', true],
  ['?x', '/x', false],
  ['[abc]1', 'b1', true],
  ['[abc]1', 'd1', false],
  ['[!abc]1', 'd1', true],
  ['[a-c]1', 'b1', true],
  ['[a-]1', '-1', true],
  ['[]]1', ']1', true],
  ['a[0', 'a[0', true],
  ['[.]x', '.x', true],
  ['*.1/*', 'layers.1/x', true],
  ['**/a*b/**/c', '/x/aab/y/z/c', true],
  ['**/a*b/**/c', '/a/b/c', false],
])('%s on %s: %s', (pattern, text, expected) => {
  expect(matches(pattern, text)).toBe(expected);
});

/** The same patterns as a regular expression. */
function regexOf(pattern: string): RegExp {
  const tokens = /\[(!?)(.[^\]]*)\]|(?<=^|\/)\*\*+\/|\*\*+|\*|\?|[.\\/]/g;
  const body = pattern.replace(tokens, (token, not?: string, set?: string) => {
    if (set !== undefined) return `(?!/)[${not ? '^' : ''}${set.replaceAll(']', '\\]')}]`;
    if (token.length > 1 && token.endsWith('/')) return '(?:[^]*/)?';
    if (token.startsWith('**')) return '[^]*';
    return { '*': '[^/]*', '?': '[^/]' }[token] ?? `\\${token}`;
  });
  return new RegExp(`^${body}$`);
}

test('agrees with regular expressions on 20,000 random patterns', () => {
  let hits = 0;
  const pattern = fc
    .array(fc.constantFrom('a', 'b', '/', '*', '**', '?', '.', 'ab', '[ab]', '[!a]', '[a-c]', '[!.]', '[]a]', '[-a]'), {
      maxLength: 8,
    })
    .map((p) => p.join(''));
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', '/', '.', 'ab', ']', '-'), { maxLength: 9 })
    .map((p) => p.join(''));
  fc.assert(
    fc.property(pattern, text, (p, t) => {
      const expected = regexOf(p).test(t);
      if (expected) hits++;
      expect(matches(p, t), `${p} on ${t}`).toBe(expected);
    }),
    { numRuns: 20_000 },
  );
  expect(hits).toBeGreaterThan(500);
});

test('a hostile pattern ends', () => {
  expect(compileGlob('['.repeat(300_000)).literals).toHaveLength(1);
  const text = `${'a'.repeat(4000)}/`;
  expect(matches(`${'*a'.repeat(50)}b`, text)).toBe(false);
  expect(matches(`${'**a'.repeat(50)}b`, text)).toBe(false);
  expect(matches(`${'**/*a'.repeat(50)}b`, text)).toBe(false);
});
