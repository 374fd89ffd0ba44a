import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { type PieceCandidate, searchPiece, sizeOfPart } from '../../../../src/features/bisect/searchPiece.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { type Network, networkOf } from '../../../../src/kernel/network/network.ts';
import { subgraphOf } from '../../../../src/features/surgery/extractModel.ts';

let graph: Network;

beforeAll(async () => {
  const path = new URL('../../../fixtures/models/vit_tiny.onnx', import.meta.url);
  graph = networkOf((await readModel(bytesOf(readFileSync(path)))).value!);
});

/** Both scales of q·k in the first block, and what they are computed from: TensorRT 10.6 loses one where all is fused. */
const lost = { qkv: 22, moves: [25, 26, 28, 30, 32, 44], scales: [46, 48], product: 49 };

interface Fault {
  /** Nodes that must be there, apart from the product with what feeds it. */
  also: number[];
  /** Whether the bias behind the merged product must be there. */
  bias: boolean;
}

/** The answer of an engine with a fault that is gone as soon as a tensor inside of it is an output. */
function answer({ nodes, ends, passed }: PieceCandidate, { also, bias }: Fault): number | null {
  const left = new Set(nodes.filter((node) => !passed.includes(node)));
  const { outputs } = subgraphOf(graph, nodes, ends);
  const inner = [lost.qkv, 23, ...lost.moves, ...lost.scales];
  const isThere = [lost.qkv, ...lost.moves, ...lost.scales, lost.product, ...also].every((node) => left.has(node));
  if (!isThere || (!passed.includes(23) && !left.has(23)) || (bias && !left.has(23))) return null;
  const isMarked = inner.some((node) => node !== 28 && graph.outputs[node]!.some((tensor) => outputs.includes(tensor)));
  // The value, third output of the Split, may not be one, either.
  const value = graph.outputs[28]![2]!;
  return isMarked || outputs.includes(value) ? null : graph.outputs[lost.product]![0]!;
}

function search(fault: Fault, suspects: string[]): { found: PieceCandidate | null; asked: number } {
  const steps = searchPiece(graph, suspects);
  const asked = new Set<string>();
  let next = steps.next();
  while (!next.done) {
    asked.add(JSON.stringify(next.value));
    next = steps.next(answer(next.value, fault));
  }
  // Who runs the search builds nothing twice.
  return { found: next.value, asked: asked.size };
}

describe('a fault that outputs inside of it dissolve', () => {
  const core = [lost.qkv, ...lost.moves, ...lost.scales, lost.product];
  test.each<[string, Fault, string[], number[], number]>([
    ['as it is', { also: [], bias: true }, ['48'], [...core, 23], 45],
    ['a bias that can be passed', { also: [], bias: false }, ['48'], core, 60],
    ['without a suspect', { also: [], bias: true }, [], [...core, 23], 120],
    // The other reader of the third part of the Split has to stay.
    ['with the value', { also: [34, 51], bias: false }, ['48'], [...core, 34, 51], 100],
  ])('%s', (_, fault, suspects, expected, most) => {
    const { found, asked } = search(fault, suspects);
    const nodes = found!.nodes.filter((node) => !found!.passed.includes(node));
    expect(nodes.toSorted((a, b) => a - b)).toEqual(expected.toSorted((a, b) => a - b));
    expect(sizeOfPart(found!)).toBe(expected.length);
    expect(asked).toBeLessThanOrEqual(most);
  });
});

test('what is right everywhere has no piece', () => {
  const steps = searchPiece(graph, ['48']);
  let next = steps.next();
  while (!next.done) next = steps.next(null);
  expect(next.value).toBeNull();
});
