import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readModel } from '../../../../src/core/formats/onnx/readModel.ts';
import { toGraphData } from '../../../../src/core/picture/graph/viewData.ts';
import { indexGraph, TensorIndex } from '../../../../src/core/picture/graph/graphIndex.ts';
import { typedGraph } from '../../../../src/core/picture/page/selectionText.ts';
import { bytesOf } from '../../../../src/core/base/problem.ts';
import { modelPath } from '../../../support/fixtures.ts';
import { int, len, model, node } from '../../../support/wire.ts';

const value = (field: number, name: string, type: number, ...shape: number[]) =>
  len(field, len(1, name), len(2, len(1, int(1, type), len(2, ...shape.map((size) => len(1, int(1, size)))))));
const [float, bool] = [1, 9];

async function typed(bytes: Uint8Array) {
  const { value: read } = await readModel(bytesOf(bytes));
  return typedGraph(toGraphData(read!), read!);
}

/** Both branches call their result `r`; they make different types of it. */
const branches = () => {
  const branch = (attribute: string, op: string) =>
    len(5, len(1, attribute), len(6, node(op, ['x'], ['r']), len(12, len(1, 'r'))), int(20, 5));
  return model(
    node('If', ['c'], ['y'], branch('then_branch', 'Relu'), branch('else_branch', 'IsNaN')),
    value(11, 'x', float, 2, 3),
    value(11, 'c', bool),
    len(12, len(1, 'y')),
  );
};

describe('typedGraph', () => {
  it('knows types and shapes that the file does not declare', async () => {
    const graph = await typed(readFileSync(modelPath('resnet18')));
    const index = new TensorIndex(indexGraph(graph), null);
    const unknown = graph.nodes.flatMap(({ outputs }, producer) =>
      outputs.filter((name) => name !== '' && index.facts({ producer, name }).shape === null),
    );
    expect(unknown).toEqual([]);
    const first = graph.nodes.findIndex(({ op }) => op === 'Conv');
    expect(index.facts({ producer: first, name: graph.nodes[first]!.outputs[0]! })).toMatchObject({
      type: 'float',
      shape: [1, 64, 112, 112],
    });
  });

  it('tells tensors of the same name in different subgraphs apart', async () => {
    const graph = await typed(branches());
    const index = new TensorIndex(indexGraph(graph), null);
    const types = graph.nodes.flatMap(({ op }, producer) =>
      op === 'Relu' || op === 'IsNaN' ? [[op, index.facts({ producer, name: 'r' })]] : [],
    );
    expect(types).toEqual([
      ['Relu', expect.objectContaining({ type: 'float', shape: [2, 3] })],
      ['IsNaN', expect.objectContaining({ type: 'bool', shape: [2, 3] })],
    ]);
  });
});
