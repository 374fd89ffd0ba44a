import { type AutotuneState, readAutotuneState } from '../../core/quantization/calibration.ts';
import { readYamlFile } from '../readYamlFile.ts';
import { UserError } from '../userError.ts';

/**
 * The state that ModelOpt's autotune keeps in a file.
 * @throws {UserError} if it cannot be read, or is something else
 */
export async function readAutotuneFile(path: string): Promise<AutotuneState> {
  const state = readAutotuneState(await readYamlFile(path));
  if (!state) throw new UserError(`${path} is not the state of ModelOpt's autotune (autotuner_state.yaml)`);
  return state;
}
