import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fusionGroups } from '../../../../../src/kernel/picture/graph/fusionGroups.ts';
import { indexGraph } from '../../../../../src/kernel/picture/graph/graphIndex.ts';
import { buildFacts } from '../../../../../src/kernel/rules/buildFacts.ts';
import { buildOverlay, pointTimes, overlayKinds, paints } from '../../../../../src/kernel/picture/graph/overlay.ts';
import type { RequestedPrecision, GraphData, NodeAccuracy } from '../../../../../src/kernel/picture/graph/viewData.ts';
import { captureData } from '../../../../webview/support/captureData.ts';
import { foreignNode, graphOf, layer, reportOf } from './graphBuilder.ts';
import { engineMs } from '../../../../../src/kernel/report/words.ts';

const captures = [
  ['resnet18', 'tensorrt-10.6.0/resnet18.fp32'],
  ['vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16'],
  ['fusion_zoo', 'tensorrt-10.6.0/fusion_zoo.fp32'],
  ['bert_base', 'tensorrt-10.6.0/bert_base.fp16'],
  ['vit_tiny', 'tensorrt-8.6.1/vit_tiny.fp16'],
] as const;

const judgedNode = (id: string, more: Partial<NodeAccuracy>): NodeAccuracy => ({
  id,
  type: 'float16',
  role: 'fine',
  localError: 0,
  propagatedError: 0,
  max: 1,
  amplification: 1,
  overflow: false,
  underflow: false,
  ...more,
});

