import { expect, test } from 'vitest';
import { bytesOf } from '../../../../src/core/base/problem.ts';
import { diffReports } from '../../../../src/core/diff/diffReports.ts';
import { readModel } from '../../../../src/core/formats/onnx/readModel.ts';
import { readLayerInfo } from '../../../../src/core/formats/tensorrt/readLayerInfo.ts';
import { readNsysTrace } from '../../../../src/core/formats/tensorrt/readTrace.ts';
import { createReport } from '../../../../src/core/fusion/createReport.ts';
import { readFixture } from '../../../support/fixtures.ts';

test.each(['vit_tiny.fp16', 'bert_base.fp16', 'fusion_zoo.fp32'])(
  'two traces of %s, one engine, show no change',
  async (build) => {
    const modelFile = `${build.split('.')[0]}.onnx`;
    const model = (await readModel(bytesOf(readFixture(`models/${modelFile}`)))).value!;
    const layerInfo = readLayerInfo(new TextDecoder().decode(readFixture(`traces/${build}/layers.json.gz`))).value;
    const side = async (name: string) => {
      const { value: profile } = await readNsysTrace(bytesOf(readFixture(`traces/${build}/${name}.sqlite.gz`)));
      return { source: name, report: createReport({ model, modelFile, layerInfo, profile }) };
    };
    const { changes, time } = diffReports(await side('plain'), await side('graph'));
    expect(time.aMs).not.toBe(time.bMs);
    expect(changes).toEqual([]);
    expect(time).toMatchObject({ attributedMs: 0, isNoise: true });
    expect(time.noiseMs).toBeCloseTo(time.bMs! - time.aMs!, 9);
  },
);
