import { gunzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import type { OnnxModel } from '../../src/kernel/read/onnx/onnxModel.ts';
import { readModel } from '../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { readBuildLog } from '../../src/kernel/read/tensorrt/readBuildLog.ts';
import { readLayerInfo } from '../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { createReport } from '../../src/kernel/fusion/createReport.ts';
import type { FusionReport } from '../../src/kernel/fusion/fusionReport.ts';
import { fixturePath } from './fixtures.ts';

/** A small network that `bench/heldBack/experiment.py` built, and the report on its build. */
export interface BuiltNetwork {
  /** What it varies: `atte:head=264`. */
  id: string;
  version: string;
  model: OnnxModel;
  report: FusionReport;
}

/** Networks of `test/fixtures/heldBack`, of which the id matches. */
export async function builtNetworks(name: string, ids: RegExp): Promise<BuiltNetwork[]> {
  const text = gunzipSync(readFileSync(fixturePath(`heldBack/${name}.jsonl.gz`))).toString('utf8');
  const found: BuiltNetwork[] = [];
  for (const line of text.trimEnd().split('\n')) {
    const row = JSON.parse(line) as { id: string; version: string; model: string; log: string[]; layers?: unknown };
    if (!ids.test(row.id)) continue;
    const { value: model } = await readModel(bytesOf(Buffer.from(row.model, 'base64')));
    const { value: log } = readBuildLog(`${row.log.join('\n')}\n`);
    const product = name.startsWith('tensorrt-rtx') ? ('tensorrt-rtx' as const) : ('tensorrt' as const);
    const layerInfo = row.layers === undefined ? undefined : readLayerInfo(JSON.stringify(row.layers)).value;
    const report = createReport({
      model: model!,
      modelFile: 'm.onnx',
      log: { ...log!, product, version: row.version },
      layerInfo,
    });
    found.push({ id: row.id, version: row.version, model: model!, report });
  }
  return found;
}
