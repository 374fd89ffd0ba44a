import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kneeOf } from '../../../../src/core/accuracy/internal/tradeCurve.ts';
import { type PrecisionFix, searchFix, TradeCurve } from '../../../../src/core/accuracy/smallestFix.ts';

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
