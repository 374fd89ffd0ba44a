import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkOverrides } from '../../../../src/features/precision/checkOverrides.ts';
import { NodeIndex } from '../../../../src/kernel/rules/resolveOverrides.ts';
import { readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';
import { targetOf } from '../../../../src/kernel/rules/buildFacts.ts';
import { captured, transformer } from './overrideFixtures.ts';

const lines = [
  'model ./a.onnx',
  'base fp16',
  'base bf16',
  'require obey',
  '# a comment',
  '',
  '/layers.1/attn/Softmax fp32',
  '/layers.1/attn/Softmax fp16 # later',
  '**/Softmax, not:/layers.2/** fp32 -> fp32',
  'op:LayerNormalization fp32',
  '/layers.1* fp16',
  '/layers.1/attn/Sofmax fp23',
  'group:x fp32',
  '"unclosed fp32',
  'twin, twin fp32',
];

/** Texts as they follow each other while a person types. */
const session = fc.array(fc.array(fc.constantFrom(...lines), { maxLength: 8 }), { minLength: 2, maxLength: 6 });

describe('an override file while it is typed', () => {
  test('is read and checked as if it were read for the first time', async () => {
    const target = targetOf('tensorrt', '10.6.0', null);
    const { index: capturedIndex, build } = await captured('tensorrt-10.6.0/vit_tiny.prec_obey');
    const typed = new NodeIndex(transformer);
    fc.assert(
      fc.property(session, fc.boolean(), (texts, real) => {
        let file = readOverrides('');
        for (const text of texts.map((each) => each.join('\n'))) {
          file = readOverrides(text, file);
          expect(file).toEqual(readOverrides(text));
          const index = real ? capturedIndex : typed;
          const fresh = new NodeIndex(index.facts);
          const now = checkOverrides(file, index, real ? build : null, target);
          expect(now).toEqual(checkOverrides(readOverrides(text), fresh, real ? build : null, target));
        }
      }),
      { numRuns: 150 },
    );
  });

  test('is read as if for the first time, whatever is typed', () => {
    const piece = fc.constantFrom(
      'a',
      ' ',
      ',',
      '->',
      '"',
      '#',
      'fp32',
      ' fp16',
      'not:',
      'op:',
      '[',
      '*',
      'base ',
      '\n',
    );
    const text = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(fc.array(text, { minLength: 2, maxLength: 5 }), (texts) => {
        let file = readOverrides('');
        for (const each of texts) {
          file = readOverrides(each, file);
          expect(file).toEqual(readOverrides(each));
        }
      }),
      { numRuns: 1500 },
    );
  });

  test('lines that stand as they stood are the same rules; those that moved are read again', () => {
    const before = readOverrides('a fp32\nb fp32\nc fp32');
    const after = readOverrides('a fp32\nB fp32\nc fp32\nd fp32', before);
    expect(after.rules.map((rule, i) => rule === before.rules[i])).toEqual([true, false, true, false]);
    const moved = readOverrides('\na fp32\nb fp32\nc fp32', before);
    expect(moved.rules.map(({ range }) => range.line)).toEqual([2, 3, 4]);
  });
});
