import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** A file of an installation: its path in the folder, with `/`, and its size in bytes. */
type Entry = [path: string, bytes: number];

const name = '.complete';

/** Python writes compiled copies later; pip and similar ones may be updated, and nothing here needs them afterwards. */
const changing = /(^|\/)(__pycache__|pip|pip-[^/]*|setuptools|setuptools-[^/]*)\//;

/** Lists the files of a finished installation in a file `.complete` of its folder. */
export async function writeInventory(folder: string): Promise<void> {
  await writeFile(join(folder, name), JSON.stringify(await filesIn(folder)));
}

/** What `writeInventory` listed; `unlisted`: finished by a version that listed nothing; undefined: not finished. */
export async function readInventory(folder: string): Promise<Entry[] | 'unlisted' | undefined> {
  try {
    const text = await readFile(join(folder, name), 'utf8');
    return text.startsWith('[') ? (JSON.parse(text) as Entry[]) : 'unlisted';
  } catch {
    return undefined;
  }
}

/** The first file that is missing or has another size, as text; undefined: all are as they were listed. */
export async function whatDiffers(folder: string, inventory: Entry[]): Promise<string | undefined> {
  const states = await Promise.all(
    inventory.map(async ([path, bytes]) => {
      const size = await stat(join(folder, path)).then(
        (status) => status.size,
        () => undefined,
      );
      if (size === undefined) return `${path} is missing`;
      return size === bytes ? undefined : `${path} has ${size} bytes, not ${bytes}`;
    }),
  );
  return states.find((state) => state !== undefined);
}

async function filesIn(folder: string): Promise<Entry[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name !== name)
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((path) => !changing.test(path));
  return Promise.all(
    paths.toSorted().map(async (path): Promise<Entry> => [path, (await stat(join(folder, path))).size]),
  );
}
