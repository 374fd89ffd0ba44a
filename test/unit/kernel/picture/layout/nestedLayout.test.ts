import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crossings, segmentsOf } from '../../../../../bench/layout/pictureQuality.ts';
import { decoder, layoutInput } from '../../../../../bench/layout/syntheticGraph.ts';
import { nestedLayout, sketch } from '../../../../../src/kernel/picture/layout/nestedLayout.ts';
import {
  defaultLayout,
  type LayoutInput,
  type LayoutResult,
  pieceSize,
} from '../../../../../src/kernel/picture/layout/layoutTypes.ts';

interface Box {
  parent: number;
  open: boolean;
  width?: number;
  height?: number;
}

function inputOf(boxes: Box[], edges: [number, number][], portalSpan = defaultLayout.portalSpan): LayoutInput {
  const sorted = edges.toSorted((a, b) => a[0] - b[0]);
  return {
    parent: Int32Array.from(boxes, ({ parent }) => parent),
    open: Uint8Array.from(boxes, ({ open }) => (open ? 1 : 0)),
    width: Float32Array.from(boxes, ({ width }, i) => width ?? 60 + ((i * 29) % 90)),
    height: Float32Array.from(boxes, ({ height }, i) => height ?? 22 + ((i * 13) % 40)),
    from: Int32Array.from(sorted, ([from]) => from),
    to: Int32Array.from(sorted, ([, to]) => to),
    options: { ...defaultLayout, portalSpan },
  };
}

/**
 * Random boxes in boxes, several deep and of very different sizes, with random edges between the closed ones: chains that
 * stand in columns, long edges that become portals, edges against the direction, many into one box.
 */
const pictures: fc.Arbitrary<LayoutInput> = fc
  .record({
    raw: fc.array(
      fc.record({
        // One in five leaves the box that was opened last, one in five opens.
        leaves: fc.nat(4),
        opens: fc.nat(4),
        width: fc.oneof({ weight: 8, arbitrary: fc.constant(70) }, fc.integer({ min: 20, max: 260 })),
        height: fc.oneof({ weight: 8, arbitrary: fc.constant(42) }, fc.integer({ min: 10, max: 240 })),
      }),
      { minLength: 1, maxLength: 90 },
    ),
    linked: fc.nat(10),
    portalSpan: fc.constantFrom(2, 4, 24, 24),
  })
  .chain(({ raw, linked, portalSpan }) => {
    const boxes: Box[] = [];
    const around: number[] = [];
    raw.forEach(({ leaves, opens, width, height }, i) => {
      if (leaves === 0) around.pop();
      boxes.push({ parent: around.at(-1) ?? -1, open: opens === 0, width, height });
      if (opens === 0) around.push(i);
    });
    const closed = boxes.flatMap(({ open }, i) => (open ? [] : [i]));
    const at = fc.nat(Math.max(0, closed.length - 1));
    const near = (a: number, by: number): [number, number] => [a, Math.min(closed.length - 1, a + by)];
    const edge = fc.oneof(
      { weight: 6, arbitrary: fc.tuple(at, fc.integer({ min: 1, max: 6 })).map(([a, by]) => near(a, by)) },
      { weight: 3, arbitrary: fc.tuple(at, at).map(([a, b]): [number, number] => [Math.min(a, b), Math.max(a, b)]) },
      { weight: 1, arbitrary: fc.tuple(at, at) },
    );
    return fc.array(edge, { maxLength: 120 }).map((some) => {
      const chain = closed.flatMap((_, i): [number, number][] => ((i * 7) % 10 < linked ? [near(i, 1)] : []));
      const edges = [...some, ...chain]
        .filter(([a, b]) => a !== b && closed.length > 0)
        .map(([a, b]): [number, number] => [closed[a]!, closed[b]!]);
      return inputOf(boxes, edges, portalSpan);
    });
  });

const box = ({ x, y, width, height }: LayoutResult, i: number) => ({
  left: x[i]!,
  top: y[i]!,
  right: x[i]! + width[i]!,
  bottom: y[i]! + height[i]!,
});

