import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatOverrides, readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';

test('types in one column a block, short type names, comments kept', () => {
  const text = [
    'model ./bert.onnx',
    'base    FP16   # everything else',
    '',
    '# attention',
    '  **/attn/Softmax,op:Softmax   float32',
    'a#b half->float , bfloat16 #why',
    '',
    'x  int8   ',
    'broken   line  here',
  ].join('\n');
  // "FP16" is no word of `base`: that line is left as it is.
  expect(formatOverrides(text).split('\n')).toEqual([
    'model  ./bert.onnx',
    'base    FP16   # everything else',
    '',
    '# attention',
    '**/attn/Softmax, op:Softmax  fp32',
    '"a#b"                        fp16 -> fp32, bf16  #why',
    '',
    'x  int8',
    'broken   line  here',
  ]);
});

test('one very long name does not push the column away', () => {
  const long = `/${'x'.repeat(80)}`;
  expect(formatOverrides(`a fp32\n${long} fp16\nbcd fp32\n`)).toBe(`a    fp32\n${long}  fp16\nbcd  fp32\n`);
});

test('columns are what an editor shows; a byte order mark stays', () => {
  expect(formatOverrides('中文 fp32\nabcd fp16')).toBe('中文  fp32\nabcd  fp16');
  expect(formatOverrides('e\u0301e fp32\nab fp16')).toBe('e\u0301e  fp32\nab  fp16');
  expect(formatOverrides('😀 fp32\nab fp16')).toBe('😀  fp32\nab  fp16');
  for (const text of ['\ufeffbase fp16', '\ufeffoops']) {
    const once = formatOverrides(text);
    expect(once).toBe(text.replace(' ', '  '));
    expect(formatOverrides(once)).toBe(once);
  }
});

test('a block of 200,000 rules', () => {
  const text = Array.from({ length: 200_000 }, (_, i) => `/l.${i} half`).join('\n');
  expect(formatOverrides(text).endsWith('/l.199999  fp16')).toBe(true);
});

test('keeps line ends, is idempotent and changes no meaning', () => {
  expect(formatOverrides('a  fp32\r\nb fp16\rc fp32\n')).toBe('a  fp32\r\nb  fp16\rc  fp32\n');
  const line = fc.oneof(
    fc.constantFrom(
      'a fp32',
      '  b,c  half ->fp32 # x',
      '',
      '# c',
      'base fp16',
      'model "a b.onnx"',
      'oops',
      '**/x , not:y fp16',
      '"q, r" bf16',
      'op:A  fp32->fp16,fp32',
    ),
    fc
      .array(
        fc.constantFrom(
          'a',
          ' ',
          '  ',
          '\t',
          ',',
          '->',
          ' -> ',
          '"',
          '"q, r"',
          "'",
          '\\',
          '*',
          '**/',
          '[',
          ']',
          '::',
          '\u2028',
          '#',
          '# c',
          'fp32',
          ' fp16',
          ' half',
          'not:',
          'op:',
          'group:',
          'base ',
          'model ',
          'require obey',
          '😀',
        ),
        { maxLength: 9 },
      )
      .map((pieces) => pieces.join('')),
  );
  const meaning = (text: string) => {
    const { rules, model, base, require, problems } = readOverrides(text);
    return [
      problems.map(({ line: at, code }) => [at, code]),
      model?.value,
      base?.value,
      require?.value,
      rules.map(({ selectors, type, outputs, usable }) => [
        usable,
        selectors.map(({ kind, text: t, negated, domain }) => [kind, t, negated, domain]),
        type?.type,
        outputs.map((o) => o.type),
      ]),
    ];
  };
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.constantFrom('\n', '\r\n'), (lines, end) => {
      const text = lines.join(end);
      const once = formatOverrides(text);
      expect(formatOverrides(once)).toBe(once);
      expect(meaning(once)).toEqual(meaning(text));
      expect(once.split(end)).toHaveLength(lines.length || 1);
    }),
    { numRuns: 5000 },
  );
  expect(formatOverrides('a,#* fp16')).toBe('a,#*  fp16');
});
