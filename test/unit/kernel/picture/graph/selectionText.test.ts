import { type PanelSelection, toGraphData } from '../../../../../src/kernel/picture/graph/viewData.ts';
import { describe, expect, it } from 'vitest';
import { logLineOf, markdownOf, namesOf, selectorsOf } from '../../../../../src/kernel/picture/page/selectionText.ts';
import { foreignNode, graphOf, layer, reportOf } from './graphBuilder.ts';
import { readFileSync } from 'node:fs';
import { readModel } from '../../../../../src/kernel/read/onnx/readModel.ts';
import { indexGraph } from '../../../../../src/kernel/picture/graph/graphIndex.ts';
import { buildHierarchy } from '../../../../../src/kernel/picture/graph/hierarchy.ts';
import { buildScene, itemSizes } from '../../../../../src/kernel/picture/graph/scene.ts';
import { bytesOf } from '../../../../../src/kernel/base/problem.ts';
import { modelPath } from '../../../../support/fixtures.ts';

const graph = graphOf('a @/m/a = Conv(x)\nb @odd`name, = Relu(a)\nc = Add(b, b)\nd = Constant()');
graph.nodes[2]!.name = '';
const report = {
  ...reportOf(
    graph,
    [layer(0, ['0'], { line: 12 }), layer(1, ['1', '2'], { kind: 'kernel', foreignNode: 0, name: 'myl' })],
    [foreignNode(0, ['1', '2'], [1], { line: 40, exact: false })],
  ),
  tensors: [{ name: 'b', producer: '1', consumers: ['2'], type: 'float', shape: [1, null], layers: [] }],
};
const of = (selection: PanelSelection) => ({ graph, report, selection });
const nodes = (...ids: string[]) => of({ kind: 'nodes', ids });

describe('what is copied', () => {
  it('is the name as TensorRT knows it', () => {
    expect(namesOf(nodes('0', '2'))).toEqual(['/m/a', 'node_of_c']);
    expect(namesOf(of({ kind: 'layers', ids: [1] }))).toEqual(['myl']);
    expect(namesOf(of({ kind: 'foreignNode', id: 0 }))).toEqual(['{ForeignNode[0]}']);
    expect(namesOf(of({ kind: 'fate', fate: 'folded' }))).toEqual(['/d']);
    expect(namesOf({ ...nodes('0'), module: '/m' })).toEqual(['/m']);
    expect(namesOf({ ...of({ kind: 'none' }), tensor: 'b' })).toEqual(['b']);
    expect(namesOf(of({ kind: 'none' }))).toEqual([]);
  });

  it('is a selector that an override file reads back', () => {
    expect(selectorsOf(nodes('0', '1', '2'))).toEqual(['/m/a', '"odd`name,"', 'node_of_c']);
    expect(selectorsOf(of({ kind: 'foreignNode', id: 0 }))).toEqual(['group:"{ForeignNode[0]}"']);
    expect(selectorsOf(of({ kind: 'layers', ids: [0] }))).toEqual(['/m/a']);
  });

  it('is Markdown in which no name ends its code', () => {
    expect(markdownOf(nodes('0', '1'))).toBe(
      '**2 nodes** of `g.onnx`, TensorRT 10.6.0\n\n' +
        '- `Conv` `/m/a`: Computed by layer 0, which computes nothing else. (exact)\n' +
        '- `Relu` ``odd`name,``: Fused into ForeignNode 0 with 1 other node (derived from the graph). Kernel myl computes it together with Add (node 2). (derived)\n',
    );
    expect(markdownOf(of({ kind: 'foreignNode', id: 0 }))).toContain(
      'ForeignNode 0, `{ForeignNode[0]}`: 2 nodes, 1 layer, derived\n',
    );
    expect(markdownOf({ ...of({ kind: 'none' }), tensor: 'b' })).toBe(
      '**Tensor `b`** of `g.onnx`, TensorRT 10.6.0\n\n- type float, shape 1×?\n',
    );
    expect(markdownOf({ ...nodes('0'), report: null })).toBe('**1 node**\n\n- `Conv` `/m/a`: no build\n');
    const many = graphOf(Array.from({ length: 25 }, (_, i) => `t${i} = Relu(x)`).join('\n'));
    const all: PanelSelection = { kind: 'nodes', ids: many.nodes.map(({ id }) => id) };
    expect(markdownOf({ graph: many, report: null, selection: all }).split('\n').at(-2)).toBe('- … 5 more');
  });
});

describe('the line of the log', () => {
  it('is that of the ForeignNode, the layer or the layer of the node', () => {
    expect(logLineOf(nodes('0'))).toBe(12);
    expect(logLineOf(of({ kind: 'layers', ids: [0] }))).toBe(12);
    expect(logLineOf(of({ kind: 'foreignNode', id: 0 }))).toBe(40);
    expect(logLineOf(nodes('3'))).toBe(null);
  });
});

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
