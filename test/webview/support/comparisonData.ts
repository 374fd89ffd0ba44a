import { readFileSync } from 'node:fs';
import { compareBuilds } from '../../../src/core/diff/compareBuilds.ts';
import { networkOf } from '../../../src/core/diff/diffInput.ts';
import { diffReports } from '../../../src/core/diff/diffReports.ts';
import { readModel } from '../../../src/core/onnx/readModel.ts';
import type { ViewData } from '../../../src/core/scene/panel/viewData.ts';
import { bytesOf } from '../../../src/core/text/byteSource.ts';
import { modelPath } from '../../support/fixtures.ts';
import { captureData } from './captureData.ts';

/** What the page of two builds gets for two captures of one model, as `tensorrt-10.6.0/vit_tiny.fp32`. */
export async function comparisonData(model: string, a: string, b: string): Promise<ViewData> {
  const { value } = await readModel(bytesOf(readFileSync(modelPath(model))));
  const network = networkOf(value!);
  const [before, after] = await Promise.all([captureData(model, a), captureData(model, b)]);
  const diff = diffReports(
    { source: a, report: before.report!, network },
    { source: b, report: after.report!, network },
  );
  const made = ({ build }: ViewData) => ({ manifest: build!, report: null });
  return {
    ...after,
    comparison: { diff, before: before.report!, names: { a, b }, facts: compareBuilds(made(before), made(after)) },
  };
}
