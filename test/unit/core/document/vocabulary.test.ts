import { expect, it } from 'vitest';
import { exactRelease, releaseName, shapeRange, shapeText, typeName } from '../../../../src/core/base/text.ts';

it('writes products, types and shapes in one way', () => {
  expect(releaseName({ product: 'tensorrt-rtx', version: '1.7.1' })).toBe('TensorRT-RTX 1.7.1');
  expect(releaseName({ product: null, version: null })).toBe('TensorRT');
  expect(exactRelease({ product: 'tensorrt', version: null })).toBe('TensorRT (unknown version)');
  expect(['float', 'Half', 'fp16', 'BFloat16', 'float8e4m3fn', 'Int8', 'seq(float)'].map(typeName)).toEqual([
    'FP32',
    'FP16',
    'FP16',
    'BF16',
    'FP8',
    'INT8',
    'seq(float)',
  ]);
  expect(shapeText([])).toBe('scalar');
  expect(shapeText([1, 'batch', null, -1, 224])).toBe('1×batch×?×?×224');
  expect(shapeRange({ min: [1, 8], opt: [4, 64], max: [8, 256] })).toBe('1×8 to 8×256, optimum 4×64');
  expect(shapeRange({ min: [1], opt: [8], max: [8] })).toBe('1 to 8');
  expect(shapeRange({ min: [1], opt: [1], max: [1] })).toBe('1');
});
