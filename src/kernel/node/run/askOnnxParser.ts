import { dirname, resolve } from 'node:path';
import { runTensorrt, type TensorrtPlace } from './tensorrtJob.ts';

/** What TensorRT's own parser says of a model. */
export interface ParserAnswer {
  version: string;
  accepted: boolean;
  errors: { code: string; message: string; node: number | null; nodeName: string | null; operator: string | null }[];
}

/**
 * Asks the parser of TensorRT-RTX.
 * @throws {UserError} if it is not installed, or stops without an answer
 */
export async function askOnnxParser(path: string, place: TensorrtPlace): Promise<ParserAnswer> {
  const model = resolve(path);
  const { result } = await runTensorrt<ParserAnswer>({
    ...place,
    script: 'parse_model.py',
    modules: ['job.py', 'network_options.py', 'trt_binding.py'],
    rtx: true,
    folder: dirname(model),
    model,
    args: (there) => ['--onnx', there(model)],
    results: [],
  });
  return result;
}
