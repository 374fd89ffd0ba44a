import { readTextBytes } from './readTextBytes.ts';

/**
 * The text of an override file.
 * @throws {UserError} when it cannot be read, or is no text
 */
export const readRules = async (path: string): Promise<string> =>
  new TextDecoder().decode(await readTextBytes(path, 'an override file (*.trtprec)'));
