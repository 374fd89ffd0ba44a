import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onnx } from 'onnx-proto';
import { expect, test } from 'vitest';
import { extractSubgraph } from '../../../../src/features/surgery/node/extractSubgraph.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { subgraphOfNodes } from '../../../../src/features/surgery/extractModel.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { temporaryFolder } from '../../../support/rtx.ts';

const folder = temporaryFolder();

const value = (name: string, elemType: number, dims: string[] | null) => ({
  name,
  type: { tensorType: { elemType, ...(dims && { shape: { dim: dims.map((dimParam) => ({ dimParam })) } }) } },
});

function write(name: string, graph: onnx.IGraphProto): string {
  const path = join(folder, name);
  const model = { irVersion: 9, opsetImport: [{ domain: '', version: 17 }], graph: { name: 'g', ...graph } };
  writeFileSync(path, onnx.ModelProto.encode(model as onnx.IModelProto).finish());
  return path;
}

test('a part begins and ends at tensors whose number of dimensions is known, or that the model itself leaves open', async () => {
  const path = write('open.onnx', {
    node: [
      { name: 'reshape', opType: 'Reshape', input: ['x', 'dims'], output: ['y'] },
      { name: 'relu', opType: 'Relu', input: ['y'], output: ['z'] },
    ],
    input: [value('x', 1, ['n']), value('dims', 7, ['rank'])],
    output: [value('z', 1, null)],
  });
  const extract = (ids: string[], name: string, more: { anyRank?: boolean } = {}) =>
    extractSubgraph({ path, pick: (graph) => subgraphOfNodes(graph, ids), out: join(folder, name), ...more });
  await expect(extract(['1'], 'behind.onnx')).rejects.toThrow(
    'open.onnx: The number of dimensions of tensor "y" is unknown. Cut elsewhere, or pass a verbose build log of the model',
  );
  await expect(extract(['0'], 'before.onnx')).rejects.toThrow('tensor "y" is unknown');
  expect(existsSync(join(folder, 'before.onnx'))).toBe(false);
  expect((await extract(['0', '1'], 'all.onnx')).outputs).toEqual([{ name: 'z', type: 'float', shape: null }]);
  await extract(['1'], 'any.onnx', { anyRank: true });
  const { value: any } = await readModel(bytesOf(readFileSync(join(folder, 'any.onnx'))));
  expect(any!.graph.inputs).toMatchObject([{ name: 'y', type: 'float', shape: null }]);
});

test('a part does not begin or end at a sequence', async () => {
  const path = write('sequence.onnx', {
    node: [
      { name: 'split', opType: 'SplitToSequence', input: ['x'], output: ['all'] },
      { name: 'at', opType: 'SequenceAt', input: ['all', 'i'], output: ['y'] },
    ],
    input: [value('x', 1, ['n', 'm']), value('i', 7, [])],
    output: [value('y', 1, ['k', 'm'])],
  });
  const extract = (...ids: string[]) =>
    extractSubgraph({ path, pick: (graph) => subgraphOfNodes(graph, ids), out: join(folder, 'taken.onnx') });
  for (const id of ['0', '1'])
    // oxlint-disable-next-line no-await-in-loop -- two small models
    await expect(extract(id)).rejects.toThrow(
      'sequence.onnx: "all" has the type seq(float), and a part can begin and end only at tensors. Cut elsewhere',
    );
  expect((await extract('0', '1')).nodes).toEqual(['0', '1']);
});

test('a part that cannot be written leaves no folder behind, and one that can keeps its folder', async () => {
  const external = [
    { key: 'location', value: 'missing.bin' },
    { key: 'length', value: '4' },
  ];
  const path = write('external.onnx', {
    node: [{ name: 'add', opType: 'Add', input: ['x', 'w'], output: ['y'] }],
    input: [value('x', 1, ['n'])],
    output: [value('y', 1, ['n'])],
    initializer: [{ name: 'w', dataType: 1, dims: [1], dataLocation: 1, externalData: external }],
  });
  const extract = () =>
    extractSubgraph({ path, pick: (graph) => subgraphOfNodes(graph, ['0']), out: join(folder, 'new/inner/part.onnx') });
  await expect(extract()).rejects.toThrow('missing.bin');
  expect(existsSync(join(folder, 'new'))).toBe(false);
  writeFileSync(join(folder, 'missing.bin'), Buffer.alloc(4));
  await extract();
  expect(existsSync(join(folder, 'new/inner/part.onnx'))).toBe(true);
});

test('what the graph says of itself and its tensors stays, and so does the version of the format', async () => {
  const key = (one: string, text: string) => ({ key: one, value: text });
  const path = write('notes.onnx', {
    docString: 'a net',
    node: [
      { name: 'relu', opType: 'Relu', input: ['x'], output: ['y'] },
      { name: 'exp', opType: 'Exp', input: ['y'], output: ['z'] },
    ],
    input: [value('x', 1, ['n'])],
    output: [value('z', 1, ['n'])],
    valueInfo: [value('y', 1, ['n'])],
    initializer: [{ name: 'scale', dims: [1], dataType: 1, floatData: [0.5] }],
    quantizationAnnotation: [
      { tensorName: 'y', quantParameterTensorNames: [key('SCALE_TENSOR', 'scale')] },
      { tensorName: 'z', quantParameterTensorNames: [key('SCALE_TENSOR', 'scale')] },
    ],
  });
  const out = join(folder, 'noted.onnx');
  await extractSubgraph({ path, pick: (graph) => subgraphOfNodes(graph, ['0']), out });
  const { graph, irVersion } = onnx.ModelProto.decode(readFileSync(out));
  expect(Number(irVersion)).toBe(9);
  expect(graph!.docString).toBe('a net');
  expect(graph!.quantizationAnnotation!.map(({ tensorName }) => tensorName)).toEqual(['y']);
  expect(graph!.initializer!.map(({ name }) => name)).toEqual(['scale']);
});
