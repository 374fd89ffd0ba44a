import { describe, expect, it } from 'vitest';
import { readBuildLog } from '../../../../src/core/formats/tensorrt/readBuildLog.ts';
import { readLayerInfo } from '../../../../src/core/formats/tensorrt/readLayerInfo.ts';
import { createReport } from '../../../../src/core/fusion/createReport.ts';
import { captureText } from '../../../support/fixtures.ts';
import { metaOf, modelOf } from './loadCapture.ts';

const builds = [
  'tensorrt-8.6.1/vit_tiny.fp16',
  'tensorrt-8.6.1/vit_tiny.names_only',
  'tensorrt-8.6.1/fp16_overflow.fp16',
  'tensorrt-8.6.1/unnamed.fp32',
  'tensorrt-8.6.1/loop_if.fp32',
  'tensorrt-10.6.0/vit_tiny.fp16',
  'tensorrt-10.6.0/vit_tiny.names_only',
  'tensorrt-10.6.0/resnet18.fp32',
  'tensorrt-10.6.0/lstm_gru.fp32',
  'tensorrt-rtx-1.7.1/vit_tiny',
  'tensorrt-rtx-1.7.1/unnamed',
];

const given = ['log', 'layers', 'both'].flatMap((what) => builds.map((build) => [what, build] as const));

async function reportOf(model: string, build: string, what: string) {
  const log = captureText(`${build}/log.txt`);
  const layers = captureText(`${build}/layers.json`);
  if ((what !== 'layers' && log === undefined) || (what !== 'log' && layers === undefined)) return undefined;
  return createReport({
    model: (await modelOf(model))!,
    modelFile: `${model}.onnx`,
    log: what === 'layers' ? undefined : readBuildLog(log!).value,
    layerInfo: what === 'log' ? undefined : readLayerInfo(layers!).value,
  });
}

describe.each(['vit_tiny', 'fusion_zoo', 'unnamed', 'two_inputs_multi_out', 'lstm_gru'])('%s with', (model) => {
  it.each(given)('%s of %s', async (what, build) => {
    const report = await reportOf(model, build, what);
    if (!report) return;
    const codes = report.problems.map(({ code }) => code);
    if (metaOf(build).model === model) {
      expect(codes).not.toContain('other-model');
      expect(report.accounting.unknown).toBe(0);
      return;
    }
    // Nothing is derived from what is about another model.
    expect(codes.filter((code) => code === 'other-model')).toHaveLength(1);
    expect(codes).not.toContain('no-layers');
    expect(report.accounting.unknown).toBe(report.accounting.total);
    expect(report.nodes[0]!.reason).toBe('The inputs belong to another model.');
    expect(report.foreignNodes.every(({ nodes, exact }) => nodes.length === 0 && !exact)).toBe(true);
  });
});
