// Images as inputs of a model, decoded and normalized by image_files.py.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { runProcess } from '../../src/kernel/node/tools/runProcess.ts';
import { temporaryFolder } from '../support/rtx.ts';
import { runtimeForTests } from '../support/runtime.ts';

const folder = temporaryFolder();
const drivers = fileURLToPath(new URL('../../src/driver', import.meta.url));

/** A PNG whose rows have the filters 0 to 4 in turn. `pixels`: rows of bytes, `channels` a pixel. */
function png(pixels: number[][], channels: number, color: number, palette?: number[]): Buffer {
  const chunk = (kind: string, body: Buffer) => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(body.length);
    head.write(kind, 4);
    return Buffer.concat([head, body, Buffer.alloc(4)]);
  };
  const rows = pixels.map((row, y) => {
    const above = pixels[y - 1] ?? row.map(() => 0);
    const filtered = row.map((value, x) => {
      const [left, up, corner] = [row[x - channels] ?? 0, above[x]!, above[x - channels] ?? 0];
      const guess = left + up - corner;
      const nearest = [left, up, corner].reduce((best, one) =>
        Math.abs(guess - one) < Math.abs(guess - best) ? one : best,
      );
      return (value - [0, left, up, (left + up) >> 1, nearest][y % 5]!) & 255;
    });
    return Buffer.from([y % 5, ...filtered]);
  });
  const head = Buffer.alloc(13);
  head.writeUInt32BE(pixels[0]!.length / channels);
  head.writeUInt32BE(pixels.length, 4);
  head.set([8, color], 8);
  const parts = [chunk('IHDR', head), ...(palette ? [chunk('PLTE', Buffer.from(palette))] : [])];
  const data = chunk('IDAT', deflateSync(Buffer.concat(rows)));
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts, data, chunk('IEND', Buffer.alloc(0))]);
}

/** The samples of a declaration, as lists; or the message why there are none. */
async function read(declaration: object): Promise<Record<string, number[][][][]>[] | string> {
  const path = join(folder, 'images.json');
  writeFileSync(path, JSON.stringify(declaration));
  const { python, environment } = await runtimeForTests();
  const lines: string[] = [];
  const code = `import json, sys
sys.path.insert(0, sys.argv[1])
import tensor_files
try:
    print(json.dumps([{k: v.tolist() for k, v in one.items()} for one in tensor_files.read_samples(sys.argv[2])]))
except tensor_files.Unfit as error:
    print(json.dumps(str(error)))`;
  const args = ['-B', '-c', code, drivers, path];
  const { code: status } = await runProcess({ program: python, args, environment, stdout: (line) => lines.push(line) });
  expect(status).toBe(0);
  return JSON.parse(lines.join('')) as Record<string, number[][][][]>[] | string;
}

const random = (rows: number, columns: number) =>
  Array.from({ length: rows }, (_, y) =>
    Array.from({ length: columns }, (__, x) => (x * 37 + y * 101 + x * y * 13) % 256),
  );

test('a PNG with every filter, in the layout, order and range that the declaration says', async () => {
  const pixels = random(7, 5 * 3);
  writeFileSync(join(folder, 'a.png'), png(pixels, 3, 2));
  const [nchw] = (await read({ images: 'a.png', input: 'x', size: [7, 5], scale: 1 })) as Record<
    string,
    number[][][][]
  >[];
  expect(nchw!['x']![0]!.map((plane) => plane[6])).toEqual(
    [0, 1, 2].map((c) => [0, 1, 2, 3, 4].map((x) => pixels[6]![x * 3 + c])),
  );
  for (const [y, row] of pixels.entries())
    expect([0, 1, 2].map((c) => nchw!['x']![0]![c]![y])).toEqual(
      [0, 1, 2].map((c) => row.filter((_, i) => i % 3 === c)),
    );
  const declaration = {
    images: ['a.png'],
    size: [7, 5],
    layout: 'NHWC',
    channels: 'BGR',
    mean: [0.1, 0.2, 0.3],
    std: 0.5,
  };
  const [nhwc] = (await read(declaration)) as Record<string, number[][][][]>[];
  const [blue, green, red] = nhwc!['']![0]![2]![3]!;
  const expected = (channel: number, mean: number) => (pixels[2]![9 + channel]! / 255 - mean) / 0.5;
  expect(blue).toBeCloseTo(expected(2, 0.1), 5);
  expect(green).toBeCloseTo(expected(1, 0.2), 5);
  expect(red).toBeCloseTo(expected(0, 0.3), 5);
});

test('gray, transparent and palette images, another size, and a folder of them', async () => {
  const sizes = { size: [2, 2], scale: 1, channels: 'GRAY' };
  writeFileSync(
    join(folder, 'gray.png'),
    png(
      [
        [0, 100],
        [200, 50],
      ],
      1,
      0,
    ),
  );
  expect(await read({ ...sizes, images: 'gray.png' })).toEqual([
    {
      '': [
        [
          [
            [0, 100],
            [200, 50],
          ],
        ],
      ],
    },
  ]);
  // Between pixel centers: the middle of four is their mean, the edges are repeated.
  const [large] = (await read({ ...sizes, size: [4, 4], images: 'gray.png' })) as Record<string, number[][][][]>[];
  expect(large!['']![0]![0]![0]).toEqual([0, 25, 75, 100]);
  writeFileSync(join(folder, 'palette.png'), png([[1, 0]], 1, 3, [255, 0, 0, 0, 0, 255]));
  expect(await read({ images: 'palette.png', size: [1, 2], scale: 1 })).toEqual([
    { '': [[[[0, 255]], [[0, 0]], [[255, 0]]]] },
  ]);
  writeFileSync(join(folder, 'alpha.png'), png([[9, 8, 7, 0]], 4, 6));
  expect(await read({ images: ['alpha.png', 'palette.png'], size: [1, 1], scale: 1 })).toHaveLength(2);
});

test('what cannot be read says what is wrong', async () => {
  writeFileSync(join(folder, 'cut.png'), png(random(4, 12), 3, 2).subarray(0, 60));
  writeFileSync(join(folder, 'photo.jpg'), 'no image');
  for (const [declaration, message] of [
    [{ images: 'none.png', size: [1, 1] }, /none\.png: No such file/],
    [{ images: 'cut.png', size: [1, 1] }, /cut\.png: this PNG cannot be read/],
    [
      { images: 'photo.jpg', size: [1, 1] },
      /photo\.jpg: (?:only PNG can be read without the package Pillow|cannot be read as an image)/,
    ],
    [{ images: 'gray.png' }, /size is \[height, width\]/],
    [{ images: 'gray.png', size: [1, 1], mean: [1, 2] }, /mean is a number, or a list of 3/],
    [{ images: 'gray.png', size: [1, 1], sise: 3 }, /unknown key 'sise'/],
    [{ images: 'gray.png', size: [1, 1], std: 0 }, /no std is 0/],
  ] as const)
    expect(await read(declaration)).toMatch(message);
});
