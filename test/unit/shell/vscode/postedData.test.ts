import { inflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { ViewData } from '../../../../src/kernel/picture/graph/viewData.ts';
import { postedData } from '../../../../src/kernel/vscode/workspace/postedData.ts';

const withNodes = (count: number): ViewData => ({
  title: 'm.onnx',
  graph: {
    name: 'm',
    nodes: Array.from({ length: count }, (_, i) => ({
      id: String(i),
      name: `/äöü/${i}`,
      op: 'Relu',
      domain: '',
      inputs: [`t${i}`],
      outputs: [`t${i + 1}`],
      attributes: [],
    })),
    inputs: [],
    outputs: [],
    tensors: [],
  },
  report: null,
  build: null,
  hints: [],
});

it('posts small data as they are, and none as none', () => {
  const data = withNodes(3);
  expect(postedData(data)).toBe(data);
  expect(postedData(null)).toBeNull();
});

it('posts large data as compressed JSON, in bytes that the editor takes for bytes', () => {
  const data = withNodes(5000);
  const posted = postedData(data) as Uint8Array;
  // The editor looks at the constructor: a Buffer would go as an object with a number for each byte.
  expect(posted.constructor).toBe(Uint8Array);
  expect(JSON.parse(inflateRawSync(posted).toString())).toEqual(data);
});

it('packs the same data once', () => {
  const data = withNodes(5000);
  expect(postedData(data)).toBe(postedData(data));
});
