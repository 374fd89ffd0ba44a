// What the viewing path uses of `node:zlib`, by the browser's own streams.
type Pieces = AsyncIterable<Uint8Array>;

export const gunzip = (
  packed: Uint8Array,
  { maxOutputLength }: { maxOutputLength: number },
  done: (error: Error | null, unpacked?: Uint8Array) => void,
): void => {
  void answer(unpackWhole(packed, maxOutputLength), done);
};

async function answer(
  unpacking: Promise<Uint8Array>,
  done: (error: Error | null, unpacked?: Uint8Array) => void,
): Promise<void> {
  try {
    done(null, await unpacking);
  } catch (error) {
    done(error as Error);
  }
}

async function unpackWhole(packed: Uint8Array, most: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of unpacked(one(packed))) {
    length += piece.length;
    if (length > most) throw Object.assign(new Error('too large'), { code: 'ERR_BUFFER_TOO_LARGE' });
    pieces.push(piece);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

async function* one(bytes: Uint8Array): Pieces {
  yield bytes;
}

/** Unpacks what `pipeline` connects to it. */
export function createGunzip(): Pieces & { source?: Pieces } {
  return {
    [Symbol.asyncIterator](this: { source?: Pieces }) {
      return unpacked(this.source!)[Symbol.asyncIterator]();
    },
  };
}

async function* unpacked(packed: Pieces): Pieces {
  const iterator = packed[Symbol.asyncIterator]();
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller) => {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value.slice());
    },
  });
  const reader = source.pipeThrough(new DecompressionStream('gzip')).getReader();
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one piece after the other
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** Deflate's form without compression: what a view gets does not leave this browser. */
export function deflateRawSync(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  const largest = 2 ** 16 - 1;
  const blocks = Math.max(1, Math.ceil(bytes.length / largest));
  const packed = new Uint8Array(bytes.length + 5 * blocks);
  for (let block = 0; block < blocks; block += 1) {
    const part = bytes.subarray(block * largest, (block + 1) * largest);
    const head = new DataView(packed.buffer, block * (largest + 5), 5);
    head.setUint8(0, block === blocks - 1 ? 1 : 0);
    head.setUint16(1, part.length, true);
    head.setUint16(3, ~part.length & largest, true);
    packed.set(part, block * (largest + 5) + 5);
  }
  return packed;
}
