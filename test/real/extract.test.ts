import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { extractSubgraph } from '../../src/features/surgery/node/extractSubgraph.ts';
import { fillWeights } from '../../src/kernel/node/files/fillWeights.ts';
import { splitFile } from '../../src/features/surgery/node/splitFile.ts';
import { inferTensors } from '../../src/kernel/network/network.ts';
import { createModelGraph, type ModelGraph } from '../../src/kernel/network/modelGraph.ts';
import { readModel } from '../../src/kernel/read/onnx/readModel.ts';
import { closed, subgraphOfNodes } from '../../src/features/surgery/extractModel.ts';
import { suggestCuts } from '../../src/features/surgery/splitModel.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { modelPath } from '../support/fixtures.ts';
import { type PythonTools, pythonForTests } from '../support/python.ts';
import { temporaryFolder } from '../support/rtx.ts';
import { randomFrom } from '../unit/kernel/fusion/randomEngine.ts';

let python: PythonTools;
// Weights are here, too: onnx refuses files with several links, and tests that build parts link the shared ones.
const folder = temporaryFolder();

beforeAll(async () => {
  python = await pythonForTests();
});

async function graphOf(path: string): Promise<ModelGraph> {
  const { value } = await readModel(bytesOf(readFileSync(path)));
  return createModelGraph(value!);
}

/** Some nodes of the main graph that follow one another in the file, with what lies between them. */
function randomCut(graph: ModelGraph, random: () => number): string[] {
  const main = graph.nodes.map((_, index) => index).filter((index) => graph.owner[index]! < 0);
  const size = 1 + Math.floor(random() * Math.min(60, main.length));
  const start = Math.floor(random() * (main.length - size + 1));
  const some = main.slice(start, start + size).filter(() => random() < 0.8);
  return closed(graph, new Set(some.length > 0 ? some : [main[start]!])).map((index) => graph.nodes[index]!.id);
}

const models = [
  'vit_tiny',
  'resnet18',
  'fusion_zoo',
  'loop_if',
  'lstm_gru',
  'two_inputs_multi_out',
  'unnamed',
  'yolo_like',
];

test('random cuts of every model pass the checker and compute the same bytes', async () => {
  const random = randomFrom(7);
  const jobs: { whole: string; pieces: string[] }[] = [];
  for (const name of models) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other: each has its weights
    const whole = await fillWeights(modelPath(name), folder);
    // oxlint-disable-next-line no-await-in-loop
    const graph = await graphOf(whole);
    const pieces: string[] = [];
    for (const [index, weights] of (['auto', 'embed', 'auto'] as const).entries()) {
      // The last one lies beside the model: its weights stay where they are.
      const out = index === 2 ? join(dirname(whole), `cut-${index}.onnx`) : join(folder, name, `cut-${index}.onnx`);
      mkdirSync(dirname(out), { recursive: true });
      const ids = randomCut(graph, random);
      // oxlint-disable-next-line no-await-in-loop
      await extractSubgraph({ path: whole, pick: (one) => subgraphOfNodes(one, ids), out, weights });
      pieces.push(out);
    }
    jobs.push({ whole, pieces });
  }
  for (const [index, answers] of (await python.compareCuts(jobs)).entries())
    for (const [subgraph, { checked, ran, same }] of answers.entries()) {
      const what = jobs[index]!.pieces[subgraph]!;
      expect([checked, ran], what).toEqual([true, true]);
      expect(
        Object.values(same).filter((difference) => difference !== 0),
        what,
      ).toEqual([]);
      expect(Object.keys(same).length, what).toBeGreaterThan(0);
    }
});

test('a model with weights inside is referred to from the same folder, and copied from elsewhere', async () => {
  const external = await fillWeights(modelPath('resnet18'), folder);
  const everything = (graph: ModelGraph) =>
    subgraphOfNodes(
      graph,
      graph.nodes.map(({ id }) => id),
    );
  const whole = join(folder, 'inline', 'inline.onnx');
  mkdirSync(dirname(whole));
  await extractSubgraph({ path: external, pick: everything, out: whole, weights: 'embed' });
  const some = randomCut(await graphOf(whole), randomFrom(3));
  const cut = (out: string) => extractSubgraph({ path: whole, pick: (graph) => subgraphOfNodes(graph, some), out });
  const [beside, elsewhere] = [join(folder, 'inline', 'cut.onnx'), join(folder, 'elsewhere.onnx')];
  expect((await cut(beside)).files).toMatchObject([{ path: beside }]);
  await cut(elsewhere);
  const [answers] = await python.compareCuts([{ whole, pieces: [beside, elsewhere] }]);
  for (const { ran, same } of answers!) {
    expect(ran).toBe(true);
    expect(Object.values(same).filter((difference) => difference !== 0)).toEqual([]);
  }
  // The file beside the model has its large weights there, not in itself.
  expect(readFileSync(beside).length).toBeLessThan(readFileSync(elsewhere).length / 2);
});

test('the parts of a split model, one after the other, compute what the whole does', async () => {
  const jobs: { whole: string; pieces: string[] }[] = [];
  for (const name of ['vit_tiny', 'yolo_like', 'loop_if', 'fusion_zoo', 'two_inputs_multi_out']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other: each has its weights
    const whole = await fillWeights(modelPath(name), folder);
    // oxlint-disable-next-line no-await-in-loop
    const graph = await graphOf(whole);
    const cuts = suggestCuts(graph, inferTensors(graph), 2).map(({ tensor }) => tensor);
    const out = join(folder, `split-${name}`);
    // oxlint-disable-next-line no-await-in-loop
    const chain = await splitFile(whole, cuts, out);
    expect(chain.parts.length, name).toBe(cuts.length + 1);
    // Each part gets the values of the whole: what it reads is there by then, and under the same name.
    const there = new Set(graph.model.graph.inputs.map((input) => input.name));
    for (const { inputs, outputs } of chain.parts) {
      expect(inputs.filter((input) => !there.has(input.name))).toEqual([]);
      for (const output of outputs) there.add(output.name);
    }
    expect(graph.model.graph.outputs.filter((output) => !there.has(output.name))).toEqual([]);
    expect(JSON.parse(readFileSync(join(out, 'chain.json'), 'utf8'))).toEqual({ generator: 'TensorRT Lens', ...chain });
    jobs.push({ whole, pieces: chain.parts.map(({ model }) => join(out, model)) });
  }
  for (const [index, answers] of (await python.compareCuts(jobs)).entries())
    for (const [subgraph, { checked, ran, same }] of answers.entries()) {
      const what = jobs[index]!.pieces[subgraph]!;
      expect([checked, ran], what).toEqual([true, true]);
      expect(
        Object.values(same).filter((difference) => difference !== 0),
        what,
      ).toEqual([]);
    }
});
