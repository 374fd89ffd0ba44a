import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onnx } from 'onnx-proto';
import { expect, test } from 'vitest';
import { extractPiece } from '../../../src/builder/surgery/extractPiece.ts';
import { readModel } from '../../../src/core/onnx/readModel.ts';
import { pieceOfNodes } from '../../../src/core/surgery/pieceOf.ts';
import { bytesOf } from '../../../src/core/text/byteSource.ts';
import { temporaryFolder } from '../../support/rtx.ts';

const folder = temporaryFolder();

test('a part begins and ends at tensors whose number of dimensions is known, or that the model itself leaves open', async () => {
  const value = (name: string, elemType: number, dims: string[] | null) => ({
    name,
    type: { tensorType: { elemType, ...(dims && { shape: { dim: dims.map((dimParam) => ({ dimParam })) } }) } },
  });
  const path = join(folder, 'open.onnx');
  const model = onnx.ModelProto.encode({
    irVersion: 9,
    opsetImport: [{ version: 17 }],
    graph: {
      name: 'g',
      node: [
        { name: 'reshape', opType: 'Reshape', input: ['x', 'dims'], output: ['y'] },
        { name: 'relu', opType: 'Relu', input: ['y'], output: ['z'] },
      ],
      input: [value('x', 1, ['n']), value('dims', 7, ['rank'])],
      output: [value('z', 1, null)],
    },
  } as onnx.IModelProto).finish();
  writeFileSync(path, model);
  const extract = (ids: string[], name: string, more: { anyRank?: boolean } = {}) =>
    extractPiece({ path, pick: (graph) => pieceOfNodes(graph, ids), out: join(folder, name), ...more });
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
