// What the viewing path uses of `node:stream`: pieces that an unpacker reads.
import type { createGunzip } from './zlib.ts';

export const Readable = { from: (pieces: AsyncIterable<Uint8Array>) => pieces };

/** An error comes out of what the pieces go to. */
export function pipeline(pieces: AsyncIterable<Uint8Array>, to: ReturnType<typeof createGunzip>): void {
  to.source = pieces;
}
