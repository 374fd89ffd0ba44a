import { describe, expect, it } from 'vitest';
import type { EngineLayer } from '../../../../../src/kernel/read/tensorrt/buildOutput.ts';
import { readBuildLog } from '../../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { readLayerInfo, readProfile } from '../../../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { createEngineReport, type EngineReport } from '../../../../../src/kernel/fusion/createReport.ts';
import { printMetadata } from '../../../../../src/kernel/network/layerName.ts';
import { engineMs, fateSentence, summarySentence } from '../../../../../src/kernel/report/words.ts';
import { engineGraph } from '../../../../../src/kernel/picture/graph/fusionGroups.ts';
import { buildHierarchy } from '../../../../../src/kernel/picture/graph/hierarchy.ts';
import { indexGraph } from '../../../../../src/kernel/picture/graph/graphIndex.ts';
import { toFusionPanel } from '../../../../../src/kernel/picture/page/fusionPanel.ts';
import { captureText } from '../../../../support/fixtures.ts';
import { engineLayer, layerInfo } from '../../fusion/buildEngine.ts';

function captured(name: string, parts: ('layers' | 'profile' | 'log')[]): EngineReport {
  const text = (file: string) => captureText(`tensorrt-10.6.0/${name}/${file}`)!;
  return createEngineReport({
    file: 'layers.json',
    layerInfo: parts.includes('layers') ? readLayerInfo(text('layers.json')).value : undefined,
    profile: parts.includes('profile') ? readProfile(text('profile.json')).value : undefined,
    log: parts.includes('log') ? readBuildLog(text('log.txt')).value : undefined,
  });
}

const ofLayers = (layers: EngineLayer[], bindings: string[] = []) =>
  engineGraph(createEngineReport({ file: 'layers.json', layerInfo: layerInfo(layers, bindings) }));

/** `a>b` for every edge, by the names of layers, inputs and outputs. */
function edgesOf({ graph }: ReturnType<typeof ofLayers>): string[] {
  const index = indexGraph(graph);
  const names = [...graph.nodes, ...graph.inputs, ...graph.outputs].map(({ name }) => name);
  return [...index.from].map((from, edge) => `${names[from]}>${names[index.to[edge]!]}`);
}

describe('a report on an engine alone', () => {
  it('counts layers and says nothing about nodes', () => {
    const { report } = captured('vit_tiny.fp16', ['layers', 'profile', 'log']);
    expect(report).toMatchObject({
      subject: 'engine',
      model: { file: 'layers.json', nodes: 0 },
      nodes: [],
      tensors: [],
      accounting: { total: 0, unknown: 0 },
      tensorrt: { version: '10.6.0' },
    });
    expect(report.layers.every(({ nodes, evidence }) => nodes.length === 0 && evidence.length === 0)).toBe(true);
    expect(summarySentence(report)).toBe(
      "3 engine layers: 1 ForeignNode (87 kernels), 1 reformat, 1 native layer. Without the ONNX file, what happened to the model's nodes is unknown.",
    );
    expect(report.problems.map(({ code }) => code)).toEqual(['no-model']);
  });

  it('has the layers and times of a profile alone', () => {
    const rows = readProfile(captureText('tensorrt-10.6.0/vit_tiny.fp16/profile.json')!).value!.rows;
    const engine = captured('vit_tiny.fp16', ['profile']);
    expect(engine.report.layers.map(({ name, averageMs }) => [name, averageMs])).toEqual(
      rows.map(({ name, averageMs }) => [name, averageMs]),
    );
    const { graph } = engineGraph(engine);
    expect(edgesOf({ graph, report: engine.report })).toEqual([]);
  });

  it('has the layers that a log lists', () => {
    const fromLog = captured('vit_tiny.fp16', ['log']).report.layers;
    const fromInfo = captured('vit_tiny.fp16', ['layers']).report.layers;
    expect(fromLog.map(({ name }) => name)).toEqual(fromInfo.map(({ name }) => name));
  });

  it('explains an engine without layers as ever', () => {
    const { report } = createEngineReport({ file: 'x.json', layerInfo: { ...layerInfo([]), detail: 'none' } });
    expect(report.problems.map(({ code }) => code)).toEqual(['no-model', 'no-layers']);
    expect(engineGraph({ report, layers: [], bindings: [] }).graph.nodes).toEqual([]);
  });
});

