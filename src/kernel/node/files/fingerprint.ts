import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { fileTrouble } from './userError.ts';

/** SHA-256 and size of a file of any size. */
export async function fingerprint(path: string): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
    return { sha256: hash.digest('hex'), bytes: (await stat(path)).size };
  } catch (error) {
    throw fileTrouble(path, error);
  }
}
