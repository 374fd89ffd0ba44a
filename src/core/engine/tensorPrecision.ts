import type { EngineTensor } from './engineLayer.ts';

const names: [pattern: RegExp, precision: string][] = [
  [/bf16|bfloat16/i, 'bf16'],
  [/fp16|half|float16/i, 'fp16'],
  [/fp8|e4m3|e5m2/i, 'fp8'],
  [/fp4|e2m1/i, 'fp4'],
  [/fp32|^float$|float32/i, 'fp32'],
  [/int64|int32|bool|uint8/i, 'integer'],
  [/int8/i, 'int8'],
  [/int4/i, 'int4'],
];

/** TensorRT writes `Half`, `FP16`, or `Channel major FP16 format where channel % 8 == 0`. */
export function tensorPrecision({ type, format }: EngineTensor): string | null {
  for (const text of [type, format]) {
    if (text === null) continue;
    for (const [pattern, precision] of names) if (pattern.test(text)) return precision;
  }
  return null;
}
