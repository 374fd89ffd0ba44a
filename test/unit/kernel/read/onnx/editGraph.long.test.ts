import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { onnx } from 'onnx-proto';
import { describe, expect, test } from 'vitest';
import { type ModelEdits, planEdit } from '../../../../../src/kernel/read/onnx/editModel.ts';
import { type OnnxModel, segmentBytes } from '../../../../../src/kernel/read/onnx/onnxModel.ts';
import { readModel } from '../../../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../../../../src/kernel/base/problem.ts';
import { modelPath } from '../../../../support/fixtures.ts';
import { concat } from '../../../../support/wire.ts';

const models = ['vit_tiny', 'resnet18', 'loop_if', 'unnamed', 'lstm_gru', 'fusion_zoo'].map((name) =>
  readFileSync(modelPath(name)),
);

async function planned(bytes: Uint8Array, edits: ModelEdits) {
  const { value } = await readModel(bytesOf(bytes), { spans: true });
  return planEdit(value!, bytesOf(bytes), edits);
}

async function edited(bytes: Uint8Array, edits: ModelEdits): Promise<Uint8Array> {
  const { value, problems } = await planned(bytes, edits);
  expect(problems).toEqual([]);
  const pieces: Uint8Array[] = [];
  for await (const piece of segmentBytes(value!.segments, () => bytesOf(bytes))) pieces.push(piece);
  return concat(...pieces);
}

/** The lists of a decoded graph. */
interface DecodedGraph {
  node: onnx.INodeProto[];
  initializer: onnx.ITensorProto[];
  output: onnx.IValueInfoProto[];
}

/** What an independent decoder sees, as plain data. */
const decode = (bytes: Uint8Array): { graph: DecodedGraph } =>
  onnx.ModelProto.toObject(onnx.ModelProto.decode(bytes), { longs: Number, bytes: Array, arrays: true }) as never;

const graphAt = (model: { graph: DecodedGraph }, path: string): DecodedGraph => {
  let { graph } = model;
  const steps = path.split('/');
  for (let at = 0; at + 1 < steps.length; at += 2) {
    const owner = graph.node[Number(steps[at])]!;
    graph = owner.attribute!.find(({ name }) => name === steps[at + 1])!.g as DecodedGraph;
  }
  return graph;
};

const split = (id: string): [string, number] => {
  const slash = id.lastIndexOf('/');
  return slash < 0 ? ['', Number(id)] : [id.slice(0, slash), Number(id.slice(slash + 1))];
};

const value = { name: 'lens_value', newType: 'float16', shape: [2, 'batch', null] };
const tensor = { name: 'lens_tensor', newType: 'float', shape: [2], bytes: new Uint8Array(8) };

/** One edit, and what it does to a decoded model. */
type Case = (
  model: OnnxModel,
  random: number,
) => { edits: ModelEdits; expected: (decoded: { graph: DecodedGraph }) => void };
const pick = <T>(list: readonly T[], random: number): T => list[Math.floor(random * list.length)]!;

const cases: Record<string, Case> = {
  'a node taken out': (model, random) => {
    const { id } = pick(model.nodes, random);
    const [path, at] = split(id);
    return { edits: { remove: [id] }, expected: (decoded) => graphAt(decoded, path).node.splice(at, 1) };
  },
  'a node put in': (model, random) => {
    const { id } = pick(model.nodes, random);
    const [path, at] = split(id);
    const node = {
      op: 'Clip',
      name: 'lens',
      inputs: ['a', '', 'b'],
      outputs: ['c'],
      attributes: { axes: { ints: [1, -1] } },
    };
    return {
      edits: { insert: [{ graph: path, node, after: id }] },
      expected: (decoded) => {
        const attribute = { name: 'axes', type: onnx.AttributeProto.AttributeType.INTS, ints: [1, -1] };
        graphAt(decoded, path).node.splice(at + 1, 0, {
          name: 'lens',
          opType: 'Clip',
          input: ['a', '', 'b'],
          output: ['c'],
          attribute: [attribute],
        });
      },
    };
  },
  'another operator': (model, random) => {
    const { id } = pick(model.nodes, random);
    const [path, at] = split(id);
    return {
      edits: { operators: [{ node: id, op: 'Abs' }] },
      expected: (decoded) => (graphAt(decoded, path).node[at]!.opType = 'Abs'),
    };
  },
  'a node replaced': (model, random) => {
    const { id } = pick(model.nodes, random);
    const [path, at] = split(id);
    const by = { op: 'Custom', name: 'p', inputs: ['x'], outputs: ['y'] };
    return {
      edits: { replace: [{ node: id, by }] },
      expected: (decoded) =>
        (graphAt(decoded, path).node[at] = { name: 'p', opType: 'Custom', input: ['x'], output: ['y'] }),
    };
  },
  'an output added': () => ({
    edits: { declare: [{ graph: '', list: 'outputs', value }] },
    expected: (decoded) =>
      decoded.graph.output.push({
        name: 'lens_value',
        type: { tensorType: { elemType: 10, shape: { dim: [{ dimValue: 2 }, { dimParam: 'batch' }, {}] } } },
      }),
  }),
  'an output taken out': (model, random) => {
    const { name } = pick(model.graph.outputs, random);
    return {
      edits: { undeclare: [{ graph: '', list: 'outputs', name }] },
      expected: (decoded) => (decoded.graph.output = decoded.graph.output.filter((one) => one.name !== name)),
    };
  },
  'an initializer added': () => ({
    edits: { addInitializers: [{ graph: '', tensor }] },
    expected: (decoded) =>
      decoded.graph.initializer.push({ name: 'lens_tensor', dataType: 1, dims: [2], rawData: new Uint8Array(8) }),
  }),
};

