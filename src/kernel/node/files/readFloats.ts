import { dirname } from 'node:path';
import { convertElements, elementBytes, isRealElement, type OnnxTensor } from '../../read/onnx/onnxModel.ts';
import type { ByteSource } from '../../base/problem.ts';
import { openExternal } from './externalFile.ts';

/**
 * The elements of a floating-point tensor, inside the model or next to it. null: another type, or stored in another way
 * than raw data.
 * @param model path of the model; `source` is its content
 * @throws {UserError} if the file of its external data is missing or outside the model's folder
 */
export async function readFloats(tensor: OnnxTensor, model: string, source: ByteSource): Promise<Float32Array | null> {
  const { data, type, sparse } = tensor;
  if (!data || sparse || !isRealElement(type)) return null;
  const field = 'inline' in data ? data.inline.field : undefined;
  if (field !== undefined && field !== 'float' && field !== 'double') return null;
  const bytes = await readElements(tensor, elementBytes[type], model, source);
  return bytes && floatsOf(bytes, type);
}

/**
 * The integers of a tensor with 8 bits each; null: another type, or not stored as raw data.
 * @throws {UserError} as `readFloats`
 */
export async function readBytes(tensor: OnnxTensor, model: string, source: ByteSource): Promise<number[] | null> {
  const { data, type, sparse } = tensor;
  if (!data || sparse || (type !== 'int8' && type !== 'uint8') || ('inline' in data && data.inline.field)) return null;
  const bytes = await readElements(tensor, 1, model, source);
  return bytes && Array.from(type === 'int8' ? Int8Array.from(bytes) : bytes);
}

/** The elements of a tensor as they are stored; null: their size is not that of its shape. @param size of an element, in bytes */
async function readElements(
  { data, shape }: OnnxTensor,
  size: number,
  model: string,
  source: ByteSource,
): Promise<Uint8Array | null> {
  if (!data) return null;
  const whole = shape.reduce((count, dim) => count * dim, 1) * size;
  if ('external' in data) {
    const file = await openExternal(dirname(model), data.external['location'] ?? '');
    try {
      const bytes = await file.read(Number(data.external['offset'] ?? 0), whole);
      return bytes.length === whole ? bytes : null;
    } finally {
      await file.close();
    }
  }
  const { offset, length, scattered } = data.inline;
  return scattered || length !== whole ? null : source.read(offset, length);
}

function floatsOf(bytes: Uint8Array, type: keyof typeof elementBytes): Float32Array {
  const copy = new Uint8Array(type === 'float' ? bytes : convertElements(bytes, type, 'float'));
  return new Float32Array(copy.buffer, 0, copy.length / 4);
}
