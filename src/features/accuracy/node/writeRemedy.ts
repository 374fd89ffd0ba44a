import type { Remedy, RemedyTensor } from '../../../kernel/simulation/simulated.ts';
import { basename, dirname } from 'node:path';
import { type Replacement, replacementEdits, scaleInputs } from '../chunkPlan.ts';
import { planEdit } from '../../../kernel/read/onnx/editModel.ts';
import type { OnnxModel, OnnxTensor } from '../../../kernel/read/onnx/onnxModel.ts';
import { rawElements, readElements } from '../../../kernel/read/onnx/readElements.ts';
import { readModel } from '../../../kernel/read/onnx/readModel.ts';
import { networkOf } from '../../../kernel/network/network.ts';
import { checkOutput, filesOfModel } from '../../../kernel/node/files/writeResult.ts';
import { openExternal } from '../../../kernel/node/files/externalFile.ts';
import { type FileSource, withFile } from '../../../kernel/node/files/fileSource.ts';
import { refuseErrors } from '../../../kernel/node/files/refuseErrors.ts';
import { writeModel, type WrittenModel } from '../../../kernel/node/files/writeModel.ts';
import { UserError } from '../../../kernel/node/files/userError.ts';

/**
 * Writes a copy of a model with the constants of a remedy.
 * @throws {UserError} if the model is not the one that the remedy was found for, or the copy cannot be written
 */
export async function writeRemedy(
  path: string,
  remedy: Remedy,
  out: string,
  signal?: AbortSignal,
): Promise<WrittenModel> {
  await checkOutput(out, await filesOfModel(path), 'model');
  return withFile(path, async (source) => {
    const { value: model, problems } = await readModel(source, { spans: true });
    refuseErrors(path, problems);
    if (!model) throw new UserError(`${path} cannot be read as an ONNX model`);
    const ids = new Set(model.graph.nodes.map(({ id }) => id));
    if (remedy.tensors.some(({ at }) => at.some(({ node }) => !ids.has(node))))
      throw new UserError(`${basename(path)} is not the model that was judged. Judge it again`);
    const replaced: Replacement[] = [];
    for (const tensor of remedy.tensors) {
      // oxlint-disable-next-line no-await-in-loop -- one file, one tensor after the other
      replaced.push(...(await replacementsOf(tensor, { path, model, source })));
    }
    const { value, problems: refused } = await planEdit(model, source, replacementEdits(model, replaced));
    refuseErrors(basename(path), refused);
    return writeModel(value!, { path, source }, out, signal);
  });
}

async function replacementsOf(
  change: RemedyTensor,
  { path, model, source }: { path: string; model: OnnxModel; source: FileSource },
): Promise<Replacement[]> {
  const network = networkOf(model);
  if (change.kind !== 'clamp') {
    const nodes = new Map(model.graph.nodes.map((node) => [node.id, node]));
    return scaleInputs(change, (id) => {
      const zero = nodes.get(id)?.inputs[2];
      return zero === undefined || zero === '' ? null : network.typeOf('', zero);
    });
  }
  const { tensor: name, from, to, at } = change;
  const { stored, producer = -1 } = network.tensors[network.tensorAt('', name)] ?? {};
  const attribute = network.nodes[producer]?.attributes[0];
  const held = stored ?? (attribute?.kind === 'tensor' ? (attribute.value as OnnxTensor) : undefined);
  const values = held
    ? await readElements(held, source, (location) => openExternal(dirname(path), location))
    : typeof attribute?.value === 'number'
      ? Float64Array.of(attribute.value)
      : null;
  if (!values) throw new UserError(`${basename(path)} has no constant "${name}". Judge it again`);
  const end = Math.abs(to);
  const clamped = values.map((value) =>
    Math.abs(from) > end
      ? Math.min(end, Math.max(-end, value))
      : value !== 0 && Math.abs(value) < end
        ? Math.sign(value) * end
        : value,
  );
  const bytes = rawElements('float', clamped);
  const tensor = { name: `${name}_clamped`, newType: 'float' as const, shape: held?.shape ?? [], bytes };
  return at.map((place) => ({ ...place, tensor }));
}
