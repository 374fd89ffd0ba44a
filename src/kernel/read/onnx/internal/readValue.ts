import { appended } from '../../../base/addTo.ts';
import { DIMENSION, SHAPE, TENSOR_TYPE, TYPE, VALUE } from './onnxFields.ts';
import { dataTypeName, type OnnxValue } from '../onnxModel.ts';
import type { WireCursor } from './wireCursor.ts';

type Dimension = number | string | null;

/**
 * Fills a value from the ValueInfoProto in the field at the cursor. Types that are no tensors (sequence, map,
 * optional, opaque) leave type and shape null.
 */
export function readValue(cursor: WireCursor, value: OnnxValue): void {
  const end = cursor.payloadEnd;
  while (cursor.pos < end) {
    const tag = cursor.field(end);
    if (tag === VALUE.name) value.name = cursor.text();
    else if (tag === VALUE.type) readType(cursor, value);
    else cursor.skip();
  }
}

function readType(cursor: WireCursor, value: OnnxValue): void {
  const end = cursor.payloadEnd;
  while (cursor.pos < end) {
    const tag = cursor.field(end);
    if (tag === TYPE.tensor || tag === TYPE.sparseTensor) readTensorType(cursor, value);
    else cursor.skip();
  }
}

function readTensorType(cursor: WireCursor, value: OnnxValue): void {
  const end = cursor.payloadEnd;
  while (cursor.pos < end) {
    const tag = cursor.field(end);
    if (tag === TENSOR_TYPE.elementType) value.type = cursor.value === 0 ? null : dataTypeName(cursor.value);
    else if (tag === TENSOR_TYPE.shape) value.shape = readShape(cursor);
    else cursor.skip();
  }
}

function readShape(cursor: WireCursor): Dimension[] {
  const end = cursor.payloadEnd;
  let shape: Dimension[] = [];
  while (cursor.pos < end) {
    if (cursor.field(end) === SHAPE.dimension) shape = appended(shape, readDimension(cursor));
    else cursor.skip();
  }
  return shape;
}

function readDimension(cursor: WireCursor): Dimension {
  const end = cursor.payloadEnd;
  let dimension: Dimension = null;
  while (cursor.pos < end) {
    const tag = cursor.field(end);
    // Some exporters write -1 for a size that they do not know.
    if (tag === DIMENSION.value) dimension = cursor.value < 0 ? null : cursor.value;
    else if (tag === DIMENSION.parameter) dimension = cursor.text() || null;
    else cursor.skip();
  }
  return dimension;
}