describe('buildOverlay', () => {
  it.each(captures)('accounts for every node of %s in every overlay (%s)', async (model, capture) => {
    const { graph: data, report } = await captureData(model, capture);
    const graph = indexGraph(data!);
    const fusion = fusionGroups(graph, report);
    for (const kind of overlayKinds) {
      const overlay = buildOverlay(kind, graph, report, fusion, new Map());
      expect(overlay.categories.reduce((sum, { nodes }) => sum + nodes, 0)).toBe(data!.nodes.length);
      expect(overlay.categoryOf.subarray(0, graph.nodes).every((category) => category >= 0)).toBe(true);
      expect(new Set(overlay.categories.map(({ key }) => key)).size).toBe(overlay.categories.length);
    }
  });

  it.each(captures)('never paints two groups of %s alike that an edge joins (%s)', async (model, capture) => {
    const { graph: data, report } = await captureData(model, capture);
    const graph = indexGraph(data!);
    const { groups, groupOf } = fusionGroups(graph, report);
    for (let e = 0; e < graph.from.length; e++) {
      const [a, b] = [groupOf[graph.from[e]!]!, groupOf[graph.to[e]!]!];
      if (a >= 0 && b >= 0 && a !== b)
        expect(groups[a]!.color, `${groups[a]!.id} and ${groups[b]!.id}`).not.toBe(groups[b]!.color);
    }
    expect(Math.max(...groups.map(({ color }) => color % 8))).toBeLessThan(8);
  });

  it('shows culprits, what they spoiled, and local errors in steps; a build is not needed', () => {
    const data = graphOf('a = Pow(x)\nb = Add(a)\nc = Mul(b)\nd = Shape(c)', ['x'], ['c']);
    const graph = indexGraph(data);
    const judged = new Map([
      ['0', judgedNode('0', { role: 'root', localError: null, overflow: true })],
      ['1', judgedNode('1', { role: 'victim', localError: 1e-4 })],
      ['2', judgedNode('2', { localError: 2e-4 })],
    ]);
    const { categories } = buildOverlay('accuracy', graph, null, fusionGroups(graph, null), new Map(), judged);
    expect(categories.map(({ key, nodes }) => [key, nodes])).toEqual([
      ['root', 1],
      ['victim', 1],
      ['error:1', 1],
      ['exact', 1],
    ]);
  });

  it.each([
    ['10.6.0', 'inside:fp16', [paints.derived, 0]],
    ['11.2.1', 'fp32', [1, 0]],
  ])('paints the type inside a kernel by the model of a strongly typed build only: %s', (version, key, painted) => {
    const data = graphOf('a = Softmax(x)\nb = Cast(a)', ['x'], ['b']);
    const types = { a: 'float', b: 'float16' };
    for (const [name, type] of Object.entries(types))
      data.tensors = [
        ...data.tensors.filter((tensor) => tensor.name !== name),
        { name, type, shape: null, initializer: false },
      ];
    const output = { name: 'b', dims: [1], type: 'Half', format: null };
    const report = {
      ...reportOf(data, [layer(0, ['0', '1'], { outputs: [output] })]),
      tensorrt: { product: 'tensorrt' as const, version },
    };
    const graph = indexGraph(data);
    const overlay = buildOverlay('precision', graph, report, fusionGroups(graph, report), new Map());
    expect([...overlay.paintOf.subarray(0, 2)]).toEqual(painted);
    expect(overlay.categories.map((category) => category.key).toSorted()).toEqual([key, 'fp16'].toSorted());
  });

  it('says gray for what is not computed, hatched for what is unknown', () => {
    const data = graphOf('a = Conv(x)\nk = Constant()\nb = Foo(a)', ['x'], ['b']);
    const report = reportOf(data, [layer(0, ['0'])]);
    report.nodes[2]!.fate = 'unknown';
    const graph = indexGraph(data);
    const overlay = buildOverlay('fusion', graph, report, fusionGroups(graph, report), new Map());
    expect([...overlay.paintOf].slice(0, 3)).toEqual([7, paints.gray, paints.unknown]);
    expect(overlay.categories.map(({ label, nodes }) => `${label} ${nodes}`)).toEqual([
      'In single-node layers 1',
      'Folded 1',
      'Unknown 1',
    ]);
  });

  it('tells for every node what became of the override that it was given', () => {
    const data = graphOf('a = A(x)\nb = B(a)\nc = C(b)\nd = D(c)\ne = E(d)\nk = Constant()', ['x'], ['e']);
    const report = reportOf(data, [layer(0, ['0', '1', '2', '3', '4'])]);
    const graph = indexGraph(data);
    const request = (
      node: number,
      verdict: RequestedPrecision['verdict'],
      certain = true,
    ): [string, RequestedPrecision] => [
      String(node),
      { node: String(node), type: 'fp32', line: 1, verdict, certain, reason: '' },
    ];
    const asked = new Map([
      request(0, 'obeyed'),
      request(1, 'obeyed', false),
      request(2, 'disobeyed'),
      request(3, 'unseen'),
      request(5, 'unseen'),
    ]);
    const overlay = buildOverlay('overrides', graph, report, fusionGroups(graph, report), asked);
    expect(overlay.categories.map(({ label, nodes }) => `${label} ${nodes}`)).toEqual([
      'Disobeyed 1',
      'Unverifiable 1',
      'Probably obeyed 1',
      'Obeyed 1',
      'No rule 1',
      'Folded 1',
    ]);
    expect([...overlay.paintOf].slice(0, 6)).toEqual([
      6,
      paints.derived + 6,
      1,
      paints.unknown,
      paints.plain,
      paints.gray,
    ]);
  });

  it('names every paint of a line of the legend', () => {
    // Two layers of one node next to each other have different shades of one color.
    const data = graphOf('a = A(x)\nb = B(a)\nc = C(b)', ['x'], ['c']);
    const report = reportOf(data, [layer(0, ['0']), layer(1, ['1']), layer(2, ['2'])]);
    const graph = indexGraph(data);
    const { categories, paintOf } = buildOverlay('fusion', graph, report, fusionGroups(graph, report), new Map());
    expect(categories.map(({ paints: own }) => own)).toEqual([[...new Set(paintOf.subarray(0, 3))]]);
    expect(categories[0]!.paints).toHaveLength(2);
  });

  it('shows plain nodes without a report', () => {
    const graph = indexGraph(graphOf('a = Conv(x)'));
    expect(
      buildOverlay('fusion', graph, null, fusionGroups(graph, null), new Map()).categories.map(({ key }) => key),
    ).toEqual(['plain']);
  });

  it('gives every millisecond to some node, once', () => {
    const data = graphOf('a = A(x)\nb = B(a)\nc = C(b)\nd = D(c)\ne = E(d)', ['x'], ['e']);
    const report = reportOf(
      data,
      [
        layer(0, ['0', '1'], { averageMs: 3 }),
        layer(1, ['2'], { kind: 'kernel', foreignNode: 0 }),
        layer(2, ['4'], { averageMs: 1 }),
      ],
      [foreignNode(0, ['2', '3'], [1], { averageMs: 5 })],
    );
    const graph = indexGraph(data);
    const times = pointTimes(graph, report, fusionGroups(graph, report));
    expect([...times].slice(0, 5)).toEqual([1.5, 1.5, 2.5, 2.5, 1]);
    // The same that override files show.
    expect(buildFacts(report, null).nodes.map(({ averageMs }) => averageMs)).toEqual([1.5, 1.5, 2.5, 2.5, 1]);
    expect(engineMs(report)).toBe(9);
  });

  it('puts neighbors apart in random groups, as long as colors can', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ reads: fc.array(fc.nat(60), { maxLength: 2 }), group: fc.nat(25) }), { maxLength: 60 }),
        (nodes) => {
          const data: GraphData = {
            name: '',
            nodes: nodes.map(({ reads }, i) => ({
              id: String(i),
              name: '',
              op: 'Add',
              domain: '',
              inputs: reads.filter((at) => at < i && at > i - 4).map((at) => `t${at}`),
              outputs: [`t${i}`],
              attributes: [],
            })),
            inputs: [],
            outputs: [],
            tensors: [],
          };
          // Runs of neighbors, as fusion makes them: groups that touch few others.
          const layers = Array.from({ length: 20 }, (_, id) =>
            layer(
              id,
              nodes.flatMap((_node, i) => (Math.floor(i / 3) === id ? [String(i)] : [])),
            ),
          );
          const graph = indexGraph(data);
          const { groups, groupOf } = fusionGroups(
            graph,
            reportOf(
              data,
              layers.filter((one) => one.nodes.length > 0),
            ),
          );
          for (let e = 0; e < graph.from.length; e++) {
            const [a, b] = [groupOf[graph.from[e]!]!, groupOf[graph.to[e]!]!];
            if (a >= 0 && b >= 0 && a !== b) expect(groups[a]!.color).not.toBe(groups[b]!.color);
          }
        },
      ),
    );
  });
});
