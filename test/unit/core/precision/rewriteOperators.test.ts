import { describe, expect, test } from 'vitest';
import type { OnnxModel, OnnxNode } from '../../../../src/core/onnx/onnxModel.ts';
import { modelFacts } from '../../../../src/core/precision/modelFacts.ts';
import { NodeIndex } from '../../../../src/core/precision/nodeIndex.ts';
import { planPrecision } from '../../../../src/core/precision/precisionPlan.ts';
import { readOverrides } from '../../../../src/core/precision/readOverrides.ts';
import { resolveOverrides } from '../../../../src/core/precision/resolveOverrides.ts';
import { planRewrite, type RewritePlan } from '../../../../src/core/precision/rewritePlan.ts';

interface Parts {
  /** `name = Op(input, …)`: a node of this name, with one output of this name. */
  nodes: string[];
  inputs?: Record<string, string>;
  initializers?: Record<string, string>;
  values?: Record<string, string>;
  outputs: Record<string, string>;
  opset?: number;
}

function modelOf({ nodes: lines, inputs = { x: 'float' }, outputs, values = {}, ...parts }: Parts): OnnxModel {
  const nodes = lines.map((line, i): OnnxNode => {
    const [, name = '', op = '', given = ''] = /^(\w+) = (\w+)\((.*)\)$/.exec(line)!;
    const read = given === '' ? [] : given.split(', ');
    const empty = { domain: '', attributes: [], subgraphs: [], metadata: [] };
    return { id: String(i), name, op, inputs: read, outputs: [name], ...empty };
  });
  const valuesOf = (types: Record<string, string>) =>
    Object.entries(types).map(([name, type]) => ({ name, type, shape: null }));
  const initializers = Object.entries(parts.initializers ?? {}).map(([name, type]) => ({
    name,
    type,
    shape: [],
    data: null,
  }));
  return {
    irVersion: 8,
    producer: '',
    producerVersion: '',
    domain: '',
    opsets: [{ domain: '', version: parts.opset ?? 17 }],
    metadata: [],
    graph: {
      name: 'g',
      path: '',
      nodes,
      inputs: valuesOf(inputs),
      outputs: valuesOf(outputs),
      values: valuesOf(values),
      initializers,
    },
    functions: [],
    nodes: [...nodes],
  };
}

function rewrite(model: OnnxModel, rules: string): RewritePlan {
  const index = new NodeIndex(modelFacts(model, 'model.onnx'));
  const file = readOverrides(rules);
  expect(file.problems).toEqual([]);
  return planRewrite(model, planPrecision(file, index, resolveOverrides(file, index, null)));
}

const casts = ({ casts: made }: RewritePlan) => made.map(({ input, output, to }) => `${output} = ${input} as ${to}`);

describe('operators that take FP32 only', () => {
  test.each([
    ['IsInf', 17, ['c_fp32 = c as float']],
    ['IsInf', 20, []],
    ['IsNaN', 17, []],
  ])('%s of opset %i reads what it can', (op, opset, added) => {
    const plan = rewrite(
      modelOf({ nodes: ['c = Relu(x)', `y = ${op}(c)`], outputs: { y: 'bool' }, opset }),
      'base fp16',
    );
    expect(casts(plan)).toEqual(['x_fp16 = x as float16', ...added]);
  });

  test('NonMaxSuppression never reads FP16', () => {
    const nodes = ['b = Relu(boxes)', 's = Sigmoid(scores)', 'y = NonMaxSuppression(b, s, k, iou)'];
    const inputs = { boxes: 'float', scores: 'float' };
    const plan = rewrite(
      modelOf({ nodes, inputs, initializers: { k: 'int64', iou: 'float' }, outputs: { y: 'int64' } }),
      'base fp16',
    );
    expect(plan.inputs.filter(({ node }) => node === '2').map(({ tensor }) => tensor)).toEqual(['b_fp32', 's_fp32']);
    expect(plan.initializers).toEqual([]);
  });
});

test('a new tensor takes no name for which the file declares a type', () => {
  const values = { x_fp16: 'float', y_fp16: 'float' };
  const plan = rewrite(modelOf({ nodes: ['y = Relu(x)'], values, outputs: { y: 'float' } }), 'base fp16');
  expect(casts(plan)).toEqual(['x_fp16_1 = x as float16', 'y = y_fp16_1 as float']);
});
