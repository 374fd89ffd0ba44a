import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EngineLayer } from '../../../../src/kernel/read/tensorrt/buildOutput.ts';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import { printMetadata } from '../../../../src/kernel/network/layerName.ts';
import { createModelGraph } from '../../../../src/kernel/network/modelGraph.ts';
import { parserName } from '../../../../src/kernel/network/nodeNames.ts';
import type { OnnxModel } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { buildLog, buildPhase, engineLayer, layerInfo } from './buildEngine.ts';
import { buildModel, type ShortNode } from './buildModel.ts';
import { borderOfPart, cutAtRandom, opaqueLayers, randomFrom, type RandomCut } from './randomEngine.ts';

/** Pieces of names that TensorRT's grammar uses itself, and others that exporters write. */
const oddPieces = [
  '/a.b/Conv',
  ' + ',
  ' || ',
  'PWN(',
  ')',
  ', ',
  '...',
  ' | ',
  ']',
  '[',
  '日本',
  '"',
  '\\',
  ' copy',
  '_18',
];
const ops = ['Conv', 'Relu', 'Add', 'MatMul', 'Mul', 'Softmax', 'Transpose', 'Reshape', 'Concat', 'Sigmoid'];

/** A graph in which every node reads earlier tensors and every last tensor is an output. */
function randomModel(random: () => number, size: number): OnnxModel {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const tensors = ['in0', 'in1'];
  const unread = new Set<string>();
  const names = new Set<string>();
  const nodes: ShortNode[] = [];
  for (let i = 0; i < size; i++) {
    const near = tensors.slice(-6);
    const inputs = [
      pick(near),
      ...(random() < 0.5 ? [pick(random() < 0.9 ? near : tensors)] : []),
      ...(random() < 0.3 ? ['w'] : []),
    ];
    let name =
      random() < 0.1
        ? ''
        : `${random() < 0.3 ? pick(oddPieces) : ''}n${i}${random() < 0.3 ? pick(oddPieces) : ''}${random() < 0.2 ? pick(oddPieces) + pick(oddPieces) : ''}`;
    if (names.has(name)) name = `${name}#${i}`;
    names.add(name);
    const outputs = [`t${i}`];
    nodes.push([name, pick(ops), inputs, outputs]);
    for (const input of inputs) unread.delete(input);
    unread.add(`t${i}`);
    tensors.push(`t${i}`);
  }
  return buildModel({ inputs: ['in0', 'in1'], outputs: [...unread], initializers: ['w'], nodes });
}

/** What a report must say: the layers of each node, and the name of its ForeignNode. */
interface Expected {
  layers: EngineLayer[];
  nodeLayers: Map<string, number[]>;
  foreign: Map<string, string>;
  lines: { name: string; line: number; metadata: string | null }[];
}

/** Layers with metadata, as 10.x (kernels) and RTX (kernels and a line for each ForeignNode) write them. */
function namedLayers(cut: RandomCut, random: () => number, metadataOnly: boolean): Expected {
  const expected: Expected = { layers: [], nodeLayers: new Map(), foreign: new Map(), lines: [] };
  const nameOf = (node: number) => parserName(cut.graph.nodes[node]!);
  const idOf = (node: number) => cut.graph.nodes[node]!.id;
  const add = (layer: EngineLayer, nodes: number[]): void => {
    const index = expected.layers.push(layer) - 1;
    for (const node of nodes)
      expected.nodeLayers.set(idOf(node), [...(expected.nodeLayers.get(idOf(node)) ?? []), index]);
  };
  cut.parts.forEach((part, place) => {
    const nodes = [...part.nodes];
    const { inputs, outputs } = borderOfPart(cut, part);
    if (part.kind === 'native') {
      const names = nodes.map(nameOf);
      const name =
        random() < 0.2 ? `PWN(${names.join(', ')})` : random() < 0.2 ? names.join(' || ') : names.join(' + ');
      const metadata = metadataOnly || random() < 0.7 ? printMetadata(names) : '';
      add(engineLayer(name, { type: 'PointWiseV2', inputs, outputs, metadata }), nodes);
      return;
    }
    const name = `{ForeignNode[${nameOf(nodes[0]!)}...${nameOf(nodes.at(-1)!)} #${place}]}`;
    const line = random() < 0.5;
    if (line)
      expected.lines.push({
        name,
        line: place + 1,
        metadata: printMetadata(nodes.map(nameOf), random() < 0.5 ? '\u001e' : ''),
      });
    else expected.lines.push({ name, line: place + 1, metadata: null });
    let kernel = 0;
    for (let at = 0; at < nodes.length;) {
      const chunk = nodes.slice(at, at + 1 + Math.floor(random() * 4));
      at += chunk.length;
      const first = at === chunk.length;
      add(
        engineLayer(`__myl_AddTan_myl${place}_${kernel++}`, {
          type: 'kgen',
          inputs: first ? inputs : ['__mye12'],
          outputs: at >= nodes.length ? outputs : ['__mye12'],
          metadata: printMetadata(chunk.map(nameOf), '\u001f'),
        }),
        chunk,
      );
    }
    for (const node of nodes) expected.foreign.set(idOf(node), name);
  });
  return expected;
}

