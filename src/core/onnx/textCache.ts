import protobuf from 'protobufjs/minimal.js';

const SLOTS = 1 << 14;
/** Longer texts hardly ever repeat, and String.fromCharCode takes no endless list of arguments. */
const LONGEST = 256;

/**
 * Decodes UTF-8, and gives the same string again where the same short text repeats: operators and attributes do all
 * the time, and each tensor's name stands where it is made and wherever it is read.
 */
export class TextCache {
  private readonly slots = Array.from<string | undefined>({ length: SLOTS });

  read(bytes: Uint8Array, start: number, end: number): string {
    if (end - start > LONGEST) return protobuf.util.utf8.read(bytes, start, end);
    let hash = end - start;
    for (let index = start; index < end; index++) {
      const byte = bytes[index]!;
      if (byte > 127) return protobuf.util.utf8.read(bytes, start, end);
      hash = (Math.imul(hash, 31) + byte) | 0;
    }
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    const known = this.slots[slot];
    if (known !== undefined && same(known, bytes, start, end)) return known;
    // One flat string: adding piece by piece would leave a tree of pieces in memory.
    const text: string = String.fromCharCode.apply(null, bytes.subarray(start, end) as unknown as number[]);
    this.slots[slot] = text;
    return text;
  }
}

function same(text: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let index = text.length - 1; index >= 0; index--) {
    if (text.charCodeAt(index) !== bytes[start + index]) return false;
  }
  return true;
}
