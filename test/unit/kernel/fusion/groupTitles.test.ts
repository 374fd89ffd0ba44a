import { describe, expect, test, it } from 'vitest';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { groupTitles } from '../../../../src/kernel/fusion/internal/groupTitles.ts';
import { networkOf } from '../../../../src/kernel/network/network.ts';
import { loadFiles } from '../../../../src/kernel/node/store/loadBuild.ts';
import { readFixture, captureText } from '../../../support/fixtures.ts';
import { readBuildLog } from '../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { readLayerInfo } from '../../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import { buildModel } from './buildModel.ts';
import { metaOf, modelOf } from './loadCapture.ts';

const graphOf = async (name: string) =>
  networkOf((await readModel(bytesOf(readFixture(`models/${name}.onnx`)))).value!);

describe('what groups are called', () => {
  test('where they are and what they compute', async () => {
    const folder = 'test/fixtures/convnext_tiny';
    const { report } = await loadFiles({ onnx: `${folder}/model.onnx`, layers: `${folder}/layers.json.gz` });
    const titles = report.foreignNodes.map(({ title }) => title);
    expect(titles[0]).toBe('stem.1 · LayerNorm');
    expect(titles).toContain('stages.2/blocks.2 · LayerNorm + MLP');
    expect(titles.at(-1)).toBe('head · LayerNorm + MatMul');
    expect(new Set(titles).size).toBe(titles.length);
    expect(titles.filter((title) => title!.length > 40)).toEqual([]);
  });

  test('many blocks are a range with counts', async () => {
    const graph = await graphOf('vit_tiny');
    const all = graph.nodes.map((_, index) => index);
    expect(groupTitles(graph, [{ name: '', members: all }])).toEqual(['blocks.0–11 · Attention ×12 + MLP ×12']);
  });

  test('a row of modules is named by its ends, however few nodes they have', () => {
    const counts = [1, ...Array.from({ length: 20 }, () => 8), 1];
    const nodes = counts.flatMap((count, module) =>
      Array.from({ length: count }, (_, turn): [string, string, string[], string[]] => [
        `/model.${module}/Relu_${turn}`,
        'Relu',
        [`x${module}_${turn}`],
        [`y${module}_${turn}`],
      ]),
    );
    nodes.push(['/pre/Relu', 'Relu', ['p'], ['q']]);
    const graph = networkOf(buildModel({ inputs: {}, outputs: [], nodes }));
    const title = groupTitles(graph, [{ name: '', members: graph.nodes.keys() }])[0];
    expect(title).toBe('model.0–21 · Relu ×163');
  });

  test('those that are alike are told apart, whatever their order', async () => {
    const graph = await graphOf('vit_tiny');
    const at = (name: string) => graph.nodes.findIndex((node) => node.name === name);
    const groups = ['/blocks/blocks.0/attn/Mul', '/blocks/blocks.0/attn/Mul', '/blocks/blocks.3/attn/Mul'].map(
      (name) => ({
        name: '',
        members: [at(name)],
      }),
    );
    expect(groupTitles(graph, groups)).toEqual([
      'blocks.0/attn · Mul #1',
      'blocks.0/attn · Mul #2',
      'blocks.3/attn · Mul',
    ]);
  });

  test('a Softmax behind a product is no attention, and names that say nothing are left out', async () => {
    const graph = await graphOf('unnamed');
    const titles = groupTitles(graph, [{ name: '', members: graph.nodes.map((_, index) => index) }]);
    expect(titles[0]).toMatch(/^Conv ×\d+/);
    expect(titles[0]).not.toContain('Attention');
  });

  test('without a model the ends of TensorRT’s name say where; without these nothing does', async () => {
    const graph = await graphOf('unnamed');
    const named = (name: string) => groupTitles(graph, [{ name, members: [] }])[0];
    expect(named('{ForeignNode[/layers.0/norm1/ReduceMean.../layers.3/ffn/Add]}')).toBe('layers.0 … layers.3');
    expect(named('{ForeignNode[/bert/Cast.../bert/pooler/activation/Tanh]}')).toBe('bert');
    expect(named('{ForeignNode[a]}')).toBe('');
    expect(named('kernel')).toBe('');
  });
});

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
      // Kernels without metadata do not show whether they compute what depends on constants only.
      const unknown = report.nodes.filter(
        ({ fate, reason }) => fate === 'unknown' && !reason.startsWith('It depends only'),
      );
      expect(unknown).toEqual([]);
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
