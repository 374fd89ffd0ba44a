// For who only counts: what is well-formed and simple is skipped. A process that counts ends before V8 has compiled
// the many small functions that read.
import { ATTRIBUTE, GRAPH, NODE, TENSOR } from './onnxFields.ts';
import type { WireCursor } from './wireCursor.ts';

/**
 * Skips the nodes of a graph that ends at `limit`, from the one in the field at the cursor on, as long as each is
 * well-formed, in memory, and without graphs and tensors.
 */
export function skipPlainNodes(cursor: WireCursor, limit: number): { nodes: number; attributes: number } {
  const { bytes, base } = cursor;
  const last = Math.min(limit - base, bytes.length);
  const skipped = { nodes: 0, attributes: 0 };
  for (let at = cursor.at - base; bytes[at] === GRAPH.node;) {
    const end = fieldEnd(bytes, at, last);
    if (end === NOT_PLAIN) break;
    const attributes = countAttributes(bytes, payloadStart(bytes, at), end);
    if (attributes === NOT_PLAIN) break;
    skipped.nodes++;
    skipped.attributes += attributes;
    at = end;
    cursor.seek(base + end);
  }
  return skipped;
}

/**
 * Skips the tensor in the field at the cursor where it is well-formed and has its elements as raw data or has none.
 * @returns false where it has to be read; the cursor is where it was
 */
export function skipPlainTensor(cursor: WireCursor): boolean {
  const { at, payloadEnd } = cursor;
  while (cursor.pos < payloadEnd) {
    const tag = cursor.field(payloadEnd);
    const { bytes, base, pos } = cursor;
    cursor.skip();
    const isKnown = tag === TENSOR.name || tag === TENSOR.dataType || tag === TENSOR.dim || tag === TENSOR.rawData;
    if (isKnown || (tag === TENSOR.dims && areVarints(bytes, pos - base, cursor.pos - base))) continue;
    cursor.seek(at);
    cursor.field(Infinity);
    return false;
  }
  return true;
}

const NOT_PLAIN = -1;

/** Attributes of the node in these bytes. */
function countAttributes(bytes: Uint8Array, start: number, limit: number): number {
  let count = 0;
  for (let at = start; at < limit;) {
    const tag = bytes[at];
    const end = fieldEnd(bytes, at, limit);
    if (end === NOT_PLAIN) return NOT_PLAIN;
    if (tag === NODE.attribute) count++;
    const isMessage = tag === NODE.attribute || tag === NODE.metadata;
    if (isMessage && !isPlain(bytes, payloadStart(bytes, at), end)) return NOT_PLAIN;
    at = end;
  }
  return count;
}

/** Whether an attribute or entry is well-formed, and without graphs and tensors. */
function isPlain(bytes: Uint8Array, start: number, limit: number): boolean {
  for (let at = start; at < limit;) {
    const tag = bytes[at];
    const end = fieldEnd(bytes, at, limit);
    if (end === NOT_PLAIN) return false;
    if (tag === ATTRIBUTE.tensor || tag === ATTRIBUTE.graph) return false;
    if (tag === ATTRIBUTE.tensors || tag === ATTRIBUTE.graphs) return false;
    if (tag === ATTRIBUTE.ints && !areVarints(bytes, payloadStart(bytes, at), end)) return false;
    at = end;
  }
  return true;
}

/** Where the field ends that begins at `start`, with the tag of one byte or that of an attribute's type. */
function fieldEnd(bytes: Uint8Array, start: number, limit: number): number {
  let tag = bytes[start]!;
  let at = start + 1;
  if (tag >= 128) {
    if (tag !== TYPE[0] || bytes[at] !== TYPE[1]) return NOT_PLAIN;
    tag = ATTRIBUTE.type;
    at++;
  }
  const wire = tag & 7;
  let end = NOT_PLAIN;
  if (tag < 8) return NOT_PLAIN;
  if (wire === 0) end = varintEnd(bytes, at);
  else if (wire === 5) end = at + 4;
  else if (wire === 1) end = at + 8;
  else if (wire === 2) {
    let length = bytes[at++]!;
    if (length >= 128) {
      const more = bytes[at++]!;
      // A field of more than 16 KB is read with care.
      if (more >= 128) return NOT_PLAIN;
      length = (length & 127) | (more << 7);
    }
    end = at + length;
  }
  return end <= limit ? end : NOT_PLAIN;
}

const TYPE = [(ATTRIBUTE.type & 127) | 128, ATTRIBUTE.type >> 7];

/** Where the payload of a field of bytes begins; its tag takes one byte. */
const payloadStart = (bytes: Uint8Array, start: number): number => start + (bytes[start + 1]! < 128 ? 2 : 3);

function varintEnd(bytes: Uint8Array, start: number): number {
  for (let at = start; at < start + 10; at++) if (bytes[at]! < 128) return at + 1;
  return NOT_PLAIN;
}

function areVarints(bytes: Uint8Array, start: number, limit: number): boolean {
  let at = start;
  while (at !== NOT_PLAIN && at < limit) at = varintEnd(bytes, at);
  return at === limit;
}
