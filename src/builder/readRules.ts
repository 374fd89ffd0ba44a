import { readWhole } from './fileSource.ts';
import { Unusable } from './unusable.ts';

/**
 * The text of an override file.
 * @throws {Unusable} when it cannot be read, or is no text, such as a model in its place
 */
export async function readRules(path: string): Promise<string> {
  const bytes = await readWhole(path);
  if (bytes.includes(0)) throw new Unusable(`${path}: is no text in UTF-8, as override rules (*.trtprec) are`);
  return new TextDecoder().decode(bytes);
}
