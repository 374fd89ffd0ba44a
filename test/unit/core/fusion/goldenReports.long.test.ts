import { describe, expect, it } from 'vitest';
import { expectGolden, expectGoldenText, expectNoOtherGolden } from '../../../support/golden.ts';
import { readSchema, schemaViolations, withoutOtherFields } from '../../../support/jsonSchema.ts';
import { captures, reportOf } from './loadCapture.ts';
import { formatReport } from '../../../../src/core/report/reportText.ts';

const goldenOf = (capture: string): string => `fusion/${capture.replace('/', '.')}`;

const asText = [
  'tensorrt-10.6.0/fusion_zoo.fp32',
  'tensorrt-10.6.0/vit_tiny.fp16',
  'tensorrt-8.6.1/two_inputs_multi_out.fp32',
  'tensorrt-8.6.1/bert_base.fp16',
  'tensorrt-10.6.0/resnet18.algolog',
  'tensorrt-rtx-1.7.1/loop_if',
  'tensorrt-10.6.0/unsupported_op.fp32',
];

const contract = withoutOtherFields(readSchema('fusion-report'));

describe('golden reports', () => {
  it.each(captures())('%s', { timeout: 30_000 }, async (capture) => {
    const report = await reportOf(capture);
    // Without a model or without layers and log there is nothing to report on.
    if (!report) return;
    expectGolden(goldenOf(capture), report);
    expect(schemaViolations(JSON.parse(JSON.stringify(report)), contract)).toEqual([]);
  });

  it.each(asText)('%s as text', async (capture) => {
    expectGoldenText(`${goldenOf(capture)}.txt`, formatReport((await reportOf(capture))!));
  });

  it('no golden file is left over', () => {
    expectNoOtherGolden('fusion', [...captures().map(goldenOf), ...asText.map((name) => `${goldenOf(name)}.txt`)]);
  });
});
