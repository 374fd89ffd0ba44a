import type { InputSource } from '../../simulation/simulated.ts';
import { inputsOf } from '../../build/randomInputs.ts';
import type { DeclaredInput } from '../../build/randomInputs.ts';
import { dirname } from 'node:path';
import type { OnnxModel } from '../../read/onnx/onnxModel.ts';
import { UserError } from '../files/userError.ts';
import type { Simulation } from './simulation.ts';

export interface SampleRequest {
  /** Path of the model; its external data is next to it. */
  model: string;
  /** Files or folders with input values; none: random ones. */
  inputs: string[];
  /** Shapes of random inputs, by name; default: those of the model, small ones for open dimensions. */
  shapes?: ReadonlyMap<string, number[]> | undefined;
}

/**
 * Opens a model in a simulation and reads its samples.
 * @throws {UserError} if the inputs do not fit the model, or an input without values has no shape
 */
export async function openSamples(
  simulation: Simulation,
  model: OnnxModel,
  request: SampleRequest,
): Promise<{ samples: number; sources: InputSource[]; inputs: DeclaredInput[] }> {
  await simulation.open(request.model, dirname(request.model), model.nodes);
  const inputs = inputsOf(model, request.shapes);
  const open = inputs.find(({ name, shape }) => shape === null && request.shapes?.has(name) !== true);
  if (open && request.inputs.length === 0)
    throw new UserError(
      `Input "${open.name}" has no shape in the model. Pass one (--shapes ${open.name}:1x3x224x224) or values (--inputs)`,
    );
  const read = await simulation.samples(request.inputs, inputs);
  return { samples: read.samples, sources: read.inputs, inputs };
}
