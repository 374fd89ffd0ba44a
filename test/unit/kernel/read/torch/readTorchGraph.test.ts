import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import type { FusionReport } from '../../../../../src/kernel/fusion/fusionReport.ts';
import { fusion } from '../../../../../src/kernel/node/cli/fusion.ts';
import { torchHook } from '../../../../../src/features/engines/node/cli/torchHook.ts';
import { readTorchGraph } from '../../../../../src/kernel/read/tensorrt/readLayerLine.ts';
import { toGraphData } from '../../../../../src/kernel/picture/graph/viewData.ts';
import { fixturePath } from '../../../../support/fixtures.ts';
import { runCommand } from '../../../shell/cli/runCommand.ts';

const path = fixturePath('torch/encoder.fx.json');
const text = readFileSync(path, 'utf8');

// The network of the recorded graph, built by TensorRT's API with the hook on an H100.
test.each([
  ['layers', '--layers', 'encoder.layers.json.gz'],
  ['log', '--log', 'encoder.log.gz'],
])(
  'TensorRT 10.6 names the FX nodes of its kernels in the %s; what only moves data is derived',
  async (_, option, file) => {
    const recorded = (name: string) => fixturePath(`torch/tensorrt-10.6.0/${name}`);
    const { out } = await runCommand(fusion, '--onnx', recorded('encoder.fx.json'), option, recorded(file), '--json');
    const { nodes, accounting } = JSON.parse(out) as FusionReport;
    expect(accounting).toMatchObject({ total: 72, foreign: 59, removed: 13, unknown: 0 });
    const derived = nodes.filter(({ exact }) => !exact);
    expect(new Set(derived.map(({ op }) => op.split('.')[1]))).toEqual(
      new Set(['view', 'permute', 'unbind', 'transpose', '_unsafe_view']),
    );
    expect(derived).toHaveLength(18);
  },
);

describe('a graph of the hook for Torch-TensorRT', () => {
  it('is a model with modules, types and source lines', () => {
    const { value, problems } = readTorchGraph(text);
    expect(problems).toEqual([]);
    const { graph, nodes } = value!;
    expect(graph.inputs).toEqual([{ name: 'x', type: 'float', shape: [1, 16, 64] }]);
    expect(graph.outputs.map(({ name }) => name)).toEqual(['head/linear_12']);
    expect(graph.initializers).toHaveLength(38);
    const softmax = nodes.find(({ op }) => op === 'aten.softmax.int')!;
    expect(softmax).toMatchObject({
      name: 'blocks.0.attn/softmax',
      domain: 'torch',
      outputs: ['blocks.0.attn/softmax'],
    });
    expect(softmax.attributes).toContainEqual({ name: 'source', kind: 'string', value: 'model.py:16' });
    const made = new Set([...graph.inputs, ...graph.initializers].map(({ name }) => name));
    for (const { inputs, outputs } of nodes) {
      for (const input of inputs) expect(made, input).toContain(input);
      for (const output of outputs) made.add(output);
    }
    expect(toGraphData(value!).nodes.find(({ name }) => name === softmax.name)!.scope).toBe('blocks/0/attn');
  });

  it('that is damaged, or other JSON, says so and never throws', () => {
    const tree = JSON.parse(text) as { graphs: { nodes: unknown[] }[] };
    const spoilt = [
      '',
      '{',
      '{}',
      '[]',
      'null',
      text.slice(0, text.length / 2),
      JSON.stringify({ ...tree, kind: 'other' }),
      JSON.stringify({ ...tree, graphs: [null, { nodes: 1 }] }),
      JSON.stringify({ ...tree, graphs: [{ ...tree.graphs[0], nodes: [{ name: 1 }] }] }),
    ];
    for (const one of spoilt) {
      const { value, problems } = readTorchGraph(one);
      expect(value).toBeUndefined();
      expect(problems[0]!.message).toContain('trtlens_torch.py');
    }
  });

  it('with several engines is the largest, and says so', () => {
    const tree = JSON.parse(text) as { graphs: { nodes: unknown[] }[] };
    const small = { ...tree.graphs[0]!, nodes: tree.graphs[0]!.nodes.slice(0, 3) };
    const { value, problems } = readTorchGraph(JSON.stringify({ ...tree, graphs: [small, tree.graphs[0]] }));
    expect(value!.nodes).toHaveLength(72);
    expect(problems).toMatchObject([{ severity: 'warning', message: expect.stringContaining('2 graphs') as string }]);
  });

  it('takes the place of the ONNX model, and without layers says what is missing', async () => {
    const { out } = await runCommand(fusion, '--onnx', path, '--ort-log', fixturePath('ort/loop_if.cpu.log.gz'));
    expect(out).toContain('encoder.fx.json');
    expect(torchHook.help).toContain('GRAPH.fx.json');
  });
});
