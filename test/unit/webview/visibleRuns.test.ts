import { expect, test } from 'vitest';
import { roundedCorners } from '../../../webview/graph/draw/brush.ts';
import { visibleRuns } from '../../../webview/graph/draw/internal/visibleRuns.ts';

const screen = { width: 400, height: 300 };
const rectangle = (left: number, top: number, right: number, bottom: number) =>
  roundedCorners([left, top, right, top, right, bottom, left, bottom], { k: 1, x: 0, y: 0 }, 10);

test('an outline on the screen is one closed run', () => {
  const [run, ...others] = visibleRuns(rectangle(50, 40, 350, 260), screen, 4);
  expect(others).toEqual([]);
  expect(run).toMatchObject({ from: 0, closed: true, x: 50, y: 50 });
  expect(run!.steps).toHaveLength(8);
});

test('nothing is drawn of an outline around the screen, or beside it', () => {
  expect(visibleRuns(rectangle(-1e6, -1e6, 1e6, 1e6), screen, 4)).toEqual([]);
  expect(visibleRuns(rectangle(500, 0, 1e6, 300), screen, 4)).toEqual([]);
});

test('of an endless side, what is on the screen, with dashes that begin where they would', () => {
  const whole = rectangle(200, -100_000, 1e6, 100_000);
  const runs = visibleRuns(whole, screen, 4);
  expect(runs).toHaveLength(1);
  const [{ x, y, steps, closed, from }] = runs as [(typeof runs)[0]];
  // The last side goes up.
  expect({ x, y, steps, closed }).toEqual({ x: 200, y: 304, steps: [[200, -4]], closed: false });
  const corner = 16.23;
  const before = 2 * (1e6 - 200 - 20) + (200_000 - 20) + 4 * corner + (100_000 - 10 - 304);
  expect(from).toBeCloseTo(before, 0);
  // The picture moves, and the dashes with it: further along by as much as the run begins further along.
  const moved = visibleRuns(
    roundedCorners([200, -100_000, 1e6, -100_000, 1e6, 100_000, 200, 100_000], { k: 1, x: 0, y: 37 }, 10),
    screen,
    4,
  );
  expect(moved[0]!.from - from).toBeCloseTo(37, 6);
});

test('a corner on the screen joins its two sides in one run', () => {
  const runs = visibleRuns(rectangle(-1e6, 100, 200, 1e6), screen, 4);
  expect(runs).toHaveLength(1);
  expect(runs[0]).toMatchObject({ x: -4, y: 100, closed: false });
  expect(runs[0]!.steps).toEqual([
    [190, 100],
    [200, 100, 200, 110],
    [200, 304],
  ]);
});
