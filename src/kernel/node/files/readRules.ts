import { readTextBytes } from './readTextBytes.ts';

/**
 * The text of an override file.
 * @throws {UserError} if it cannot be read, or is not text
 */
export const readRules = async (path: string): Promise<string> =>
  new TextDecoder().decode(await readTextBytes(path, 'an override file (*.trtprec)'));
