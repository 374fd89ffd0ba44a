import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readBuildLog } from '../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { type BuildFacts, buildFacts, modelFacts } from '../../../../src/kernel/rules/buildFacts.ts';
import { NodeIndex, resolveOverrides } from '../../../../src/kernel/rules/resolveOverrides.ts';
import { readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';
import { planPrecision } from '../../../../src/kernel/rules/precisionPlan.ts';
import { verifyPrecision } from '../../../../src/kernel/rules/verifyPrecision.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { fixturePath, readFixture } from '../../../support/fixtures.ts';
import { captured } from './overrideFixtures.ts';

/** A small model that was built by TensorRT-RTX, and the model whose nodes the rules name. */
async function built(name: string): Promise<{ index: NodeIndex; build: BuildFacts }> {
  const model = (await readModel(bytesOf(readFileSync(fixturePath(`builds/${name}/model.onnx`))))).value!;
  const log = readBuildLog(new TextDecoder().decode(readFixture(`builds/${name}/build.log.gz`))).value;
  const report = createReport({ model, modelFile: 'model.onnx', log });
  return { index: new NodeIndex(modelFacts(model, 'model.onnx')), build: buildFacts(report, log) };
}

/** As if the build had been made with these rules. */
function verdicts(rules: string, { index, build }: { index: NodeIndex; build: BuildFacts }) {
  const file = readOverrides(rules);
  const plan = planPrecision(file, index, resolveOverrides(file, index, build));
  return verifyPrecision(plan, { ...build, rules }, index).flatMap(({ nodes }) =>
    nodes.map(({ node, verdict, reason }) => ({ name: node.name, verdict, reason })),
  );
}

describe('integer kernels', () => {
  test('never obey a rule for fp32, by their weights, their operands or their boundary', async () => {
    const found = verdicts('** fp32', await built('qdq'));
    const bad = found.filter(({ verdict }) => verdict === 'disobeyed');
    expect(bad.map(({ name }) => name)).toEqual(['conv1', 'conv2', 'conv3', 'pool', 'flat', 'fc']);
    for (const { reason } of bad) expect(reason).toMatch(/int8, not fp32/);
    // In the plan as in the model nothing says more of these than their boundary, which is Float.
    for (const { name, verdict } of found)
      if (!bad.some((one) => one.name === name)) expect(verdict).not.toBe('disobeyed');
  });

  test('a copy whose rules read around the Q/DQ pairs computes in fp32, but for what TensorRT moves', async () => {
    const found = verdicts('conv2 fp32\nadd fp32\npool fp32\nconv3 fp32', await built('qdq_kept'));
    expect(found.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['conv2', 'obeyed'],
      ['add', 'obeyed'],
      // TensorRT moved the QuantizeLinear behind it before it.
      ['pool', 'disobeyed'],
      ['conv3', 'disobeyed'],
    ]);
  });
});

describe('weights in a kernel', () => {
  /** A kernel that shows FP32 at its boundary and holds one constant. */
  async function withConstant(dims: number[], type: string, weight: number[]) {
    const { index, build } = await captured('tensorrt-rtx-1.7.1/fp16_overflow_mixed');
    const position = index.names.indexOf('/layers.2/ffn/up/MatMul');
    const facts = {
      ...index.facts,
      nodes: index.facts.nodes.map((node, i) => (i === position ? { ...node, weight } : node)),
    };
    const border = [{ name: 'tensor', type: 'Float', elements: 4096 }];
    const layer = {
      ...build.layers[0]!,
      name: '__myl_CastFcCastAdd_myl0_1',
      kind: 'kernel' as const,
      type: 'kgen',
      weights: null,
      nodes: [position, position + 1],
      inputs: border,
      outputs: border,
      constants: [{ name: '__mye1_dconst', type, elements: dims.reduce((size, dim) => size * dim, 1), dims }],
    };
    const nodes = build.nodes.map((node, i) => (i === position ? { ...node, layers: [0] } : node));
    const declared = index.nodes.map(() => 'fp32' as const);
    return verdicts('/layers.2/ffn/up/MatMul fp32', {
      index: new NodeIndex(facts),
      build: { ...build, layers: [layer], nodes, declared },
    })[0]!;
  }

  test('[51, 3] that became Half [52, 4] is not obeyed', async () => {
    expect(await withConstant([52, 4], 'Half', [51, 3])).toMatchObject({
      verdict: 'disobeyed',
      reason: expect.stringContaining('its weights are fp16, not fp32') as string,
    });
    expect(await withConstant([52, 4], 'Float', [51, 3])).toMatchObject({ verdict: 'obeyed' });
    expect(await withConstant([64, 147], 'Half', [64, 3, 7, 7])).toMatchObject({ verdict: 'disobeyed' });
  });

  test('whatever the padding, a kernel with weights in another type does not obey', async () => {
    const dim = fc.integer({ min: 4, max: 200 });
    const step = fc.constantFrom(1, 2, 4, 8, 16, 32);
    await fc.assert(
      fc.asyncProperty(
        dim,
        dim,
        step,
        step,
        fc.boolean(),
        fc.constantFrom('Half', 'Int8'),
        async (n, k, a, b, turned, type) => {
          const padded = [Math.ceil(n / a) * a, Math.ceil(k / b) * b];
          const made = await withConstant(turned ? padded.toReversed() : padded, type, [n, k]);
          expect(made.verdict).toBe('disobeyed');
        },
      ),
      { numRuns: 40 },
    );
  });

  test('a constant of the same number of elements but another shape is not taken for the weights', async () => {
    const { reason, verdict } = await withConstant([9, 17], 'Half', [51, 3]);
    expect(verdict).toBe('unseen');
    expect(reason).toContain('holds constants in fp16');
  });
});
