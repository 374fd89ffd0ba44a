import { dirname, resolve } from 'node:path';
import type { EngineReading } from '../../inspect/inspection.ts';
import { runTensorrt, type TensorrtPlace } from './tensorrtJob.ts';

export interface ReadRequest extends TensorrtPlace {
  /** Path of the engine. */
  path: string;
  /** What built it, by its header. */
  product: 'tensorrt' | 'tensorrt-rtx' | null;
  /** Libraries with plugins, loaded first. */
  plugins?: readonly string[] | undefined;
  /** Run code that the engine contains: version-compatible engines bring their own runtime. */
  allowHostCode?: boolean | undefined;
}

/**
 * Describes an engine through TensorRT's Python API, where the interpreter or the launcher has it. That TensorRT cannot
 * load the engine is part of the result.
 * @throws {UserError} if there is no interpreter with TensorRT, or the file cannot be read
 */
export async function readEngine({
  path,
  product,
  plugins,
  allowHostCode,
  ...place
}: ReadRequest): Promise<EngineReading> {
  const engine = resolve(path);
  const { result } = await runTensorrt<EngineReading>({
    ...place,
    script: 'read_engine.py',
    modules: ['job.py', 'trt_binding.py'],
    rtx: product === 'tensorrt-rtx',
    folder: dirname(engine),
    model: engine,
    args: (there) => [
      '--engine',
      there(engine),
      ...(plugins ?? []).flatMap((library) => ['--plugin', there(resolve(library))]),
      ...(allowHostCode ? ['--allow-host-code'] : []),
    ],
    results: [],
  });
  return result;
}
