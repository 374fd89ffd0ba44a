import { expect, test } from 'vitest';
import { randomInput, randomWarning } from '../../../../src/core/accuracy/accuracyReport.ts';
import type { OnnxModel, OnnxTensor } from '../../../../src/core/formats/onnx/onnxModel.ts';

const table: OnnxTensor = { name: 'table', type: 'float', shape: [30522, 8], data: null };
const lookup = {
  id: '0',
  name: '',
  op: 'Gather',
  domain: '',
  inputs: ['table', 'input_ids'],
  outputs: ['x'],
  attributes: [],
  subgraphs: [],
  metadata: [],
};
const graph = { name: '', path: '', nodes: [lookup], inputs: [], outputs: [], values: [], initializers: [table] };
const model = { graph } as unknown as OnnxModel;
const guess = (name: string, type: string, shape: (number | string | null)[]) =>
  randomInput({ name, type, shape }, model, new Map());

test('token ids are within the vocabulary, masks are ones, positions count', () => {
  expect(guess('input_ids', 'int64', ['batch', 'seq_len'])).toEqual({ shape: [1, 16], values: [0, 30522] });
  expect(guess('attention_mask', 'int64', [1, 8])).toEqual({ shape: [1, 8], values: 'ones' });
  expect(guess('position_ids', 'int64', [1, null])).toEqual({ shape: [1, 16], values: 'count' });
  expect(guess('token_type_ids', 'int64', [1, 8])).toEqual({ shape: [1, 8], values: 'zeros' });
  expect(guess('image', 'float', ['N', 3, 'height', 'width'])).toEqual({ shape: [1, 3, 64, 64], values: 'normal' });
  expect(guess('past_key', 'float', ['batch', 2, 'past_len', 4]).shape).toEqual([1, 2, 0, 4]);
});

test('given shapes win', () => {
  const given = new Map([['x', [2, 5]]]);
  expect(randomInput({ name: 'x', type: 'float', shape: [null, null] }, model, given).shape).toEqual([2, 5]);
});

test('random inputs are named in a warning; given ones are not', () => {
  expect(randomWarning([{ name: 'x', source: 'file' }])).toBeNull();
  expect(randomWarning([{ name: 'x', source: 'random' }])).toContain('random inputs may invent or miss faults (x)');
});
