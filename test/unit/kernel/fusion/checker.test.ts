import { describe, expect, it } from 'vitest';
import type { FusionReport } from '../../../../src/kernel/fusion/fusionReport.ts';
import { checkReport, type CheckInput } from '../../../support/checker/checkReport.ts';
import { tokensOf } from '../../../support/checker/rawEvidence.ts';
import { mutations } from '../../../support/checker/mutateReport.ts';
import { rawInputOf, reportOf } from './loadCapture.ts';
import { randomFrom } from './randomEngine.ts';

/** Builds of every kind of evidence: kernels with metadata, opaque regions, lists of members, native layers. */
const captures = [
  'tensorrt-10.6.0/fp16_overflow.fp16',
  'tensorrt-10.6.0/fusion_zoo.fp32',
  'tensorrt-10.6.0/resnet18.fp32',
  'tensorrt-10.6.0/two_inputs_multi_out.fp32',
  'tensorrt-8.6.1/fp16_overflow.fp32',
  'tensorrt-8.6.1/two_inputs_multi_out.fp32',
  'tensorrt-rtx-1.7.1/loop_if',
  'tensorrt-rtx-1.7.1/vit_tiny',
];

async function load(capture: string): Promise<{ report: FusionReport; input: CheckInput }> {
  return { report: (await reportOf(capture))!, input: rawInputOf(capture) };
}

describe('the checker of reports', () => {
  it.each(captures)('finds nothing in %s', async (capture) => {
    const { report, input } = await load(capture);
    expect(checkReport(report, input)).toEqual([]);
  });

  it.each(mutations)('finds out where $name', async ({ change }) => {
    const random = randomFrom(7);
    const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
    let tried = 0;
    for (const capture of captures) {
      const { report, input } = await load(capture);
      for (let turn = 0; turn < 4; turn++) {
        const wrong = structuredClone(report);
        if (!change(wrong, pick)) continue;
        tried++;
        expect(checkReport(wrong, input), capture).not.toEqual([]);
      }
    }
    expect(tried).toBeGreaterThan(0);
  });

  it('reads a node beside layers that TensorRT made for it', () => {
    const made = '[ONNX Layer: pad]_fill_pad_axis0';
    expect(tokensOf(`${made}\u001f[ONNX Layer: pad]\u001f${made}`)).toEqual(['pad']);
    expect(tokensOf('[ONNX Layer: a][ONNX Layer: b]\u001e[ONNX Layer: c]')).toEqual(['a', 'b', 'c']);
  });
});
