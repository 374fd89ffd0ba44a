import { onnx } from 'onnx-proto';
import { expect, test } from 'vitest';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { readElements } from '../../../../src/kernel/read/onnx/readElements.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { editedSource } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { planEdit } from '../../../../src/kernel/read/onnx/editModel.ts';
import { shiftedWeights } from '../../../../src/features/repair/repairResult.ts';

const open = () => Promise.reject(new Error('no external data'));
const numbers = { int8: 3, uint8: 2 } as const;

type Tensor = [type: keyof typeof numbers, values: number[], shape?: number[]];

/** A model of one product; its constants by name. */
function encoded(
  op: string,
  inputs: string[],
  constants: Record<string, Tensor>,
  { domain = '', more = [] }: { domain?: string; more?: onnx.INodeProto[] } = {},
) {
  const initializer = Object.entries(constants).map(([name, [type, values, shape = []]]) => ({
    name,
    dims: shape,
    dataType: numbers[type],
    rawData: Uint8Array.from(values, (value) => value & 255),
  }));
  const node = [{ opType: op, domain, name: 'product', input: inputs, output: ['y'] }, ...more];
  const graph = { name: 'g', node, initializer, input: [], output: [] };
  const model = { irVersion: 9, opsetImport: [{ domain: '', version: 17 }], graph };
  return onnx.ModelProto.encode(model as unknown as onnx.IModelProto).finish();
}

/** The product's inputs after the shift, as type and values; null: nothing is shifted. */
async function shifted(bytes: Uint8Array) {
  const source = bytesOf(bytes);
  const { value: model } = await readModel(source, { spans: true });
  const edits = await shiftedWeights(model!, source, open);
  if (!edits) return null;
  const { value, problems } = await planEdit(model!, source, edits);
  expect(problems).toEqual([]);
  const edited = editedSource(value!.segments, source);
  const { value: after } = await readModel(edited, { spans: true });
  const constants = new Map(after!.graph.initializers.map((tensor) => [tensor.name, tensor]));
  const [node] = after!.nodes;
  const inputs = await Promise.all(
    node!.inputs.map(async (name) => {
      const tensor = constants.get(name);
      return tensor ? [tensor.type, [...(await readElements(tensor, edited, open))!]] : name;
    }),
  );
  return { op: node!.op, domain: node!.domain, inputs, names: [...constants.keys()] };
}

test('signed weights behind unsigned activations become unsigned, with a zero point of 128', async () => {
  const model = encoded('MatMulInteger', ['a', 'w', 'z'], { w: ['int8', [-128, 0, 127, -1], [2, 2]] });
  const after = await shifted(model);
  expect(after!.inputs).toEqual(['a', ['uint8', [0, 128, 255, 127]], 'z', ['uint8', [128]]]);
  expect(after!.names).not.toContain('w');
});

test('a zero point moves with its weights, one for each channel as well', async () => {
  const constants: Record<string, Tensor> = { w: ['int8', [-128, 5], [1, 2]], zero: ['int8', [0, -3], [2]] };
  const after = await shifted(encoded('QLinearConv', ['a', 's', 'z', 'w', 'ws', 'zero', 'ys', 'yz', 'b'], constants));
  expect(after!.inputs.slice(3, 6)).toEqual([['uint8', [0, 133]], 'ws', ['uint8', [128, 125]]]);
  expect(after!.inputs.at(-1)).toBe('b');
});

test('ConvInteger swaps its operands, so its unsigned weights become signed', async () => {
  const model = encoded('ConvInteger', ['a', 'w', 'z', 'wz'], {
    w: ['uint8', [0, 128, 255], [1, 1, 3]],
    wz: ['uint8', [120]],
  });
  const after = await shifted(model);
  expect(after!.inputs).toEqual(['a', ['int8', [-128, 0, 127]], 'z', ['int8', [-8]]]);
});

test('operators of com.microsoft keep their domain', async () => {
  const inputs = ['a', 's', 'z', 'w', 'ws', 'wz', 'b', 'ys', 'yz'];
  const constants: Record<string, Tensor> = { w: ['int8', [-1, 1], [2, 1]], wz: ['int8', [0]] };
  const after = await shifted(encoded('QGemm', inputs, constants, { domain: 'com.microsoft' }));
  expect(after).toMatchObject({ op: 'QGemm', domain: 'com.microsoft' });
  expect(after!.inputs.slice(3, 6)).toEqual([['uint8', [127, 129]], 'ws', ['uint8', [128]]]);
});

test('weights that something else reads stay', async () => {
  const more = [{ opType: 'Identity', input: ['w'], output: ['same'] }] as onnx.INodeProto[];
  const after = await shifted(encoded('MatMulInteger', ['a', 'w'], { w: ['int8', [1], [1, 1]] }, { more }));
  expect(after!.names).toContain('w');
});

test('weights that need no shift, that are not constant, or whose zero point is not, are left', async () => {
  for (const model of [
    encoded('MatMulInteger', ['a', 'w'], { w: ['uint8', [1], [1, 1]] }),
    encoded('MatMulInteger', ['a', 'b'], {}),
    encoded('MatMulInteger', ['a', 'w', 'z', 'zero'], { w: ['int8', [1], [1, 1]] }),
    encoded('MatMulInteger', ['a', 'w'], { w: ['int8', [1], [1, 1]] }, { domain: 'my.ops' }),
  ])
    // oxlint-disable-next-line no-await-in-loop
    expect(await shifted(model)).toBeNull();
});
