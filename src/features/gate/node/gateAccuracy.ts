import type { LowPrecision } from '../../../kernel/simulation/simulated.ts';
import type { GateSide } from '../../../kernel/rules/gateSide.ts';
import type { PythonWithRuntime } from '../../../kernel/node/tools/pythonWithRuntime.ts';
import type { Limit } from '../gateFile.ts';
import { outsideTable } from '../../accuracy/accuracyReport.ts';
import { pathBeside } from '../../../kernel/node/files/pathBeside.ts';
import { readRules } from '../../../kernel/node/files/readRules.ts';
import type { BuildSide } from '../../../kernel/node/store/buildSide.ts';
import { Cancelled, UserError } from '../../../kernel/node/files/userError.ts';
import { lowOutputs } from '../../accuracy/node/judgeAccuracy.ts';

interface GateAccuracyRequest {
  /** Path of the gate file, to which its paths are relative. */
  gate: string;
  limit: Extract<Limit, { kind: 'accuracy' }>;
  build: BuildSide;
  /** Path of the model; default: the one that the build was made from. */
  model: string | undefined;
  /** Called only where a model is to be run. */
  runtime: () => Promise<PythonWithRuntime>;
  /** Path of `simulate.py`. */
  script: string;
  signal?: AbortSignal | undefined;
}

/**
 * The largest error of an output of a build, by simulation in the precision and under the rules that it was made with,
 * for the rule `accuracy` of a gate; or why it cannot be found.
 */
export async function gateAccuracy(request: GateAccuracyRequest): Promise<GateSide['accuracy']> {
  const { gate, limit, build, runtime, script, signal } = request;
  if (limit.inputs === undefined) return undefined;
  const pathOf = (path: string) => pathBeside(gate, path);
  const model = request.model ?? build.made?.model;
  if (model === undefined) return { missing: 'The model is missing: pass it with --onnx' };
  const low = lows.find((one) => one === (limit.low ?? build.requested));
  if (low === undefined)
    return { missing: 'Nothing says in which low precision the build computes: add `low: fp16` to the rule' };
  try {
    const rules = limit.rules === undefined ? build.made?.rules : await readRules(pathOf(limit.rules));
    const inputs = [pathOf(limit.inputs)];
    const search = { tolerance: limit.value, maxRuns: 0, maxSeconds: 0, modelLine: '' };
    const outputs = await lowOutputs({
      ...search,
      model,
      inputs,
      low,
      rules,
      runtime: await runtime(),
      script,
      signal,
    });
    const outside = outsideTable(outputs);
    if (outside !== undefined)
      return { missing: `No error can be predicted, because an index leaves its table: ${outside}` };
    return largestError(outputs.filter(({ judged }) => judged));
  } catch (error) {
    if (!(error instanceof UserError) || error instanceof Cancelled) throw error;
    return { missing: error.message.replace(/\.$/, '') };
  }
}

const lows: readonly LowPrecision[] = ['fp16', 'bf16', 'int8', 'fp8'];

/** The worst of several outputs; null: one is not finite. */
export function largestError(outputs: readonly { error: number | null; finite: boolean }[]): { error: number | null } {
  const errors = outputs.map(({ error, finite }) => (finite ? error : null));
  return { error: errors.includes(null) ? null : Math.max(0, ...(errors as number[])) };
}
