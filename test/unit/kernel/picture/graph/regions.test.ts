import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nestedLayout } from '../../../../../src/kernel/picture/layout/nestedLayout.ts';
import { defaultLayout, type LayoutResult } from '../../../../../src/kernel/picture/layout/layoutTypes.ts';
import { fusionGroups } from '../../../../../src/kernel/picture/graph/fusionGroups.ts';
import { indexGraph } from '../../../../../src/kernel/picture/graph/graphIndex.ts';
import { buildHierarchy } from '../../../../../src/kernel/picture/graph/hierarchy.ts';
import {
  buildRegions,
  buildScene,
  type GroupOutline,
  idlePoints,
  itemSizes,
} from '../../../../../src/kernel/picture/graph/scene.ts';
import type { GraphData } from '../../../../../src/kernel/picture/graph/viewData.ts';
import { captureData } from '../../../../webview/support/captureData.ts';
import { foreignNode, graphOf, layer, reportOf } from './graphBuilder.ts';
import type { FusionReport } from '../../../../../src/kernel/fusion/fusionReport.ts';

/** Everything that a view does between data and drawing. */
function draw(data: GraphData, report: FusionReport, isOpen: (id: string, at: number) => boolean = () => true) {
  const graph = indexGraph(data);
  const hierarchy = buildHierarchy(graph);
  const fusion = fusionGroups(graph, report);
  const scene = buildScene(graph, hierarchy, new Set(hierarchy.modules.map(({ id }) => id).filter(isOpen)));
  const layout = nestedLayout({
    parent: scene.parent,
    open: Uint8Array.from(scene.kind, (kind) => (kind === 'open' ? 1 : 0)),
    ...itemSizes(graph, hierarchy, scene),
    from: scene.from,
    to: scene.to,
    options: defaultLayout,
  });
  const idle = idlePoints(graph, fusion);
  const regions = buildRegions(graph, hierarchy, scene, layout, { groupOf: fusion.groupOf, idle, inModules: true });
  return { graph, hierarchy, fusion, scene, layout, regions, idle };
}

const covers = ({ boxes }: GroupOutline, x: number, y: number): boolean => {
  for (let i = 0; i < boxes.length; i += 4) {
    if (x >= boxes[i]! && x <= boxes[i]! + boxes[i + 2]! && y >= boxes[i + 1]! && y <= boxes[i + 1]! + boxes[i + 3]!)
      return true;
  }
  return false;
};
const middle = ({ x, y, width, height }: LayoutResult, item: number): [number, number] => [
  x[item]! + width[item]! / 2,
  y[item]! + height[item]! / 2,
];

/** A region covers the middle of each of its nodes, and of no node that another group computes. */
function checkRegions({ graph, fusion, scene, layout, regions, idle }: ReturnType<typeof draw>): void {
  const byGroup = new Map(regions.map((region) => [region.group, region]));
  scene.kind.forEach((kind, item) => {
    if (kind !== 'node') return;
    const point = scene.ref[item]!;
    const group = fusion.groupOf[point]!;
    const [x, y] = middle(layout, item);
    if (group >= 0 && idle[point] === 0)
      expect(covers(byGroup.get(group)!, x, y), graph.data.nodes[point]!.name).toBe(true);
    for (const region of regions) {
      if (idle[point] === 0 && region.group !== group) {
        expect(covers(region, x, y), `${graph.data.nodes[point]!.name} is no part of group ${region.group}`).toBe(
          false,
        );
      }
    }
  });
}

