import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readModel } from '../../../../src/core/formats/onnx/readModel.ts';
import { fittingModels } from '../../../../src/core/tactics/replayFile.ts';
import { readReplay } from '../../../../src/core/tactics/readReplay.ts';
import { bytesOf } from '../../../../src/core/base/problem.ts';
import { captureText, modelPath } from '../../../support/fixtures.ts';

const candidate = async (model: string) => {
  const { value } = await readModel(bytesOf(readFileSync(modelPath(model))));
  return { model, nodes: value!.nodes };
};
const layersOf = (capture: string) =>
  readReplay(captureText(`${capture}/replay.json`)!).value!.entries.map(({ layer }) => layer);

it.each([
  ['vit_tiny', 'tensorrt-10.6.0/vit_tiny.poly_replay'],
  ['vit_tiny', 'tensorrt-8.6.1/vit_tiny.poly_replay'],
  ['fp16_overflow', 'tensorrt-8.6.1/fp16_overflow.poly_replay'],
])('finds %s among others by the layers of its replay', async (model, capture) => {
  const all = await Promise.all(['vit_tiny', 'fusion_zoo', 'resnet18', 'loop_if', 'fp16_overflow'].map(candidate));
  const layers = layersOf(capture);
  expect(fittingModels(layers, all)).toEqual([model]);
  expect(
    fittingModels(
      layers,
      all.filter((one) => one.model !== model),
    ),
  ).toEqual([]);
  // The same network twice: somebody has to choose.
  expect(fittingModels(layers, [...all, { ...(await candidate(model)), model: 'copy' }])).toEqual([model, 'copy']);
});

it('fits nothing to no layers', async () => {
  expect(fittingModels([], [await candidate('resnet18')])).toEqual([]);
});
