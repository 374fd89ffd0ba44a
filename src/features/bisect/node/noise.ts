import { planEdit } from '../../../kernel/read/onnx/editModel.ts';
import { elementCount, modelTensors } from '../../../kernel/read/onnx/onnxModel.ts';
import { networkOf } from '../../../kernel/network/network.ts';
import { withFile } from '../../../kernel/node/files/fileSource.ts';
import type { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { removeTree } from '../../../kernel/node/files/persist.ts';
import { Cancelled, UserError } from '../../../kernel/node/files/userError.ts';
import { writeModel } from '../../../kernel/node/files/writeModel.ts';
import { doubleEdits } from '../doublePrecision.ts';
import type { Reference } from './reference.ts';

/** Of models with more weights the copy would need too much memory, 12 bytes each. */
const MOST_ELEMENTS = 2 ** 28;

/** What ONNX Runtime says of an operator that it cannot compute in double. */
const refusedOperator = /implementation for (\w+)\(|of operator \((\w+)\)|Optype \((\w+)\)/;

interface NoiseRequest {
  reference: Reference;
  files: ParsedFiles;
  /** Path of a model. */
  model: string;
  inputs: string;
  /** What ONNX Runtime gave without optimizations. The file is next to the model and its weights, and so are others. */
  plain: string;
}

/** How far outputs are from `plain` when ONNX Runtime optimizes, and in FP64, by name: the larger; none where it cannot. */
export async function noiseOf(request: NoiseRequest): Promise<Record<string, number>> {
  const { reference, model, inputs, plain } = request;
  const other = `${plain}.other.npz`;
  const found: Record<string, number> = {};
  const double = `${plain}.double.onnx`;
  for (const way of [() => reference.run(model, inputs, other, true), () => runInDouble(request, double, other)])
    try {
      // oxlint-disable no-await-in-loop -- one after the other
      await way();
      for (const [name, error] of Object.entries(await reference.noise(plain, other)))
        found[name] = Math.max(found[name] ?? 0, error ?? 0);
      // oxlint-enable no-await-in-loop
    } catch (error) {
      // What cannot be run another way says nothing about the model.
      if (error instanceof Cancelled || !(error instanceof UserError)) throw error;
    } finally {
      await Promise.all([other, double].map(removeTree));
    }
  return found;
}

/** Runs a copy of a model that computes in FP64 where ONNX Runtime can. @throws {UserError} if nothing of it can */
async function runInDouble(
  { reference, files, model, inputs }: NoiseRequest,
  path: string,
  out: string,
): Promise<void> {
  const { value } = await files.model(model, { spans: true });
  const elements = modelTensors(value).reduce((sum, { shape }) => sum + elementCount(shape), 0);
  const refusal = new UserError(`${model} cannot run in FP64`);
  if (elements > MOST_ELEMENTS) throw refusal;
  const network = networkOf(value);
  await withFile(model, async (source) => {
    for (;;) {
      const edits = doubleEdits(network, reference.inFloat);
      // oxlint-disable no-await-in-loop -- what the next try leaves in float is what this one cannot run
      const edited = edits && (await planEdit(value, source, edits)).value;
      if (!edited) throw refusal;
      try {
        await writeModel(edited, { path: model, source }, path);
        return await reference.run(path, inputs, out);
        // oxlint-enable no-await-in-loop
      } catch (error) {
        const refused = error instanceof UserError ? refusedOperator.exec(error.message) : null;
        const operator = refused?.slice(1).find(Boolean);
        if (operator === undefined || reference.inFloat.has(operator)) throw error;
        reference.inFloat.add(operator);
      }
    }
  });
}
