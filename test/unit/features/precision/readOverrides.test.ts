import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Rule, writeName } from '../../../../src/kernel/rules/overrideFile.ts';
import { readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';
import { applyEdits, codes } from './overrideFixtures.ts';

const rule = (text: string): Rule => {
  const { rules, problems } = readOverrides(text);
  expect(problems).toEqual([]);
  expect(rules).toHaveLength(1);
  return rules[0]!;
};

describe('reading override files', () => {
  test('the example of the grammar', () => {
    const file = readOverrides(
      'model  ./bert.onnx\nbase   fp16\n# softmax in fp32 everywhere\n**/attn/Softmax            fp32\n/layers.0/norm*/**         fp32 -> fp32      # compute -> output\nop:LayerNormalization      fp32\n',
    );
    expect(file.problems).toEqual([]);
    expect(file.model?.value).toBe('./bert.onnx');
    expect(file.base?.value).toBe('fp16');
    expect(
      file.rules.map(({ selectors, type, outputs }) => [
        selectors[0]?.kind,
        selectors[0]?.text,
        type?.type,
        outputs.map((o) => o.type),
      ]),
    ).toEqual([
      ['glob', '**/attn/Softmax', 'fp32', []],
      ['glob', '/layers.0/norm*/**', 'fp32', ['fp32']],
      ['op', 'LayerNormalization', 'fp32', []],
    ]);
    expect(file.lines[4]?.comment?.text).toBe('# compute -> output');
    expect(file.lines).toHaveLength(7);
  });

  test('selectors with ranges', () => {
    const { selectors, outputs } = rule(
      'a, "b, c", op:com.microsoft::Gelu, group:{ForeignNode[a...b]}, not:op:Cast half->float32,BF16',
    );
    expect(
      selectors.map(({ kind, text, domain, negated, quoted }) => ({ kind, text, domain, negated, quoted })),
    ).toEqual([
      { kind: 'name', text: 'a', domain: null, negated: false, quoted: false },
      { kind: 'name', text: 'b, c', domain: null, negated: false, quoted: true },
      { kind: 'op', text: 'Gelu', domain: 'com.microsoft', negated: false, quoted: false },
      { kind: 'group', text: '{ForeignNode[a...b]}', domain: null, negated: false, quoted: false },
      { kind: 'op', text: 'Cast', domain: null, negated: true, quoted: false },
    ]);
    expect(outputs.map(({ type }) => type)).toEqual(['fp32', 'bf16']);
    expect(selectors[1]?.range).toEqual({ line: 1, column: 4, endColumn: 10 });
    expect(selectors[4]?.range).toEqual({ line: 1, column: 64, endColumn: 75 });
    expect(selectors[4]?.textRange).toEqual({ line: 1, column: 71, endColumn: 75 });
  });

  test('quoted names are never patterns, and carry JSON escapes', () => {
    expect(rule('"a*" fp32').selectors[0]).toMatchObject({ kind: 'name', text: 'a*' });
    expect(rule(String.raw`"tab\t\"x\\ \u4e2d" fp32`).selectors[0]?.text).toBe('tab\t"x\\ 中');
    expect(rule('group:"{ForeignNode[a + b...c]}" fp32').selectors[0]).toMatchObject({
      kind: 'group',
      text: '{ForeignNode[a + b...c]}',
    });
    expect(rule('"model" fp16').selectors[0]?.text).toBe('model');
  });

  test('a # is a comment only at the start and after a blank', () => {
    expect(rule('a#b fp32 #c # d').selectors[0]?.text).toBe('a#b');
    expect(readOverrides('#a\n  # b\n').problems).toEqual([]);
  });

  test.each([
    ['/a fp33', '1:4-8 unknown-type'],
    ['/a', '1:1-3 missing-type'],
    ['/a ->', '1:1-4 missing-type,1:4-6 missing-type'],
    ['/a fp32 ->', '1:9-11 missing-type'],
    ['/a fp32 fp16', '1:9-13 unexpected-text'],
    ['a, fp32', '1:4-8 missing-type'],
    [', a fp32', '1:1-2 missing-selector'],
    ['"abc fp32', '1:1-10 unclosed-quote'],
    [String.raw`"a\x" fp32`, '1:1-6 bad-escape'],
    ['a"b fp32', '1:1-4 unquoted-name'],
    ['A + B fp32', '1:1-6 unquoted-name'],
    ['not:a fp32', '1:1-6 not-without-selector'],
    ['a, not:not:b fp32', '1:4-13 double-not'],
    ['op: fp32', '1:1-4 empty-selector'],
    ['base fp8', '1:6-9 bad-directive'],
    ['require', '1:1-8 bad-directive'],
    ['model', '1:1-6 bad-directive'],
  ])('%s', (text, expected) => {
    const { problems, rules } = readOverrides(`${text}\n/b fp32`);
    expect(codes(problems).join()).toBe(expected);
    expect(rules.filter(({ usable }) => usable).map(({ selectors }) => selectors[0]?.text)).toEqual(['/b']);
  });

  test('a second directive is an error that points at the first', () => {
    const { problems, base } = readOverrides('base fp16\nbase bf16');
    expect(codes(problems)).toEqual(['2:1-10 duplicate-directive']);
    expect(problems[0]?.related[0]?.range.line).toBe(1);
    expect(base?.value).toBe('fp16');
  });

  test.each([
    ['/a fp33', '/a fp32'],
    ['a, fp32', 'a fp32'],
    ['A + B fp32', '"A + B" fp32'],
    ['PWN(PWN(/a), PWN(/b)), c fp32', '"PWN(PWN(/a), PWN(/b))", c fp32'],
    ['a"b fp32', String.raw`"a\"b" fp32`],
    ['not:a fp32', '**, not:a fp32'],
    ['a, not:not:b fp32', 'a, not:b fp32'],
    ['base fp61', 'base fp16'],
    ['base half', 'base fp16'],
    ['base FP16', 'base fp16'],
    ['base fp32', 'base keep'],
    ['base', 'base keep'],
    ['require', 'require obey'],
    ['base fp16\nbase bf16', 'base fp16\n'],
    ['/a', '/a fp32'],
    ['/a -> fp16', '/a fp32 -> fp16'],
    ['/a fp32 ->', '/a fp32 -> fp32'],
    ['/a fp32 -> fp32,', '/a fp32 -> fp32, fp32'],
    ['/a fp32 fp16', '/a fp32 -> fp16'],
    ['/a fp32 because', '/a fp32 # because'],
    [' fp16  "a b" # c', ' "a b" fp16 # c'],
    ['half op:Softmax', 'op:Softmax half'],
    ['modle ./net.onnx', 'model ./net.onnx'],
    ['/a fp32, b fp16', '/a fp32 # , b fp16'],
    ['/a:fp32', '/a fp32'],
    ['**:fp16', '** fp16'],
    [', a fp32', ' a fp32'],
    ['a,, b fp32', 'a, b fp32'],
    ['/a, fp32,', '/a fp32'],
    ['"a b fp32 -> fp16', '"a b" fp32 -> fp16'],
    ['"a b half # c', '"a b" half # c'],
    ['"a b', '"a b" fp32'],
    [String.raw`"a\x" fp32`, String.raw`"a\\x" fp32`],
    ['"a\u0001" fp32', String.raw`"a\u0001" fp32`],
    [String.raw`model "C:\models\bert.onnx"`, String.raw`model "C:\\models\\bert.onnx"`],
    ['op: fp32', '# op: fp32'],
    ['group: fp32', '# group: fp32'],
    ['model', '# model'],
    ['  -> fp32', '  # -> fp32'],
  ])('"%s": the first ways out lead to "%s"', (text, mended) => {
    let now = text;
    for (let step = 0; step < 4 && readOverrides(now).problems.length > 0; step++) {
      const { problems } = readOverrides(now);
      expect(problems.every(({ fixes }) => fixes.length > 0)).toBe(true);
      now = applyEdits(now, problems[0]!.fixes[0]!.edits);
    }
    expect(readOverrides(now).problems).toEqual([]);
    expect(now).toBe(mended);
  });

  test('of two directives the one that can be read counts', () => {
    const { base, problems } = readOverrides('base fp8\nbase bf16');
    expect(base?.value).toBe('bf16');
    expect(codes(problems)).toEqual(['1:6-9 bad-directive']);
  });

  test('every name comes back as it was written', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (name) => {
        expect(rule(`${writeName(name)} fp32`).selectors[0]).toMatchObject({ kind: 'name', text: name });
      }),
      { numRuns: 2000 },
    );
    for (const name of [
      'op:a',
      'not:a',
      'group:a',
      'model',
      'base',
      'a->b',
      '->',
      '#a',
      "it's",
      'a[0]',
      'a?',
      '\u2028',
    ]) {
      expect(rule(`${writeName(name)} fp32`).selectors[0]).toMatchObject({ kind: 'name', text: name });
    }
  });

  test('a very long line is read in one go', () => {
    const brackets = '['.repeat(300_000);
    expect(rule(`${brackets} fp32`).selectors[0]?.text).toBe(brackets);
    expect(rule(`${'[a,b]'.repeat(50_000)} fp32`).selectors).toHaveLength(1);
  });

  test('any text is read, with ranges inside its lines', () => {
    const piece = fc.constantFrom(
      'a',
      ' ',
      ',',
      '->',
      '"',
      '#',
      'fp32',
      'not:',
      'op:',
      '\n',
      '\r\n',
      '[',
      ']',
      '*',
      'base',
      'model',
      '\\',
      '\t',
      '::',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(piece, { maxLength: 20 }).map((p) => p.join('')),
          fc.string({ unit: 'binary' }),
        ),
        (text) => {
          const lines = text.split(/\r\n|\n|\r/);
          const file = readOverrides(text);
          expect(file.lines).toHaveLength(lines.length);
          for (const { line, column, endColumn } of file.problems) {
            expect(column).toBeGreaterThanOrEqual(1);
            expect(endColumn).toBeGreaterThanOrEqual(column);
            expect(endColumn).toBeLessThanOrEqual((lines[line - 1] ?? '').length + 1);
          }
        },
      ),
      { numRuns: 3000 },
    );
  });
});