describe('buildRegions', () => {
  it.each([
    ['resnet18', 'tensorrt-10.6.0/resnet18.fp32'],
    ['vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16'],
    ['fusion_zoo', 'tensorrt-10.6.0/fusion_zoo.fp32'],
    ['loop_if', 'tensorrt-10.6.0/loop_if.fp32'],
  ])('puts a boundary around the nodes of %s and around no others', async (model, capture) => {
    const { graph, report } = await captureData(model, capture);
    checkRegions(draw(graph!, report!));
  });

  it('draws a group around nodes of several modules, joined along the edge between them', () => {
    const data = graphOf(
      'a @/one/Conv = Conv(x)\nb @/one/Relu = Relu(a)\nc @/two/Add = Add(b)\nd @/two/Mul = Mul(c)',
      ['x'],
      ['d'],
    );
    const drawn = draw(data, reportOf(data, [layer(0, ['0']), layer(1, ['1', '2']), layer(2, ['3'])]));
    checkRegions(drawn);
    const region = drawn.regions.find(({ group }) => drawn.fusion.groups[group]!.ref === 1)!;
    expect(region.items).toBe(2);
    // Its two parts are joined along the whole of the edge from b to c.
    const { edgeStart, edgePieces } = drawn.layout;
    const edge = drawn.scene.from.findIndex(
      (from, e) => drawn.scene.ref[from] === 1 && drawn.scene.ref[drawn.scene.to[e]!] === 2,
    );
    expect([...region.necks]).toEqual([...edgePieces.subarray(edgeStart[edge], edgeStart[edge + 1])]);
    expect(region.boxes).toHaveLength(8);
  });

  it('is one shape where an edge leads straight into an open module', () => {
    const data = graphOf('a = A(x)\nb @/m/B = B(a)\nc @/m/C = C(b)', ['x'], ['c']);
    const { regions, layout, scene } = draw(data, reportOf(data, [layer(0, ['0', '1', '2'])]));
    const open = scene.kind.indexOf('open');
    const above = scene.kind.findIndex((kind, item) => kind === 'node' && scene.ref[item] === 0);
    const height = (layout.y[above]! + layout.height[above]! + layout.y[open]!) / 2;
    // As wide as the box above, not a strip along the edge.
    expect(covers(regions[0]!, layout.x[above]! + 1, height)).toBe(true);
    expect(covers(regions[0]!, layout.x[above]! + layout.width[above]! - 1, height)).toBe(true);
  });

  it('goes around a closed module only where one group computes all of it', () => {
    const data = graphOf('a @/m/A = A(x)\nb @/m/B = B(a)\nc @/m/C = C(b)\nd @/m/D = D(c)', ['x'], ['d']);
    const all = reportOf(data, [layer(0, ['0', '1', '2', '3'])]);
    const { regions, layout, scene } = draw(data, all, () => false);
    const item = scene.kind.indexOf('closed');
    expect([...regions[0]!.boxes]).toEqual([layout.x[item], layout.y[item], layout.width[item], layout.height[item]]);
    const some = reportOf(
      data,
      [layer(0, ['0', '1', '2'], { kind: 'foreign', foreignNode: 0 }), layer(1, ['3'])],
      [foreignNode(0, ['0', '1', '2'], [0])],
    );
    expect(draw(data, some, () => false).regions).toEqual([]);
  });

  it('is one box around a chain of nodes of different widths', () => {
    const data = graphOf('a = A(x)\nb = AnOperatorWithALongName(a)\nc = C(b)\nd = D(c)', ['x'], ['d']);
    const { regions, layout, scene } = draw(data, reportOf(data, [layer(0, ['0', '1', '2']), layer(1, ['3'])]));
    const items = [0, 1, 2].map((point) => scene.itemOfPoint[point]!);
    const left = Math.min(...items.map((item) => layout.x[item]!));
    const right = Math.max(...items.map((item) => layout.x[item]! + layout.width[item]!));
    const region = regions.find(({ items: count }) => count === 3)!;
    expect([region.boxes.length, region.left, region.right]).toEqual([4, left, right]);
  });

  it('lets what is not computed disturb no boundary', () => {
    const data = graphOf('a @/m/A = A(x)\nk @/m/Constant = Constant()\nb @/m/B = B(a, k)', ['x'], ['b']);
    const { regions, layout, scene } = draw(data, reportOf(data, [layer(0, ['0', '2'])]));
    const open = scene.kind.indexOf('open');
    expect(regions).toHaveLength(1);
    expect([...regions[0]!.boxes]).toEqual(
      [layout.x[open], layout.y[open], layout.width[open], layout.height[open]].map((value) =>
        expect.closeTo(value!, 3),
      ),
    );
  });

  it('puts a boundary around random groups and around nothing else', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            reads: fc.array(fc.nat(60), { maxLength: 3 }),
            // Mostly near by, so that chains stand in columns; a group goes on for a while.
            near: fc.nat(3),
            group: fc.integer({ min: 0, max: 30 }),
            path: fc.array(fc.nat(2), { maxLength: 3 }),
          }),
          { minLength: 1, maxLength: 60 },
        ),
        fc.array(fc.nat(), { maxLength: 6 }),
        (nodes, opens) => {
          let group = 0;
          const groups = nodes.map((node) => (node.group < 6 ? (group = node.group) : group));
          const data: GraphData = {
            name: '',
            nodes: nodes.map(({ reads, near, path }, i) => ({
              id: String(i),
              name: `${path.map((at) => `/m${at}`).join('')}/n${i}`,
              op: 'Add',
              domain: '',
              inputs: [...reads.filter((at) => at < i), ...(near > 0 && i >= near ? [i - near] : [])].map(
                (at) => `t${at}`,
              ),
              outputs: [`t${i}`],
              attributes: [],
            })),
            inputs: [],
            outputs: [],
            tensors: [],
          };
          // Groups 0 and 1 are ForeignNodes, 5 is computed by nothing that is known.
          const members = [0, 1, 2, 3, 4].map((one) => groups.flatMap((own, i) => (own === one ? [String(i)] : [])));
          const layers = members.map((ids, one) =>
            layer(one, ids, one < 2 ? { kind: 'foreign', foreignNode: one } : {}),
          );
          const report = reportOf(
            data,
            layers,
            [0, 1].map((one) => foreignNode(one, members[one]!, [one])),
          );
          for (const open of [() => true, () => false, (_: string, i: number) => opens.includes(i)]) {
            const drawn = draw(data, report, open);
            for (const { boxes } of drawn.regions) expect(boxes.every(Number.isFinite)).toBe(true);
            checkRegions(drawn);
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});
