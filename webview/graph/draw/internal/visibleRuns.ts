/** A rounded corner: the sides end at x0, y0 and x1, y1, between them a curve with its control point at x, y. */
export interface Corner {
  x0: number;
  y0: number;
  x: number;
  y: number;
  x1: number;
  y1: number;
}

/** A piece of an outline that can be seen. Each step is a line to x, y, or a curve: its control point, then its end. */
export interface OutlineRun {
  x: number;
  y: number;
  steps: number[][];
  /** How far along the outline it begins, so that dashes stay where they are while the picture moves. */
  from: number;
  /** It is the whole outline. */
  closed: boolean;
}

/**
 * The pieces of a closed outline that are within `beyond` pixels of a screen. An outline can be a thousand times as long
 * as what is seen of it, and a browser that draws without a GPU makes all of its dashes first.
 */
export function visibleRuns(
  corners: readonly Corner[],
  { width, height }: { width: number; height: number },
  beyond: number,
): OutlineRun[] {
  const runs: OutlineRun[] = [];
  let run: OutlineRun | null = null;
  let along = 0;
  const begin = (x: number, y: number, from: number): OutlineRun => {
    const begun = { x, y, steps: [], from, closed: false };
    runs.push(begun);
    return begun;
  };
  const near = (low: number, high: number, size: number) => high >= -beyond && low <= size + beyond;
  corners.forEach(({ x0, y0, x, y, x1, y1 }, index) => {
    const [left, right] = [Math.min(x0, x, x1), Math.max(x0, x, x1)];
    const [top, bottom] = [Math.min(y0, y, y1), Math.max(y0, y, y1)];
    if (near(left, right, width) && near(top, bottom, height)) {
      run ??= begin(x0, y0, along);
      run.steps.push([x, y, x1, y1]);
    } else run = null;
    along += curveLength(x0, y0, x, y, x1, y1);
    const next = corners[(index + 1) % corners.length]!;
    const [dx, dy] = [next.x0 - x1, next.y0 - y1];
    const length = Math.hypot(dx, dy);
    const [in0, out0] = within(x1, dx, -beyond, width + beyond);
    const [in1, out1] = within(y1, dy, -beyond, height + beyond);
    const [enter, leave] = [Math.max(0, in0, in1), Math.min(1, out0, out1)];
    if (enter > leave) run = null;
    else {
      if (enter > 0 || run === null) run = begin(x1 + dx * enter, y1 + dy * enter, along + length * enter);
      run.steps.push([x1 + dx * leave, y1 + dy * leave]);
      if (leave < 1) run = null;
    }
    along += length;
  });
  const [only] = runs;
  if (only !== undefined && only.steps.length === 2 * corners.length) only.closed = true;
  return runs;
}

/** The shares of the way from `start` by `by` at which it enters and leaves an interval. */
function within(start: number, by: number, low: number, high: number): [number, number] {
  if (by === 0) return start >= low && start <= high ? [-Infinity, Infinity] : [Infinity, -Infinity];
  const [a, b] = [(low - start) / by, (high - start) / by];
  return a < b ? [a, b] : [b, a];
}

/** The length of a quadratic curve, by eight chords: exact to a hundredth of a pixel for corners. */
function curveLength(x0: number, y0: number, x: number, y: number, x1: number, y1: number): number {
  let length = 0;
  let [px, py] = [x0, y0];
  for (let i = 1; i <= 8; i++) {
    const t = i / 8;
    const u = 1 - t;
    const [qx, qy] = [u * u * x0 + 2 * u * t * x + t * t * x1, u * u * y0 + 2 * u * t * y + t * t * y1];
    length += Math.hypot(qx - px, qy - py);
    [px, py] = [qx, qy];
  }
  return length;
}
