import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { readModel } from '../../../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf, type ByteSource } from '../../../../../src/kernel/base/problem.ts';
import { modelPath, fixturePath } from '../../../../support/fixtures.ts';
import { type Bytes, concat, float, int, len, model, node, packed, varint } from '../../../../support/wire.ts';
import { expectAgreement } from '../../../../support/independentDecoder.ts';

const relu = node('Relu', ['x'], ['y'], len(3, 'relu'));
const output = len(12, len(1, 'y'));
const attribute = (...fields: Bytes[]) => node('Op', ['x'], ['y'], len(5, len(1, 'a'), ...fields));
const ofType = (type: number) => int(20, type);
const weight = (...fields: Bytes[]) => len(5, packed(1, [2, 3]), int(2, 1), len(8, 'w'), ...fields);

/** What who counts gets to know of a model. */
async function outcome(bytes: Bytes, counting: boolean) {
  const { value, problems } = await readModel(bytesOf(bytes), { counting });
  return { problems, nodes: value?.nodes.length, graph: value?.graph.nodes.length, outputs: value?.graph.outputs };
}

const overlong = Uint8Array.from([...Array<number>(10).fill(0xff), 1]);
const cases: Record<string, Bytes> = {
  'plain attributes': attribute(int(3, -1), float(2, 1), packed(8, [1, 300, -1]), len(4, 'text'), ofType(2)),
  'a number that is longer than ten bytes': attribute(concat(varint(3 * 8), overlong)),
  'a list that ends inside a number': attribute(len(8, Uint8Array.of(1, 0x80))),
  'a list with a number that is longer than ten bytes': attribute(len(8, overlong)),
  'a list of many numbers': attribute(packed(8, Array<number>(5000).fill(7)), ofType(7)),
  'text of 20 KB': attribute(len(4, 'x'.repeat(20_000)), ofType(3)),
  'an attribute that is longer than its node': node('Op', [], ['y'], concat(varint(5 * 8 + 2), varint(90), relu)),
  'a field with an invalid number': node('Op', [], ['y'], Uint8Array.of(1, 1)),
  'a field with an unknown wire type': node('Op', [], ['y'], Uint8Array.of(11, 1)),
  'nodes inside a node': attribute(len(6, relu, relu, output), ofType(5)),
  'graphs in a list': attribute(len(11, relu), len(11, relu, relu), ofType(10)),
  'a damaged node inside a node': attribute(len(6, relu, node('Op', [], [], Uint8Array.of(11, 1))), ofType(5)),
  'a tensor in a node': attribute(len(5, packed(1, [2]), int(2, 7), packed(7, [1, 2])), ofType(4)),
  'metadata, whole and damaged': concat(
    node('Op', [], ['y'], len(9, len(1, 'key'), len(2, 'value'))),
    node('Op', [], ['y'], len(9, Uint8Array.of(10, 90))),
  ),
  'a name of a weight behind its elements': len(5, packed(1, [2]), len(9, new Uint8Array(8)), len(8, 'w')),
  'elements in a field of their type': weight(packed(7, [1, 2, 3, 4, 5, 6])),
  'a damaged shape': len(5, len(1, Uint8Array.of(0x80)), int(2, 1), len(9, new Uint8Array(8))),
  'weights in another file': weight(len(13, len(1, 'location'), len(2, 'weights.bin')), int(14, 1)),
  'a damaged location': weight(len(13, Uint8Array.of(10, 90)), int(14, 1)),
};

describe('who only counts gets the same problems and counts', () => {
  it.each(Object.entries(cases))('%s', async (_, part) => {
    const bytes = model(relu, relu, part, relu, output);
    expect(await outcome(bytes, true)).toEqual(await outcome(bytes, false));
    for (const cut of [1, part.length, relu.length + output.length]) {
      const begin = bytes.subarray(0, bytes.length - cut);
      expect(await outcome(begin, true)).toEqual(await outcome(begin, false));
    }
  });

  it('real models', async () => {
    for (const name of ['deep_encoder_11k', 'loop_if', 'vit_tiny']) {
      const bytes = readFileSync(modelPath(name));
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await outcome(bytes, true)).toEqual(await outcome(bytes, false));
    }
  });
});

it('makes no object for a node that it only counts', async () => {
  const { value } = await readModel(bytesOf(model(relu, relu, output)), { counting: true });
  expect(value!.nodes[0]).toBe(value!.nodes[1]);
});

it('gives the source only memory that holds nothing more to be read', async () => {
  const weights = Array.from({ length: 60 }, (_, index) => {
    const [name, elements] = [len(8, `weight ${index}`), len(9, new Uint8Array(30_000 + index))];
    return len(5, packed(1, [30_000 + index]), ...(index % 3 === 0 ? [elements, name] : [name, elements]));
  });
  const bytes = model(...Array<Bytes>(2000).fill(relu), ...weights, attribute(len(6, ...weights, relu)), output);
  let reused = 0;
  const source: ByteSource = {
    size: bytes.length,
    read: (offset, length, into) => {
      if (into === undefined || into.length < length) return Promise.resolve(bytes.slice(offset, offset + length));
      reused++;
      into.fill(0xff);
      into.set(bytes.subarray(offset, offset + length));
      return Promise.resolve(into.subarray(0, length));
    },
  };
  expect(await readModel(source)).toEqual(await readModel(bytesOf(bytes)));
  expect(reused).toBeGreaterThan(20);
});

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
