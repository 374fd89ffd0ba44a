import { expect, it } from 'vitest';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import { engineLayer, layerInfo } from './buildEngine.ts';
import { buildModel } from './buildModel.ts';

it('a build that is known by its hash is of this model, whatever its names are', () => {
  const model = buildModel({
    inputs: ['x'],
    outputs: ['y'],
    nodes: [['a\nb', 'Relu', ['x'], ['y']]],
  });
  const layers = layerInfo([engineLayer('other', { metadata: '[ONNX Layer: other]' })]);
  const codes = (more: object) =>
    createReport({ model, modelFile: 'm.onnx', layerInfo: layers, ...more }).problems.map(({ code }) => code);
  expect(codes({})).toContain('other-model');
  expect(codes({ sameModel: true })).not.toContain('other-model');
});
