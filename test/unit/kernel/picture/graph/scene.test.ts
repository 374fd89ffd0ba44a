import { describe, expect, it } from 'vitest';
import { buildOverlay, composeItems, segmentsOf } from '../../../../../src/kernel/picture/graph/overlay.ts';
import { findOutliers, fusionGroups } from '../../../../../src/kernel/picture/graph/fusionGroups.ts';
import { indexGraph } from '../../../../../src/kernel/picture/graph/graphIndex.ts';
import { buildHierarchy, openingOrder } from '../../../../../src/kernel/picture/graph/hierarchy.ts';
import { buildScene, itemKey, itemTitle, shortTitle } from '../../../../../src/kernel/picture/graph/scene.ts';
import type { GraphData } from '../../../../../src/kernel/picture/graph/viewData.ts';
import { captureData } from '../../../../webview/support/captureData.ts';
import { graphOf, layer, reportOf } from './graphBuilder.ts';

/** Blocks of three nodes each. */
const blocks = (count: number): GraphData =>
  graphOf(
    Array.from({ length: count }, (_, i) => {
      const before = i === 0 ? 'x' : `c${i - 1}`;
      return `a${i} @/b.${i}/MatMul = MatMul(${before})\nb${i} @/b.${i}/Softmax = Softmax(a${i})\nc${i} @/b.${i}/Add = Add(b${i}, ${before})`;
    }).join('\n'),
    ['x'],
    [`c${count - 1}`],
  );

describe('buildScene', () => {
  it('merges the edges between what is closed, and shows a module’s inside when it opens', () => {
    const graph = indexGraph(blocks(2));
    const hierarchy = buildHierarchy(graph);
    const closed = buildScene(graph, hierarchy, new Set());
    const text = (scene: typeof closed) =>
      [...scene.from].map(
        (from, e) =>
          `${itemTitle(graph, hierarchy, scene, from)}>${itemTitle(graph, hierarchy, scene, scene.to[e]!)}×${scene.weight[e]}`,
      );
    expect(text(closed)).toEqual(['x>b.0×2', 'b.0>b.1×2', 'b.1>c1×1']);
    const open = buildScene(graph, hierarchy, new Set(['/b.0']));
    expect(open.kind).toEqual(['input', 'open', 'node', 'node', 'node', 'closed', 'output']);
    expect(text(open)).toEqual(['x>MatMul×1', 'x>Add×1', 'MatMul>Softmax×1', 'Softmax>Add×1', 'Add>b.1×2', 'b.1>c1×1']);
    expect([...open.parent]).toEqual([-1, -1, 1, 1, 1, -1, -1]);
    expect(open.kind.map((_, item) => itemKey(graph, hierarchy, open, item))).toContain('module:/b.1');
  });

  it('ignores what is open inside something closed', () => {
    const graph = indexGraph(blocks(4));
    const hierarchy = buildHierarchy(graph);
    const scene = buildScene(graph, hierarchy, new Set(['/b.2']));
    expect(scene.kind).toEqual(['input', 'closed', 'output']);
  });

  it('stands every point of a large model for exactly one item', async () => {
    const { graph: data } = await captureData('bert_base', 'tensorrt-10.6.0/bert_base.fp16');
    const graph = indexGraph(data!);
    const hierarchy = buildHierarchy(graph);
    const order = openingOrder(hierarchy);
    for (let opened = 0; opened <= order.length; opened++) {
      const scene = buildScene(graph, hierarchy, new Set(order.slice(0, opened)));
      for (let point = 0; point < graph.points; point++) {
        const item = scene.itemOfPoint[point]!;
        if (scene.kind[item] === 'closed') {
          const { start, end } = hierarchy.modules[scene.ref[item]!]!;
          expect(hierarchy.sequence.subarray(start, end)).toContain(point);
        } else expect(scene.ref[item]).toBe(point);
      }
      expect([...scene.from].every((from, e) => from !== scene.to[e])).toBe(true);
    }
  });
});

