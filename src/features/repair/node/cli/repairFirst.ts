import { join } from 'node:path';
import { repairModel } from '../repairModel.ts';
import { type BuildOptions, runBuild } from '../../../../kernel/node/run/runBuild.ts';
import type { Build } from '../../../../kernel/node/store/buildFolder.ts';
import { runtimeFor } from '../../../../kernel/node/cli/runtimeFor.ts';
import { repairText } from '../../repairResult.ts';
import type { Terminal } from '../../../../kernel/node/cli/terminal.ts';
import { driverScript } from '../../../../kernel/node/cli/driverScript.ts';

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
