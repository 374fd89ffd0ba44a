/**
 * Random access to bytes that may be larger than memory. Implementations live outside core (a file, an editor's
 * file system); `bytesOf` serves bytes that are in memory already.
 */
export interface ByteSource {
  /** Total size in bytes. */
  readonly size: number;
  /**
   * Resolves to the bytes from `offset`, `length` of them or as many as there are.
   * @param into memory that is no longer needed: the bytes may be written there
   */
  read(offset: number, length: number, into?: Uint8Array): Promise<Uint8Array>;
}

/** A source over bytes in memory. */
export function bytesOf(bytes: Uint8Array): ByteSource {
  return { size: bytes.length, read: (offset, length) => Promise.resolve(bytes.subarray(offset, offset + length)) };
}