const cases = fc.record({
  seed: fc.nat(),
  size: fc.integer({ min: 1, max: 60 }),
  foreign: fc.constantFrom(0, 0.3, 0.7, 1),
});

describe('graphs fused at random', () => {
  it('are resolved exactly where TensorRT gives metadata', () => {
    fc.assert(
      fc.property(cases, ({ seed, size, foreign }) => {
        const random = randomFrom(seed);
        const model = randomModel(random, size);
        const cut = cutAtRandom(model, random, { foreign, size: 12 });
        const expected = namedLayers(cut, random, true);
        const report = createReport({
          model,
          modelFile: 'random.onnx',
          layerInfo: layerInfo(expected.layers),
          log: buildLog({
            phases: [buildPhase({ foreignNodes: expected.lines })],
            finalLayers: expected.lines.map(({ name }) => name),
          }),
        });
        for (const node of report.nodes) {
          const layers = expected.nodeLayers.get(node.id) ?? [];
          expect(node.layers).toEqual(layers);
          const region = node.foreignNode === null ? undefined : report.foreignNodes[node.foreignNode]!.name;
          expect(region).toBe(expected.foreign.get(node.id));
          expect(node.exact).toBe(true);
          if (layers.length > 0 && region === undefined) {
            const alone = layers.every((layer) => report.layers[layer]!.nodes.length === 1);
            expect(node.fate).toBe(alone ? 'single' : 'fused');
          }
        }
        expect(report.accounting.unknown).toBe(0);
        expect(report.foreignNodes.every(({ exact }) => exact)).toBe(true);
        expect(report.problems).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('are resolved by the names of native layers where they have no metadata', () => {
    fc.assert(
      fc.property(cases, ({ seed, size }) => {
        const random = randomFrom(seed);
        const model = randomModel(random, size);
        const cut = cutAtRandom(model, random, { foreign: 0, size: 1 });
        const expected = namedLayers(cut, random, false);
        // A fused name that reads as other names of the model, too, has more than one reading.
        const names = new Set(cut.graph.nodes.map((_, node) => parserName(cut.graph.nodes[node]!)));
        if (expected.layers.some(({ name }) => names.has(name) && name.includes(' '))) return;
        const report = createReport({ model, modelFile: 'random.onnx', layerInfo: layerInfo(expected.layers) });
        for (const node of report.nodes) expect(node.layers, node.name).toEqual(expected.nodeLayers.get(node.id) ?? []);
      }),
      { numRuns: 300 },
    );
  });

  it('keep their members apart where the ForeignNodes are opaque', () => {
    fc.assert(
      fc.property(cases, ({ seed, size }) => {
        const random = randomFrom(seed);
        const model = randomModel(random, size);
        const cut = cutAtRandom(model, random, { foreign: 0.6, size: 15 });
        const report = createReport({
          model,
          modelFile: 'random.onnx',
          layerInfo: layerInfo(opaqueLayers(cut, random)),
        });
        const found = report.foreignNodes.map(({ nodes }) => nodes.toSorted());
        const graph = createModelGraph(model);
        const put = cut.parts
          .filter(({ kind }) => kind === 'foreign')
          .map(({ nodes }) => [...nodes].map((node) => graph.nodes[node]!.id).toSorted());
        expect(found).toEqual(put);
        expect(report.accounting.unknown).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});
