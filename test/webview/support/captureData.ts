import { readFileSync } from 'node:fs';
import { buildState, engineState } from '../../../src/kernel/build/diagnosis.ts';
import { diagnoseLog } from '../../../src/features/diagnose/diagnoseLog.ts';
import { readBuildLog } from '../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { readLayerInfo, readProfile } from '../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { createEngineReport, createReport } from '../../../src/kernel/fusion/createReport.ts';
import type { OnnxModel } from '../../../src/kernel/read/onnx/onnxModel.ts';
import { readModel } from '../../../src/kernel/read/onnx/readModel.ts';
import { engineGraph } from '../../../src/kernel/picture/graph/fusionGroups.ts';
import { toGraphData, type ViewData } from '../../../src/kernel/picture/graph/viewData.ts';
import { typedGraph } from '../../../src/kernel/picture/page/selectionText.ts';
import { bytesOf } from '../../../src/kernel/base/problem.ts';
import { captureText, modelPath } from '../../support/fixtures.ts';
import { buildManifest } from '../../support/buildManifest.ts';

async function modelOf(name: string): Promise<OnnxModel> {
  const { value, problems } = await readModel(bytesOf(readFileSync(modelPath(name))));
  if (value === undefined) throw new Error(`${name}: ${problems.map(({ message }) => message).join('; ')}`);
  return value;
}

function piecesOf(capture: string) {
  const [log, layers, profile] = ['log.txt', 'layers.json', 'profile.json'].map((file) =>
    captureText(`${capture}/${file}`),
  );
  if (log === undefined && layers === undefined) throw new Error(`${capture} has neither a log nor layer info.`);
  return {
    log: log === undefined ? undefined : readBuildLog(log).value,
    layerInfo: layers === undefined ? undefined : readLayerInfo(layers).value,
    profile: profile === undefined ? undefined : readProfile(profile).value,
  };
}

/**
 * What a view gets for a captured build: the model, and as much of log, layer info and profile as the capture has.
 * `capture` is `<folder>/<model>.<variant>`, e.g. `tensorrt-10.6.0/vit_tiny.fp16`.
 */
export async function captureData(model: string, capture: string): Promise<ViewData> {
  const value = await modelOf(model);
  const pieces = piecesOf(capture);
  const report = createReport({ model: value, modelFile: `${model}.onnx`, ...pieces });
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
    hints:
      pieces.profile === undefined ? ['No profile: run trtexec with --exportProfile to see where the time goes.'] : [],
  };
}

/** What a view gets for a model without a build. */
export async function modelData(model: string): Promise<ViewData> {
  const value = await modelOf(model);
  const graph = typedGraph(toGraphData(value), value);
  return { title: `${model}.onnx`, graph, report: null, build: null, hints: [] };
}

/** What a view gets for layer info and profile of a capture without the model. */
export function engineData(capture: string): ViewData {
  const { graph, report } = engineGraph(
    createEngineReport({ file: 'layers.json', ...piecesOf(capture), log: undefined, problems: [] }),
  );
  return { title: 'layers.json', graph, report, build: null, hints: [], state: engineState(['profile.json']) };
}

/** What a view gets after a build of this model failed as this capture did. */
export async function failedData(model: string, capture: string): Promise<ViewData> {
  const value = await modelOf(model);
  const files = { log: 'build.log', layers: null, profile: null, engine: null };
  const manifest = buildManifest({ result: 'failed', error: 'trtexec exited with 1', files });
  const found = diagnoseLog(readBuildLog(captureText(`${capture}/log.txt`)!).value, value);
  const state = buildState({ unsuccessful: { manifest, found }, pictured: null, changed: false });
  return { ...(await modelData(model)), build: manifest, state };
}
