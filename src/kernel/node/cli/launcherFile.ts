import { readYamlFile } from '../files/readYamlFile.ts';
import { UserError } from '../files/userError.ts';
import { type Launcher, readLauncher } from '../../build/launcher.ts';

/** @throws {UserError} if the file is not a launcher */
export async function readLauncherFile(path: string): Promise<Launcher> {
  const launcher = readLauncher(await readYamlFile(path));
  if (typeof launcher === 'string') throw new UserError(`${path}: ${launcher}`);
  return launcher;
}
