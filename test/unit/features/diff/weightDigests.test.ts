import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readBuildSide } from '../../../../src/kernel/node/store/buildSide.ts';
import { withWeights } from '../../../../src/features/diff/node/weightDigests.ts';
import { matchInputs } from '../../../../src/features/diff/diffReports.ts';
import { type LocalFunction, type Node, type Weight, writeModel } from '../../../support/hardModels/onnxWriter.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weights-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Heads that are alike but for their weights, under names and in an order of their own. */
async function heads(file: string, order: readonly number[], named: (head: number) => string) {
  const weights = order.map((head): Weight => [`w${named(head)}`, 'float', [8, 8], head + 1]);
  const nodes = order.flatMap((head): Node[] => [
    [`${named(head)}/fc`, 'MatMul', ['x', `w${named(head)}`], [`h${named(head)}`]],
    [`${named(head)}/act`, 'Relu', [`h${named(head)}`], [`y${named(head)}`]],
  ]);
  const outputs = order.map((head) => [`y${named(head)}`, 'float', 2, 8] as [string, 'float', number, number]);
  const model = writeModel({ inputs: [['x', 'float', 2, 8]], outputs, weights, nodes });
  return sideOf(file, model, nodes);
}

async function sideOf(file: string, model: Uint8Array, nodes: readonly (readonly [string, string, ...unknown[]])[]) {
  const [onnx, report] = [join(folder, `${file}.onnx`), join(folder, `${file}.json`)];
  await writeFile(onnx, model);
  const rows = nodes.map(([name, op], id) => ({ id: String(id), name, op, fate: 'folded', layers: [] }));
  const rest = { schema: 1, layers: [], foreignNodes: [], tensors: [], problems: [], accounting: {}, tensorrt: {} };
  await writeFile(report, JSON.stringify({ ...rest, model: { file: onnx, nodes: rows.length }, nodes: rows }));
  return readBuildSide(report, onnx);
}

it.each([
  ['other names in another order', (head: number) => `n${head}`],
  ['the same names for other heads', (head: number) => `head${2 - head}`],
])('twins are matched by their weights: %s', async (_, renamed) => {
  const before = await heads('before', [0, 1, 2], (head) => `head${head}`);
  const after = await heads('after', [2, 0, 1], renamed);
  const [a, b] = await withWeights(before, after);
  // Heads 0, 1 and 2 are at 2, 4 and 0.
  expect([...matchInputs(a, b).toB]).toEqual([2, 3, 4, 5, 0, 1]);
});

it('a report on a model with local functions is on that model', async () => {
  const block: LocalFunction = { name: 'Block', inputs: ['a'], outputs: ['b'], nodes: [['f', 'Relu', ['a'], ['b']]] };
  const model = writeModel(
    { inputs: [['x', 'float', 2]], outputs: [['y', 'float', 2]], nodes: [['call', 'local.Block', ['x'], ['y']]] },
    [block],
  );
  const side = await sideOf('function', model, [
    ['call', 'Block'],
    ['f', 'Relu'],
  ]);
  expect(side.network?.map(({ id }) => id)).toEqual(['0', '0/Block/0']);
});
