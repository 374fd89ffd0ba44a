import { describe, expect, test } from 'vitest';
import type { OnnxModel, OnnxNode } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { modelFacts } from '../../../../src/kernel/rules/buildFacts.ts';
import { NodeIndex, resolveOverrides } from '../../../../src/kernel/rules/resolveOverrides.ts';
import { planPrecision } from '../../../../src/kernel/rules/precisionPlan.ts';
import { readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';
import { type RewritePlan } from '../../../../src/features/precision/internal/rewritePlan.ts';
import { planRewrite, type RewriteOptions } from '../../../../src/features/precision/planRewrite.ts';

interface Parts {
  /** `name = Op(input, …)`, `name = domain::Op(input, …)`: a node of this name, with one output of this name. */
  nodes: string[];
  inputs?: Record<string, string>;
  initializers?: Record<string, string>;
  values?: Record<string, string>;
  outputs: Record<string, string>;
  opset?: number;
}

function modelOf({ nodes: lines, inputs = { x: 'float' }, outputs, values = {}, ...parts }: Parts): OnnxModel {
  const nodes = lines.map((line, i): OnnxNode => {
    const [, name = '', domain = '', op = '', given = ''] = /^(\w+) = (?:(.+)::)?(\w+)\((.*)\)$/.exec(line)!;
    const read = given === '' ? [] : given.split(', ');
    const empty = { attributes: [], subgraphs: [], metadata: [] };
    return { id: String(i), name, op, domain, inputs: read, outputs: [name], ...empty };
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

function rewrite(model: OnnxModel, rules: string, options: RewriteOptions = {}): RewritePlan {
  const index = new NodeIndex(modelFacts(model, 'model.onnx'));
  const file = readOverrides(rules);
  expect(file.problems).toEqual([]);
  return planRewrite(model, planPrecision(file, index, resolveOverrides(file, index, null)), options);
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

test('a type that the opset does not allow: a rule that asks for it is told louder than the base', () => {
  const model = modelOf({ nodes: ['y = Conv(x, w)'], initializers: { w: 'float' }, outputs: { y: 'float' } });
  const problems = (rules: string) =>
    rewrite(model, rules).problems.map(({ severity, message }) => [severity, message]);
  const why = 'in opset 17 ONNX does not allow BF16 for Conv. A newer opset allows it for most of them.';
  expect(problems('base bf16')).toEqual([['info', `1 node in FP32: ${why}`]]);
  expect(problems('op:Conv bf16')).toEqual([['warning', `1 node not in BF16 although a rule requests it: ${why}`]]);
});

test('an output type that needs Q/DQ nodes is refused as such a compute type is', () => {
  const model = modelOf({ nodes: ['y = Relu(x)'], outputs: { y: 'float' } });
  for (const rules of ['y int8', 'y fp16 -> int8', 'y fp32 -> fp8'])
    expect(rewrite(model, rules).problems).toMatchObject([{ severity: 'error', code: 'type-needs-qdq', node: '0' }]);
});

test('a new tensor takes no name for which the file declares a type', () => {
  const values = { x_fp16: 'float', y_fp16: 'float' };
  const plan = rewrite(modelOf({ nodes: ['y = Relu(x)'], values, outputs: { y: 'float' } }), 'base fp16');
  expect(casts(plan)).toEqual(['x_fp16_1 = x as float16', 'y = y_fp16_1 as float']);
});

test('a node without a name keeps the one that TensorRT gives it', () => {
  const model = modelOf({ nodes: ['a = Relu(x)', 'b = Relu(a)', 'y = Relu(b)'], outputs: { y: 'float' } });
  for (const node of model.nodes) node.name = '';
  const plan = rewrite(model, 'base fp16\n"node_of_a" fp16 -> fp32');
  expect(plan.outputs.map(({ node, tensor }) => [node, tensor])).toEqual([
    ['0', 'a_fp16'],
    ['2', 'y_fp16'],
  ]);
  expect(plan.names).toEqual([
    { node: '0', name: 'node_of_a' },
    { node: '2', name: 'node_of_y' },
  ]);
  model.nodes[2]!.name = 'last';
  expect(rewrite(model, 'base fp16').names).toEqual([]);
});

test('islands grow in time from thousands of nodes that read one tensor', () => {
  const kept = Array.from({ length: 4000 }, (_, i) => `t${i} = Tanh(hub)`);
  const nodes = ['hub = Mul(x, x)', 'other = Sigmoid(hub)', 'more = Exp(x)', ...kept, 'y = Sum(other, more, t0)'];
  const model = modelOf({ nodes, outputs: { y: 'float' } });
  const index = new NodeIndex(modelFacts(model, 'model.onnx'));
  const file = readOverrides('base fp16\nop:Tanh fp32');
  const plan = planPrecision(file, index, resolveOverrides(file, index, null));
  // Once for each pair of them would be 16 million times 4,000 readers.
  expect(planRewrite(model, plan, { grow: true }).counts).toMatchObject({ castsSaved: 0, byType: { float: 4000 } });
});

describe('quantized models', () => {
  const initializers = { s: 'float', z: 'int8', wq: 'int8', bias: 'float' };
  const residual = [
    'xq = QuantizeLinear(x, s, z)',
    'xd = DequantizeLinear(xq, s, z)',
    'wd = DequantizeLinear(wq, s, z)',
    'conv = Conv(xd, wd, bias)',
    'relu = Relu(conv)',
    'rq = QuantizeLinear(relu, s, z)',
    'rd = DequantizeLinear(rq, s, z)',
    'conv2 = Conv(rd, wd, bias)',
    'add = Add(conv2, relu)',
    'sigmoid = Sigmoid(add)',
    'swish = Mul(add, sigmoid)',
    'sq = QuantizeLinear(swish, s, z)',
    'sd = DequantizeLinear(sq, s, z)',
    'pool = GlobalAveragePool(sd)',
    'y = Exp(pool)',
  ];

  test('activations, sums and products on the way to the next QuantizeLinear stay where they are', () => {
    const plan = rewrite(modelOf({ nodes: residual, initializers, outputs: { y: 'float' } }), 'base fp16');
    expect(plan.nodes.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'conv float',
      'relu float',
      'conv2 float',
      'add float',
      'sigmoid float',
      'swish float',
      'pool float',
      'y float16',
    ]);
    expect(casts(plan)).toEqual(['pool_fp16 = pool as float16', 'y = y_fp16 as float']);
    expect(plan.problems.map(({ code, message }) => [code, message])).toEqual([
      [
        'base-skips-quantized',
        '7 nodes (Add, Conv, GlobalAveragePool, Mul, Relu, Sigmoid) kept the type of the model because they are part of quantized kernels.',
      ],
    ]);
  });

  test('what no product feeds is free, as is what is read elsewhere', () => {
    const nodes = [...residual, 'tanh = Tanh(x)', 'tq = QuantizeLinear(tanh, s, z)', 'other = Neg(swish)'];
    const outputs = { y: 'float', tq: 'int8', other: 'float' };
    const plan = rewrite(modelOf({ nodes, initializers, outputs }), 'base fp16');
    const half = plan.nodes.filter(({ type }) => type === 'float16').map(({ name }) => name);
    expect(half).toEqual(['y', 'tanh', 'other']);
  });

  test('a rule for such a node is followed, and its price said', () => {
    const model = modelOf({ nodes: residual, initializers, outputs: { y: 'float' } });
    const plan = rewrite(model, 'relu fp16');
    expect(plan.nodes.find(({ name }) => name === 'relu')?.type).toBe('float16');
    expect(plan.problems.map(({ code }) => code)).toEqual(['quantized-node']);
  });
});

test('what only moves FP8 has no type to choose, and double precision is said to stay', () => {
  const initializers = { s: 'float', z: 'float8e4m3fn', one: 'double' };
  const nodes = ['q = QuantizeLinear(x, s, z)', 't = Transpose(q)', 'y = DequantizeLinear(t, s, z)', 'd = Add(w, one)'];
  const inputs = { x: 'float', w: 'double' };
  const model = modelOf({ nodes, inputs, initializers, outputs: { y: 'float', d: 'double' }, opset: 19 });
  expect(rewrite(model, 'base fp16')).toMatchObject({ nodes: [], problems: [{ code: 'kept-double' }] });
  expect(rewrite(model, 't fp32')).toMatchObject({ nodes: [], problems: [{ code: 'kept-operator' }] });
});

describe('what is no tensor, or not known to be one', () => {
  test('a sequence and an optional are not cast; what comes out of them has a type again', () => {
    const nodes = [
      'a = Tanh(x)',
      's = SequenceConstruct(a, x)',
      'same = Identity(s)',
      'both = ConcatFromSequence(same)',
      'maybe = Optional(both)',
      'still = Identity(maybe)',
      'got = OptionalGetElement(still)',
      'y = Sigmoid(got)',
    ];
    const plan = rewrite(modelOf({ nodes, outputs: { y: 'float' } }), 'base fp16');
    expect(casts(plan)).toEqual([
      'x_fp16 = x as float16',
      'a_fp32 = a as float',
      'got_fp16 = got as float16',
      'y = y_fp16 as float',
    ]);
    expect(plan.problems.map(({ code }) => code)).toEqual(['base-skips-operator']);
  });

  test("a plugin of ONNX's own domain keeps its inputs, and what it makes is not guessed", () => {
    const nodes = ['a = Tanh(x)', 'count = EfficientNMS_TRT(a)', 'y = Mul(count, count)'];
    const plan = rewrite(modelOf({ nodes, outputs: { y: 'int32' } }), 'base fp16');
    expect(casts(plan)).toEqual(['x_fp16 = x as float16', 'a_fp32 = a as float']);
    expect(plan.problems.map(({ code, message }) => `${code} ${message}`)).toEqual([
      expect.stringMatching(/^base-skips-operator 1 node \(EfficientNMS_TRT\)/),
      expect.stringMatching(/^unknown-types 1 node \(Mul\).*declare the outputs of plugins/),
    ]);
  });

  test('a product of quantized numbers in another domain gives no type that it does not say', () => {
    const nodes = [
      'q = QuantizeLinear(x, s, z)',
      'm = com.microsoft::MatMulIntegerToFloat(q, wq, s, s)',
      't = Tanh(x)',
      'y = Add(m, t)',
    ];
    const initializers = { s: 'float', z: 'uint8', wq: 'int8' };
    const unknown = rewrite(modelOf({ nodes, initializers, outputs: { y: 'float' } }), 'base fp16');
    expect(casts(unknown)).toEqual(['x_fp16 = x as float16', 't_fp32 = t as float']);
    const told = modelOf({ nodes, initializers, values: { m: 'float' }, outputs: { y: 'float' } });
    expect(casts(rewrite(told, 'base fp16'))).toContain('m_fp16 = m as float16');
  });
});

test('a node that no rule is for keeps its inputs, where these have several types', () => {
  const nodes = ['a = Pow(h, two)', 'b = RMSNormalization(a, scale)', 'c = Exp(b)', 'y = Tanh(c)'];
  const initializers = { two: 'float', scale: 'float' };
  const model = modelOf({ nodes, inputs: { h: 'float16' }, initializers, outputs: { y: 'float' }, opset: 23 });
  const plan = rewrite(model, 'op:Exp fp16');
  expect(plan.inputs.map(({ node, tensor }) => [node, tensor])).toEqual([
    ['2', 'b_fp16'],
    ['3', 'c_fp32'],
  ]);
  expect(plan.initializers).toEqual([]);
  expect(rewrite(model, 'base fp16').initializers.map(({ name }) => name)).toEqual(['two', 'scale']);
});

test('how to train a model is said not to fit its new types', () => {
  const model = modelOf({ nodes: ['y = MatMul(x, w)'], initializers: { w: 'float' }, outputs: { y: 'float' } });
  model.trains = true;
  expect(rewrite(model, 'base fp16').problems).toMatchObject([{ severity: 'warning', code: 'training-left' }]);
  expect(rewrite(model, '** fp32').problems).toEqual([]);
});

test('a tensor that a branch gives out as it is keeps its type, also where outputs follow their makers', () => {
  const model = modelOf({
    nodes: ['t = Tanh(x)', 'chosen = If(c)', 'y = Exp(t)'],
    inputs: { x: 'float', c: 'bool' },
    outputs: { chosen: 'float', y: 'float' },
  });
  const branch = (attribute: string) => {
    const outputs = [{ name: 't', type: 'float', shape: null }];
    const graph = { name: '', path: `1/${attribute}`, nodes: [], inputs: [], outputs, values: [], initializers: [] };
    return { attribute, graph };
  };
  model.nodes[1]!.subgraphs.push(branch('then_branch'), branch('else_branch'));
  const plan = rewrite(model, 'base fp16', { io: 'follow' });
  expect(casts(plan)).toEqual(['t = t_fp16 as float']);
  expect(plan.values).toEqual([
    { graph: '', name: 'x', to: 'float16' },
    { graph: '', name: 'y', to: 'float16' },
  ]);
});

test('a tensor whose name is no UTF-8 is not read by another name', () => {
  const model = modelOf({ nodes: ['y = Relu(x\ufffd)'], inputs: { 'x\ufffd': 'float' }, outputs: { y: 'float' } });
  expect(rewrite(model, 'base fp16').problems).toMatchObject([{ severity: 'error', code: 'name-no-utf8' }]);
  expect(rewrite(model, 'y fp32').problems).toEqual([]);
});

test('a constant of one number changes its type with its reader: a Cast could make it infinite', () => {
  const model = modelOf({ nodes: ['low = Constant()', 'y = Max(x, low)'], outputs: { y: 'float' } });
  model.nodes[0]!.attributes.push({ name: 'value_float', kind: 'float', value: -3e38 });
  const plan = rewrite(model, 'base fp16');
  expect(plan.constants).toEqual([{ node: '0', from: 'float', to: 'float16' }]);
  expect(casts(plan)).toEqual(['x_fp16 = x as float16', 'y = y_fp16 as float']);
});

test('what fills a shape changes its type with its reader, where the opset allows it', () => {
  const filled = (opset: number) => {
    const nodes = ['size = Shape(x)', 'low = ConstantOfShape(size)', 'y = Max(x, low)'];
    const model = modelOf({ nodes, outputs: { y: 'float' }, opset });
    const value = { name: '', type: 'float', shape: [1], data: null };
    model.nodes[1]!.attributes.push({ name: 'value', kind: 'tensor', value });
    return model;
  };
  expect(rewrite(filled(17), 'base fp16').constants).toEqual([{ node: '1', from: 'float', to: 'float16' }]);
  expect(rewrite(filled(17), 'base bf16').constants).toEqual([]);
  expect(casts(rewrite(filled(17), 'base bf16'))).toContain('low_bf16 = low as bfloat16');
  expect(rewrite(filled(20), 'base bf16').constants).toEqual([{ node: '1', from: 'float', to: 'bfloat16' }]);
});
