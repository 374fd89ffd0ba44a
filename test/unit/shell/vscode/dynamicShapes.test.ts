import { expect, it } from 'vitest';
import { openSizes, readSizeRange, toProfile } from '../../../../src/kernel/vscode/builds/dynamicShapes.ts';
import { ParsedFiles } from '../../../../src/kernel/node/files/parsedFiles.ts';
import { toGraphData } from '../../../../src/kernel/picture/graph/viewData.ts';

const tensor = (name: string, shape: (number | string | null)[] | null, initializer = false) => ({
  name,
  type: 'float',
  shape,
  initializer,
});

it('asks for the open sizes of a real model, each name once', async () => {
  const { value } = await new ParsedFiles().model('test/fixtures/models/bert_base.onnx');
  const { inputs } = toGraphData(value);
  const sizes = openSizes(inputs);
  expect(sizes.map(({ name, places }) => [name, places.length])).toEqual([
    ['batch', inputs.length],
    ['seq', inputs.length],
  ]);
  const profile = toProfile(inputs, sizes, [
    [1, 4, 8],
    [16, 128, 512],
  ]);
  expect(Object.keys(profile)).toEqual(inputs.map(({ name }) => name));
  for (const shapes of Object.values(profile)) expect(shapes).toEqual({ min: '1x16', opt: '4x128', max: '8x512' });
});

it('names sizes that the model does not name by their place, and leaves fixed inputs and weights alone', () => {
  const inputs = [tensor('image', [null, 3, 224, -1]), tensor('scale', []), tensor('w', ['n', 3], true)];
  const sizes = openSizes(inputs);
  expect(sizes.map(({ name }) => name)).toEqual(['image[0]', 'image[3]']);
  expect(
    toProfile(inputs, sizes, [
      [1, 2, 4],
      [8, 8, 8],
    ]),
  ).toEqual({
    image: { min: '1x3x224x8', opt: '2x3x224x8', max: '4x3x224x8' },
  });
});

it.each([
  ['1 8 32', [1, 8, 32]],
  [' 4 ', [4, 4, 4]],
  ['1,2,3', [1, 2, 3]],
  ['8 1 32', undefined],
  ['1 8', undefined],
  ['1 2 3 4', undefined],
  ['-1', undefined],
  ['many', undefined],
  ['', undefined],
] as const)('reads %j', (text, range) => {
  expect(readSizeRange(text)).toEqual(range);
});
