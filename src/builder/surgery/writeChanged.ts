import { basename } from 'node:path';
import { inferTensors } from '../../core/model/inferTensors.ts';
import { createModelGraph } from '../../core/model/modelGraph.ts';
import { planEdit } from '../../core/onnx/editModel.ts';
import { editsFor, type ModelChange } from '../../core/surgery/changeModel.ts';
import { withFile } from '../files/fileSource.ts';
import type { ParsedFiles } from '../files/parsedFiles.ts';
import { writeModel } from '../files/writeModel.ts';
import { UserError } from '../userError.ts';

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
  const graph = createModelGraph(model);
  const edits = editsFor(graph, inferTensors(graph), change);
  if ('reason' in edits) throw new UserError(`${basename(path)}: ${edits.reason}`);
  await withFile(path, async (source) => {
    const { value, problems } = await planEdit(model, source, edits);
    if (!value) throw new UserError(`${basename(path)}: ${problems[0]?.message ?? 'cannot be edited'}`);
    await writeModel(value, { path, source }, out, signal);
  });
}
