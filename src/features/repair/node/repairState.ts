import { editedSource, type OnnxModel } from '../../../kernel/read/onnx/onnxModel.ts';
import { type EditedModel, type ModelEdits, planEdit } from '../../../kernel/read/onnx/editModel.ts';
import { readModel } from '../../../kernel/read/onnx/readModel.ts';
import type { RepairStep } from '../../../kernel/network/repairMap.ts';
import type { RepairTrial } from '../planRepair.ts';
import type { ByteSource } from '../../../kernel/base/problem.ts';
import { UserError } from '../../../kernel/node/files/userError.ts';

/** A model on its way: the original with some repairs. */
export interface RepairState {
  source: ByteSource;
  model: OnnxModel;
  steps: RepairStep[];
  /** The failure that each step answers. */
  trials: readonly RepairTrial[];
  /** Outputs with other names, or gone. */
  outputs: ReadonlyMap<string, string | null>;
  /** The texts for which inputs take the index. */
  texts: readonly string[];
}

/**
 * The model after more edits; nothing is written.
 * @throws {UserError} if the edits are not possible, such as a model of 2 GiB or more
 */
export async function editState(state: RepairState, edits: ModelEdits): Promise<RepairState> {
  const { value, problems } = await planEdit(state.model, state.source, edits);
  if (!value) throw new UserError(problems[0]?.message ?? 'the model cannot be edited');
  const source = editedSource(value.segments, state.source);
  const read = await readModel(source, { spans: true });
  const error = read.problems.find(({ severity }) => severity === 'error');
  if (!read.value || error) throw new Error(`the repaired model cannot be read: ${error?.message}`);
  return { ...state, source, model: read.value };
}

/** A state as `writeModel` takes it. */
export const wholeOf = ({ source: { size } }: RepairState): EditedModel => ({
  segments: [{ copy: { offset: 0, length: size } }],
  size,
  external: null,
});
