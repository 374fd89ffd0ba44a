import { beforeAll, describe, expect, test } from 'vitest';
import { type BuildDiff, type DiffInput, nodesToMatch } from '../../../../src/core/diff/buildDiff.ts';
import { diffReports } from '../../../../src/core/diff/diffReports.ts';
import { captures, inputOf, metaOf, reportOf } from '../fusion/loadCapture.ts';

const sides: DiffInput[] = [];
beforeAll(async () => {
  for (const source of captures()) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other: each is large while it is read
    const [report, input] = [await reportOf(source), await inputOf(source)];
    if (report && input) sides.push({ source, report, network: nodesToMatch(input.model) });
  }
});

/** Both ways, a third of the captures of the same model: many differ in an option of the build only. */
const pairs = () =>
  sides.flatMap((a, i) =>
    sides
      .filter((b, j) => (i + j) % 3 === 0 && metaOf(a.source).model === metaOf(b.source).model)
      .map((b) => [a, b] as const),
  );

/** By both captures: each of hundreds of comparisons is made once for all tests. */
const compared = new Map<string, Pick<BuildDiff, 'totals' | 'time'>>();
function compare(a: DiffInput, b: DiffInput): Pick<BuildDiff, 'totals' | 'time'> {
  const key = `${a.source} ${b.source}`;
  const known = compared.get(key);
  if (known) return known;
  const { totals, time } = diffReports(a, b);
  compared.set(key, { totals, time });
  return { totals, time };
}

describe('over every capture', () => {
  test('a build compared with itself has no change', () => {
    expect(sides.length).toBeGreaterThan(100);
    for (const side of sides) {
      const { changes, matched, totals } = diffReports(side, side);
      expect({ source: side.source, changes, only: [...matched.onlyA, ...matched.onlyB] }).toEqual({
        source: side.source,
        changes: [],
        only: [],
      });
      expect(totals.states.same + totals.states.notComparable).toBe(side.report.nodes.length);
    }
  });

  test('each node is in exactly one state, and all time that differs is attributed', () => {
    for (const [a, b] of pairs()) {
      const { totals, time } = compare(a, b);
      const counted = Object.values(totals.states).reduce((sum, count) => sum + count, 0);
      expect(counted, `${a.source} ${b.source}`).toBe(a.report.nodes.length + totals.states.onlyB);
      if (time.attributedMs !== null) expect(time.attributedMs + time.noiseMs!).toBeCloseTo(time.bMs! - time.aMs!, 4);
    }
  });

  test('the reverse comparison has the reverse states', () => {
    for (const [a, b] of pairs()) {
      const [one, other] = [compare(a, b).totals.states, compare(b, a).totals.states];
      expect(
        {
          split: other.split,
          merged: other.merged,
          moved: other.moved,
          folded: other.folded,
          computed: other.computed,
        },
        `${a.source} ${b.source}`,
      ).toEqual({
        split: one.merged,
        merged: one.split,
        moved: one.moved,
        folded: one.computed,
        computed: one.folded,
      });
    }
  });

  test('without edges the same model gives the same comparison', () => {
    for (const [a, b] of pairs().filter((_, index) => index % 7 === 0)) {
      const names = diffReports({ ...a, network: undefined }, { ...b, network: undefined });
      expect(names.changes, `${a.source} ${b.source}`).toEqual(diffReports(a, b).changes);
    }
  });
});
