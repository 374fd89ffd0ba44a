import { expect, test } from 'vitest';
import { parserName } from '../../../../src/core/network/nodeNames.ts';

test.each([
  ['its own name', { name: 'conv', outputs: ['y'] }, 'conv'],
  ['the first output of a node without name', { name: '', outputs: ['y', 'z'] }, 'node_of_y'],
  // TensorRT-RTX 1.7.1 on LSTM(x, W, R) → '', Y_h: "Parsing node: node_of_ [LSTM]".
  ['an unused first output', { name: '', outputs: ['', 'Y_h'] }, 'node_of_'],
  // TensorRT-RTX 1.7.1 on Relu(x) without outputs: "Parsing node:  [Relu]".
  ['no outputs', { name: '', outputs: [] }, ''],
])('%s', (_, node, name) => {
  expect(parserName(node)).toBe(name);
});
