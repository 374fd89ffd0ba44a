import { inputsOf } from '../../build/randomInputs.ts';
import { mkdir, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { OnnxModel } from '../../read/onnx/onnxModel.ts';
import { counted } from '../../base/text.ts';
import { cacheFolder } from '../files/cacheFolder.ts';
import { ParsedFiles } from '../files/parsedFiles.ts';
import { writeWhole } from '../files/writeWhole.ts';
import { buildsFolder } from '../store/buildFolder.ts';

/** Files that may hold inputs of a model. */
export interface InputFiles {
  paths: string[];
  /** What they are, in a few words. */
  what: string;
}

/** As many files of several tensors as a list can offer. */
const mostFiles = 4;

/**
 * Input values in the folder of a model: files of tensors, and images as a declaration that scales them to its input. Never
 * rejects.
 * @returns also the names of the model's outputs
 */
export async function inputFilesBeside(
  path: string,
  cache = cacheFolder(),
): Promise<{ files: InputFiles[]; outputs: string[] }> {
  try {
    const { value: model } = await new ParsedFiles().model(path);
    const outputs = model.graph.outputs.map(({ name }) => name);
    const inputs = inputsOf(model);
    const folder = dirname(path);
    const names = (await readdir(folder)).toSorted();
    const withEnding = (ending: RegExp) =>
      names.filter((name) => ending.test(name) && !/^outputs?\b/i.test(name)).map((name) => join(folder, name));
    const stem = basename(path).replace(/\..*$/, '');
    // What is named after the model, or as inputs, comes first.
    const archives = withEnding(/\.npz$/i).toSorted((a, b) => fit(b, stem) - fit(a, stem));
    // A lone array has no name: it fits where there is one input only, a sample each.
    const arrays = inputs.length === 1 ? withEnding(/\.npy$/i) : [];
    const images = await imagesFor(path, withEnding(/\.png$/i), inputs, cache);
    const files = [
      ...archives.slice(0, mostFiles).map((one) => ({ paths: [one], what: 'NumPy arrays by input name' })),
      ...(arrays.length === 0 ? [] : [{ paths: arrays, what: counted(arrays.length, '.npy file') }]),
      ...images,
    ];
    return { files, outputs };
  } catch {
    return { files: [], outputs: [] };
  }
}

const fit = (path: string, stem: string): number =>
  Number(basename(path).startsWith(stem)) + Number(/input|sample/i.test(basename(path)));

/** The images as a declaration for the only input, if that takes images: what the user may change later is a file. */
async function imagesFor(
  model: string,
  images: readonly string[],
  inputs: readonly OnnxModel['graph']['inputs'][number][],
  cache: string,
): Promise<InputFiles[]> {
  const [input, ...others] = inputs;
  const [batch, channels, height, width] = input?.shape ?? [];
  const takesImages =
    others.length === 0 &&
    input?.type === 'float' &&
    input.shape?.length === 4 &&
    (batch === 1 || typeof batch !== 'number') &&
    (channels === 1 || channels === 3) &&
    typeof height === 'number' &&
    typeof width === 'number' &&
    Math.min(height, width) >= 8;
  if (images.length === 0 || !takesImages) return [];
  const path = join(cache, 'results', basename(buildsFolder(model, cache)), 'images.json');
  await mkdir(dirname(path), { recursive: true });
  const declaration = { images, size: [height, width], channels: channels === 3 ? 'RGB' : 'GRAY', scale: 1 / 255 };
  await writeWhole(path, JSON.stringify(declaration));
  return [{ paths: [path], what: `${counted(images.length, 'image')}, ${height}×${width}, pixels from 0 to 1` }];
}
