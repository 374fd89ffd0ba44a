import type { OnnxValue } from './onnxModel.ts';
import { DIMENSION, SHAPE, TENSOR_TYPE, TYPE, VALUE } from './onnxFields.ts';
import { dataTypeName } from './tensorTypes.ts';
import { HEAD, type Reading, type WireCursor } from './wireCursor.ts';

/**
 * Fills a value from a ValueInfoProto that ends at `end`. Types that are no tensors (sequence, map, optional, opaque)
 * leave type and shape null.
 */
export function* readValue(cursor: WireCursor, value: OnnxValue, end: number): Reading {
  while (cursor.pos < end) {
    if (cursor.lacks(HEAD)) yield HEAD;
    const tag = cursor.field(end);
    if (tag === VALUE.name) value.name = cursor.hasText ? cursor.text() : yield* cursor.longText();
    else if (tag === VALUE.type) yield* readType(cursor, value, cursor.pos + cursor.size);
    else cursor.skip();
  }
}

function* readType(cursor: WireCursor, value: OnnxValue, end: number): Reading {
  while (cursor.pos < end) {
    if (cursor.lacks(HEAD)) yield HEAD;
    const tag = cursor.field(end);
    if (tag === TYPE.tensor || tag === TYPE.sparseTensor) {
      yield* readTensorType(cursor, value, cursor.pos + cursor.size);
    } else cursor.skip();
  }
}

function* readTensorType(cursor: WireCursor, value: OnnxValue, end: number): Reading {
  while (cursor.pos < end) {
    if (cursor.lacks(HEAD)) yield HEAD;
    const tag = cursor.field(end);
    if (tag === TENSOR_TYPE.elementType) value.type = cursor.value === 0 ? null : dataTypeName(cursor.value);
    else if (tag === TENSOR_TYPE.shape) {
      value.shape = [];
      yield* readShape(cursor, value.shape, cursor.pos + cursor.size);
    } else cursor.skip();
  }
}

function* readShape(cursor: WireCursor, shape: (number | string | null)[], end: number): Reading {
  while (cursor.pos < end) {
    if (cursor.lacks(HEAD)) yield HEAD;
    if (cursor.field(end) !== SHAPE.dimension) {
      cursor.skip();
      continue;
    }
    const index = shape.push(null) - 1;
    const dimensionEnd = cursor.pos + cursor.size;
    while (cursor.pos < dimensionEnd) {
      if (cursor.lacks(HEAD)) yield HEAD;
      const tag = cursor.field(dimensionEnd);
      // Some exporters write -1 for a size that they do not know.
      if (tag === DIMENSION.value) shape[index] = cursor.value < 0 ? null : cursor.value;
      else if (tag === DIMENSION.parameter)
        shape[index] = (cursor.hasText ? cursor.text() : yield* cursor.longText()) || null;
      else cursor.skip();
    }
  }
}
