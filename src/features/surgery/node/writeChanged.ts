import { basename } from 'node:path';
import { networkOf } from '../../../kernel/network/network.ts';
import { planEdit } from '../../../kernel/read/onnx/editModel.ts';
import { editsFor, type ModelChange } from '../changeModel.ts';
import { withFile } from '../../../kernel/node/files/fileSource.ts';
import type { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { writeModel } from '../../../kernel/node/files/writeModel.ts';
import { UserError } from '../../../kernel/node/files/userError.ts';

/**
 * Writes a copy of a model with a change.
 * @throws {UserError} if the change is not possible, or the copy cannot be written
 */
export async function writeChanged(
  path: string,
  change: ModelChange,
  out: string,
  files: ParsedFiles,
  signal?: AbortSignal,
): Promise<void> {
  const { value: model } = await files.model(path, { spans: true });
  const graph = networkOf(model);
  const edits = editsFor(graph, graph.inferred, change);
  if ('reason' in edits) throw new UserError(`${basename(path)}: ${edits.reason}`);
  await withFile(path, async (source) => {
    const { value, problems } = await planEdit(model, source, edits);
    if (!value) throw new UserError(`${basename(path)}: ${problems[0]?.message ?? 'cannot be edited'}`);
    await writeModel(value, { path, source }, out, signal);
  });
}
