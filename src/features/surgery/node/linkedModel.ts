import { resolve } from 'node:path';
import { fillWeights } from '../../../kernel/node/files/fillWeights.ts';
import { withFile } from '../../../kernel/node/files/fileSource.ts';
import { linkWeights } from '../../../kernel/node/files/linkWeights.ts';
import type { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';

/** The file of a model that is built: with random weights a copy that has them. */
export const builtModel = (
  { model, randomWeights, cache }: { model: string; randomWeights?: boolean; cache?: string | undefined },
  signal?: AbortSignal,
): Promise<string> => (randomWeights ? fillWeights(model, cache, signal) : Promise.resolve(resolve(model)));

/** Links a model and its weights into a folder, so that changed copies there need no weights of their own. @returns its path there */
export async function linkedModel(path: string, folder: string, files: ParsedFiles): Promise<string> {
  const { value } = await files.model(path, { spans: true });
  return withFile(path, (source) => linkWeights(path, value, source, folder));
}