describe('the graph of an engine', () => {
  it('has a node for each layer and the times of the engine', () => {
    const engine = captured('vit_tiny.fp16', ['layers', 'profile']);
    const { graph, report } = engineGraph(engine);
    expect(graph.nodes.map(({ name }) => name)).toEqual(engine.report.layers.map(({ name }) => name));
    expect(report.accounting).toMatchObject({ total: 90, foreign: 88, single: 2, folded: 0, removed: 0, unknown: 0 });
    expect(engineMs(report)).toBe(engineMs(engine.report));
    expect(graph.inputs.map(({ name, shape }) => [name, shape])).toEqual([['input', [1, 3, 224, 224]]]);
    expect(graph.outputs.map(({ name }) => name)).toEqual(['output']);
  });

  it('connects what the layer info connects: only shape calls and what reads constants alone stand apart', () => {
    const { graph } = engineGraph(captured('vit_tiny.fp16', ['layers']));
    const index = indexGraph(graph);
    const apart = graph.nodes.filter((_, point) => index.inStart[point] === index.inStart[point + 1]);
    expect(apart.map(({ op }) => op)).toEqual(['shape_call']);
    for (let edge = 0; edge < index.from.length; edge++) {
      const tensor = index.tensorNames[index.tensor[edge]!]!;
      const [from, to] = [graph.nodes[index.from[edge]!], graph.nodes[index.to[edge]!]];
      if (from !== undefined) expect(from.outputs).toContain(tensor);
      if (to !== undefined) expect(to.inputs).toContain(tensor);
    }
  });

  it('has an edge from every layer that writes a part of a tensor, and none from one that writes it later', () => {
    const layers = [
      engineLayer('left', { inputs: ['x'], outputs: ['both'] }),
      engineLayer('right', { inputs: ['x'], outputs: ['both'] }),
      engineLayer('reads', { inputs: ['both'], outputs: ['y'] }),
      engineLayer('again', { inputs: ['y'], outputs: ['both'] }),
      engineLayer('end', { inputs: ['both'], outputs: ['z'] }),
    ];
    expect(edgesOf(ofLayers(layers, ['x', 'z']))).toEqual([
      'x>left',
      'x>right',
      'left>reads',
      'right>reads',
      'reads>again',
      'left>end',
      'right>end',
      'again>end',
      'end>z',
    ]);
  });

  it('puts layers into the module that contains all that TensorRT names for them', () => {
    const named = (name: string, ...nodes: string[]) => engineLayer(name, { metadata: printMetadata(nodes, '\u001f') });
    const { graph } = ofLayers([
      named('a_myl0_0', '/blocks/blocks.0/attn/MatMul', '/blocks/blocks.0/attn/Softmax'),
      named('b_myl0_1', '/blocks/blocks.0/Add', '/blocks/blocks.1/norm/Mul'),
      named('c_myl0_2', '/head/Gemm'),
      engineLayer('/stem/conv/Conv + /stem/relu/Relu'),
      engineLayer('Reformatting CopyNode for Input Tensor 0 to /stem/conv/Conv + /stem/relu/Relu'),
      engineLayer('__myl_Fc_myl0_3'),
    ]);
    expect(graph.nodes.map(({ scope, label }) => [scope, label])).toEqual([
      ['blocks/blocks.0/attn', 'MatMul + Softmax'],
      ['blocks', 'Add + Mul'],
      ['head', 'Gemm'],
      ['stem', 'Conv + Relu'],
      ['stem', 'Conv + Relu'],
      ['', '__myl_Fc'],
    ]);
  });

  it('takes the modules of Torch-TensorRT out of its names', () => {
    const conv = '[CONVOLUTION]-[aten_ops.convolution.default]-[/layer1/0/conv1/convolution_1]';
    const relu = '[RELU]-[aten_ops.relu.default]-[/layer1/0/relu/relu_1]';
    const { graph } = ofLayers([
      engineLayer(`${conv} + ${relu}`, { outputs: ['t'], metadata: '' }),
      engineLayer(`Reformatting CopyNode for Input Tensor 0 to ${conv}`, { metadata: '' }),
      engineLayer('[SHUFFLE]-[aten_ops.reshape.default]-[__/reshape_default]', { metadata: '' }),
      engineLayer(
        'Forced Cast ITensor x_output from DataType.HALF - [aten_ops.torch.ops.aten.clone.default]-[/classifier/0/clone]',
      ),
    ]);
    expect(graph.nodes.map(({ scope, label }) => [scope, label])).toEqual([
      ['layer1/0', 'convolution_1 + relu_1'],
      ['layer1/0/conv1', 'convolution_1'],
      ['', 'reshape_default'],
      ['classifier/0', 'clone'],
    ]);
    const newer = ofLayers([engineLayer('[MATRIX_MULTIPLY]-[aten_ops.linear.default]-[blocks.0.fc/linear_0]')]);
    expect(newer.graph.nodes[0]).toMatchObject({ scope: 'blocks.0/fc', label: 'linear_0' });
    const { modules } = buildHierarchy(indexGraph(graph));
    expect(modules.map(({ id }) => id)).toContain('/layer1/0');
  });

  it('names in each sentence a layer, never a node of the model', () => {
    const { report } = engineGraph(captured('fusion_zoo.fp32', ['layers', 'profile', 'log']));
    const kernel = report.nodes.find(({ fate }) => fate === 'foreign')!;
    expect(fateSentence(report, kernel)).toMatch(/^Kernel of ForeignNode \d: layer \d+ \(\w+\), [\d.]+ µs\.$/);
    const conv = report.nodes.find(({ op }) => op === 'CaskConvolution')!;
    expect(fateSentence(report, conv)).toMatch(/^Engine layer 1 \(CaskConvolution\), [\d.]+ µs\.$/);
    expect(conv.reason).toBe(
      'TensorRT names the ONNX nodes that it computes: /conv_bn_relu/conv/Conv, /conv_bn_relu/bn/BatchNormalization, /conv_bn_relu/relu/Relu.',
    );
    const { items } = toFusionPanel(report);
    expect(items.map(({ label, description }) => `${label} | ${description}`)).toEqual([
      'matmul_add_gelu … to_map | 31 % · 14 kernels · ForeignNode 0',
      'ForeignNode 2 | 15 % · 3 kernels',
      'instance_norm … group_norm | 7.1 % · 3 kernels · ForeignNode 1',
      'Native layers (14) | 38 %',
      'Reformats (7) | 9.1 %',
      'Where time goes (3) | ',
    ]);
  });
});
