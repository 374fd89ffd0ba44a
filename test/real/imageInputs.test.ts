// Images as inputs of a model, decoded by Pillow and normalized by image_files.py.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runProcess } from '../../src/kernel/node/tools/runProcess.ts';
import { pillowForTests } from '../support/python.ts';
import { temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();
const drivers = fileURLToPath(new URL('../../src/driver', import.meta.url));

/** The samples of a declaration, as lists; or the message why there are none. `images`: names and pixels, written first. */
async function read(
  declaration: object,
  images: Record<string, number[][] | number[][][]> = {},
): Promise<Record<string, number[][][][]>[] | string> {
  const path = join(folder, 'images.json');
  writeFileSync(path, JSON.stringify(declaration));
  const { python, environment } = await pillowForTests();
  const lines: string[] = [];
  const code = `import json, os, sys
import numpy as np
from PIL import Image
sys.path.insert(0, sys.argv[1])
import tensor_files
for name, pixels in json.loads(sys.argv[3]).items():
    Image.fromarray(np.array(pixels, np.uint8)).save(os.path.join(os.path.dirname(sys.argv[2]), name))
try:
    print(json.dumps([{k: v.tolist() for k, v in one.items()} for one in tensor_files.read_samples(sys.argv[2])]))
except tensor_files.Unfit as error:
    print(json.dumps(str(error)))`;
  const args = ['-B', '-c', code, drivers, path, JSON.stringify(images)];
  const { code: status } = await runProcess({ program: python, args, environment, stdout: (line) => lines.push(line) });
  expect(status).toBe(0);
  return JSON.parse(lines.join('')) as Record<string, number[][][][]>[] | string;
}

test('layout, order of channels and range are as the declaration says', async () => {
  const pixels = [2, 3].map((y) => [10, 20, 30].map((x) => [x + y, x + 100, x * y]));
  const [nchw] = (await read({ images: 'a.png', input: 'x', size: [2, 3], scale: 1 }, { 'a.png': pixels })) as Record<
    string,
    number[][][][]
  >[];
  expect(nchw!['x']![0]).toEqual([0, 1, 2].map((c) => pixels.map((row) => row.map((pixel) => pixel[c]))));
  const declaration = {
    images: ['a.png'],
    size: [2, 3],
    layout: 'NHWC',
    channels: 'BGR',
    mean: [0.1, 0.2, 0.3],
    std: 0.5,
  };
  const [nhwc] = (await read(declaration)) as Record<string, number[][][][]>[];
  for (const [at, mean] of [0.1, 0.2, 0.3].entries())
    expect(nhwc!['']![0]![1]![2]![at]).toBeCloseTo((pixels[1]![2]![2 - at]! / 255 - mean) / 0.5, 5);
});

test('gray and transparent images, another size, and a folder of them', async () => {
  const sizes = { size: [2, 2], scale: 1, channels: 'GRAY' };
  const gray = [
    [0, 100],
    [200, 50],
  ];
  expect(await read({ ...sizes, images: 'gray.png' }, { 'gray.png': gray })).toEqual([{ '': [[gray]] }]);
  // Between pixel centers: the middle of four is their mean, the edges are repeated.
  const [large] = (await read({ ...sizes, size: [4, 4], images: 'gray.png' })) as Record<string, number[][][][]>[];
  expect(large!['']![0]![0]![0]).toEqual([0, 25, 75, 100]);
  expect(await read({ images: 'alpha.png', size: [1, 1], scale: 1 }, { 'alpha.png': [[[9, 8, 7, 0]]] })).toEqual([
    { '': [[[[9]], [[8]], [[7]]]] },
  ]);
  expect(await read({ images: ['alpha.png', 'gray.png'], size: [1, 1], scale: 1 })).toHaveLength(2);
});

test('what cannot be read says what is wrong', async () => {
  writeFileSync(join(folder, 'photo.jpg'), 'no image');
  for (const [declaration, message] of [
    [{ images: 'none.png', size: [1, 1] }, /none\.png: .*No such file/],
    [{ images: 'photo.jpg', size: [1, 1] }, /photo\.jpg: cannot be read as an image/],
    [{ images: 'gray.png' }, /size is \[height, width\]/],
    [{ images: 'gray.png', size: [1, 1], mean: [1, 2] }, /mean is a number, or a list of 3/],
    [{ images: 'gray.png', size: [1, 1], sise: 3 }, /unknown key 'sise'/],
    [{ images: 'gray.png', size: [1, 1], std: 0 }, /no std is 0/],
  ] as const)
    expect(await read(declaration)).toMatch(message);
});
