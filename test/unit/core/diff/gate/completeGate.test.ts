import { expect, test } from 'vitest';
import { completeGate, gatePath, hoverGate } from '../../../../../src/core/gate/readGate.ts';

/** `|` is where the cursor is. */
const at = (text: string): [string, number] => [text.replace('|', ''), text.indexOf('|')];
const words = (text: string) => completeGate(...at(text)).map(({ label }) => label);

test.each([
  ['|', [], false],
  ['rules:\n  ke|', ['rules'], false],
  ['rules:\n  time: { total: +3%, opt|', ['rules', 'time'], false],
  ["rules:\n  precision: { 'op:Softmax': f|", ['rules', 'precision', 'op:Softmax'], true],
  ['rules:\n  reformats:\n    max: 3\n    mi|', ['rules', 'reformats'], false],
  ['rules:\n  attention: |', ['rules', 'attention'], true],
  ['allow: [ { rule: ti|', ['allow', 'rule'], true],
  ['allow:\n  - rule: x\n    un|', ['allow'], false],
  ['allow:\n  - ru|', ['allow'], false],
  ['rules:\n  kernels: { max: 3 }\n  |', ['rules'], false],
])('the path of %j', (text, keys, value) => {
  expect(gatePath(...at(text))).toEqual({ keys, value });
});

test('words by place', () => {
  expect(words('|')).toEqual(['model', 'baseline', 'rules', 'allow']);
  expect(words('rules:\n  |')).toContain('foreignNodes');
  expect(words('rules:\n  reformats: { |')).toEqual(['max', 'min', 'microseconds', 'optional']);
  expect(words('rules:\n  attention: |')).toEqual(['fused']);
  expect(words("rules:\n  precision: { 'x': |")).toContain('bf16');
  expect(words('rules:\n  time: { optional: |')).toEqual(['true', 'false']);
  expect(words('allow:\n  - |')).toEqual(['rule', 'until', 'why']);
  expect(words('rules:\n  nonsense: { |')).toEqual([]);
});

test('what a word means', () => {
  expect(hoverGate(...at('rules:\n  kern|els: 3'))?.about).toMatch(/^Number of kernels/);
  expect(hoverGate(...at('rules:\n  reformats: { micro|seconds: 3 }'))?.about).toMatch(/microseconds/);
  expect(hoverGate(...at('rules:\n  kernels: 3|3'))).toBeNull();
});
