import { expect, test } from 'vitest';
import { createModelGraph, inDataOrder, type ModelGraph, readsOf } from '../../../../src/kernel/network/modelGraph.ts';
import { reduceNodes } from '../../../../src/features/trials/reduceFailure.ts';
import { modelOf } from '../../kernel/fusion/loadCapture.ts';
import { randomFrom } from '../../kernel/fusion/randomEngine.ts';

/** Runs a search with a failure that needs all of `core`, and counts what would be built. */
function reduced(graph: ModelGraph, core: readonly number[], named: readonly string[] = []) {
  const search = reduceNodes(graph, named);
  let builds = 0;
  let step = search.next();
  while (!step.done) {
    builds += step.value.length;
    expect(step.value.length).toBeLessThanOrEqual(2);
    step = search.next(
      step.value.map((candidate) => {
        const has = new Set(candidate);
        expect(has.size, 'each node once').toBe(candidate.length);
        return core.every((node) => has.has(node));
      }),
    );
  }
  return { nodes: step.value.toSorted((a, b) => a - b), builds };
}

const mainNodes = (graph: ModelGraph) =>
  inDataOrder(graph).filter((node) => graph.owner[node]! < 0 && graph.nodes[node]!.op !== 'Constant');
const sorted = (nodes: Iterable<number>) => [...new Set(nodes)].toSorted((a, b) => a - b);
const large = async () => createModelGraph((await modelOf('deep_encoder_11k'))!);

test('a failure of one node, or of neighbors, is found in a large network in few builds', async () => {
  const graph = await large();
  const nodes = mainNodes(graph);
  expect(nodes.length).toBeGreaterThan(7000);
  const random = randomFrom(11);
  let most = 0;
  for (let round = 0; round < 20; round += 1) {
    const node = nodes[Math.floor(random() * nodes.length)]!;
    const before = readsOf(graph, node)
      .map((tensor) => graph.tensors[tensor]!.producer)
      .filter((other) => other >= 0 && graph.nodes[other]!.op !== 'Constant');
    const core = round % 2 === 0 ? [node] : sorted([node, ...before]);
    const found = reduced(graph, core);
    expect(found.nodes).toEqual(core);
    most = Math.max(most, found.builds);
  }
  expect(most).toBeLessThanOrEqual(60);
});

test('two nodes that are far apart', async () => {
  const graph = await large();
  const nodes = mainNodes(graph);
  const random = randomFrom(5);
  for (let round = 0; round < 8; round += 1) {
    const core = sorted([random(), random()].map((number) => nodes[Math.floor(number * nodes.length)]!));
    const found = reduced(graph, core);
    expect(found.nodes).toEqual(core);
    expect(found.builds).toBeLessThanOrEqual(120);
  }
});

test('a node that the failure names is tried alone first', async () => {
  const graph = await large();
  const node = mainNodes(graph)[4000]!;
  expect(reduced(graph, [node], [graph.nodes[node]!.id])).toEqual({ nodes: [node], builds: 2 });
  // The name may be wrong.
  expect(reduced(graph, [node], [graph.nodes[mainNodes(graph)[9]!]!.id]).nodes).toEqual([node]);
});

test('a node inside a loop stands for the loop', async () => {
  const graph = createModelGraph((await modelOf('loop_if'))!);
  const inner = graph.owner.findIndex((owner) => owner >= 0);
  const owner = graph.owner[inner]!;
  expect(reduced(graph, [owner], [graph.nodes[inner]!.id]).nodes).toEqual([owner]);
});

test('a failure that only the whole network has stays whole', async () => {
  const graph = createModelGraph((await modelOf('vit_tiny'))!);
  const nodes = mainNodes(graph);
  expect(reduced(graph, nodes).nodes).toEqual(sorted(nodes));
});

test('a failure that comes and goes ends with a part that failed', async () => {
  const graph = createModelGraph((await modelOf('vit_tiny'))!);
  const random = randomFrom(3);
  const search = reduceNodes(graph, []);
  const failed = new Set<string>();
  let step = search.next();
  while (!step.done) {
    step = search.next(
      step.value.map((candidate) => {
        const fails = random() < 0.4;
        if (fails) failed.add(candidate.join());
        return fails;
      }),
    );
  }
  expect(failed).toContain(step.value.join());
});
