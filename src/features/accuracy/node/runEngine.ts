import { dirname, resolve } from 'node:path';
import { checkOutput, moveResult } from '../../../kernel/node/files/writeResult.ts';
import { temporaryFor } from '../../../kernel/node/files/writeWhole.ts';
import { runTensorrt, type TensorrtPlace } from '../../../kernel/node/run/tensorrtJob.ts';
import { fileOf, prefixOf } from '../../../kernel/node/files/inputFile.ts';
import { type Build, engineOf, filesOfBuild } from '../../../kernel/node/store/buildFolder.ts';

export interface RunRequest extends TensorrtPlace {
  build: Build;
  /** Files with input values; none: random ones. */
  inputs: string[];
  /** The .npz to write. */
  out: string;
}

export interface EngineRun {
  outputs: { name: string; shape: number[]; type: string }[];
  /** The least of several runs, on the GPU; null: not timed. */
  milliseconds: number | null;
  samples: number;
  gpu: string;
  version: string;
}

/**
 * Runs a build's engine through TensorRT's Python API where a GPU is, and stores its outputs.
 * @throws {UserError} if there is no engine, no interpreter with TensorRT, or the run fails
 */
export async function runEngine({ build, inputs, out, ...place }: RunRequest): Promise<EngineRun> {
  const engine = await engineOf(build);
  await checkOutput(out, [...filesOfBuild(build), ...inputs.map(fileOf)], 'zip');
  const file = await temporaryFor(resolve(out));
  const { plugins } = build.manifest.options;
  const libraries = Array.isArray(plugins) ? plugins.map(String) : [];
  const { start, result } = await runTensorrt<Omit<EngineRun, 'gpu' | 'version'>>({
    ...place,
    script: 'run_engine.py',
    modules: ['job.py', 'tensor_files.py', 'image_files.py', 'cuda_memory.py', 'trt_binding.py'],
    rtx: build.manifest.tensorrt.product === 'tensorrt-rtx',
    numpy: true,
    folder: dirname(file),
    model: build.manifest.model.file,
    args: (there) => [
      '--engine',
      there(engine),
      '--output',
      there(file),
      ...libraries.flatMap((library) => ['--plugin', there(library)]),
      ...inputs.flatMap((input) => ['--input', prefixOf(input) + there(resolve(fileOf(input)))]),
    ],
    results: [file],
  });
  await moveResult(file, resolve(out), 'zip');
  return { ...result, gpu: start.gpu ?? '', version: start.version ?? '' };
}
