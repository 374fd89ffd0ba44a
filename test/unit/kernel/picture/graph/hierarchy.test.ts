import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readModel } from '../../../../../src/kernel/read/onnx/readModel.ts';
import { type GraphData, toGraphData } from '../../../../../src/kernel/picture/graph/viewData.ts';
import { indexGraph } from '../../../../../src/kernel/picture/graph/graphIndex.ts';
import { buildHierarchy, flatHierarchy, type Hierarchy } from '../../../../../src/kernel/picture/graph/hierarchy.ts';
import { scopeOf } from '../../../../../src/kernel/network/layerName.ts';
import { bytesOf } from '../../../../../src/kernel/base/problem.ts';
import { modelPath } from '../../../../support/fixtures.ts';
import { graphOf } from './graphBuilder.ts';

async function model(name: string): Promise<GraphData> {
  const { value } = await readModel(bytesOf(readFileSync(modelPath(name))));
  return toGraphData(value!);
}
const without = (data: GraphData): GraphData => ({ ...data, nodes: data.nodes.map((node) => ({ ...node, name: '' })) });
const hierarchyOf = (data: GraphData) => buildHierarchy(indexGraph(data));
const labels = ({ modules }: Hierarchy, parent = 0) => modules[parent]!.modules.map((child) => modules[child]!.label);

/** Every point is in exactly one module, and modules nest. */
function check(hierarchy: Hierarchy, points: number): void {
  expect([...hierarchy.sequence].toSorted((a, b) => a - b)).toEqual(Array.from({ length: points }, (_, i) => i));
  hierarchy.modules.forEach(({ parent, start, end, own, modules }, index) => {
    expect(end - start).toBe(
      own.length +
        modules.reduce((sum, child) => sum + hierarchy.modules[child]!.end - hierarchy.modules[child]!.start, 0),
    );
    for (const child of modules) expect(hierarchy.modules[child]!.parent).toBe(index);
    if (parent >= 0) expect(hierarchy.modules[parent]!.modules).toContain(index);
    for (const point of own) expect(hierarchy.moduleOf[point]).toBe(index);
  });
  expect(new Set(hierarchy.modules.map(({ id }) => id)).size).toBe(hierarchy.modules.length);
}

describe('scopeOf', () => {
  it.each([
    ['/blocks/blocks.0/attn/Mul', ['blocks', 'blocks.0', 'attn']],
    ['layers.0.attn.Mul', ['layers.0', 'attn']],
    ['model/conv1/Conv2D', ['model', 'conv1']],
    ['Conv_12', []],
    ['', []],
    ['///', []],
    ['.', []],
  ])('%s', (name, scope) => {
    expect(scopeOf(name, undefined)).toEqual(scope);
  });

  it('prefers what the exporter recorded', () => {
    expect(scopeOf('node_linear_3', 'encoder/layers.0')).toEqual(['encoder', 'layers.0']);
  });
});

describe('buildHierarchy', () => {
  it.each(['resnet18', 'vit_tiny', 'bert_base', 'fusion_zoo', 'loop_if', 'lstm_gru', 'unnamed', 'deep_encoder_11k'])(
    'puts every node of %s into one module, with names and without',
    async (name) => {
      const data = await model(name);
      for (const graph of [data, without(data)]) {
        const index = indexGraph(graph);
        check(buildHierarchy(index), index.points);
        check(flatHierarchy(index), index.points);
      }
    },
  );

  it('shows repeated blocks once, with their number', async () => {
    const vit = hierarchyOf(await model('vit_tiny'));
    const blocks = vit.modules.find(({ kind }) => kind === 'repeat')!;
    expect([blocks.label, blocks.times]).toEqual(['blocks', 12]);
    expect(labels(vit, vit.modules.indexOf(blocks))).toEqual(['blocks.0', 'blocks.1 … 11']);
    const deep = hierarchyOf(await model('deep_encoder_11k'));
    expect(deep.modules.find(({ kind }) => kind === 'repeat')?.times).toBe(232);
  });

  it('finds the same blocks in the structure when all names are gone', async () => {
    const vit = hierarchyOf(without(await model('vit_tiny')));
    expect(
      vit.modules.filter(({ kind, parent }) => kind === 'repeat' && parent === 0).map(({ times }) => times),
    ).toEqual([12]);
    const bert = hierarchyOf(without(await model('bert_base')));
    expect(bert.modules.find(({ kind, parent }) => kind === 'repeat' && parent === 0)?.times).toBeGreaterThanOrEqual(
      11,
    );
  });

  it('never shows more than a screenful of loose nodes at once', async () => {
    for (const name of ['vit_tiny', 'bert_base', 'deep_encoder_11k', 'lstm_gru']) {
      const { modules } = hierarchyOf(without(await model(name)));
      expect(Math.max(...modules.map(({ own, modules: inner }) => own.length + inner.length))).toBeLessThanOrEqual(130);
    }
  });

  it('leaves stages that have structures of their own side by side', async () => {
    expect(labels(hierarchyOf(await model('resnet18')))).toEqual(['layer1', 'layer2', 'layer3', 'layer4']);
  });

  it('puts a subgraph inside the node that owns it', async () => {
    const data = await model('loop_if');
    const hierarchy = hierarchyOf(data);
    const owner = hierarchy.modules.find(({ kind }) => kind === 'owner')!;
    expect(data.nodes[owner.own[0]!]!.op).toMatch(/^(Loop|If)$/);
    expect(owner.modules.map((child) => hierarchy.modules[child]!.kind)).toContain('branch');
  });

  it('gathers shape arithmetic, but not the network itself', () => {
    const data = graphOf(
      `
      a @/m/conv/Conv = Conv(x)
      s @/m/Shape = Shape(a)
      c @/m/Constant = Constant()
      g @/m/Gather = Gather(s, c)
      r @/m/Reshape = Reshape(a, g)
      y @/m/Relu = Relu(r)`,
      ['x'],
      ['y'],
    );
    const { modules } = hierarchyOf(data);
    const helpers = modules.find(({ id }) => id.includes('#helpers'))!;
    expect(helpers.own.map((point) => data.nodes[point]!.op)).toEqual(['Shape', 'Constant', 'Gather']);
    expect(helpers.label).toBe('Shape … Gather');
  });

  it('survives any names and any edges', () => {
    const name = fc.oneof(fc.string(), fc.stringMatching(/^(\/|[a-c]|\.|[0-2]){0,12}$/));
    const node = fc.record({
      name,
      op: fc.constantFrom('Add', 'Constant', 'Shape', 'Conv'),
      reads: fc.array(fc.nat(30), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(node, { maxLength: 90 }), (nodes) => {
        const data: GraphData = {
          name: '',
          nodes: nodes.map((one, i) => ({
            id: String(i),
            name: one.name,
            op: one.op,
            domain: '',
            inputs: one.reads.map((at) => `t${at}`),
            outputs: [`t${i}`],
            attributes: [],
          })),
          inputs: [],
          outputs: [],
          tensors: [],
        };
        const index = indexGraph(data);
        check(buildHierarchy(index), index.points);
      }),
      { numRuns: 300 },
    );
  });
});
