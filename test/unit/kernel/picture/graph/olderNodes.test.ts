import { graphStates } from '../../../../../src/kernel/picture/graph/graphStates.ts';
import { describe, expect, it } from 'vitest';
import { fusionGroups } from '../../../../../src/kernel/picture/graph/fusionGroups.ts';
import { indexGraph } from '../../../../../src/kernel/picture/graph/graphIndex.ts';
import { buildOverlay, overlayKinds } from '../../../../../src/kernel/picture/graph/overlay.ts';
import { withOlderNodes } from '../../../../../src/features/diff/changeRows.ts';
import type { GraphData, GraphNode } from '../../../../../src/kernel/picture/graph/viewData.ts';
import { reportWith } from '../../../features/diff/reportWith.ts';
import { comparisonData } from '../../../../webview/support/comparisonData.ts';

const node = (id: string, op: string, inputs: string[], outputs: string[]): GraphNode => ({
  id,
  name: `${op}_${id}`,
  op,
  domain: '',
  inputs,
  outputs,
  attributes: [],
});
const tensor = (name: string) => ({ name, type: 'float', shape: [1], initializer: false });
const graph = (nodes: GraphNode[]): GraphData => ({
  name: '',
  nodes,
  inputs: [tensor('x')],
  outputs: [tensor('y')],
  tensors: [tensor('x'), tensor('y'), tensor('t')],
});
const edgesOf = (data: GraphData) => {
  const { from, to, tensor: carried, tensorNames } = indexGraph(data);
  const label = (point: number) => data.nodes[point]?.id ?? 'port';
  return [...from].map((at, edge) => `${label(at)} -${tensorNames[carried[edge]!]!}-> ${label(to[edge]!)}`);
};

describe('the graph of the newer model with the nodes that only the older one has', () => {
  it('has them between what is left of their neighbors, and takes no tensor of the newer model for one of theirs', () => {
    // A: x -> Relu -t-> Cast -c-> Neg -> y; in B the Cast is gone, Neg has another id, and `c` is another tensor.
    const a = graph([node('0', 'Relu', ['x'], ['t']), node('1', 'Cast', ['t'], ['c']), node('2', 'Neg', ['c'], ['y'])]);
    const b = graph([node('0', 'Relu', ['x'], ['c']), node('1', 'Neg', ['c'], ['y'])]);
    const report = reportWith(
      ['Relu', 'Cast', 'Neg'],
      ['Relu', 'Cast', 'Neg'].map((name) => ({ nodes: [name] })),
    );
    const joined = withOlderNodes(b, { graph: a, report }, Int32Array.of(0, -1, 1));
    expect(joined.nodes.map(({ id }) => id)).toEqual(['0', '1', 'A: 1']);
    expect(joined.nodes[2]!.older).toEqual({
      id: '1',
      note: expect.stringMatching(/^Only in A: Computed by /) as string,
    });
    expect(edgesOf(joined)).toEqual(
      expect.arrayContaining(['0 -c-> 1', '0 -c-> A: 1', 'A: 1 -A: c-> 1', 'port -x-> 0', '1 -y-> port']),
    );
    expect(edgesOf(joined)).toHaveLength(5);
    expect(edgesOf(b)).toHaveLength(3);
  });

  it('puts nodes of a subgraph into the subgraph of the owner, whatever number it has in the newer model', () => {
    const inner = (owner: string) => node(`${owner}/then_branch/0`, 'Abs', ['x'], ['i']);
    const a = graph([node('0', 'If', ['x'], ['y']), inner('0'), node('0/then_branch/1', 'Neg', ['i'], ['j'])]);
    const b = graph([node('0', 'Relu', ['x'], ['r']), node('1', 'If', ['r'], ['y']), inner('1')]);
    const report = reportWith(['If', 'Abs', 'Neg'], []);
    const joined = withOlderNodes(b, { graph: a, report }, Int32Array.of(1, 2, -1));
    expect(joined.nodes.at(-1)!.id).toBe('1/then_branch/A: 1');
    expect(edgesOf(joined)).toContain('1/then_branch/0 -i-> 1/then_branch/A: 1');
    expect(indexGraph(joined).owner[3]).toBe(1);
  });

  it('is the newer graph where nothing is gone', () => {
    const b = graph([node('0', 'Relu', ['x'], ['y'])]);
    const report = reportWith(['Relu'], []);
    expect(withOlderNodes(b, { graph: b, report }, Int32Array.of(0))).toBe(b);
  });
});

describe('an export without the Casts of another', () => {
  it('shows each node that is gone in every overlay with a sign, and those that A computed as such', async () => {
    const mixed = ['fp16_overflow_mixed', 'tensorrt-10.6.0/fp16_overflow_mixed.typed'] as const;
    const data = await comparisonData(...mixed, 'tensorrt-10.6.0/fp16_overflow.fp16', 'fp16_overflow');
    const { diff } = data.comparison!;
    const gone = data.graph!.nodes.filter(({ older }) => older !== undefined);
    expect(gone.map(({ older }) => older!.id)).toEqual(diff.matched.onlyA);
    expect(gone).toHaveLength(12);
    expect(new Set(gone.map(({ op }) => op))).toEqual(new Set(['Cast']));
    const index = indexGraph(data.graph!);
    // The last one makes an output, which is another tensor in the newer graph.
    for (const { id } of gone) {
      const at = index.byId.get(id)!;
      expect(index.inStart[at + 1]! - index.inStart[at]!, id).toBe(1);
    }
    const states = graphStates(data.graph!, diff);
    const removed = new Set(diff.changes.filter(({ nodesB }) => nodesB.length === 0).flatMap(({ nodesA }) => nodesA));
    expect(gone.filter(({ id }) => states.get(id) === 'removed').map(({ older }) => older!.id)).toEqual(
      diff.matched.onlyA.filter((id) => removed.has(id)),
    );
    const fusion = fusionGroups(index, data.report);
    for (const kind of overlayKinds) {
      const { categories, categoryOf } = buildOverlay(kind, index, data.report, fusion, new Map(), new Map(), states);
      for (const { id } of gone)
        expect(categories[categoryOf[index.byId.get(id)!]!]!.label, kind).toMatch(/^− (?:Only|Computed) in A/);
    }
  });

  it('does not change the graph where both builds are of one model', async () => {
    const data = await comparisonData('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp32', 'tensorrt-10.6.0/vit_tiny.fp16');
    expect(data.graph!.nodes.some(({ older }) => older !== undefined)).toBe(false);
  });
});

it('fates have lines of their own in the legend next to changes of the same name', () => {
  const data = graph([node('0', 'Relu', ['x'], ['t']), node('1', 'Neg', ['t'], ['u']), node('2', 'Abs', ['u'], ['y'])]);
  const report = reportWith(['Relu', 'Neg', 'Abs'], [{ nodes: ['Relu'] }], { Neg: 'removed', Abs: 'unknown' });
  const index = indexGraph(data);
  const changed = new Map([['0', 'removed' as const]]);
  const fusion = fusionGroups(index, report);
  const { categories, categoryOf } = buildOverlay('comparison', index, report, fusion, new Map(), new Map(), changed);
  expect([0, 1, 2].map((point) => categories[categoryOf[point]!]!.sign)).toEqual(['−', undefined, undefined]);
});