describe('shortTitle', () => {
  it('leaves out what is said already', () => {
    const data = graphOf(
      'a @/m/proj/MatMul = MatMul(x)\nb @/m/MatMul_1 = MatMul(a)\nc @/m/Add = Add(b)\nd @free = Add(c)',
    );
    const graph = indexGraph(data);
    const hierarchy = buildHierarchy(graph);
    expect([0, 1, 2, 3].map((point) => shortTitle(graph, hierarchy, point))).toEqual(['proj', 'MatMul_1', '', 'free']);
  });
});

describe('openingOrder', () => {
  it('opens one block of a repetition, and never all', () => {
    expect(openingOrder(buildHierarchy(indexGraph(blocks(12))))).toEqual(['/b.*', '/b.0']);
  });
});

describe('composeItems', () => {
  it('counts what a module’s nodes are painted with', () => {
    const data = graphOf(
      'a @/m/A = A(x)\nb @/m/B = B(a)\nk @/m/Constant = Constant()\nc @/m/C = C(b, k)',
      ['x'],
      ['c'],
    );
    const graph = indexGraph(data);
    const hierarchy = buildHierarchy(graph);
    const report = reportOf(data, [layer(0, ['0', '1']), layer(1, ['3'])]);
    const fusion = fusionGroups(graph, report);
    const overlay = buildOverlay('fusion', graph, report, fusion, new Map());
    const scene = buildScene(graph, hierarchy, new Set());
    const composed = composeItems(graph, hierarchy, scene, overlay, fusion);
    const [stretches] = [...composed.values()];
    expect(stretches?.map(({ group, nodes, share }) => [group, nodes, share])).toEqual([
      [0, 2, 0.5],
      [1, 1, 0.25],
      [-1, 1, 0.25],
    ]);
    const item = scene.kind.indexOf('closed');
    expect([...segmentsOf(scene, composed)]).toEqual([
      [0, [{ item, from: 0, to: 0.5 }]],
      [1, [{ item, from: 0.5, to: 0.75 }]],
    ]);
  });

  it('shows groups of one color as several parts, in the order of the graph', () => {
    const data = graphOf('a @/m/A = A(x)\nb @/m/B = B(a)\nc @/m/C = C(b)\nd @/m/D = D(c)', ['x'], ['d']);
    const graph = indexGraph(data);
    const hierarchy = buildHierarchy(graph);
    const report = reportOf(data, [layer(0, ['3']), layer(1, ['1', '2']), layer(2, ['0'])]);
    const fusion = fusionGroups(graph, report);
    for (const group of fusion.groups) group.color = 5;
    const overlay = buildOverlay('fusion', graph, report, fusion, new Map());
    const scene = buildScene(graph, hierarchy, new Set());
    const [stretches] = [...composeItems(graph, hierarchy, scene, overlay, fusion).values()];
    expect(stretches?.map(({ group, nodes }) => [fusion.groups[group]!.ref, nodes])).toEqual([
      [2, 1],
      [1, 2],
      [0, 1],
    ]);
  });
});

describe('findOutliers', () => {
  it('names the blocks that are fused differently from most', () => {
    const data = blocks(6);
    const graph = indexGraph(data);
    const hierarchy = buildHierarchy(graph);
    const layers = Array.from({ length: 6 }, (_, i) => {
      const [a, b, c] = [0, 1, 2].map((k) => String(3 * i + k)) as [string, string, string];
      return i === 4 ? [layer(2 * i, [a]), layer(2 * i + 1, [b, c])] : [layer(2 * i, [a, b]), layer(2 * i + 1, [c])];
    }).flat();
    const fusion = fusionGroups(graph, reportOf(data, layers));
    const { blocks: odd, counts } = findOutliers(
      hierarchy,
      (point) => data.nodes[point]?.op ?? '',
      fusion,
      new Int32Array(graph.points).fill(-1),
    );
    expect([...odd].map((index) => hierarchy.modules[index]!.id)).toEqual(['/b.4']);
    expect([...counts].map(([index, count]) => [hierarchy.modules[index]!.id, count])).toEqual([
      ['/b.*', 1],
      ['/b.*~', 1],
    ]);
  });
});
