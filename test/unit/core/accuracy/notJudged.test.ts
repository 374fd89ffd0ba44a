import { expect, test } from 'vitest';
import { type Measured, measureErrors, notJudgedTexts } from '../../../../src/core/accuracy/accuracyReport.ts';
import type { ReducedPrecisionModel } from '../../../../src/core/accuracy/internal/reducedPrecisionModel.ts';
import { createModelGraph } from '../../../../src/core/network/modelGraph.ts';
import type { OnnxModel } from '../../../../src/core/formats/onnx/onnxModel.ts';

const measured: Measured = { max: 1, shadow: 0, shadowSum: 0, run: 0, runSum: 0, vanished: 0 };

test('nodes that were not measured are counted with the reason', () => {
  const ids = ['0', '3/then_branch/0', '4/body/0', '5'];
  const nodes = ids.map((id) => ({ id, name: '', op: 'Add', inputs: [], outputs: [], subgraphs: [], attributes: [] }));
  const model = { nodes, graph: { path: '', nodes, inputs: [], outputs: [], values: [], initializers: [] } };
  const low = nodes.map((node, index) => ({
    index,
    node,
    type: 'float16',
    graph: '',
    outputs: index === 3 ? [] : [0],
  }));
  const samples = [
    [
      { node: 0, outputs: [measured] },
      { node: 1, outputs: [{ ...measured, max: -1 }] },
    ],
  ];
  const graph = createModelGraph(model as unknown as OnnxModel);
  const judged = measureErrors({ low } as unknown as ReducedPrecisionModel, graph, samples, new Map(), 0.01);
  expect(judged.map(({ notJudged }) => notJudged)).toEqual([
    undefined,
    'did not run with these inputs',
    'inside a body that cannot be measured, such as a loop over sequences',
    'results are not floating point',
  ]);
  expect(judged.map(({ max, localError }) => [max, localError])).toEqual([[1, 0], ...Array(3).fill([null, null])]);
  expect(notJudgedTexts(judged)).toEqual([
    '1 node not judged: did not run with these inputs',
    '1 node not judged: inside a body that cannot be measured, such as a loop over sequences',
    '1 node not judged: results are not floating point',
  ]);
});
