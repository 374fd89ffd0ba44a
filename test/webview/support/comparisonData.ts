import { readFileSync } from 'node:fs';
import type { BuildSide } from '../../../src/kernel/node/store/buildSide.ts';
import { toComparison } from '../../../src/features/diff/node/toComparison.ts';
import { nodesToMatch } from '../../../src/kernel/report/buildDiff.ts';
import { readModel } from '../../../src/kernel/read/onnx/readModel.ts';
import type { ViewData } from '../../../src/kernel/picture/graph/viewData.ts';
import { bytesOf } from '../../../src/kernel/base/problem.ts';
import { modelPath } from '../../support/fixtures.ts';
import { captureData } from './captureData.ts';

/** What the page of two builds gets for two captures, as `tensorrt-10.6.0/vit_tiny.fp32`; of one model, or of two exports. */
export async function comparisonData(model: string, a: string, b: string, modelB = model): Promise<ViewData> {
  const [before, after] = await Promise.all([sideOf(model, a), sideOf(modelB, b)]);
  return toComparison(before, after, { a, b });
}

async function sideOf(file: string, source: string): Promise<BuildSide> {
  const { value: model } = await readModel(bytesOf(readFileSync(modelPath(file))));
  const { report, build: manifest } = await captureData(file, source);
  return {
    source,
    report: report!,
    network: nodesToMatch(model!),
    logPath: null,
    model: model!,
    modelPath: modelPath(file),
    manifest,
  };
}
