import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PrecisionFix, searchFix } from '../../../../src/core/accuracy/smallestFix.ts';

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
    expect(fix.minimal).toBe(false);
  }
});

test('rounding that is spread over all nodes: a set of the least size', () => {
  const errors = Array.from({ length: 16 }, (_, node) => 0.0002 * node);
  const { fix } = run(16, (exact) => errors.reduce((sum, error, node) => (exact & (1 << node) ? sum : sum + error), 0));
  expect(fix.minimal).toBe(true);
  // Fewer do not pass: the six largest errors have to go.
  expect(fix.exact).toHaveLength(6);
});
