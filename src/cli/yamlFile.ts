import { parse } from 'yaml';
import { readWhole } from '../builder/files/fileSource.ts';
import { UserError } from '../builder/userError.ts';
import { type Launcher, readLauncher } from '../core/build/launcher.ts';
import { errorText } from '../core/text/errorText.ts';

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

/** @throws {UserError} if the file is not a launcher */
export async function readLauncherFile(path: string): Promise<Launcher> {
  const launcher = readLauncher(await readYamlFile(path));
  if (typeof launcher === 'string') throw new UserError(`${path}: ${launcher}`);
  return launcher;
}
