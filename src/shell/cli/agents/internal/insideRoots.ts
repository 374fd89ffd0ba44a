import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { pathKey } from '../../../../kernel/node/files/pathKey.ts';
import { fileTrouble, UserError } from '../../../../kernel/node/files/userError.ts';

/**
 * The absolute path of what an agent or a file names; a relative path is in the first root. `missing`: the error where
 * nothing is there.
 * @throws {UserError} if it, or what it links to, is outside of all roots, whether or not anything is there
 */
export async function insideRoots(
  path: string,
  roots: readonly string[],
): Promise<{ absolute: string; missing?: UserError }> {
  if (path === '' || path.includes('\0')) throw new UserError('a path is empty or contains a NUL character');
  const absolute = resolve(roots[0] ?? '.', path);
  const { real, missing } = await realPlace(absolute);
  const folders = await Promise.all(roots.map(async (root) => (await realPlace(resolve(root))).real));
  if (!folders.some((folder) => isInside(real, folder)))
    throw new UserError(
      `${path} is outside of the folders that agents may read: ${roots.join(', ')}. To read others, the user can start trtlens mcp with --root FOLDER`,
    );
  return missing === undefined ? { absolute } : { absolute, missing: fileTrouble(path, missing) };
}

/** Where a path leads, as far as it exists; `missing`: the error where it does not. */
async function realPlace(path: string): Promise<{ real: string; missing?: unknown }> {
  try {
    return { real: await realpath(path) };
  } catch (error) {
    const parent = dirname(path);
    if (parent === path) return { real: path, missing: error };
    return { real: join((await realPlace(parent)).real, basename(path)), missing: error };
  }
}

function isInside(path: string, folder: string): boolean {
  const [inner, outer] = [pathKey(path), pathKey(folder)];
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}