describe('edits of whole parts do what they say, and nothing else', () => {
  test.each(Object.entries(cases))('%s', async (_, make) => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...models),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        async (bytes, random) => {
          const { value: model } = await readModel(bytesOf(bytes));
          const { edits, expected } = make(model!, random);
          const wanted = decode(bytes);
          expected(wanted);
          // Both ways through the same encoder: defaults are written alike.
          const plain = decode(onnx.ModelProto.encode(onnx.ModelProto.fromObject(wanted)).finish());
          expect(decode(await edited(bytes, edits))).toEqual(plain);
        },
      ),
      { numRuns: 15 },
    );
  });

  test('an initializer taken out; its reference rewritten', async () => {
    const bytes = models[1]!;
    const { value: model } = await readModel(bytesOf(bytes));
    const outside = model!.graph.initializers.find(({ data }) => data && 'external' in data)!;
    const without = decode(await edited(bytes, { removeInitializers: [{ graph: '', name: outside.name }] }));
    expect(without.graph.initializer.map(({ name }) => name)).toEqual(
      decode(bytes)
        .graph.initializer.map(({ name }) => name)
        .filter((name) => name !== outside.name),
    );
    const entries = { location: 'other.bin', offset: '64', length: '128' };
    const moved = decode(await edited(bytes, { external: [{ graph: '', name: outside.name, entries }] }));
    const found = moved.graph.initializer.find(({ name }) => name === outside.name)!;
    expect(Object.fromEntries(found.externalData!.map(({ key, value: text }) => [key, text]))).toEqual(entries);
    expect(found.dataLocation).toBe(onnx.TensorProto.DataLocation.EXTERNAL);
  });
});

test('what cannot be done is refused with a sentence', async () => {
  const bytes = models[1]!;
  const messages = async (edits: ModelEdits) => (await planned(bytes, edits)).problems.map(({ message }) => message);
  const output = decode(bytes).graph.output[0]!.name!;
  expect(await messages({ remove: ['9999'] })).toEqual(['There is no node 9999.']);
  expect(
    await messages({ insert: [{ graph: 'x', node: { op: 'A', name: '', inputs: [], outputs: [] }, after: null }] }),
  ).toEqual(['There is no graph "x".']);
  expect(
    await messages({ declare: [{ graph: '', list: 'outputs', value: { name: output, newType: 'float' } }] }),
  ).toEqual([`"${output}" is among the outputs of graph "" already.`]);
  expect(
    await messages({ declare: [{ graph: '', list: 'outputs', value: { name: 'y', newType: 'nonsense' } }] }),
  ).toEqual(['nonsense is not an ONNX data type.']);
  expect(await messages({ undeclare: [{ graph: '', list: 'inputs', name: 'none' }] })).toEqual([
    '"none" is not among the inputs of graph "".',
  ]);
  expect(await messages({ removeInitializers: [{ graph: '', name: 'none' }] })).toEqual([
    'There is no initializer "none".',
  ]);
  expect(await messages({ remove: ['3'], names: [{ node: '3', name: 'x' }] })).toEqual([
    expect.stringMatching(/^Two edits change the same part/),
  ]);
});
