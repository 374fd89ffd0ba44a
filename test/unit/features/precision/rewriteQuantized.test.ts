import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planEdit } from '../../../../src/kernel/read/onnx/editModel.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { fixturePath } from '../../../support/fixtures.ts';
import type { OnnxModel, OnnxNode } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { NodeIndex, resolveOverrides } from '../../../../src/kernel/rules/resolveOverrides.ts';
import { readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';
import { modelFacts } from '../../../../src/kernel/rules/buildFacts.ts';
import { planPrecision } from '../../../../src/kernel/rules/precisionPlan.ts';
import { planRewrite } from '../../../../src/features/precision/planRewrite.ts';
import { modelAround } from '../../kernel/fusion/buildModel.ts';
import { rewrittenModel } from './rewrittenModel.ts';

/** One node of a random network: what it does, which earlier tensors it reads, whether a Q/DQ pair follows it. */
interface Step {
  op: 'Relu' | 'Add' | 'Reshape' | 'Transpose' | 'MatMul';
  first: number;
  second: number;
  quantized: boolean;
  weight: 'float' | 'dequantized' | 'pair';
}

const step: fc.Arbitrary<Step> = fc.record({
  op: fc.constantFrom('Relu', 'Add', 'Reshape', 'Transpose', 'MatMul'),
  first: fc.nat(50),
  second: fc.nat(50),
  quantized: fc.boolean(),
  weight: fc.constantFrom('float', 'dequantized', 'pair'),
});

/** A network with Q/DQ pairs after some tensors and around some weights. */
function networkOf(steps: Step[]): OnnxModel {
  const nodes: OnnxNode[] = [];
  const add = (name: string, op: string, inputs: string[], output: string) =>
    nodes.push({
      id: String(nodes.length),
      name,
      op,
      domain: '',
      inputs,
      outputs: [output],
      attributes: [],
      subgraphs: [],
      metadata: [],
    });
  const pair = (tensor: string): string => {
    add(`Q_${tensor}`, 'QuantizeLinear', [tensor, 's', 'z'], `${tensor}_q`);
    add(`DQ_${tensor}`, 'DequantizeLinear', [`${tensor}_q`, 's', 'z'], `${tensor}_dq`);
    return `${tensor}_dq`;
  };
  const tensors = ['x', pair('x')];
  steps.forEach(({ op, first, second, quantized, weight }, i) => {
    const one = tensors[first % tensors.length]!;
    const other = tensors[second % tensors.length]!;
    let inputs = [one];
    if (op === 'Add') inputs = [one, other];
    if (op === 'Reshape') inputs = [one, 'shape'];
    if (op === 'MatMul') {
      let weights = 'w';
      if (weight === 'pair') weights = tensors.includes('w_dq') ? 'w_dq' : pairOnce('w');
      if (weight === 'dequantized') {
        add(`WDQ${i}`, 'DequantizeLinear', ['wq', 's', 'z'], `w${i}_dq`);
        weights = `w${i}_dq`;
      }
      inputs = [one, weights];
    }
    add(`n${i}`, op, inputs, `t${i}`);
    tensors.push(`t${i}`);
    if (quantized) tensors.push(pair(`t${i}`));
  });
  const last = tensors.at(-1)!;
  return modelAround(
    {
      name: 'g',
      path: '',
      nodes,
      inputs: [{ name: 'x', type: 'float', shape: [4, 4] }],
      outputs: [{ name: last, type: 'float', shape: null }],
      values: [],
      initializers: [
        { name: 's', type: 'float', shape: [], data: null },
        { name: 'z', type: 'int8', shape: [], data: null },
        { name: 'w', type: 'float', shape: [4, 4], data: null },
        { name: 'wq', type: 'int8', shape: [4, 4], data: null },
        { name: 'shape', type: 'int64', shape: [2], data: null },
      ],
    },
    nodes,
  );

  function pairOnce(tensor: string): string {
    return nodes.some(({ name }) => name === `Q_${tensor}`) ? `${tensor}_dq` : pair(tensor);
  }
}

const precision = fc.constantFrom('fp32', 'fp16');

const rewrite = (model: OnnxModel, rules: string) => {
  const index = new NodeIndex(modelFacts(model, 'model.onnx'));
  const file = readOverrides(rules);
  return planRewrite(model, planPrecision(file, index, resolveOverrides(file, index, null)));
};

/** Whether a node's data comes through a Q/DQ pair, seen through what only moves or casts it. */
function readsQuantized(model: OnnxModel, node: OnnxNode): boolean {
  const makers = new Map(model.graph.nodes.flatMap((one) => one.outputs.map((name) => [name, one])));
  const constants = new Set(['w', 'wq', 's', 'z', 'shape']);
  return node.inputs.some((name) => {
    let maker = makers.get(name);
    while (maker && ['Cast', 'Reshape', 'Transpose'].includes(maker.op)) maker = makers.get(maker.inputs[0]!);
    if (maker?.op !== 'DequantizeLinear') return false;
    const source = makers.get(maker.inputs[0]!);
    return source !== undefined && !constants.has(source.inputs[0]!);
  });
}

describe('a rule on a node of a quantized network', () => {
  test('takes it out of its integer kernel, or is refused with the node in its way', () => {
    let taken = 0;
    let refused = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), fc.nat(), precision, (steps, mask, type) => {
        const model = networkOf(steps);
        const asked = steps.flatMap((_, i) => ((mask >> (i % 20)) & 1 ? [`n${i}`] : []));
        if (asked.length === 0) return;
        const plan = rewrite(model, asked.map((name) => `${name} ${type}`).join('\n'));
        const errors = plan.problems.filter(({ severity }) => severity === 'error');
        if (errors.length > 0) {
          refused++;
          for (const { code, message } of errors) {
            expect(code).toBe('quantized-node');
            expect(message).toMatch(/^"n\d+" cannot leave its quantized kernel: .* "(?:n\d+|DQ_\w+|WDQ\d+)"/);
          }
          return;
        }
        const after = rewrittenModel(model, plan);
        for (const name of asked) {
          const before = model.nodes.find((node) => node.name === name)!;
          const node = after.nodes.find((one) => one.name === name)!;
          if (!plan.nodes.some(({ id, asked: was }) => id === node.id && was)) continue;
          expect(readsQuantized(after, node), `${name} (${node.op})`).toBe(false);
          if (readsQuantized(model, before)) taken++;
        }
        // Whoever was not asked reads what it read.
        for (const node of model.nodes)
          if (!asked.includes(node.name) && type === 'fp32')
            expect(after.nodes.find(({ id }) => id === node.id)!.inputs).toEqual(node.inputs);
      }),
      { numRuns: 400 },
    );
    expect(taken).toBeGreaterThan(50);
    expect(refused).toBeGreaterThan(20);
  });

  test('removes the Q/DQ nodes that nothing reads any more, and only those', () => {
    let removed = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), fc.nat(), precision, (steps, mask, type) => {
        const model = networkOf(steps);
        const asked = steps.flatMap((_, i) => ((mask >> (i % 20)) & 1 ? [`n${i}`] : []));
        const plan = rewrite(model, asked.map((name) => `${name} ${type}`).join('\n'));
        if (plan.problems.some(({ severity }) => severity === 'error')) return;
        const { remove } = plan;
        const after = rewrittenModel(model, plan);
        const outputs = new Set(model.graph.outputs.map(({ name }) => name));
        const readIn = (nodes: readonly OnnxNode[]) => new Set([...nodes.flatMap(({ inputs }) => inputs), ...outputs]);
        const kept = after.nodes.filter(({ id }) => !remove.includes(id));
        const before = readIn(model.nodes);
        const reads = readIn(kept);
        for (const node of after.nodes) {
          const isPart = node.op === 'QuantizeLinear' || node.op === 'DequantizeLinear';
          const [output] = node.outputs as [string];
          if (remove.includes(node.id)) {
            removed++;
            expect(isPart).toBe(true);
            expect(reads.has(output), `${node.name} is still read`).toBe(false);
          } else if (isPart && before.has(output)) expect(reads.has(output), `${node.name} is left`).toBe(true);
        }
      }),
      { numRuns: 400 },
    );
    expect(removed).toBeGreaterThan(50);
  });

  test('takes a pair out without a Cast before it, in one edit of each node', async () => {
    const model = networkOf([{ op: 'Relu', first: 1, second: 0, quantized: false, weight: 'float' }]);
    const plan = rewrite(model, '** fp16');
    expect(new Set(plan.remove)).toEqual(new Set(['0', '1']));
    expect(plan.inputs).toEqual([{ node: '2', index: 0, tensor: 'x_fp16' }]);
    expect(plan.casts.map(({ input, output }) => [input, output])).toEqual([
      ['x', 'x_fp16'],
      ['t0_fp16', 't0'],
    ]);
    expect(plan.initializers).toEqual([]);

    const source = bytesOf(readFileSync(fixturePath('builds/qdq/model.onnx')));
    const { value } = await readModel(source, { spans: true });
    for (const rules of ['conv1 fp32', 'conv2 fp32\nadd fp32', '** fp32', 'conv3 fp16', '** fp16']) {
      const edits = rewrite(value!, rules);
      expect(edits.remove.length).toBeGreaterThan(0);
      expect([rules, (await planEdit(value!, source, edits)).problems]).toEqual([rules, []]);
    }
  });

  test('says so, also of weights of which there is nothing but integers', () => {
    const model = networkOf([{ op: 'MatMul', first: 1, second: 0, quantized: true, weight: 'dequantized' }]);
    expect(rewrite(model, 'n0 fp32').problems.map(({ code, severity }) => [code, severity])).toEqual([
      ['weights-stay-quantized', 'info'],
      ['leaves-quantized', 'info'],
    ]);
    expect(rewrite(model, 'base fp16').problems.map(({ code }) => code)).toContain('base-skips-quantized');
  });
});
