import { readdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { fileName, matchingFiles, readSource } from '../../network/sourceLines.ts';

/** Folders of installed packages and of tools, which have files of the same names. */
const skipped = /^(?:\..*|node_modules|site-packages|dist-packages|__pycache__|venv|build|dist)$/;
/** Entries of folders that are looked at; a repository has fewer. */
const mostEntries = 100_000;

/**
 * Finds the files of a program below a folder that the lines of a model name, on whatever machine it was exported. Only
 * names are compared: no path of a model is opened.
 * @param sources as a report has them: `/home/ann/vision/blocks.py:14`
 * @returns by the path that the exporter wrote, the path from the folder, with `/`; without those that nothing or more
 * than one file fits equally well
 */
export async function findSources(root: string, sources: Iterable<string>): Promise<Map<string, string>> {
  const asked = new Set([...sources].flatMap((source) => readSource(source)?.path ?? []));
  const names = new Set([...asked].map((path) => fileName(path)));
  const found: string[] = [];
  let left = mostEntries;
  const folders = names.size === 0 ? [] : [root];
  for (let folder = folders.pop(); folder !== undefined && left > 0; folder = folders.pop()) {
    // oxlint-disable-next-line no-await-in-loop -- a walk: folders lead to folders
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    left -= entries.length;
    for (const entry of entries) {
      if (entry.isDirectory() && !skipped.test(entry.name)) folders.push(join(folder, entry.name));
      else if (entry.isFile() && names.has(entry.name)) found.push(join(folder, entry.name));
    }
  }
  const matches = new Map<string, string>();
  for (const path of asked) {
    const name = fileName(path);
    const { files } = matchingFiles(
      path,
      found.filter((file) => basename(file) === name),
    );
    if (files.length === 1) matches.set(path, relative(root, files[0]!).replaceAll('\\', '/'));
  }
  return matches;
}
