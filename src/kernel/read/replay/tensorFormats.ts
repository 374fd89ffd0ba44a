import type { TensorFormat } from './replayFile.ts';

/** Data types by the words of logs and layer info, in lower case. */
export const logTypes: Readonly<Record<string, string>> = {
  float: 'FLOAT',
  half: 'HALF',
  int8: 'INT8',
  int32: 'INT32',
  int64: 'INT64',
  bool: 'BOOL',
  uint8: 'UINT8',
  bfloat16: 'BF16',
  bf16: 'BF16',
  fp8: 'FP8',
  int4: 'INT4',
};

/** `Half(50176,1:4,224,1) -> Float(1000,1)` as formats; null for a text of another form. */
export function readFormats(text: string): { inputs: TensorFormat[]; outputs: TensorFormat[] } | null {
  const sides = text.split(/(?:^| )->(?: |$)/);
  if (sides.length !== 2) return null;
  const [inputs, outputs] = sides.map(readSide);
  return inputs && outputs ? { inputs, outputs } : null;
}

function readSide(text: string): TensorFormat[] | null {
  if (text.trim() === '') return [];
  const found = [...text.matchAll(/\b(\w+)\(([\d,:E*\- ]*)\)(?: [a-z-]+)?/g)];
  const rest = text.replace(/\b(\w+)\(([\d,:E*\- ]*)\)(?: [a-z-]+)?/g, '').replace(/[, ]/g, '');
  if (found.length === 0 || rest !== '') return null;
  const formats: TensorFormat[] = [];
  for (const [, type = '', dims = ''] of found) {
    const dtype = logTypes[type.toLowerCase()];
    const parts = dims === '' ? [] : dims.split(',').map((part) => /^(\d+)(?::(\d+))?$/.exec(part));
    if (!dtype || parts.includes(null)) return null;
    const vector = parts.findIndex((part) => part?.[2] !== undefined);
    formats.push({
      dtype,
      format: null,
      strides: parts.map((part) => Number(part?.[1])),
      vectorizedDim: vector,
      components: vector < 0 ? 1 : Number(parts[vector]?.[2]),
    });
  }
  return formats;
}

/** A memory layout as text: `linear`, `channels last`, `vectors of 8 along dimension 1, channels last`. */
export function layoutWord(format: TensorFormat): string {
  const { strides, vectorizedDim, components } = format;
  if (format.format !== null && (strides === null || vectorizedDim === null)) return format.format;
  if (strides === null) return 'layout not recorded';
  const packed = vectorizedDim !== null && vectorizedDim >= 0 && (components ?? 1) > 1;
  const last = strides.length > 2 && strides[1] === 1 && (strides.at(-1) ?? 1) >= 1 && !descending(strides);
  const order = last ? 'channels last' : descending(strides) ? 'linear' : `strides ${strides.join(', ')}`;
  return packed ? `vectors of ${components} along dimension ${vectorizedDim}, ${order}` : order;
}

function descending(strides: readonly number[]): boolean {
  return strides.every((stride, i) => i === 0 || stride <= (strides[i - 1] ?? stride));
}
