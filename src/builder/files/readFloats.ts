import { dirname } from 'node:path';
import { convertElements, elementBytes, isRealElement } from '../../core/onnx/convertElements.ts';
import type { OnnxTensor } from '../../core/onnx/onnxModel.ts';
import type { ByteSource } from '../../core/text/byteSource.ts';
import { openExternal } from './externalFile.ts';

/**
 * The elements of a floating-point tensor, inside the model or next to it. null: another type, or stored in another way
 * than raw data.
 * @param model path of the model; `source` is its content
 * @throws {UserError} if the file of its external data is missing or outside the model's folder
 */
export async function readFloats(tensor: OnnxTensor, model: string, source: ByteSource): Promise<Float32Array | null> {
  const { data, type, shape, sparse } = tensor;
  if (!data || sparse || !isRealElement(type)) return null;
  const size = shape.reduce((count, dim) => count * dim, 1) * elementBytes[type];
  if ('external' in data) {
    const file = await openExternal(dirname(model), data.external['location'] ?? '');
    try {
      const bytes = await file.read(Number(data.external['offset'] ?? 0), size);
      return bytes.length === size ? floatsOf(bytes, type) : null;
    } finally {
      await file.close();
    }
  }
  const { offset, length, field, scattered } = data.inline;
  if (scattered || length !== size || (field !== undefined && field !== 'float' && field !== 'double')) return null;
  return floatsOf(await source.read(offset, length), type);
}

function floatsOf(bytes: Uint8Array, type: keyof typeof elementBytes): Float32Array {
  const copy = new Uint8Array(type === 'float' ? bytes : convertElements(bytes, type, 'float'));
  return new Float32Array(copy.buffer, 0, copy.length / 4);
}
