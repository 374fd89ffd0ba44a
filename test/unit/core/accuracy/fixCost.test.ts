import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FixCost, searchFix } from '../../../../src/core/accuracy/smallestFix.ts';
import { findLowNodes } from '../../../../src/core/accuracy/internal/reducedPrecisionModel.ts';
import { networkOf } from '../../../../src/core/network/network.ts';
import { NodeIndex, resolveOverrides } from '../../../../src/core/precision/resolveOverrides.ts';
import { readOverrides } from '../../../../src/core/precision/readOverrides.ts';
import { modelFacts } from '../../../../src/core/precision/buildFacts.ts';
import { planPrecision } from '../../../../src/core/precision/precisionPlan.ts';
import { chooseTypes } from '../../../../src/core/precision/internal/rewritePlan.ts';
import { planRewrite } from '../../../../src/core/precision/planRewrite.ts';
import { modelOf } from '../fusion/loadCapture.ts';

const model = (await modelOf('fp16_overflow'))!;
const network = networkOf(model);
const index = new NodeIndex(modelFacts(model, 'm.onnx'));
const planOf = (names: readonly string[]) => {
  const overrides = readOverrides(`base fp16\n${names.map((name) => `${name} fp32\n`).join('')}`);
  return planPrecision(overrides, index, resolveOverrides(overrides, index, null));
};
const low = findLowNodes(chooseTypes(model, planOf([])));
const names = low.low.map(({ node }) => node.name);
const cost = new FixCost(
  low,
  network,
  names.map((_, own) => [own]),
);
const castsOf = (set: Iterable<number>) => planRewrite(model, planOf([...set].map((own) => names[own]!))).counts.casts;
const node = (name: string) => names.indexOf(name);

test('a node saves as many Casts as the rewritten model has fewer without its rule', () => {
  // Neighbors, so that some of them share tensors.
  const sets = fc
    .tuple(fc.nat(names.length - 12), fc.uniqueArray(fc.nat(11), { minLength: 1, maxLength: 6 }))
    .map(([from, offsets]) => offsets.map((offset) => from + offset));
  fc.assert(
    fc.property(sets, (set) => {
      const exact = new Set(set);
      const [group] = set as [number];
      const before = castsOf(exact);
      exact.delete(group);
      const after = castsOf(exact);
      exact.add(group);
      // Attentions count by the hundred, so what remains are Casts.
      const saved = cost.saved(group, exact);
      expect(saved - 100 * Math.round(saved / 100)).toBe(before - after);
    }),
    { numRuns: 60 },
  );
});

test('a node that alone breaks an attention saves much; one of two that break it saves none of it', () => {
  const [scores, softmax] = [node('/layers.1/attn/qk/MatMul'), node('/layers.1/attn/softmax/Softmax')];
  expect(cost.saved(softmax, new Set([softmax]))).toBeGreaterThan(90);
  expect(cost.saved(softmax, new Set([softmax, scores]))).toBeLessThan(10);
});

test('of two sets that repair alike, the search takes the one that leaves the attention in one type', () => {
  const either = [node('/layers.1/attn/softmax/Softmax'), node('/layers.2/ffn/down/MatMul')];
  for (const order of [either, either.toReversed()]) {
    const search = searchFix(2, 0.01, (group, exact) =>
      cost.saved(order[group]!, new Set([...exact].map((own) => order[own]!))),
    );
    let step = search.next();
    // Together they do harm; one of them is enough.
    while (!step.done) step = search.next({ error: step.value.exact.size > 0 ? 0 : 1, stop: false });
    expect(step.value.exact.map((own) => names[order[own]!])).toEqual(['/layers.2/ffn/down/MatMul']);
  }
});
