import { join } from 'node:path';
import { planEdit } from '../../../kernel/read/onnx/editModel.ts';
import { elementCount, modelTensors, type OnnxModel } from '../../../kernel/read/onnx/onnxModel.ts';
import { networkOf } from '../../../kernel/network/network.ts';
import type { FileSource } from '../../../kernel/node/files/fileSource.ts';
import { Cancelled, UserError } from '../../../kernel/node/files/userError.ts';
import { writeModel } from '../../../kernel/node/files/writeModel.ts';
import { doubleEdits } from '../doublePrecision.ts';
import type { Reference } from './reference.ts';

/** Of models with more weights the copy would need too much memory, 12 bytes each. */
const MOST_ELEMENTS = 2 ** 28;

/** What ONNX Runtime says of an operator that it cannot compute in double. */
const refusedOperator = /implementation for (\w+)\(|of operator \((\w+)\)|Optype \((\w+)\)/;

/** Operators without kernels in double (ONNX Runtime 1.19 to 1.31, CPU), or that it expands to such ones. */
const knownInFloat =
  'AveragePool Conv ConvTranspose Erf GRU Gelu GlobalAveragePool GroupNormalization HardSwish LSTM Mish PRelu RNN'.split(
    ' ',
  );

/** Runs a model in FP64 where ONNX Runtime can. */
export class DoubleRuns {
  readonly #place: { model: OnnxModel; linked: string; source: FileSource; folder: string; reference: Reference };
  readonly #inFloat = new Set(knownInFloat);

  /** @param place the model, linked into `folder` with its weights, and its content */
  constructor(place: { model: OnnxModel; linked: string; source: FileSource; folder: string; reference: Reference }) {
    this.#place = place;
  }

  /** Stores the outputs for these inputs. @returns false: nothing of it can run in FP64 */
  async run(inputs: string, out: string): Promise<boolean> {
    const { model, linked, source, folder, reference } = this.#place;
    const elements = modelTensors(model).reduce((sum, { shape }) => sum + elementCount(shape), 0);
    if (elements > MOST_ELEMENTS) return false;
    const path = join(folder, 'double.onnx');
    for (;;) {
      const edits = doubleEdits(networkOf(model), this.#inFloat);
      if (edits === null) return false;
      try {
        // oxlint-disable no-await-in-loop -- what the next try leaves in float is what this one cannot run
        const { value } = await planEdit(model, source, edits);
        if (!value) return false;
        await writeModel(value, { path: linked, source }, path);
        await reference.run(path, inputs, out);
        // oxlint-enable no-await-in-loop
        return true;
      } catch (error) {
        if (error instanceof Cancelled || !(error instanceof UserError)) throw error;
        const operator = refusedOperator.exec(error.message)?.slice(1).find(Boolean);
        if (operator === undefined || this.#inFloat.has(operator)) return false;
        this.#inFloat.add(operator);
      }
    }
  }
}
