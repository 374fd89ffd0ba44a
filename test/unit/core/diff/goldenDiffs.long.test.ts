import { expect, test } from 'vitest';
import { markedTensors, nodesToMatch } from '../../../../src/core/diff/buildDiff.ts';
import { diffDocument, diffReports } from '../../../../src/core/diff/diffReports.ts';
import { renderText } from '../../../../src/core/document/render.ts';
import { expectGoldenText } from '../../../support/golden.ts';
import { readSchema, schemaViolations, withoutOtherFields } from '../../../support/jsonSchema.ts';
import { inputOf, reportOf } from '../fusion/loadCapture.ts';

async function side(source: string) {
  const [report, input] = [await reportOf(source), await inputOf(source)];
  expect(report && input, source).toBeTruthy();
  return {
    source,
    report: report!,
    network: nodesToMatch(input!.model),
    marked: markedTensors(input!.model, input!.log?.bindings ?? []),
  };
}

test.each([
  // FP16 merges attention and GELU into one kernel each, saves a reformat, and the last Gemm shares a kernel with a Cast.
  ['vit_tiny-fp32-fp16', 'tensorrt-10.6.0/vit_tiny.fp32', 'tensorrt-10.6.0/vit_tiny.fp16'],
  // 8.6 does not list kernels: the ForeignNodes are compared as a whole, and kernels are no change.
  ['vit_tiny-8.6-10.6', 'tensorrt-8.6.1/vit_tiny.fp16', 'tensorrt-10.6.0/vit_tiny.fp16'],
  // Layer names alone do not say what a kernel computes: no kernel and no format is called changed.
  ['vit_tiny-names-only', 'tensorrt-10.6.0/vit_tiny.names_only', 'tensorrt-10.6.0/vit_tiny.fp16'],
  // Two files: the Q/DQ nodes are only in B, and keep the Add behind each second Conv in a layer of its own. The build of B
  // failed after the fusions, so its layers are those of the plan and three nodes are unknown.
  ['resnet18-qdq', 'tensorrt-10.6.0/resnet18.fp32', 'tensorrt-10.6.0/resnet18_qdq.fp32'],
  // FP32 rules on two Softmax and a LayerNormalization: nodes around the norm move, the attentions stay fused as they were.
  ['vit_tiny-rules', 'tensorrt-10.6.0/vit_tiny.fp16', 'tensorrt-10.6.0/vit_tiny.prec_obey'],
  // Three tensors became outputs: only what they cross is split.
  ['fusion_zoo-outputs', 'tensorrt-rtx-1.7.1/fusion_zoo', 'tensorrt-rtx-1.7.1/fusion_zoo_mark3'],
  // Every tensor became an output: most fusions dissolve, but TensorRT-RTX still computes several nodes in some kernels.
  ['fusion_zoo-unfused', 'tensorrt-rtx-1.7.1/fusion_zoo', 'tensorrt-rtx-1.7.1/fusion_zoo_markall'],
  // Another product: TensorRT-RTX compiles ahead of time, with other kernels around the same ForeignNode.
  ['resnet18-10.6-rtx', 'tensorrt-10.6.0/resnet18.fp32', 'tensorrt-rtx-1.7.1/resnet18'],
])('%s', async (name, a, b) => {
  const diff = diffReports(await side(a), await side(b));
  expect(schemaViolations(diff, withoutOtherFields(readSchema('diff')))).toEqual([]);
  expectGoldenText(`diff/${name}.txt`, renderText(diffDocument(diff), { most: 60 }));
});
