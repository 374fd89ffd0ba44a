import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { readBuildLog } from '../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { createReport } from '../../../src/kernel/fusion/createReport.ts';
import type { FusionReport } from '../../../src/kernel/fusion/fusionReport.ts';
import { readModel } from '../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../../src/kernel/base/problem.ts';
import { fixturePath } from '../fixtures.ts';
import type { HardModel } from './hardModel.ts';
import { hardModels } from './hardModels.ts';

const path = fixturePath('hardModels/logs.json.gz');
let logs: Record<string, string> | undefined;

/** Logs of the hard models by TensorRT 10.6.0 on an H100, by name; made once, with the project's driver, lines on plugins left out. */
export const logsOf106 = (): Record<string, string> =>
  JSON.parse(gunzipSync(readFileSync(fixturePath('hardModels/logs-10.6.json.gz'))).toString('utf8')) as Record<
    string,
    string
  >;

/** The log of a model's build with TensorRT-RTX 1.7.1; `test/real/hardModels.test.ts` records it. */
export function recordedLog(name: string): string {
  logs ??= JSON.parse(gunzipSync(readFileSync(path)).toString('utf8')) as Record<string, string>;
  const log = logs[name];
  if (log === undefined) throw new Error(`${path} has no log of ${name}: UPDATE_GOLDEN=1 npm test -- real writes it`);
  return log;
}

/** Keeps the logs of all models, by name. */
export function recordLogs(made: Record<string, string>): void {
  writeFileSync(path, gzipSync(`${JSON.stringify(made, null, 1)}\n`, { level: 9 }));
}

export const hardModel = (name: string): HardModel => {
  const found = hardModels.find((model) => model.name === name);
  if (!found) throw new Error(`no hard model is called ${name}`);
  return found;
};

/** The report on a model's build, from the recorded log or another; of an engine with several profiles the first or another. */
export async function reportOnBuild(
  name: string,
  log = recordedLog(name),
  optimizationProfile?: number,
): Promise<FusionReport> {
  const { value: model } = await readModel(bytesOf(hardModel(name).bytes));
  return createReport({ model: model!, modelFile: `${name}.onnx`, log: readBuildLog(log).value, optimizationProfile });
}
