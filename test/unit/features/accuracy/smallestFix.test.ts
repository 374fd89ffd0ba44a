import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kneeOf } from '../../../../src/features/accuracy/internal/tradeCurve.ts';
import {
  type PrecisionFix,
  searchFix,
  TradeCurve,
  addedRules,
  fixRules,
  rulesText,
  FixCost,
} from '../../../../src/features/accuracy/smallestFix.ts';
import { NodeIndex, resolveOverrides } from '../../../../src/kernel/rules/resolveOverrides.ts';
import { readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';
import { findLowNodes } from '../../../../src/features/accuracy/internal/reducedPrecisionModel.ts';
import { networkOf } from '../../../../src/kernel/network/network.ts';
import { modelFacts } from '../../../../src/kernel/rules/buildFacts.ts';
import { planPrecision } from '../../../../src/kernel/rules/precisionPlan.ts';
import { chooseTypes } from '../../../../src/features/precision/internal/rewritePlan.ts';
import { planRewrite } from '../../../../src/features/precision/planRewrite.ts';
import { modelOf } from '../../kernel/fusion/loadCapture.ts';

const TOLERANCE = 0.01;

/** Runs a search against errors by set of exact nodes, a bit a node. */
function run(count: number, errorOf: (exact: number) => number, limit = Infinity): { fix: PrecisionFix; runs: number } {
  const search = searchFix(count, TOLERANCE);
  let runs = 0;
  for (let step = search.next(); ;) {
    if (step.done) return { fix: step.value, runs };
    const exact = [...step.value.exact].reduce((mask, node) => mask | (1 << node), 0);
    step = search.next({ error: errorOf(exact), stop: ++runs >= limit });
  }
}

const bits = (nodes: readonly number[]) => nodes.reduce((mask, node) => mask | (1 << node), 0);

/** Faults of which each needs all of its nodes exact, and small errors that add up. */
const faults = fc.record({
  count: fc.integer({ min: 1, max: 14 }),
  groups: fc.array(fc.uniqueArray(fc.nat(13), { minLength: 1, maxLength: 3 }), { maxLength: 3 }),
  rounding: fc.array(fc.double({ min: 0, max: 0.004, noNaN: true }), { minLength: 14, maxLength: 14 }),
});

test('the set passes, and none of its nodes can be left out', () => {
  fc.assert(
    fc.property(faults, ({ count, groups, rounding }) => {
      const broken = groups.map((group) => bits(group.filter((node) => node < count)));
      const errorOf = (exact: number) => {
        if (broken.some((group) => (exact & group) !== group)) return Infinity;
        return rounding.slice(0, count).reduce((sum, error, node) => (exact & (1 << node) ? sum : sum + error), 0);
      };
      if (errorOf(0) <= TOLERANCE) return;
      const { fix, runs } = run(count, errorOf);
      expect(errorOf(bits(fix.exact))).toBe(fix.error);
      expect(fix.error).toBeLessThanOrEqual(TOLERANCE);
      expect(fix.minimal).toBe(true);
      for (const node of fix.exact) {
        expect(errorOf(bits(fix.exact) & ~(1 << node))).toBeGreaterThan(TOLERANCE);
        expect(fix.without.get(node)).toBe(errorOf(bits(fix.exact) & ~(1 << node)));
      }
      // Nothing that is broken is missing; what alone misses the tolerance is named.
      for (const group of broken) expect(bits(fix.exact) & group).toBe(group);
      expect(bits([...fix.alone.keys()])).toBe(broken.reduce((all, group) => all | group, 0));
      expect(runs).toBeLessThan(40 + 12 * count);
    }),
  );
});

test('nodes that do harm only together: one of them is kept', () => {
  const { fix } = run(8, (exact) => (exact & 0b11 ? 0 : 1));
  expect(fix.exact).toHaveLength(1);
  expect(fix.minimal).toBe(true);
  expect(fix.alone.size).toBe(0);
});

test('a few faults among many nodes take few runs', () => {
  const culprits = [3, 300, 301, 900];
  const search = searchFix(1000, TOLERANCE);
  let runs = 0;
  for (let step = search.next(); ; runs++) {
    if (step.done) {
      expect(step.value.exact).toEqual(culprits);
      break;
    }
    const { exact } = step.value;
    step = search.next({ error: culprits.every((node) => exact.has(node)) ? 0.001 : 1, stop: false });
  }
  expect(runs).toBeLessThan(100);
});

test('cut off, the search gives a set that passes and does not call it minimal', () => {
  const broken = 0b1000_0100_0001;
  const errorOf = (exact: number) => ((exact & broken) === broken ? 0 : 1);
  const whole = run(12, errorOf).runs;
  for (let limit = 1; limit < whole; limit++) {
    const { fix, runs } = run(12, errorOf, limit);
    expect(runs).toBe(limit);
    expect(errorOf(bits(fix.exact))).toBeLessThanOrEqual(TOLERANCE);
    // What is asked at the end is about the way to the set.
    if (fix.minimal) for (const node of fix.exact) expect(errorOf(bits(fix.exact) & ~(1 << node))).toBe(1);
    if (limit < whole - 3) expect(fix.minimal).toBe(false);
  }
});

test('rounding that is spread over all nodes: a set of the least size', () => {
  const errors = Array.from({ length: 16 }, (_, node) => 0.0002 * node);
  const { fix } = run(16, (exact) => errors.reduce((sum, error, node) => (exact & (1 << node) ? sum : sum + error), 0));
  expect(fix.minimal).toBe(true);
  // Fewer do not pass: the six largest errors have to go.
  expect(fix.exact).toHaveLength(6);
});

test('the node that brings most is known early, and the curve shows what the others add', () => {
  // One of 256 nodes takes the error from 1 to 0.2; the others have a little each.
  const errorOf = (exact: ReadonlySet<number>) => {
    let sum = exact.has(200) ? 0 : 0.8;
    for (let node = 0; node < 256; node++) if (!exact.has(node)) sum += 0.2 / 256;
    return sum;
  };
  const curve = new TradeCurve();
  curve.add([], errorOf(new Set()));
  const search = searchFix(256, TOLERANCE);
  let first = 0;
  for (let step = search.next(), runs = 1; ; runs++) {
    if (step.done) break;
    const error = errorOf(step.value.exact);
    if (step.value.about !== 'alone') curve.add([...step.value.exact], error);
    if (first === 0 && step.value.about === 'trade') {
      expect([...step.value.exact]).toEqual([200]);
      first = runs;
    }
    step = search.next({ error, stop: false });
  }
  expect([first > 0, first < 30]).toEqual([true, true]);
  const points = curve.points(TOLERANCE);
  const counts = points.map(({ exact }) => exact.length);
  expect(points.slice(0, 2).map(({ exact, error }) => [exact, Number(error.toFixed(2))])).toEqual([
    [[], 1],
    [[200], 0.2],
  ]);
  expect(points.at(-1)!.error).toBeLessThanOrEqual(TOLERANCE);
  // Each point is better than those with fewer nodes, and none is behind the first that passes.
  expect(points.map(({ error }) => error)).toEqual(points.map(({ error }) => error).toSorted((a, b) => b - a));
  expect(points.filter(({ error }) => error <= TOLERANCE)).toHaveLength(1);
  expect(counts.length).toBeGreaterThan(6);
});

test('the knee is where most of the drop is over; a straight way has none', () => {
  expect(kneeOf([0, 1, 12, 186], [1, 0.08, 0.03, 0.0099], 0.01)).toBe(1);
  expect(kneeOf([0, 2, 3, 10], [Infinity, 1, 0.0047, 0], 0.0003)).toBe(2);
  expect(kneeOf([0, 1, 2], [1, 0.1, 0.01], 0.01)).toBeNull();
  expect(kneeOf([0, 5, 6], [1, 0.9, 0.001], 0.01)).toBeNull();
  expect(kneeOf([0, 3], [Infinity, 0.001], 0.01)).toBeNull();
});

const indexed = (...names: string[]) =>
  new NodeIndex({
    file: 'm.onnx',
    opset: 17,
    nodes: names.map((name, i) => ({
      id: `${i}`,
      name,
      op: 'Add',
      domain: '',
      outputs: [`t${i}`],
      types: ['float'],
      exempt: null,
    })),
  });

/** Nodes that the text's rules select. */
function selected(text: string, nodes: NodeIndex): number[] {
  const file = readOverrides(text);
  expect(file.problems).toEqual([]);
  return [...resolveOverrides(file, nodes, null).winner].flatMap((rule, node) => (rule >= 0 ? [node] : []));
}

test('a pattern stands for nodes that differ by a number, where it selects no other', () => {
  const nodes = indexed('/step.0/Add', '/step.1/Add', '/layers.0/norm/Pow', '/layers.1/norm/Pow', '/layers.2/norm/Pow');
  const rules = fixRules([0, 1, 2, 4], nodes);
  expect(rules.map(({ selector }) => selector)).toEqual(['/step.*/Add', '/layers.0/norm/Pow', '/layers.2/norm/Pow']);
  const head = { model: './m.onnx', base: 'fp16' as const, comments: ['why'] };
  expect(selected(rulesText(head, rules, []), nodes)).toEqual([0, 1, 2, 4]);
});

test('names with characters of the language are quoted; a name that two nodes share is written once', () => {
  const nodes = indexed('a b', 'x#1', '*', 'same', 'same', '/op:1');
  const rules = fixRules([0, 1, 2, 3, 4], nodes);
  expect(rules.map(({ selector }) => selector)).toEqual(['"a b"', '"x#1"', '"*"', 'same']);
  expect(
    selected(addedRules(['two\nlines are one comment'.replace('\n', ' ')], rules, ['n', '', '', '']), nodes),
  ).toEqual([0, 1, 2, 3, 4]);
});

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
