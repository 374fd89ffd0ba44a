import { join } from 'node:path';
import { repairModel } from '../../builder/repair/repairModel.ts';
import { type BuildOptions, runBuild } from '../../builder/run/runBuild.ts';
import type { Build } from '../../builder/store/buildFolder.ts';
import { runtimeFor } from '../runtimeFor.ts';
import { repairText } from '../../core/repair/repairResult.ts';
import type { Terminal } from '../terminal.ts';
import { driverScript } from '../driverScript.ts';

/** The name of a repaired model in the folder of the build that failed. */
const name = 'repaired.onnx';

/** Repairs a model that did not build, if that is exact, and builds it. null: it cannot be repaired. */
export async function repairFirst(
  failed: Build,
  options: BuildOptions,
  terminal: Terminal,
  yes: boolean,
): Promise<Build | null> {
  const result = await repairModel(
    {
      options,
      out: join(failed.folder, name),
      allow: new Set(),
      samples: [],
      runtime: () => runtimeFor({ yes, buildPython: options.python }, terminal),
      script: driverScript('repair_model.py'),
    },
    { progress: (text) => terminal.status(text) },
    terminal.signal,
  ).finally(() => terminal.status(null));
  for (const line of repairText(result).trimEnd().split('\n')) terminal.note(line);
  return result.written === null ? null : runBuild({ ...options, model: result.written }, {}, terminal.signal);
}
