import { mkdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { cacheFolder } from '../files/cacheFolder.ts';
import { writeWhole } from '../files/writeWhole.ts';
import { buildsFolder } from './buildFolder.ts';

/** What took minutes to find out about a model, kept until it is found out again. */
export type ResultKind = 'accuracy' | 'bisect';

const version = 1;

/** Kept with the model's path, next to its builds. */
const pathOf = (model: string, kind: ResultKind, cache: string): string => `${resultFolder(model, kind, cache)}.json`;

/** A folder for files that belong to a result. */
export const resultFolder = (model: string, kind: ResultKind, cache = cacheFolder()): string =>
  join(cache, 'results', basename(buildsFolder(model, cache)), kind);

/** @throws {UserError} if it cannot be written */
export async function keepResult(
  model: string,
  kind: ResultKind,
  result: unknown,
  cache = cacheFolder(),
): Promise<void> {
  const path = pathOf(model, kind, cache);
  await mkdir(join(path, '..'), { recursive: true });
  await writeWhole(path, JSON.stringify({ version, result }));
}

/** What was kept last; undefined: nothing, or nothing that can be read. Never rejects. */
export async function keptResult<T>(model: string, kind: ResultKind, cache = cacheFolder()): Promise<T | undefined> {
  try {
    const kept = JSON.parse(await readFile(pathOf(model, kind, cache), 'utf8')) as { version?: number; result?: T };
    return kept.version === version ? kept.result : undefined;
  } catch {
    return undefined;
  }
}
