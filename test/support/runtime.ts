import type { AccuracyReport } from '../../src/kernel/simulation/simulated.ts';
import { join } from 'node:path';
import { type AccuracyRequest, judgeAccuracy } from '../../src/features/accuracy/node/judgeAccuracy.ts';
import { ensurePackages, type Installed } from '../../src/kernel/node/tools/ensurePackages.ts';
import { forkedScripts } from './forkedScripts.ts';

let runtime: Promise<Installed> | undefined;

/** ONNX Runtime as a user gets it, from the user's own cache once it is there. */
export const runtimeForTests = (): Promise<Installed> =>
  (runtime ??= ensurePackages('onnxruntime', {
    confirm: () => Promise.resolve(true),
    progress: (line) => console.log(line),
  }));

/** Judges a model with the command line's defaults. */
export async function judge(
  model: string,
  inputs: string[],
  options: Partial<AccuracyRequest> = {},
): Promise<AccuracyReport> {
  const limits = { tolerance: 0.01, maxRuns: 1000, maxSeconds: 200 };
  const runtime = await runtimeForTests();
  const script = join(await forkedScripts(runtime, ['onnxruntime']), 'simulate.py');
  return judgeAccuracy({ ...limits, model, inputs, modelLine: './model.onnx', runtime, script, ...options });
}
