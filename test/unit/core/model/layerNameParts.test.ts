import { expect, it } from 'vitest';
import {
  isEngineLayerName,
  isNumberedKernel,
  isProductFactor,
  kernelRegion,
  profileOf,
  reformattedFor,
  withoutKernelNumber,
  withoutKernelPlace,
  withoutMyelinNumbers,
  withoutProfile,
} from '../../../../src/core/network/layerName.ts';

it('profile and place are read at the end of a name only', () => {
  expect(['conv', 'conv [profile 1]', '__myl_Add [profile 2]_myl3_14', 'a [profile 1] b'].map(profileOf)).toEqual([
    0, 1, 2, 0,
  ]);
  expect(withoutProfile('a [profile 1] b [profile 2]')).toBe('a [profile 1] b');
  expect(['__myl_Add_myl3_14', 'x_myl2', 'x_myl', 'x_myl2_1 b'].map(kernelRegion)).toEqual([
    3,
    2,
    undefined,
    undefined,
  ]);
  expect(withoutKernelPlace('__myl_Add_myl3_14')).toBe('__myl_Add');
  expect(withoutKernelNumber('__myl_Add_myl3_14')).toBe('__myl_Add_myl3');
  expect(
    ['__mye141996_0_myl2_0', '__myl_AddMul_myl0_14', '__myl_AddMul_vec', 'cast_hvar^65561i64_myl1_30'].map(
      withoutMyelinNumbers,
    ),
  ).toEqual(['__mye', '__myl_AddMul', '__myl_AddMul_vec', 'cast_hvari64']);
  expect(isNumberedKernel('x_myl2')).toBe(false);
});

it('engine layers, reformats and factors are told from nodes of a model', () => {
  expect(
    ['Reformatting CopyNode for Input Tensor 0', '__mye1', 'x_myl0_1', '/conv/Conv'].map(isEngineLayerName),
  ).toEqual([true, true, true, false]);
  expect(reformattedFor('Reformatted Input Tensor 0 to {ForeignNode[a...b]} [profile 1]')).toBe(
    '{ForeignNode[a...b]} [profile 1]',
  );
  expect(reformattedFor('Reformatted Input Tensor 0 to a')).toBeUndefined();
  expect(['x_alpha', 'x_beta_myl2', 'alphabet'].map(isProductFactor)).toEqual([true, true, false]);
});
