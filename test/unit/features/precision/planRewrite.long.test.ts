import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isFloatType,
  type OnnxGraph,
  type OnnxModel,
  type OnnxNode,
} from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { networkOf } from '../../../../src/kernel/network/network.ts';
import { graphPathOf } from '../../../../src/kernel/network/modelGraph.ts';
import { modelFacts } from '../../../../src/kernel/rules/buildFacts.ts';
import { NodeIndex, resolveOverrides } from '../../../../src/kernel/rules/resolveOverrides.ts';
import { followsType, planPrecision, readsAnyType } from '../../../../src/kernel/rules/precisionPlan.ts';
import { readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';
import { type RewritePlan } from '../../../../src/features/precision/internal/rewritePlan.ts';
import { planRewrite, type RewriteOptions } from '../../../../src/features/precision/planRewrite.ts';
import { modelOf } from '../../kernel/fusion/loadCapture.ts';
import { rewrittenModel } from './rewrittenModel.ts';
import { modelAround } from '../../kernel/fusion/buildModel.ts';

const small = [
  'fp16_overflow',
  'vit_tiny',
  'resnet18',
  'loop_if',
  'lstm_gru',
  'fusion_zoo',
  'two_inputs_multi_out',
  'unnamed',
  'fp16_overflow_mixed',
  'resnet18_fp16',
];

async function model(name: string): Promise<OnnxModel> {
  const found = await modelOf(name);
  if (!found) throw new Error(`The model ${name} is missing`);
  return found;
}

function rewrite(of: OnnxModel, rules: string, options: RewriteOptions = {}): RewritePlan {
  const index = new NodeIndex(modelFacts(of, 'model.onnx'));
  const file = readOverrides(rules);
  expect(file.problems).toEqual([]);
  return planRewrite(of, planPrecision(file, index, resolveOverrides(file, index, null)), options);
}

/** Everything that strong typing wants: inputs in order, types that agree at every node, declared types that are true, unique names. */
function expectSound(before: OnnxModel, plan: RewritePlan, io: 'keep' | 'follow' = 'keep'): OnnxModel {
  const after = rewrittenModel(before, plan);
  const chosen = new Map(plan.nodes.map(({ id, type }) => [id, type]));
  const types = networkOf({ ...after, graph: withoutDeclarations(after.graph) });
  checkGraph(after.graph, new Set());
  for (const node of after.nodes) {
    const want = chosen.get(node.id);
    const path = node.id.startsWith('cast') ? null : graphPathOf(node.id);
    if (path === null || node.subgraphs.length > 0 || readsAnyType(node)) continue;
    const inputs = node.inputs
      .map((name, i) => (name !== '' && followsType(node, i) ? types.typeOf(path, name) : null))
      .filter((type) => type !== null && isFloatType(type));
    if (want)
      expect(new Set(inputs), `inputs of ${node.name} (${node.op})`).toEqual(new Set(inputs.length ? [want] : []));
    else if (!['Cast', 'CastLike', 'DequantizeLinear', 'QuantizeLinear'].includes(node.op))
      expect(new Set(inputs).size, `inputs of ${node.name} (${node.op})`).toBeLessThan(2);
  }
  const declared = networkOf(after);
  for (const graph of graphsOf(after.graph)) {
    for (const value of [...graph.outputs, ...graph.values, ...graph.inputs]) {
      if (value.type !== null && types.typeOf(graph.path, value.name) !== null) {
        expect(types.typeOf(graph.path, value.name), `declared type of ${value.name}`).toBe(
          declared.typeOf(graph.path, value.name),
        );
      }
    }
  }
  if (io === 'keep') {
    expect(after.graph.inputs).toEqual(before.graph.inputs);
    expect(after.graph.outputs).toEqual(before.graph.outputs);
  }
  const names = after.nodes.flatMap(({ outputs }) => outputs).filter((name) => name !== '');
  expect(new Set(names).size).toBe(names.length);
  return after;
}

function graphsOf(graph: OnnxGraph): OnnxGraph[] {
  return [graph, ...graph.nodes.flatMap((node) => node.subgraphs.flatMap(({ graph: body }) => graphsOf(body)))];
}

/** Only inputs and initializers keep their types, so that everything else must be inferred. */
function withoutDeclarations(graph: OnnxGraph): OnnxGraph {
  return {
    ...graph,
    values: [],
    outputs: graph.outputs.map((value) => ({ ...value, type: null })),
    nodes: graph.nodes.map((node) => ({
      ...node,
      subgraphs: node.subgraphs.map(({ attribute, graph: body }) => ({ attribute, graph: withoutDeclarations(body) })),
    })),
  };
}

/** Every tensor is made before it is read. */
function checkGraph(graph: OnnxGraph, around: ReadonlySet<string>): void {
  const known = new Set([
    ...around,
    ...graph.inputs.map(({ name }) => name),
    ...graph.initializers.map(({ name }) => name),
  ]);
  for (const node of graph.nodes) {
    for (const name of node.inputs) if (name !== '') expect(known.has(name), `${node.name} reads ${name}`).toBe(true);
    for (const { graph: body } of node.subgraphs) checkGraph(body, known);
    for (const name of node.outputs) known.add(name);
  }
  for (const { name } of graph.outputs) expect(known.has(name), `output ${name}`).toBe(true);
}

describe('rewriting', () => {
  test.each(small)('%s: all FP16, all BF16, back to FP32, with inputs and outputs kept or followed', async (name) => {
    const before = await model(name);
    for (const io of ['keep', 'follow'] as const) {
      for (const rules of [
        'base fp16',
        'base bf16',
        '** fp32',
        'base fp16\nop:Softmax, op:Relu, op:Conv fp32 -> fp32',
        '** fp16 -> fp32',
      ]) {
        expectSound(before, rewrite(before, rules, { io }), io);
      }
    }
  });

  test.each(small)('%s: random rules', async (name) => {
    const before = await model(name);
    const names = [...new Set(before.nodes.map((node) => node.name).filter((one) => one !== ''))];
    const line = fc.tuple(
      fc.oneof(
        fc.constantFrom(...(names.length ? names : ['x'])),
        fc.constantFrom(...new Set(before.nodes.map(({ op }) => op))).map((op) => `op:${op}`),
      ),
      fc.constantFrom('fp32', 'fp16', 'bf16', 'fp32 -> fp16', 'fp16 -> fp32'),
    );
    fc.assert(
      fc.property(
        fc.constantFrom('keep', 'fp16', 'bf16'),
        fc.array(line, { maxLength: 12 }),
        fc.boolean(),
        fc.constantFrom('keep' as const, 'follow' as const),
        (base, lines, grow, io) => {
          const text = [
            `base ${base}`,
            ...lines.map(
              ([selector, type]) => `${selector.startsWith('op:') ? selector : JSON.stringify(selector)} ${type}`,
            ),
          ].join('\n');
          expectSound(before, rewrite(before, text, { grow, io }), io);
        },
      ),
      { numRuns: name === 'vit_tiny' ? 12 : 25 },
    );
  });

  test('nothing asked: nothing changed', async () => {
    for (const name of small) {
      const plan = rewrite(await model(name), '# nothing');
      expect([plan.casts, plan.inputs, plan.outputs, plan.initializers, plan.constants, plan.values]).toEqual([
        [],
        [],
        [],
        [],
        [],
        [],
      ]);
    }
  });

  test('the article’s model: five islands cost eleven Casts', async () => {
    const before = await model('fp16_overflow');
    const plan = rewrite(
      before,
      'base fp16\n/layers.1/attn/qk/MatMul, /layers.1/attn/scale/Mul, /layers.3/ffn/down/**, /layers.3/add_ffn/Add, /final_norm/** fp32',
    );
    expect(plan.counts).toEqual({
      casts: 11,
      grown: 0,
      castsSaved: 0,
      byType: { float: 14, float16: 193, bfloat16: 0 },
    });
    expect(plan.problems).toEqual([]);
    expectSound(before, plan);
  });

  test('output types are made by a Cast behind the node', async () => {
    const before = await model('resnet18');
    const plan = rewrite(before, '/conv1/Conv fp32 -> fp16');
    expect(plan.casts.map(({ to, after }) => [to, after])).toEqual([
      ['float16', '0'],
      ['float', '0'],
    ]);
    expectSound(before, plan);
  });

  test('subgraphs: their borders keep their types, what is inside changes', async () => {
    const before = await model('loop_if');
    const plan = rewrite(before, 'base fp16');
    expect(plan.nodes.some(({ id, type }) => id.includes('/') && type === 'float16')).toBe(true);
    const after = expectSound(before, plan);
    for (const [i, graph] of graphsOf(after.graph).entries()) {
      const old = graphsOf(before.graph)[i];
      expect(graph.inputs).toEqual(old?.inputs);
      expect(graph.outputs).toEqual(old?.outputs);
    }
  });

  test('islands grow over cheap nodes where that saves Casts', async () => {
    const before = await model('vit_tiny');
    const rules =
      'base fp16\n/blocks/blocks.0/attn/**, not:**/Softmax, not:op:Reshape, not:op:Transpose, not:op:Split, not:op:Squeeze fp32';
    const plain = rewrite(before, rules);
    const grown = rewrite(before, rules, { grow: true });
    expect(grown.counts.grown).toBeGreaterThan(0);
    expect(plain.counts.casts - grown.counts.casts).toBe(grown.counts.castsSaved);
    expect(grown.counts.castsSaved).toBeGreaterThan(0);
    expectSound(before, grown);
  });

  test('quantized parts are left alone', () => {
    const before = quantized();
    const plan = rewrite(before, 'base fp16');
    expect(plan.nodes.map(({ name, type }) => [name, type])).toEqual([
      ['conv', 'float'],
      ['relu', 'float16'],
    ]);
    expectSound(before, plan);
    expect(rewrite(before, 'conv fp16').problems.map(({ code }) => code)).toEqual(['quantized-node']);
  });

  test('what cannot be told or written is left alone, and said', () => {
    const before = quantized();
    before.graph.nodes[2]!.domain = 'my.plugins';
    before.nodes[2]!.domain = 'my.plugins';
    const plan = rewrite(before, 'conv fp16\nrelu fp16');
    expect(plan.problems.map(({ code }) => code)).toEqual(['kept-operator']);
    expect(
      rewrite({ ...quantized(), opsets: [{ domain: '', version: 11 }] }, 'base bf16').problems.map(({ code }) => code),
    ).toContain('opset-too-old');
    expect(rewrite(quantized(), 'relu int8').problems.map(({ code }) => code)).toEqual(['type-needs-qdq']);
  });
});

/** x → DequantizeLinear → Conv → QuantizeLinear → DequantizeLinear → Relu → y */
function quantized(): OnnxModel {
  const node = (id: string, name: string, op: string, inputs: string[], outputs: string[]): OnnxNode => ({
    id,
    name,
    op,
    domain: '',
    inputs,
    outputs,
    attributes: [],
    subgraphs: [],
    metadata: [],
  });
  const nodes = [
    node('0', 'dq0', 'DequantizeLinear', ['xq', 's', 'z'], ['x']),
    node('1', 'dqw', 'DequantizeLinear', ['wq', 's', 'z'], ['w']),
    node('2', 'conv', 'Conv', ['x', 'w'], ['c']),
    node('3', 'q', 'QuantizeLinear', ['c', 's', 'z'], ['cq']),
    node('4', 'dq1', 'DequantizeLinear', ['cq', 's', 'z'], ['r']),
    node('5', 'add', 'Identity', ['r'], ['i']),
    node('6', 'relu', 'Relu', ['input2'], ['y']),
  ].filter(({ name }) => name !== 'add');
  const graph: OnnxGraph = {
    name: 'g',
    path: '',
    nodes,
    inputs: [
      { name: 'xq', type: 'int8', shape: null },
      { name: 'input2', type: 'float', shape: null },
    ],
    outputs: [
      { name: 'y', type: 'float', shape: null },
      { name: 'r', type: 'float', shape: null },
    ],
    values: [],
    initializers: [
      { name: 's', type: 'float', shape: [], data: null },
      { name: 'z', type: 'int8', shape: [], data: null },
      { name: 'wq', type: 'int8', shape: [1, 1, 1, 1], data: null },
    ],
  };
  return modelAround(graph, [...nodes]);
}
