import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { readBuildLog } from '../../../src/core/engine/readBuildLog.ts';
import { createReport } from '../../../src/core/fusion/createReport.ts';
import type { FusionReport } from '../../../src/core/fusion/fusionReport.ts';
import { readModel } from '../../../src/core/onnx/readModel.ts';
import { bytesOf } from '../../../src/core/text/byteSource.ts';
import { fixturePath } from '../fixtures.ts';
import type { HardModel } from './hardModel.ts';
import { hardModels } from './hardModels.ts';

/** Where the log of a model's build with TensorRT-RTX 1.7.1 is kept; `test/real/hardModels.test.ts` writes it. */
export const logPathOf = (name: string): string => fixturePath(`hardModels/${name}.log.gz`);

/** The log of a recorded build. */
export function recordedLog(name: string): string {
  const path = logPathOf(name);
  if (!existsSync(path)) throw new Error(`${path} is missing: UPDATE_GOLDEN=1 npm test -- real writes it`);
  return gunzipSync(readFileSync(path)).toString('utf8');
}

export const hardModel = (name: string): HardModel => {
  const found = hardModels.find((model) => model.name === name);
  if (!found) throw new Error(`no hard model is called ${name}`);
  return found;
};

/** The report on a model's build, from the recorded log or another. */
export async function reportOnBuild(name: string, log = recordedLog(name)): Promise<FusionReport> {
  const { value: model } = await readModel(bytesOf(hardModel(name).bytes));
  return createReport({ model: model!, modelFile: `${name}.onnx`, log: readBuildLog(log).value });
}
