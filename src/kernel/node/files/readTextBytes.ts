import { readWhole } from './fileSource.ts';
import { UserError } from './userError.ts';

/**
 * The bytes of a file that must be text.
 * @param what the file should be, for the message: `override file (*.trtprec)`
 * @throws {UserError} if it cannot be read or is binary, such as a model
 */
export async function readTextBytes(path: string, what: string): Promise<Uint8Array> {
  const bytes = await readWhole(path);
  if (bytes.includes(0)) throw new UserError(`${path} is not UTF-8 text. Pass ${what}`);
  return bytes;
}
