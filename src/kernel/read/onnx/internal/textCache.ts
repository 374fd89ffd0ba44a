/** Every runtime that core runs in has it: Node, browsers, workers. */
declare const TextDecoder: new (
  label: string,
  options: { ignoreBOM: boolean },
) => { decode(input: Uint8Array): string };

const SLOTS = 1 << 14;
/** Longer texts hardly ever repeat, and String.fromCharCode takes no endless list of arguments. */
const LONGEST = 256;

/**
 * Decodes UTF-8, and gives the same string again where the same short text repeats: operators and attributes do all
 * the time, and each tensor's name stands where it is made and wherever it is read.
 */
export class TextCache {
  /** Names are exactly the file's: a byte order mark at their beginning, too. */
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  private readonly slots = Array<string | undefined>(SLOTS);

  read(bytes: Uint8Array, start: number, end: number): string {
    if (start === end) return '';
    if (end - start > LONGEST) return this.decoder.decode(bytes.subarray(start, end));
    const slot = hash(bytes, start, end) & (SLOTS - 1);
    const known = this.slots[slot];
    if (known !== undefined && same(known, bytes, start, end)) return known;
    if (!isAscii(bytes, start, end)) return this.decoder.decode(bytes.subarray(start, end));
    // One flat string: adding piece by piece would leave a tree of pieces in memory.
    const text: string = String.fromCharCode.apply(null, bytes.subarray(start, end) as unknown as number[]);
    this.slots[slot] = text;
    return text;
  }
}

/** Every second byte is enough to tell names apart; what still collides is only decoded again. */
function hash(bytes: Uint8Array, start: number, end: number): number {
  let value = end - start;
  for (let index = end - 1; index >= start; index -= 2) value = (Math.imul(value, 31) + bytes[index]!) | 0;
  return value ^ (value >>> 15);
}

function same(text: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let index = text.length - 1; index >= 0; index--) {
    if (text.charCodeAt(index) !== bytes[start + index]) return false;
  }
  return true;
}

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  let bits = 0;
  for (let index = start; index < end; index++) bits |= bytes[index]!;
  return bits < 128;
}
