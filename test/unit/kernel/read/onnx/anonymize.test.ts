import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createModelGraph } from '../../../../../src/kernel/network/modelGraph.ts';
import { planAnonymous } from '../../../../../src/kernel/read/onnx/editModel.ts';
import { type OnnxModel, segmentBytes } from '../../../../../src/kernel/read/onnx/onnxModel.ts';
import { readModel } from '../../../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../../../../src/kernel/base/problem.ts';
import { filesBelow, fixturePath } from '../../../../support/fixtures.ts';

async function anonymous(bytes: Uint8Array): Promise<{ bytes: Buffer; tensors: Map<string, string> }> {
  const source = bytesOf(bytes);
  const { segments, size, tensors } = await planAnonymous(source);
  const pieces: Uint8Array[] = [];
  for await (const piece of segmentBytes(segments, () => source)) pieces.push(piece);
  const whole = Buffer.concat(pieces);
  expect(whole.length).toBe(size);
  return { bytes: whole, tensors };
}

const models = filesBelow('models').filter((path) => path.endsWith('.onnx') && !path.includes('11k'));

/** The network without names: what each node is, and the tensors that it reads and writes by their place. */
function structure(model: OnnxModel) {
  const { nodes, inputs, outputs, tensors, graphOutputs } = createModelGraph(model);
  const what = nodes.map(({ op, domain, attributes }) => [
    op,
    domain,
    attributes.map(({ name, kind }) => [name, kind]),
  ]);
  const shapes = model.graph.initializers.map(({ type, shape, ints }) => [type, shape, ints]);
  return { what, inputs, outputs, kinds: tensors.map(({ kind }) => kind), graphOutputs, shapes };
}

test.each(models)('%s keeps its structure and loses its names', async (path) => {
  const original = readFileSync(fixturePath(path));
  const { bytes, tensors } = await anonymous(original);
  const [before, after] = [await readModel(bytesOf(original)), await readModel(bytesOf(bytes))];
  expect(after.problems).toEqual(before.problems);
  expect(structure(after.value!)).toEqual(structure(before.value!));
  for (const [index, { name }] of after.value!.nodes.entries())
    expect(name).toMatch(before.value!.nodes[index]!.name === '' ? /^$/ : /^node\d+$/);
  for (const { name } of [
    ...after.value!.graph.inputs,
    ...after.value!.graph.outputs,
    ...after.value!.graph.initializers,
  ])
    expect(name).toMatch(/^tensor\d+$/);
  expect(tensors.get(before.value!.graph.inputs[0]!.name)).toBe(after.value!.graph.inputs[0]!.name);
  const text = bytes.toString('latin1');
  const names = [...tensors.keys(), ...before.value!.nodes.map(({ name }) => name)].filter((name) => name.length > 8);
  expect(names.filter((name) => text.includes(name))).toEqual([]);
});