/** Holds that the pieces of every edge that is no portal join its source to its reader. */
function expectWholeEdges(input: LayoutInput): void {
  const result = nestedLayout(input);
  for (let e = 0; e < input.from.length; e++) {
    const first = result.edgeStart[e]!;
    const count = result.edgeStart[e + 1]! - first;
    if (result.portal[e] === 1) {
      expect(count).toBe(0);
      continue;
    }
    expect(count).toBeGreaterThan(0);
    const source = box(result, input.from[e]!);
    const target = box(result, input.to[e]!);
    let x = Number.NaN;
    let y = source.bottom;
    for (let i = first; i < first + count; i++) {
      const at = result.edgePieces[i]! * pieceSize;
      const [x0, y0, x1, , y2] = result.pieces.subarray(at, at + pieceSize);
      if (!Number.isNaN(x)) expect(x0).toBeCloseTo(x, 1);
      expect(y0).toBeCloseTo(y, 1);
      if (i === first) {
        expect(x0).toBeGreaterThanOrEqual(source.left);
        expect(x0).toBeLessThanOrEqual(source.right);
      }
      x = x1!;
      y = y2!;
    }
    expect(y).toBeCloseTo(target.top, 1);
    expect(x).toBeGreaterThanOrEqual(target.left - 0.01);
    expect(x).toBeLessThanOrEqual(target.right + 0.01);
  }
}

