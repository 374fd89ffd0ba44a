import { accuracyEvidence } from '../../../../src/kernel/simulation/nodeEvidence.ts';
import { exactFigure } from '../../../../src/kernel/simulation/simulated.ts';
import { expect, test } from 'vitest';
import {
  clamped,
  clampEnds,
  constantFault,
  type ReadConstant,
} from '../../../../src/features/accuracy/internal/constantFaults.ts';

const constant = (type: ReadConstant['type'] = 'float16'): ReadConstant => ({
  tensor: 'c',
  type,
  nodes: ['0'],
  stored: 0,
});
const faultOf = (values: number[], type?: ReadConstant['type']) => constantFault(values, constant(type));

test('what a type makes infinity or 0 of; rounding and tiny weights are no fault', () => {
  expect(faultOf([101_325])).toMatchObject({ kind: 'overflow', value: 101_325, elements: 1, of: 1 });
  expect(faultOf([0, -1e9, 3, 7e4])).toMatchObject({ kind: 'overflow', value: -1e9, elements: 2, of: 4 });
  // 65,519 is rounded to the largest number of FP16.
  expect([faultOf([65_519]), faultOf([65_520])?.kind]).toEqual([null, 'overflow']);
  expect(faultOf([1e-12])).toMatchObject({ kind: 'underflow', value: 1e-12 });
  expect([faultOf([2 ** -25])?.kind, faultOf([1.1 * 2 ** -25])]).toEqual(['underflow', null]);
  expect(faultOf([1, 2, 1e-9])).toBeNull();
  // What is infinite in the model is meant so.
  expect([faultOf([-Infinity, 0]), faultOf([NaN]), faultOf([])]).toEqual([null, null, null]);
  expect([faultOf([-1e9], 'bfloat16'), faultOf([1e-12], 'bfloat16')]).toEqual([null, null]);
});

test('what does not fit moves to an end; all else stays', () => {
  const mask = faultOf([0, -1e9, 1])!;
  expect(clampEnds(mask)).toEqual([65_504, 30_000]);
  expect([...clamped([0, -1e9, 1], mask, 65_504)]).toEqual([0, -65_504, 1]);
  const floor = faultOf([1e-10])!;
  expect([...clamped([1e-10, 0, -1e-12, 3], floor, 2 ** -24)]).toEqual([2 ** -24, 0, -(2 ** -24), 3]);
});

test('the constant is the evidence', () => {
  const { kind, value, elements, of } = faultOf([101_325])!;
  const node = { id: '0', type: 'float16', localError: null, propagatedError: null, max: 1e5, overflow: true } as const;
  const more = { underflow: false, role: 'root', amplification: null, alone: null } as const;
  expect(
    accuracyEvidence({ ...node, ...more, constants: [{ tensor: 'pressure', kind, value, elements, of }] }, false),
  ).toBe('reads pressure = 101,325, which FP16 makes infinity');
  const input = {
    tensor: 'x',
    scale: 0.01,
    scales: 1,
    type: 'int8',
    zeroPoint: 0,
    largest: 25,
    clipped: 0.12,
  } as const;
  expect(accuracyEvidence({ ...node, ...more, type: 'int8', quantized: [{ ...input, spread: null }] }, false)).toBe(
    'reads x: scale 0.01 (up to 1.27, zero point 0), largest value 25, 12 % clipped',
  );
  expect([-1e9, 9.8e7, 1e-10, 0.5, -101_325, 2 ** -24].map(exactFigure)).toEqual([
    '-1e+9',
    '9.8e+7',
    '1e-10',
    '0.5',
    '-101,325',
    '5.96046e-8',
  ]);
});
