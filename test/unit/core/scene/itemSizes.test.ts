import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readModel } from '../../../../src/core/formats/onnx/readModel.ts';
import { toGraphData } from '../../../../src/core/picture/graph/viewData.ts';
import { indexGraph } from '../../../../src/core/picture/graph/graphIndex.ts';
import { buildHierarchy } from '../../../../src/core/picture/graph/hierarchy.ts';
import { buildScene, itemSizes } from '../../../../src/core/picture/graph/scene.ts';
import { bytesOf } from '../../../../src/core/base/problem.ts';
import { modelPath } from '../../../support/fixtures.ts';
import { graphOf } from './graphBuilder.ts';

describe('itemSizes', () => {
  it.each(['vit_tiny', 'yolo_like', 'fusion_zoo', 'unnamed'])(
    'makes nodes of one operator in one module of %s equally wide, and closed modules of one level',
    async (name) => {
      const { value } = await readModel(bytesOf(readFileSync(modelPath(name))));
      const graph = indexGraph(toGraphData(value!));
      const hierarchy = buildHierarchy(graph);
      const all = hierarchy.modules.map(({ id }) => id);
      for (const open of [new Set<string>(), new Set(all), new Set(all.filter((_, i) => i % 3 !== 0))]) {
        const scene = buildScene(graph, hierarchy, open);
        const { width } = itemSizes(graph, hierarchy, scene);
        const found = new Map<string, Set<number>>();
        scene.kind.forEach((kind, item) => {
          const ref = scene.ref[item]!;
          const type =
            kind === 'node'
              ? graph.data.nodes[ref]!.op
              : kind === 'closed'
                ? String(hierarchy.modules[ref]!.times > 1)
                : null;
          if (type === null) return;
          const key = `${scene.parent[item]!} ${kind} ${type}`;
          found.set(key, (found.get(key) ?? new Set()).add(width[item]!));
        });
        expect([...found].filter(([, widths]) => widths.size > 1)).toEqual([]);
      }
    },
  );

  it('gives a node room for its name', () => {
    const graph = indexGraph(graphOf('a @/one/Add = Add(x)\nb @/a_name_of_some_length/Add = Add(a)', ['x'], ['b']));
    const hierarchy = buildHierarchy(graph);
    const scene = buildScene(graph, hierarchy, new Set());
    const { width } = itemSizes(graph, hierarchy, scene);
    const [first, second] = [0, 1].map((point) => width[scene.itemOfPoint[point]!]!);
    expect(first).toBe(second);
    expect(second).toBeGreaterThan('a_name_of_some_length'.length * 6);
  });
});
