import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readBuildLog } from '../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import type { FusionReport } from '../../../../src/kernel/fusion/fusionReport.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { fixturePath } from '../../../support/fixtures.ts';

const models = [
  'dupconv',
  'functions2',
  'gpt_kv',
  'identities',
  'if_const2',
  'loop_nested',
  'odd_names',
  'shapes',
  'tied_dups',
];

const logOf = (name: string): string =>
  gunzipSync(readFileSync(fixturePath(`builds/${name}/build.log.gz`))).toString('utf8');

async function reportOf(name: string, change = (text: string) => text): Promise<FusionReport> {
  const { value: model } = await readModel(bytesOf(readFileSync(fixturePath(`builds/${name}/model.onnx`))));
  return createReport({ model: model!, modelFile: 'model.onnx', log: readBuildLog(change(logOf(name))).value });
}

const nodeOf = (report: FusionReport, name: string) => report.nodes.find((node) => node.name === name)!;

/** First names of all tokens of a text, by nothing but a pattern. */
const tokensOf = (text: string): string[] =>
  [...text.matchAll(/\[ONNX Layer: (.*?)\](?=$|[\u001e\u001f]|\[ONNX Layer: )/gu)].map(
    ([, token]) => token!.split(' | ')[0]!,
  );

describe('models built for the purpose', () => {
  it.each(models)('%s: every node is accounted for', async (name) => {
    const { accounting, nodes, foreignNodes, problems } = await reportOf(name);
    const { total, unknown, ...fates } = accounting;
    expect(unknown).toBe(0);
    expect(Object.values(fates).reduce((sum, count) => sum + count, 0)).toBe(total);
    expect(nodes).toHaveLength(total);
    // A shared name leaves open which of its nodes is meant.
    const derived = ['dupconv', 'tied_dups'].includes(name);
    expect(foreignNodes.map(({ exact }) => exact)).toEqual([!derived]);
    // The owner of a body is where its body is, and so is the call of a function.
    const owners = ['Loop', 'If', 'Scan', 'Outer', 'Inner'];
    const sure = new Set(nodes.filter(({ exact, op }) => exact || owners.includes(op)).map(({ id }) => id));
    for (const { exact, nodes: members } of foreignNodes)
      if (exact) expect(members.filter((id) => !sure.has(id))).toEqual([]);
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  it.each(['gpt_kv', 'identities', 'if_const2', 'loop_nested', 'shapes'])(
    '%s: members and layers are those that the log names',
    async (name) => {
      const report = await reportOf(name);
      const lines = logOf(name).split('\n');
      // Identities have no metadata, but a ForeignNode may be named after one, or write its result.
      const listed = report.nodes.filter(({ exact, op }) => exact && op !== 'Identity');
      const named = (ids: string[]) => [
        ...new Set(listed.filter(({ id }) => ids.includes(id)).map((node) => node.name)),
      ];
      const line = lines.find((text) => text.includes('ForeignNode {') && text.includes(' metadata: '))!;
      expect(named(report.foreignNodes[0]!.nodes).toSorted()).toEqual([...new Set(tokensOf(line))].toSorted());
      const kernels = lines.filter((text) => text.startsWith('Name: ') && text.includes(', LayerType: '));
      expect(report.layers.map((layer) => named(layer.nodes).toSorted())).toEqual(
        kernels.map((text) => [...new Set(tokensOf(text.slice(text.lastIndexOf('Metadata: '))))].toSorted()),
      );
    },
  );

  it('a node after an If that was decided at build time bears its name and is no part of it', async () => {
    const report = await reportOf('if_const2');
    expect(['mm', 'fin'].map((name) => nodeOf(report, name))).toMatchObject([
      { id: '1', fate: 'foreign', exact: true, layers: [0] },
      { id: '3', fate: 'foreign', exact: true, layers: [0] },
    ]);
  });

  it('a branch that is not taken is removed', async () => {
    const report = await reportOf('if_const2');
    expect(['e0', 't1'].map((name) => nodeOf(report, name))).toMatchObject([
      {
        fate: 'removed',
        exact: true,
        layers: [],
        reason: `The condition of "if0" is constant and selects the other branch, and TensorRT's parser did not read this one.`,
      },
      {
        fate: 'removed',
        exact: true,
        layers: [],
        reason: `The condition of "if1" is constant and selects the other branch, and TensorRT's parser did not read this one.`,
      },
    ]);
    expect(['t0', 'e1'].map((name) => nodeOf(report, name).fate)).toEqual(['foreign', 'foreign']);
  });

  it('nodes of which the parser makes no layer are removed, not guessed into the ForeignNode', async () => {
    const report = await reportOf('identities');
    expect(['pad0', 'max1', 'sum1'].map((name) => nodeOf(report, name))).toMatchObject([
      { fate: 'removed', exact: true, reason: expect.stringMatching(/parser .* \(log line \d+\)/) as string },
      { fate: 'removed', exact: true },
      { fate: 'removed', exact: true },
    ]);
  });

  it('without the parser’s lines the list of members still says that they are none', async () => {
    const report = await reportOf('identities', (text) =>
      text
        .split('\n')
        .filter((line) => !line.includes('Registering layer'))
        .join('\n'),
    );
    expect(nodeOf(report, 'pad0')).toMatchObject({ fate: 'removed', exact: false });
    expect(report.foreignNodes[0]!.nodes).not.toContain(nodeOf(report, 'max1').id);
  });

  it('a log that lacks the parser’s layers removes nothing for that', async () => {
    const report = await reportOf('gpt_kv', (text) =>
      text
        .split('\n')
        .filter((line) => !line.includes('Registering layer'))
        .join('\n'),
    );
    expect(report.accounting).toEqual((await reportOf('gpt_kv')).accounting);
  });

  it('nodes that share a name are told apart by the kernels’ registered names and by the graph', async () => {
    const report = await reportOf('dupconv');
    expect(report.layers.map(({ nodes }) => nodes)).toEqual([
      [],
      ...Array.from({ length: 10 }, (_, i) => [String(2 * i), String(2 * i + 1)]),
      ['20'],
    ]);
    const convs = report.nodes.filter(({ op }) => op === 'Conv');
    expect(convs.every(({ exact }) => exact)).toBe(true);
    expect(report.nodes.filter(({ op }) => op !== 'Conv').some(({ exact }) => exact)).toBe(false);
  });

  it('a weight that all nodes read makes them no neighbors', async () => {
    const report = await reportOf('tied_dups');
    expect(report.layers.map(({ nodes }) => nodes)).toEqual([
      ['0', '1'],
      ['2', '3'],
      ['4', '5'],
      ['6', '7'],
      ['8', '9'],
      ['10', '11'],
      ['14'],
    ]);
  });

  it('nodes of functions count for every call, apart from a node of their name', async () => {
    const report = await reportOf('functions2');
    const outer = (call: number) => [
      `${call}/Outer/0`,
      `${call}/Outer/1/Inner/0`,
      `${call}/Outer/1/Inner/1`,
      `${call}/Outer/2`,
    ];
    expect(report.layers.map(({ nodes }) => nodes)).toEqual([
      outer(0),
      outer(1),
      [...outer(2), '3/Inner/0', '3/Inner/1'],
    ]);
    expect(report.accounting).toMatchObject({ total: 21, foreign: 21 });
  });

  it('layer types of TensorRT 10.14 and later are named, with what contains them', () => {
    const text = gunzipSync(readFileSync(fixturePath('builds/new_layers/build.log.gz'))).toString('utf8');
    const made = (change: (text: string) => string = (same) => same): FusionReport =>
      createReport({ model: null, modelFile: 'build.log', log: readBuildLog(change(text)).value });
    const said = ({ remarks }: FusionReport): string[] =>
      remarks.filter(({ code }) => /layer-type/.test(code)).map(({ message }) => message);
    const report = made();
    expect(said(report)).toEqual([
      'The network has 1 attention (IAttention; "my_attention") in ForeignNode 0; which kernels compute it is not known.',
      'The network has 1 KV cache update (IKVCacheUpdateLayer; "my_kv") in ForeignNode 0, computed by 1 layer or kernel of the engine.',
      'The network has 1 dynamic quantization (IDynamicQuantizeLayer; "my_dynq") in ForeignNode 0, computed by 1 layer or kernel of the engine.',
      'The network has 1 collective operation (IDistCollectiveLayer; "my_allreduce") in ForeignNode 0, computed by 1 layer or kernel of the engine.',
      'The network has 1 rotary embedding (IRotaryEmbeddingLayer; "my_rope") in ForeignNode 0, computed by 1 layer or kernel of the engine.',
    ]);
    const collective = report.remarks.find(({ message }) => message.includes('IDistCollectiveLayer'))!;
    expect(collective.layers.map((id) => report.layers[id]!.type)).toEqual(['comm_allreduce']);
    expect(report.foreignNodes.map(({ title }) => title)).toEqual([
      'Attention + KV cache update + Dynamic quantization + …',
    ]);
    // A type that nobody knew when this was written is called by TensorRT's name, and its layers stay.
    const unknown = made((log) => log.replace('KVCACHE_UPDATE my_kv', 'FROBNICATE my_kv'));
    expect(said(unknown)).toContain(
      'The network has 1 layer of type FROBNICATE, which this version of TensorRT Lens does not know ("my_kv") in ForeignNode 0, computed by 1 layer or kernel of the engine.',
    );
    expect(unknown.layers).toEqual(report.layers);
    // Without the list of the network, kernels say what they do.
    expect(said(made((log) => log.replace(/GRAPH NODES\n[^]*?(?=\[V\] \[TRT\] Graph construction)/, '\n')))).toEqual([
      '1 layer computes collective operations (IDistCollectiveLayer) in ForeignNode 0.',
      '1 layer computes dynamic quantizations (IDynamicQuantizeLayer) in ForeignNode 0.',
    ]);
  });

  it('an attention of ONNX is found by the node that became it', async () => {
    const { value: model } = await readModel(bytesOf(readFileSync(fixturePath('builds/new_layers/attention.onnx'))));
    const log = gunzipSync(readFileSync(fixturePath('builds/new_layers/attention.log.gz'))).toString('utf8');
    const report = createReport({ model: model!, modelFile: 'attention.onnx', log: readBuildLog(log).value });
    const found = report.remarks.filter(({ code }) => code === 'layer-type');
    expect(found.map(({ nodes }) => nodes.map((id) => report.nodes.find((node) => node.id === id)!.op))).toEqual([
      ['RotaryEmbedding'],
      ['Attention'],
    ]);
    expect(found[1]!.message).toContain('1 attention (IAttention; "/attn/sdpa") in ForeignNode 0, computed by');
  });
});
