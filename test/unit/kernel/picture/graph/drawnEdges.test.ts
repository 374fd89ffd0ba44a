import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readModel } from '../../../../../src/kernel/read/onnx/readModel.ts';
import { type GraphData, toGraphData } from '../../../../../src/kernel/picture/graph/viewData.ts';
import { type GraphIndex, indexGraph } from '../../../../../src/kernel/picture/graph/graphIndex.ts';
import { buildHierarchy, type Hierarchy, openingOrder } from '../../../../../src/kernel/picture/graph/hierarchy.ts';
import { blocksOf } from '../../../../../src/kernel/picture/graph/fusionGroups.ts';
import { buildScene, type Scene } from '../../../../../src/kernel/picture/graph/scene.ts';
import { bytesOf } from '../../../../../src/kernel/base/problem.ts';
import { fixturePath, modelPath } from '../../../../support/fixtures.ts';
import { graphOf } from './graphBuilder.ts';

const models = readdirSync(fixturePath('models'))
  .filter((file) => file.endsWith('.onnx'))
  .map((file) => file.replace('.onnx', ''))
  .toSorted();

/** What a model says itself: which node writes and which node reads each tensor, by ids. */
function edgesOf(data: GraphData): Set<string> {
  const writer = new Map<string, string>();
  const key = (path: string, name: string) => `${path}\n${name}`;
  const pathOf = (id: string) => id.slice(0, Math.max(0, id.lastIndexOf('/')));
  for (const { name } of data.inputs) writer.set(key('', name), `input:${name}`);
  for (const { id, outputs } of data.nodes) for (const name of outputs) writer.set(key(pathOf(id), name), id);
  const edges = new Set<string>();
  const read = (path: string, name: string, reader: string) => {
    for (let at = path; ;) {
      const from = writer.get(key(at, name));
      if (from !== undefined) edges.add(`${from} → ${reader}`);
      if (from !== undefined || at === '') return;
      at = pathOf(pathOf(at));
    }
  };
  for (const { id, inputs } of data.nodes) for (const name of inputs) read(pathOf(id), name, id);
  for (const { name } of data.outputs) read('', name, `output:${name}`);
  return edges;
}

/** Which pairs of items are joined in the model, and which are joined on the scene. */
function joined(data: GraphData, graph: GraphIndex, scene: Scene): { model: Set<string>; drawn: Set<string> } {
  const model = new Set<string>();
  for (const edge of edgesOf(data)) {
    const [from, to] = edge.split(' → ').map((id) => scene.itemOfPoint[graph.byId.get(id)!]!) as [number, number];
    if (from !== to) model.add(`${from} → ${to}`);
  }
  return { model, drawn: new Set(Array.from(scene.from, (from, edge) => `${from} → ${scene.to[edge]!}`)) };
}

/** Every block of a repetition is read by the next one, and by no other: not even through nodes outside of it. */
function checkStacks(data: GraphData, graph: GraphIndex, hierarchy: Hierarchy): void {
  const edges = [...edgesOf(data)].map((edge) => edge.split(' → ').map((id) => graph.byId.get(id)!));
  const readers = new Map<number, number[]>();
  for (const [from, to] of edges as [number, number][]) readers.set(from, [...(readers.get(from) ?? []), to]);
  hierarchy.modules.forEach(({ kind, label, parent }, index) => {
    if (kind !== 'repeat' || hierarchy.modules[parent]?.kind === 'repeat') return;
    const blockOf = new Map<number, number>();
    blocksOf(hierarchy, index).forEach((module, block) => {
      const { start, end } = hierarchy.modules[module]!;
      for (const point of hierarchy.sequence.subarray(start, end)) blockOf.set(point, block);
    });
    const ways = new Set<string>();
    const outside = new Set<number>();
    for (const [point, block] of blockOf) {
      for (const reader of readers.get(point) ?? []) {
        const to = blockOf.get(reader);
        if (to === undefined) outside.add(reader);
        else if (to !== block) ways.add(`${block} → ${to}`);
      }
    }
    const times = hierarchy.modules[index]!.times;
    expect([...ways].toSorted(), label).toEqual(
      Array.from({ length: times - 1 }, (_, block) => `${block} → ${block + 1}`).toSorted(),
    );
    for (const point of outside) {
      for (const reader of readers.get(point) ?? []) {
        expect(blockOf.has(reader), `${label}: back into a block through ${point}`).toBe(false);
        outside.add(reader);
      }
    }
  });
}

