import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onnx } from 'onnx-proto';
import { expect, test } from 'vitest';
import { quantizationOf, readQuantization } from '../../../../src/features/quantization/node/readQuantization.ts';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { type Quantization, rangeText, scaleText } from '../../../../src/kernel/quantization/quantization.ts';
import { type QuantizationContext, quantizationDocument } from '../../../../src/kernel/quantization/calibration.ts';
import { renderHtml } from '../../../../src/kernel/document/render.ts';
import { toGraphData } from '../../../../src/kernel/picture/graph/viewData.ts';
import { QuantizationIndex } from '../../../../src/kernel/picture/graph/graphIndex.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { modelPath } from '../../../support/fixtures.ts';
import { temporaryFolder } from '../../../support/rtx.ts';
import { inputOf } from '../../kernel/fusion/loadCapture.ts';

const folder = temporaryFolder();
const options = {
  title: 'net.onnx',
  build: '1 <b>',
  cache: null,
  nameOf: (id: string) => `node ${id}`,
};
const quantizationPage = (found: Quantization, context: QuantizationContext) =>
  renderHtml(quantizationDocument(found, context), {
    hrefOf: (to) => (to.kind === 'nodes' ? `command:show?${to.ids.join()}` : null),
  });

async function built() {
  const input = (await inputOf('tensorrt-10.6.0/resnet18_qdq.fp32'))!;
  const report = createReport(input);
  return { input, found: await quantizationOf(modelPath('resnet18_qdq'), input.model, { cache: null, report }) };
}

test('scales, fates and placements of a build are found by tensor and by node', async () => {
  const { input, found } = await built();
  const graph = toGraphData(input.model);
  const index = new QuantizationIndex(graph, found);
  const [scale, ...others] = index.scalesOf('input');
  expect(others).toEqual([]);
  expect(scale).toMatchObject({ source: 'model', type: 'int8', count: 1 });
  const quantize = graph.nodes.find(({ name }) => name === 'input_QuantizeLinear')!;
  // What is made of the tensor by the pair has its scale.
  expect(index.scalesOf(quantize.outputs[0]!)).toEqual([scale]);
  expect(index.scalesOf(graph.nodes.find(({ inputs }) => inputs[0] === quantize.outputs[0])!.outputs[0]!)).toEqual([
    scale,
  ]);
  expect(index.ofNode(quantize.id)).toMatchObject({ pairs: [{ tensor: 'input', fate: 'kernel' }], misplaced: [] });
  const [wrong] = found.misplaced;
  for (const id of wrong!.nodes) expect(index.ofNode(id)!.misplaced).toContain(wrong);
  expect(index.ofNode('none')).toBeNull();
  expect(new QuantizationIndex(graph, undefined).scalesOf('input')).toEqual([]);
});

test('the page lists what costs a kernel first, with links to the nodes, and escapes names', async () => {
  const { found } = await built();
  const evil = structuredClone(found);
  evil.misplaced[0]!.message = '<script>alert(1)</script>';
  const html = quantizationPage(evil, options);
  expect(html).not.toContain('<script>');
  expect(html).toContain('&#60;script&#62;alert(1)');
  expect(html).toContain('Fates are those of build 1 &#60;b&#62;.');
  expect(html).toContain(
    '10 placements against TensorRT&#39;s rules. 0 parts in floating point between quantized nodes.',
  );
  const pair = found.pairs.find(({ fate }) => fate === 'kernel')!;
  expect(html).toContain(`<a href="command:show?${[pair.quantize, ...pair.dequantize].join()}">input</a>`);
  expect(html.indexOf('a kernel of its own</td>')).toBeLessThan(html.indexOf('fused into a kernel next to it</td>'));
  const none = quantizationPage({ tensors: [], pairs: [], misplaced: [], islands: [] }, { ...options, build: null });
  expect(none).toContain('The model has no Q/DQ nodes, and no calibration cache is in use.');
  const unbuilt = quantizationPage(found, { ...options, build: null, cache: 'a<b' });
  expect(unbuilt).toContain('What TensorRT makes of the pairs is not known without a build.');
  expect(unbuilt).toContain('Calibrated scales are from a&#60;b.');
});

test('ranges follow the type and the zero point; a tensor that is quantized in two ways has two scales', async () => {
  const number = (name: string, value: number) => ({ name, dims: [], dataType: 1, floatData: [value] });
  const zero = (name: string, dataType: number, value: number) => ({
    name,
    dims: [],
    dataType,
    rawData: Uint8Array.of(value),
  });
  const node = (opType: string, input: string[], output: string) => ({ opType, name: output, input, output: [output] });
  const value = (name: string) => ({
    name,
    type: { tensorType: { elemType: 1, shape: { dim: [{ dimValue: 4 }] } } },
  });
  const graph = {
    name: 'g',
    node: [
      node('QuantizeLinear', ['x', 'a', 'u'], 'q'),
      node('QuantizeLinear', ['x', 'b', 'i'], 'r'),
      node('QuantizeLinear', ['x', 'b', 'i'], 's'),
      node('DequantizeLinear', ['q', 'a', 'u'], 'y'),
      node('DequantizeLinear', ['r', 'b', 'i'], 'z'),
      node('DequantizeLinear', ['s', 'b', 'i'], 'w'),
    ],
    input: [value('x')],
    output: [value('y'), value('z'), value('w')],
    initializer: [number('a', 0.5), number('b', 0.25), zero('u', 2, 128), zero('i', 3, 0)],
  };
  const path = join(folder, 'two.onnx');
  writeFileSync(
    path,
    onnx.ModelProto.encode({
      irVersion: 9,
      opsetImport: [{ domain: '', version: 19 }],
      graph,
    } as onnx.IModelProto).finish(),
  );
  const cache = join(folder, 'two.cache');
  writeFileSync(cache, 'TRT-8601-EntropyCalibration2\nx: 3f800000\n');
  const found = await readQuantization({ path, cache });
  expect(found.tensors.map((one) => [one.source, one.nodes, scaleText(one), rangeText(one)])).toEqual([
    ['model', ['0'], '0.5', '-64 to 63.5 as uint8'],
    ['model', ['1', '2'], '0.25', '-32 to 31.75 as int8'],
    ['cache', [], '1', '-128 to 127 as int8'],
  ]);
  const { value: model } = await readModel(bytesOf(readFileSync(path)));
  const index = new QuantizationIndex(toGraphData(model!), found);
  expect(index.scalesOf('x')).toHaveLength(3);
  expect(index.scalesOf('y').map(({ scale }) => scale)).toEqual([0.5]);
  expect(index.scalesOf('w').map(({ scale }) => scale)).toEqual([0.25]);
});
