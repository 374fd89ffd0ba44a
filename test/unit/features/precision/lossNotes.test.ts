import { expect, test } from 'vitest';
import {
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
  segmentBytes,
} from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { lossNotes } from '../../../../src/features/precision/planRewrite.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';

const tensor = (name: string, data: OnnxTensor['data']): OnnxTensor => ({ name, type: 'float', shape: [2], data });
const inline = (offset: number) => ({ inline: { offset, length: 8 } });

function model(): OnnxModel {
  const attributes = [{ name: 'value', kind: 'tensor' as const, value: tensor('', inline(8)) }];
  const empty = { domain: '', inputs: [], metadata: [] };
  const constant: OnnxNode = {
    ...empty,
    id: '0/body/0',
    name: '',
    op: 'Constant',
    outputs: ['c'],
    attributes,
    subgraphs: [],
  };
  const graph = { name: '', inputs: [], outputs: [], values: [] };
  const body = { ...graph, path: '0/body', nodes: [constant], initializers: [] };
  const subgraphs = [{ attribute: 'body', graph: body }];
  const loop: OnnxNode = { ...empty, id: '0', name: 'loop', op: 'Loop', outputs: [], attributes: [], subgraphs };
  const initializers = [
    tensor('first', inline(0)),
    ...[0, 8, 16, 24].map((offset) => tensor(`out${offset}`, { external: { location: 'w', offset: String(offset) } })),
  ];
  return {
    irVersion: 8,
    producer: '',
    producerVersion: '',
    domain: '',
    opsets: [],
    metadata: [],
    graph: { ...graph, path: '', nodes: [loop], initializers },
    functions: [],
    nodes: [loop, constant],
  };
}

test('names the tensors whose weights were lost, wherever they are', async () => {
  const values = Float32Array.of(1e6, 1, 1e-9, 1e9, 70_000, 1, 1, 1);
  const source = bytesOf(new Uint8Array(values.buffer));
  const half = (file: string | undefined, offset: number) => ({
    convert: { ...(file !== undefined && { file }), offset, length: 8, from: 'float' as const, to: 'float16' as const },
  });
  const loss = { clamped: 0, vanished: 0 };
  const outside = [0, 8, 16, 24].map((offset) => half('w', offset));
  for await (const piece of segmentBytes([half(undefined, 0), half(undefined, 8), ...outside], () => source, loss))
    expect(piece.length).toBe(4);
  expect(lossNotes(model(), loss)).toEqual([
    {
      severity: 'warning',
      code: 'weights-clamped',
      message:
        '5 weights exceeded the range of the new type and became its largest finite value: in "first", "c", "out0" and 2 more.',
    },
    {
      severity: 'info',
      code: 'weights-vanished',
      message: '2 weights were too small for the new type and became zero: in "c", "out8".',
    },
  ]);
  expect(lossNotes(model(), { clamped: 0, vanished: 0 })).toEqual([]);
});
