import { hasFaultyForm, type FoundFault, knownFaults } from '../../faults/knownFaults.ts';
import type { EngineOptions } from '../../build/buildOptions.ts';
import { ParsedFiles } from '../files/parsedFiles.ts';
import { backendCapabilityOf, type BuildTools } from './buildPlan.ts';

/**
 * What the TensorRT that would build a model is known to compute wrong in it; nothing where the model cannot be read or
 * built: the build itself says that best. Programs are only asked for their version if some version is wrong.
 */
export async function faultsOfBuild(options: EngineOptions, tools: BuildTools): Promise<FoundFault[]> {
  const read = await new ParsedFiles().model(options.model).catch(() => undefined);
  if (read === undefined || !hasFaultyForm(read.value)) return [];
  const found = await backendCapabilityOf(options, tools).catch(() => undefined);
  if (found === undefined) return [];
  const faults = knownFaults(read.value, { product: found.product, version: found.version, capability: null });
  return faults.filter(({ severity }) => severity === 'error');
}
