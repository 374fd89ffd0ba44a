import { expect, test } from 'vitest';
import type { Diagnosis } from '../../../../src/core/diagnose/diagnosis.ts';
import type { OnnxModel } from '../../../../src/core/formats/onnx/onnxModel.ts';
import { failsAlike, failureOf } from '../../../../src/core/surgery/reduceFailure.ts';
import { partProfiles } from '../../../../src/core/surgery/splitModel.ts';

const model = {
  nodes: [
    { id: '0', op: 'Conv' },
    { id: '1', op: 'Relu' },
  ],
} as OnnxModel;
const said = (more: Partial<Diagnosis>): Diagnosis => ({
  code: 'shape-mismatch',
  rule: null,
  sure: 'stated',
  evidence: '',
  follows: [],
  severity: 'error',
  message: '',
  advice: '',
  line: 1,
  nodes: ['0'],
  layer: null,
  ...more,
});

test('the same code at the same operator, among all errors', () => {
  const failure = failureOf(said({}), model);
  expect(failsAlike(failure, [said({ code: 'unsupported-op' }), said({ layer: 'other' })], model)).toBe(true);
  expect(failsAlike(failure, [said({ nodes: ['1'] })], model)).toBe(false);
  expect(failsAlike(failure, [said({ code: 'type-mismatch' })], model)).toBe(false);
  expect(failsAlike(failure, [said({ severity: 'warning' })], model)).toBe(false);
  expect(failsAlike(failure, [], model)).toBe(false);
});

test('a ForeignNode may have other nodes, and a text of TensorRT other names and numbers', () => {
  const foreign = failureOf(said({ code: 'no-implementation', layer: '{ForeignNode[a...b]}' }), model);
  expect(failsAlike(foreign, [said({ code: 'no-implementation', nodes: ['1'], layer: 'relu' })], model)).toBe(true);
  const text = (message: string) => said({ code: 'internal', nodes: [], message });
  const internal = failureOf(text('Assertion nbDims == 3 failed in "a/b" [x.cpp:12]'), model);
  expect(failsAlike(internal, [text('Assertion nbDims == 5 failed in "c" [x.cpp:99]')], model)).toBe(true);
  expect(failsAlike(internal, [text('Assertion isConv failed in "c"')], model)).toBe(false);
});

test('profiles of a part: shared inputs, symbolic dimensions, sizes that nobody knows', () => {
  const profile = { x: { min: '1x8x3', opt: '4x8x3', max: '8x8x3' } };
  const inputs = [{ name: 'x', type: 'float' as const, shape: ['n', 8, null] }];
  const float = 'float' as const;
  const border = [
    { name: 'x', type: float, shape: ['n', 8, null] },
    { name: 'inner', type: float, shape: [3, 'n', 'other', null] },
    { name: 'fixed', type: float, shape: [3] },
    { name: 'rankless', type: float, shape: null },
  ];
  expect(partProfiles([profile], inputs, border)).toEqual([
    { ...profile, inner: { min: '3x1x1x1', opt: '3x4x1x1', max: '3x8x1x1' } },
  ]);
});
