import { describe, expect, test } from 'vitest';
import { readBuildLog } from '../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { readLayerInfo } from '../../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import { precisionSentence, precisionShare } from '../../../../src/kernel/report/words.ts';
import { captureText } from '../../../support/fixtures.ts';
import { modelOf } from '../fusion/loadCapture.ts';

async function shareOf(capture: string, model: string, requested: string | null) {
  const log = captureText(`${capture}/log.txt`);
  const layers = captureText(`${capture}/layers.json`);
  const report = createReport({
    model: (await modelOf(model))!,
    modelFile: `${model}.onnx`,
    ...(log !== undefined && { log: readBuildLog(log).value }),
    ...(layers !== undefined && { layerInfo: readLayerInfo(layers).value }),
  });
  return precisionShare(report, requested);
}

describe('the share of the requested precision', () => {
  test('of a build in FP16, counted by hand: one grep over the outputs of its layer info', async () => {
    const layers = JSON.parse(captureText('tensorrt-10.6.0/vit_tiny.fp16/layers.json')!) as {
      Layers: { Inputs: Tensor[]; Outputs: Tensor[] }[];
    };
    interface Tensor {
      Name: string;
      'Format/Datatype': string;
    }
    const types = new Map<string, string>();
    for (const { Inputs, Outputs } of layers.Layers)
      for (const tensor of [...Inputs, ...Outputs])
        if (!/dconst|constant|const-lit|_alpha|_beta/i.test(tensor.Name))
          types.set(tensor.Name, tensor['Format/Datatype']);
    const isHalf = (text: string) => /half|FP16/i.test(text);
    const isFloat = (text: string) => isHalf(text) || /float|FP32/i.test(text);
    const counted = [...types.values()];
    const share = (await shareOf('tensorrt-10.6.0/vit_tiny.fp16', 'vit_tiny', 'fp16'))!;
    expect(share.tensors).toBe(counted.filter(isFloat).length);
    expect(share.realised).toBe(counted.filter(isHalf).length);
    expect(share.realised! / share.tensors).toBeGreaterThan(0.9);
    expect(precisionSentence(share)).toMatch(
      /^Requested fp16: 9\d % of \d+ floating-point tensors between layers are fp16, the others fp32 \(\d+\)\.$/,
    );
  });

  test('a request without effect says so: FP16 of an engine that is all FP32', async () => {
    const share = (await shareOf('tensorrt-rtx-1.7.1/fp16_overflow', 'fp16_overflow', 'fp16'))!;
    expect(share.realised).toBe(0);
    expect(precisionSentence(share)).toMatch(/^Requested fp16, but none of \d+ .* is fp16: they are fp32 \(\d+\)\.$/);
  });

  test('without a request: the types; what ForeignNodes hide is said; names only give nothing', async () => {
    const opaque = (await shareOf('tensorrt-8.6.1/vit_tiny.fp16', 'vit_tiny', null))!;
    expect(precisionSentence(opaque)).toMatch(
      /^Types of \d+ floating-point tensors between layers: .*\. The types inside 1 ForeignNode are not known\.$/,
    );
    expect(opaque.realised).toBeNull();
    const report = createReport({
      model: (await modelOf('vit_tiny'))!,
      modelFile: 'vit_tiny.onnx',
      layerInfo: readLayerInfo(captureText('tensorrt-10.6.0/vit_tiny.names_only/layers.json')!).value,
    });
    expect(precisionShare(report, 'fp16')).toBeNull();
  });
});
