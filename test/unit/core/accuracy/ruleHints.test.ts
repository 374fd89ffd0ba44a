import { expect, test } from 'vitest';
import { type AccuracyFix, ruleHints } from '../../../../src/core/accuracy/accuracyReport.ts';

const fix = {
  error: 0.0016,
  without: [
    { selector: '/norm/Pow', nodes: ['3'], error: null },
    { selector: '/layers.*/Pow', nodes: ['4', '5'], error: 0.383 },
    { selector: '"a name"', nodes: ['6'], error: 0.02 },
  ],
} as AccuracyFix;

test('a rule of the fix has the error with and without it, at its end', () => {
  const text = 'model ./m.onnx\nbase fp16\n\n  /norm/Pow   fp32 # keep\n/layers.*/Pow fp32\n"a name" fp32\n';
  expect(ruleHints(text, { fix })).toEqual([
    { line: 3, column: 18, label: 'error 0.0016, without: not finite' },
    { line: 4, column: 18, label: 'error 0.0016, without: 0.38' },
    { line: 5, column: 13, label: 'error 0.0016, without: 0.02' },
  ]);
});

test('other rules, other types, lines with mistakes and comments that give the error have none', () => {
  const text =
    '/norm/Pow fp16\n/norm/Pow, /x fp32\n/norm/P* fp32\n/norm/Pow fp32 -> what\n/layers.*/Pow fp32  # without: 0.38\n';
  expect(ruleHints(text, { fix })).toEqual([]);
  expect(ruleHints('/norm/Pow fp32\n', { fix: null })).toEqual([]);
});
