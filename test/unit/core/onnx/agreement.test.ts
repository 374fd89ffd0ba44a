import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readModel } from '../../../../src/core/formats/onnx/readModel.ts';
import { bytesOf } from '../../../../src/core/base/problem.ts';
import { fixturePath } from '../../../support/fixtures.ts';
import { expectAgreement } from '../../../support/independentDecoder.ts';

test.each(readdirSync(fixturePath('models')).filter((name) => name.endsWith('.onnx')))(
  'the reader and onnx-proto agree on %s',
  (name) => expectAgreement(fixturePath(`models/${name}`)),
);

test('as many nodes as the models were made with', async () => {
  const expected = JSON.parse(readFileSync(fixturePath('models/models.json'), 'utf8')) as Record<
    string,
    { nodes: number; nodes_with_subgraphs: number; ops: Record<string, number> }
  >;
  const found = await Promise.all(
    Object.keys(expected).map(async (name) => {
      const { value } = await readModel(bytesOf(readFileSync(fixturePath(`models/${name}.onnx`))));
      return [name, { nodes: value!.graph.nodes.length, nodes_with_subgraphs: value!.nodes.length }];
    }),
  );
  const counts = Object.entries(expected).map(([name, { nodes, nodes_with_subgraphs }]) => [
    name,
    { nodes, nodes_with_subgraphs },
  ]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(counts));
});