/** Points along the lines of an edge. */
function* pointsAlong({ pieces, edgePieces, edgeStart }: LayoutResult, edge: number): Generator<[number, number]> {
  for (let i = edgeStart[edge]!; i < edgeStart[edge + 1]!; i++) {
    const at = edgePieces[i]! * pieceSize;
    const [x0, y0, x1, y1, y2, c] = [...pieces.subarray(at, at + pieceSize)] as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const cubic = (t: number, a: number, b: number, d: number, e: number) =>
      (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t * t * d + t ** 3 * e;
    for (let t = 0; t <= 1; t += 1 / 32) yield [cubic(t, x0, x0, x1, x1), cubic(t, y0, c, c, y1)];
    for (let t = 0; t <= 1; t += 1 / 8) yield [x1, y1 + (y2 - y1) * t];
  }
}

/** Holds that lines stay on the picture and run through no box but those that one of their ends is in. */
function expectClearLines(input: LayoutInput): void {
  const result = nestedLayout(input);
  const boxes = Array.from(input.parent, (_, i) => box(result, i));
  for (let e = 0; e < input.from.length; e++) {
    const own = new Set<number>();
    for (const end of [input.from[e]!, input.to[e]!]) for (let at = end; at >= 0; at = input.parent[at]!) own.add(at);
    const others = boxes.filter((_, i) => !own.has(i));
    for (const [x, y] of pointsAlong(result, e)) {
      const hit = others.find(
        ({ left, top, right, bottom }) => x > left + 1 && x < right - 1 && y > top + 1 && y < bottom - 1,
      );
      expect(hit, `edge ${e} at ${x}, ${y}`).toBeUndefined();
      const isIn = x > -0.1 && x < result.totalWidth + 0.1 && y > -0.1 && y < result.totalHeight + 0.1;
      expect(isIn, `edge ${e} at ${x}, ${y} leaves the picture`).toBe(true);
    }
  }
}

describe('nestedLayout', () => {
  it('keeps boxes apart and inside the box around them', () => {
    fc.assert(
      fc.property(pictures, (input) => {
        const result = nestedLayout(input);
        const boxes = Array.from(input.parent, (parent) => ({ parent }));
        for (let i = 0; i < boxes.length; i++) {
          const a = box(result, i);
          const parent = boxes[i]!.parent;
          const around =
            parent < 0
              ? { left: 0, top: 0, right: result.totalWidth, bottom: result.totalHeight }
              : box(result, parent);
          expect(a.left).toBeGreaterThanOrEqual(around.left - 0.01);
          expect(a.top).toBeGreaterThanOrEqual(around.top - 0.01);
          expect(a.right).toBeLessThanOrEqual(around.right + 0.01);
          expect(a.bottom).toBeLessThanOrEqual(around.bottom + 0.01);
          for (let k = 0; k < i; k++) {
            if (boxes[k]!.parent !== parent) continue;
            const b = box(result, k);
            const apart =
              a.right <= b.left + 0.01 ||
              b.right <= a.left + 0.01 ||
              a.bottom <= b.top + 0.01 ||
              b.bottom <= a.top + 0.01;
            expect(apart, `boxes ${k} and ${i} overlap`).toBe(true);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('leads every drawn edge from its source to its reader, without a gap', () => {
    fc.assert(
      fc.property(pictures, (input) => expectWholeEdges(input)),
      { numRuns: 300 },
    );
  });

  it('leads no line through a box that it has nothing to do with, or off the picture', () => {
    fc.assert(
      fc.property(pictures, (input) => expectClearLines(input)),
      { numRuns: 300 },
    );
  });

  it('leads a line down beside a lower box before it turns', () => {
    const flat = (heights: number[]) => heights.map((height) => ({ parent: -1, open: false, width: 70, height }));
    const edges: [number, number][] = [
      [2, 5],
      [2, 7],
      [2, 3],
      [5, 6],
    ];
    expectClearLines(inputOf(flat([42, 42, 42, 42, 175, 42, 42, 42]), edges));
    // The same where it turns into the next column.
    const pile = flat(Array.from({ length: 40 }, (_, i) => (i === 12 ? 240 : 42)));
    const pairs = pile.flatMap((_, i): [number, number][] =>
      i < 38
        ? [
            [i, i + 2],
            [i, i + 1 + (i % 2)],
          ]
        : [],
    );
    expectClearLines(inputOf(pile, pairs));
  });

  it('leads a line out at the end of an open box that is higher than what is in it', () => {
    const boxes = [
      { parent: -1, open: true, height: 90 },
      { parent: 0, open: false, height: 22 },
      { parent: -1, open: false },
    ];
    expectWholeEdges(inputOf(boxes, [[1, 2]]));
    expect(nestedLayout(inputOf(boxes, [[1, 2]])).height[0]).toBe(90);
  });

  it('does so where a line into an open box arrives at its middle', () => {
    const boxes = [-1, -1, 0, -1, 0, 2, 2, 2, 2, -1, -1, -1].map((parent, i) => ({ parent, open: i === 0 || i === 2 }));
    const edges: [number, number][] = [
      [1, 7],
      [3, 6],
      [4, 6],
    ];
    expectWholeEdges(inputOf(boxes, edges));
  });

  it('gives the same picture every time, and does not move boxes when an unrelated one opens', () => {
    const boxes: Box[] = [
      { parent: -1, open: false },
      { parent: -1, open: true },
      { parent: 1, open: false },
      { parent: 1, open: false },
      { parent: -1, open: false },
    ];
    const edges: [number, number][] = [
      [0, 2],
      [2, 3],
      [3, 4],
    ];
    const first = nestedLayout(inputOf(boxes, edges));
    expect(nestedLayout(inputOf(boxes, edges))).toEqual(first);
    // The inside of a box depends on nothing outside it but what goes in and out.
    const more = nestedLayout(inputOf([...boxes, { parent: -1, open: false }], [...edges, [4, 5]]));
    for (const child of [2, 3]) {
      expect(more.x[child]! - more.x[1]!).toBeCloseTo(first.x[child]! - first.x[1]!, 2);
      expect(more.y[child]! - more.y[1]!).toBeCloseTo(first.y[child]! - first.y[1]!, 2);
    }
  });

  it('turns long edges into portals and draws the others', () => {
    const boxes = Array.from({ length: 40 }, () => ({ parent: -1, open: false }));
    const chain = boxes.slice(1).map((_, i): [number, number] => [i, i + 1]);
    const input = inputOf(boxes, [...chain, [0, 39], [0, 5]], 24);
    const { portal } = nestedLayout(input);
    const portals = [...portal].flatMap((flag, e) => (flag === 1 ? [[input.from[e], input.to[e]]] : []));
    expect(portals).toEqual([[0, 39]]);
  });

  it('marks edges that run against the direction of two modules that need each other', () => {
    // Two closed modules, each of which reads the other.
    const input = inputOf(
      [
        { parent: -1, open: false },
        { parent: -1, open: false },
      ],
      [
        [0, 1],
        [1, 0],
      ],
    );
    const { back, portal } = nestedLayout(input);
    expect([...back]).toEqual([0, 1]);
    expect([...portal]).toEqual([0, 1]);
  });

  it('stands a tall pile in columns, and opening a box moves nothing to another column', () => {
    const boxes = Array.from({ length: 60 }, () => ({ parent: -1, open: false }));
    const chain = boxes.slice(1).map((_, i): [number, number] => [i, i + 1]);
    const plain = nestedLayout(inputOf(boxes, chain));
    expect(plain.totalWidth).toBeGreaterThan(plain.totalHeight * 0.5);
    const columnsOf = ({ x, width }: LayoutResult, count: number) => {
      const centers = Array.from({ length: count }, (_, i) => Math.round(x[i]! + width[i]! / 2));
      return centers.map((center, i) => (i === 0 ? 0 : Number(Math.abs(center - centers[i - 1]!) > 100)));
    };
    const opened = boxes.map((one, i) => (i === 10 ? { ...one, open: true } : one));
    const inner = [0, 1, 2].map(() => ({ parent: 10, open: false }));
    const edges: [number, number][] = [
      ...chain.flatMap(([a, b]): [number, number][] => (a === 10 ? [[62, b]] : b === 10 ? [[a, 60]] : [[a, b]])),
      [60, 61],
      [61, 62],
    ];
    const after = nestedLayout(inputOf([...opened, ...inner], edges));
    expect(columnsOf(after, 60)).toEqual(columnsOf(plain, 60));
  });

  it('is sketched with its columns, and as large where no line runs past a box', () => {
    const boxes = Array.from({ length: 60 }, () => ({ parent: -1, open: false }));
    const chain = boxes.slice(1).map((_, i): [number, number] => [i, i + 1]);
    const input = inputOf(boxes, chain);
    input.options = { ...input.options, room: 900 };
    const { totalWidth, totalHeight, begins } = nestedLayout(input);
    expect(begins.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(2);
    expect(totalHeight).toBeLessThanOrEqual(960);
    expect(sketch(input)).toEqual({ begins, totalWidth, totalHeight });
  });

  it('is as free of crossings as a graph of parallel chains allows', () => {
    const chains = 5;
    const boxes = Array.from({ length: chains * 8 }, () => ({ parent: -1, open: false }));
    const edges = boxes.flatMap((_, i): [number, number][] => (i + chains < boxes.length ? [[i, i + chains]] : []));
    const input = inputOf(boxes, edges);
    expect(crossings(segmentsOf(nestedLayout(input)), input.from, input.to)).toBe(0);
  });

  it('manages large graphs, also with a mask that every block reads, with work in proportion', () => {
    const plain = nestedLayout(layoutInput(decoder(20_000)));
    const masked = nestedLayout(layoutInput(decoder(20_000, true)));
    // Lines, not milliseconds: what the mask adds is its portals.
    expect(masked.pieces.length).toBeLessThan(plain.pieces.length * 1.1);
    expect(masked.portal.reduce((sum, flag) => sum + flag, 0)).toBeGreaterThan(100);
  });

  it('takes nothing, one box, and boxes without edges', () => {
    expect(nestedLayout(inputOf([], [])).totalWidth).toBeGreaterThanOrEqual(0);
    expect(nestedLayout(inputOf([{ parent: -1, open: true }], [])).height[0]).toBeGreaterThan(0);
    const many = nestedLayout(
      inputOf(
        Array.from({ length: 30 }, () => ({ parent: -1, open: false })),
        [],
      ),
    );
    expect(new Set(many.x).size).toBeGreaterThan(1);
  });
});