describe('the picture', () => {
  it.each(models)('of %s has the edges that the model has, and no others, however much is open', async (name) => {
    const { value } = await readModel(bytesOf(readFileSync(modelPath(name))));
    const data = toGraphData(value!);
    const graph = indexGraph(data);
    const hierarchy = buildHierarchy(graph);
    const all = hierarchy.modules.map(({ id }) => id);
    const odd = all.filter((_, i) => i % 2 === 1);
    for (const open of [new Set<string>(), new Set(all), new Set(odd), new Set(openingOrder(hierarchy))]) {
      const { model, drawn } = joined(data, graph, buildScene(graph, hierarchy, open));
      expect([...drawn].filter((edge) => !model.has(edge))).toEqual([]);
      expect([...model].filter((edge) => !drawn.has(edge))).toEqual([]);
    }
    checkStacks(data, graph, hierarchy);
  });
});

describe('stacks', () => {
  /** Blocks of three nodes each; `reads` says what a block reads, by the outputs `o0`, `o1`… of the blocks. */
  const stacked = (reads: string[], more = '', outputs = [`o${reads.length - 1}`]) => {
    const blocks = reads.map(
      (input, i) => `a${i} @/b.${i}/A = A(${input})\nm${i} @/b.${i}/M = M(a${i})\no${i} @/b.${i}/R = R(m${i})`,
    );
    const data = graphOf(`${blocks.join('\n')}\n${more}`, ['x'], outputs);
    const hierarchy = buildHierarchy(indexGraph(data));
    return hierarchy.modules.filter(({ kind }) => kind === 'repeat').map(({ label, times }) => [label, times]);
  };

  it('are made of blocks that follow each other', () => {
    expect(stacked(['x', 'o0', 'o1', 'o2'])[0]).toEqual(['b', 4]);
  });

  it('are made where each block is read outside as well, as by the head of a detector', () => {
    const head = 'h @/head/C = Concat(o0, o1, o2)';
    expect(stacked(['x', 'o0', 'o1', 'o2'], head, ['o3', 'h'])[0]).toEqual(['b', 4]);
  });

  it.each([
    ['side by side', ['x', 'x', 'x', 'x'], ''],
    ['with other nodes between them', ['x', 'p0', 'p1', 'p2'], 'p0 = P(o0)\np1 = P(o1)\np2 = P(o2)'],
    ['that are joined by a shortcut', ['x', 'o0', 'o1, o0', 'o2, o1'], ''],
    ['that are joined through another node, too', ['x', 'o0', 'o1', 'o2, s'], 's = S(o0)'],
  ])('are not made of blocks %s', (_, reads, more) => {
    expect(stacked(reads, more)).toEqual([]);
  });

  it('leave out a block of another structure', () => {
    const data = graphOf(
      ['x', 'o0', 'o1', 'o2', 'o3']
        .map(
          (input, i) =>
            `a${i} @/b.${i}/A = ${i === 0 ? 'First' : 'A'}(${input})\nm${i} @/b.${i}/M = M(a${i})\no${i} @/b.${i}/R = R(m${i})`,
        )
        .join('\n'),
      ['x'],
      ['o4'],
    );
    const { modules } = buildHierarchy(indexGraph(data));
    expect(modules[0]!.modules.map((child) => [modules[child]!.label, modules[child]!.times])).toEqual([
      ['b.0', 1],
      ['b.1 … 4', 4],
    ]);
  });
});
