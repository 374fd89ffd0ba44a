import { parse } from 'yaml';
import { errorText } from '../../base/problem.ts';
import { readWhole } from './fileSource.ts';
import { UserError } from './userError.ts';

/**
 * Reads a YAML file; JSON is YAML, too.
 * @throws {UserError} if it cannot be read, with the line
 */
export async function readYamlFile(path: string): Promise<unknown> {
  const text = new TextDecoder().decode(await readWhole(path));
  try {
    // `maxAliasCount` rejects documents whose aliases expand without end.
    return parse(text, { maxAliasCount: 100 });
  } catch (error) {
    throw new UserError(`${path}: ${errorText(error).split('\n')[0]!}`);
  }
}
