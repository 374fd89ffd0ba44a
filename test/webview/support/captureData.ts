import { readFileSync } from 'node:fs';
import { readBuildLog } from '../../../src/core/engine/readBuildLog.ts';
import { readLayerInfo } from '../../../src/core/engine/readLayerInfo.ts';
import { readProfile } from '../../../src/core/engine/readProfile.ts';
import { createReport } from '../../../src/core/fusion/createReport.ts';
import { readModel } from '../../../src/core/onnx/readModel.ts';
import { toGraphData } from '../../../src/core/scene/graph/graphData.ts';
import type { ViewData } from '../../../src/core/scene/panel/viewData.ts';
import { bytesOf } from '../../../src/core/text/byteSource.ts';
import { captureText, modelPath } from '../../support/fixtures.ts';
import { buildManifest } from '../../support/buildManifest.ts';

/**
 * What a view gets for a captured build: the model, and as much of log, layer info and profile as the capture has.
 * `capture` is `<folder>/<model>.<variant>`, e.g. `tensorrt-10.6.0/vit_tiny.fp16`.
 */
export async function captureData(model: string, capture: string): Promise<ViewData> {
  const { value, problems } = await readModel(bytesOf(readFileSync(modelPath(model))));
  if (value === undefined) throw new Error(`${model}: ${problems.map(({ message }) => message).join('; ')}`);
  const [log, layers, profile] = ['log.txt', 'layers.json', 'profile.json'].map((file) =>
    captureText(`${capture}/${file}`),
  );
  if (log === undefined && layers === undefined) throw new Error(`${capture} has neither a log nor layer info.`);
  const report = createReport({
    model: value,
    modelFile: `${model}.onnx`,
    log: log === undefined ? undefined : readBuildLog(log).value,
    layerInfo: layers === undefined ? undefined : readLayerInfo(layers).value,
    profile: profile === undefined ? undefined : readProfile(profile).value,
  });
  return {
    title: `${model}.onnx`,
    graph: toGraphData(value),
    report,
    build: buildManifest({
      id: capture,
      model: { file: `${model}.onnx`, sha256: null, bytes: 0 },
      origin: 'recorded',
      tensorrt: report.tensorrt,
      options: capture.endsWith('fp16') ? { fp16: true } : {},
      files: { log: 'log.txt', layers: null, profile: null, engine: null },
    }),
    hints: profile === undefined ? ['No profile: run trtexec with --exportProfile to see where the time goes.'] : [],
  };
}
