import type { DataType } from '../onnx/onnxModel.ts';

/** TensorRT's types as ONNX has them. INT32 is not among them: TensorRT 9 and earlier call int64 so, too. */
const types: Record<string, DataType> = {
  FLOAT: 'float',
  HALF: 'float16',
  BF16: 'bfloat16',
  FP8: 'float8e4m3fn',
  INT64: 'int64',
  INT8: 'int8',
  UINT8: 'uint8',
  BOOL: 'bool',
};

/**
 * Types and shapes of tensors as the ONNX parser logs them, in lines such as
 * `NAME [OP] outputs: [a -> (2, -1)[FLOAT]], [b -> ()[BOOL]], ` (trtexec --verbose, TensorRT 8 to 11); -1: known at
 * runtime only. Where a log contains several builds, the last one counts.
 */
export class TensorsInLog {
  readonly known = new Map<string, { type: DataType; shape: (number | null)[] }>();

  push(line: string): void {
    const at = /\] (?:in|out)puts: (?=\[)/.exec(line);
    if (!at) return;
    for (const [, name, dims, logged] of line.slice(at.index + at[0].length).matchAll(tensor)) {
      const type = types[logged!];
      if (type === undefined) continue;
      const shape = dims === '' ? [] : dims!.split(', ').map((dim) => (dim === '-1' ? null : Number(dim)));
      this.known.set(name!, { type, shape });
    }
  }
}

const tensor = /\[(.+?) -> \((|-?\d+(?:, -?\d+)*)\)\[(\w+)\]\](?:, |$)/g;
