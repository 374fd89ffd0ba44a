import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inputFilesBeside } from '../../../../src/kernel/node/simulation/inputFilesBeside.ts';
import { keepResult, keptResult } from '../../../../src/kernel/node/store/modelResults.ts';
import { modelPath } from '../../../support/fixtures.ts';

async function folderWith(model: string, names: string[]): Promise<{ path: string; cache: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'trtlens-inputs-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, `${model}.onnx`);
  await copyFile(modelPath(model), path);
  await Promise.all(names.map((name) => writeFile(join(folder, name), '')));
  return { path, cache: join(folder, 'cache') };
}

test('offers arrays and images next to a model that takes images', async () => {
  const names = ['other.npz', 'my_inputs.npz', 'outputs.npz', 'a.npy', 'b.npy', 'cat.png', 'dog.PNG', 'notes.txt'];
  const { path, cache } = await folderWith('resnet18', names);
  const { files, outputs } = await inputFilesBeside(path, cache);
  expect(files.map(({ paths, what }) => [what, ...paths.map((one) => basename(one))])).toEqual([
    ['NumPy arrays by input name', 'my_inputs.npz'],
    ['NumPy arrays by input name', 'other.npz'],
    ['2 .npy files', 'a.npy', 'b.npy'],
    ['2 images, 224×224, pixels from 0 to 1', 'images.json'],
  ]);
  expect(outputs).toHaveLength(1);
  const declared = JSON.parse(await readFile(files.at(-1)!.paths[0]!, 'utf8')) as { images: string[]; size: number[] };
  expect(declared.size).toEqual([224, 224]);
  expect(declared.images.map((one) => basename(one))).toEqual(['cat.png', 'dog.PNG']);
});

test('offers no lone arrays and no images where a model has several inputs, and nothing where it cannot be read', async () => {
  const { path, cache } = await folderWith('bert_base', ['a.npy', 'cat.png', 'x.npz']);
  expect((await inputFilesBeside(path, cache)).files.map(({ paths }) => paths.map((one) => basename(one)))).toEqual([
    ['x.npz'],
  ]);
  expect(await inputFilesBeside(join(path, 'missing.onnx'), cache)).toEqual({ files: [], outputs: [] });
});

test('keeps a result with a model, whichever way its path is spelled', async () => {
  const { path, cache } = await folderWith('resnet18', []);
  expect(await keptResult(path, 'accuracy', cache)).toBeUndefined();
  await keepResult(path, 'accuracy', { found: 3 }, cache);
  expect(await keptResult(join(path, '..', 'resnet18.onnx'), 'accuracy', cache)).toEqual({ found: 3 });
  await keepResult(path, 'accuracy', { found: 4 }, cache);
  expect(await keptResult(path, 'accuracy', cache)).toEqual({ found: 4 });
});
