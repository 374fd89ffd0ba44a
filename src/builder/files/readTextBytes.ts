import { readWhole } from './fileSource.ts';
import { UserError } from '../userError.ts';

/**
 * The bytes of a file that must be text.
 * @param what is written in such files, for the message: `override rules (*.trtprec) are`
 * @throws {UserError} when it cannot be read, or is no text, such as a model in its place
 */
export async function readTextBytes(path: string, what: string): Promise<Uint8Array> {
  const bytes = await readWhole(path);
  if (bytes.includes(0)) throw new UserError(`${path}: is no text in UTF-8, as ${what}`);
  return bytes;
}
