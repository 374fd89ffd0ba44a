import { describe, expect, it } from 'vitest';
import { readBuildLog } from '../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import { createModelGraph } from '../../../../src/kernel/network/modelGraph.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { type BuildFacts, buildFacts } from '../../../../src/kernel/rules/buildFacts.ts';
import type { PlannedNode } from '../../../../src/kernel/rules/precisionPlan.ts';
import { linesOfRemoved } from '../../../../src/features/precision/internal/rewritePlan.ts';
import { judgeLayers } from '../../../../src/kernel/rules/verifyPrecision.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { hardModel, recordedLog, reportOnBuild } from '../../../support/hardModels/builtModels.ts';

const modelOf = async (name: string) => (await readModel(bytesOf(hardModel(name).bytes))).value!;

describe('Q/DQ nodes that rules take out of the copy that is built', () => {
  const removed = ['6', '7', '8', '9'];

  it('are removed by the rule of the node that reads their values', async () => {
    const graph = createModelGraph(await modelOf('quantized_chain'));
    expect(linesOfRemoved(graph, removed, new Map([['10', 3]]))).toEqual({ 6: 3, 7: 3, 8: 3, 9: 3 });
  });

  it('are no difference from the model, and the report names the rule', async () => {
    const model = await modelOf('quantized_chain');
    const lines = recordedLog('quantized_chain').split('\n');
    const log = readBuildLog(lines.filter((line) => !/\b(?:mid|w2)_(?:q|dq)\b/.test(line)).join('\n')).value;
    const given = { model, modelFile: 'model.onnx', log };
    const strange = createReport(given);
    expect(strange.problems.map(({ code }) => code)).toContain('model-differs');
    const { nodes, problems } = createReport({ ...given, removed: Object.fromEntries(removed.map((id) => [id, 2])) });
    expect(problems.filter(({ severity }) => severity !== 'info')).toEqual([]);
    for (const id of removed)
      expect(nodes[Number(id)]).toMatchObject({
        fate: 'removed',
        exact: true,
        reason: expect.stringContaining('Line 2 of the rules took it out of INT8') as string,
      });
  });
});

describe('positions of nodes', () => {
  it('are those of the model: the nodes of functions come after them', async () => {
    const model = await modelOf('function_twice');
    const report = await reportOnBuild('function_twice');
    const { nodes, layers } = buildFacts(report, null, null, null, model.nodes);
    expect(model.nodes.map(({ name }) => name)).toEqual(['call0', 'call1', 'after']);
    expect(nodes).toHaveLength(7);
    expect(nodes[2]).toMatchObject({ fate: 'foreign', layers: [0] });
    // Of a call nothing but its body is computed.
    expect(nodes.slice(0, 2).map(({ layers: own }) => own)).toEqual([[], []]);
    expect(layers[0]!.nodes.toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6]);
  });
});

describe('kernels of a node', () => {
  const tensor = (name: string, type: string, ...dims: number[]) => ({
    name,
    type,
    elements: dims.reduce((size, dim) => size * dim, 1),
    dims,
  });
  const layer = (name: string, type: string, more: Partial<BuildFacts['layers'][number]>) => ({
    name,
    type,
    kind: 'kernel' as const,
    tactic: null,
    nodes: [0],
    inputs: [],
    outputs: [],
    weights: null,
    averageMs: null,
    ...more,
  });

  it('that only prepare its weights do not tell its type', () => {
    const build = {
      nodes: [{ fate: 'foreign', foreign: 0, layers: [0, 1], averageMs: null }],
      foreignNodes: [{ name: '{ForeignNode[conv]}', exact: true }],
      layers: [
        layer('__myl_Mul_myl0_0', 'kgen', {
          inputs: [tensor('__mye1_dconst', 'Int8', 8, 8, 3, 3)],
          outputs: [tensor('__mye2', 'Half', 8, 8, 3, 3)],
        }),
        layer('conv_myl0_1', 'correlation', {
          inputs: [tensor('a', 'Half', 1, 8, 8, 8), tensor('__mye2', 'Half', 8, 8, 3, 3)],
          outputs: [tensor('b', 'Half', 1, 8, 8, 8)],
        }),
      ],
    } as unknown as BuildFacts;
    const node = { position: 0, id: '0', name: 'conv', op: 'Conv', compute: 'fp16' } as PlannedNode;
    expect(judgeLayers(node, build, [8, 8, 3, 3])).toMatchObject({ verdict: 'obeyed', layer: 'conv_myl0_1' });
  });
});
