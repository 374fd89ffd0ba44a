/** Writes protobuf by hand, so that tests can write what no library would. */
export type Bytes = Uint8Array;

export function varint(value: number | bigint): Bytes {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

export function concat(...parts: Bytes[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A varint field. */
export const int = (field: number, value: number | bigint): Bytes => concat(varint(field * 8), varint(value));

/** A length-delimited field: text, bytes, or a message given by its fields. */
export function len(field: number, ...content: (Bytes | string)[]): Bytes {
  const payload = concat(...content.map((part) => (typeof part === 'string' ? new TextEncoder().encode(part) : part)));
  return concat(varint(field * 8 + 2), varint(payload.length), payload);
}

/** A 32-bit float field. */
export const float = (field: number, value: number): Bytes =>
  concat(varint(field * 8 + 5), new Uint8Array(Float32Array.of(value).buffer));

/** Several varints in one field. */
export const packed = (field: number, values: (number | bigint)[]): Bytes => len(field, ...values.map(varint));

/** A node with inputs and outputs, and further fields. */
export const node = (op: string, inputs: string[], outputs: string[], ...more: Bytes[]): Bytes =>
  len(1, ...inputs.map((name) => len(1, name)), ...outputs.map((name) => len(2, name)), len(4, op), ...more);

/** A model of IR version 8 and opset 17 around a graph's fields. */
export const model = (...graph: Bytes[]): Bytes => concat(int(1, 8), len(7, ...graph), len(8, len(1, ''), int(2, 17)));
