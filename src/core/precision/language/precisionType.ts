/** The types that an override can request, spelled as trtexec does. */
export type PrecisionType = 'fp32' | 'fp16' | 'bf16' | 'int8' | 'fp8' | 'int4' | 'int32' | 'int64' | 'bool';

export const precisionTypes: readonly PrecisionType[] = [
  'fp32',
  'fp16',
  'bf16',
  'int8',
  'fp8',
  'int4',
  'int32',
  'int64',
  'bool',
];

const aliases: Readonly<Record<string, PrecisionType>> = {
  fp32: 'fp32',
  float32: 'fp32',
  float: 'fp32',
  f32: 'fp32',
  single: 'fp32',
  fp16: 'fp16',
  float16: 'fp16',
  half: 'fp16',
  f16: 'fp16',
  bf16: 'bf16',
  bfloat16: 'bf16',
  int8: 'int8',
  i8: 'int8',
  fp8: 'fp8',
  float8: 'fp8',
  float8e4m3fn: 'fp8',
  int4: 'int4',
  i4: 'int4',
  int32: 'int32',
  i32: 'int32',
  int64: 'int64',
  i64: 'int64',
  bool: 'bool',
  boolean: 'bool',
};

/**
 * Every word for a type, in lower case.
 * @public The generator of the schema of gate files reads it.
 */
export const precisionWords: readonly string[] = Object.keys(aliases);

/** The type that a word stands for, aliases and any case included; null for any other word. */
export function precisionType(word: string): PrecisionType | null {
  const key = word.toLowerCase().replace(/^datatype\./, '');
  return Object.hasOwn(aliases, key) ? (aliases[key] ?? null) : null;
}

const onnx: Readonly<Record<PrecisionType, string>> = {
  fp32: 'float',
  fp16: 'float16',
  bf16: 'bfloat16',
  int8: 'int8',
  fp8: 'float8e4m3fn',
  int4: 'int4',
  int32: 'int32',
  int64: 'int64',
  bool: 'bool',
};

/** ONNX's own name of a type, as in `OnnxTensor.type`. */
export function onnxTypeOf(type: PrecisionType): string {
  return onnx[type];
}

const engine: Readonly<Record<string, PrecisionType>> = {
  float: 'fp32',
  fp32: 'fp32',
  half: 'fp16',
  fp16: 'fp16',
  bfloat16: 'bf16',
  bf16: 'bf16',
  int8: 'int8',
  fp8: 'fp8',
  e4m3: 'fp8',
  int4: 'int4',
  int32: 'int32',
  int64: 'int64',
  bool: 'bool',
};

/** The type behind an engine tensor's short type name (`Half`, `BFloat16`); null for a name that is not known. */
export function typeOfEngineTensor(name: string | null): PrecisionType | null {
  if (name === null) return null;
  const key = name.toLowerCase();
  return Object.hasOwn(engine, key) ? (engine[key] ?? null) : null;
}

const floating: ReadonlySet<string> = new Set(['fp32', 'fp16', 'bf16', 'fp8']);

/** True for the types of ordinary computation: the ones that a precision override can choose between. */
export function isFloating(type: PrecisionType): boolean {
  return floating.has(type);
}
