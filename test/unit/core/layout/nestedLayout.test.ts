import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crossings, segmentsOf } from '../../../../bench/layout/pictureQuality.ts';
import { decoder, layoutInput } from '../../../../bench/layout/syntheticGraph.ts';
import { defaultLayout, pieceSize } from '../../../../src/core/layout/layoutTypes.ts';
import type { LayoutInput, LayoutResult } from '../../../../src/core/layout/layoutTypes.ts';
import { nestedLayout } from '../../../../src/core/layout/nestedLayout.ts';

interface Box {
  parent: number;
  open: boolean;
}

function inputOf(boxes: Box[], edges: [number, number][], portalSpan = defaultLayout.portalSpan): LayoutInput {
  const sorted = edges.toSorted((a, b) => a[0] - b[0]);
  return {
    parent: Int32Array.from(boxes, ({ parent }) => parent),
    open: Uint8Array.from(boxes, ({ open }) => (open ? 1 : 0)),
    width: Float32Array.from(boxes, (_, i) => 60 + ((i * 29) % 90)),
    height: Float32Array.from(boxes, (_, i) => 22 + ((i * 13) % 40)),
    from: Int32Array.from(sorted, ([from]) => from),
    to: Int32Array.from(sorted, ([, to]) => to),
    options: { ...defaultLayout, portalSpan },
  };
}

/** Random boxes in boxes with random edges between the closed ones, cycles between boxes included. */
const graphs = fc
  .array(fc.record({ parent: fc.nat(), open: fc.boolean() }), { minLength: 1, maxLength: 40 })
  .chain((raw) => {
    const boxes: Box[] = [];
    raw.forEach(({ parent, open }, i) => {
      const opened = boxes.flatMap((box, index) => (box.open ? [index] : []));
      const pick = opened.length === 0 ? -1 : (opened[parent % (opened.length + 1)] ?? -1);
      boxes.push({ parent: pick, open: open && i % 2 === 0 });
    });
    const leaves = boxes.flatMap(({ open }, i) => (open ? [] : [i]));
    const leaf = fc.constantFrom(...(leaves.length > 0 ? leaves : [-1]));
    return fc
      .array(fc.tuple(leaf, leaf), { maxLength: 80 })
      .map((edges) => ({ boxes, edges: edges.filter(([a, b]) => a >= 0 && b >= 0 && a !== b) }));
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

describe('nestedLayout', () => {
  it('keeps boxes apart and inside the box around them', () => {
    fc.assert(
      fc.property(graphs, ({ boxes, edges }) => {
        const result = nestedLayout(inputOf(boxes, edges));
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
      fc.property(graphs, ({ boxes, edges }) => expectWholeEdges(inputOf(boxes, edges))),
      { numRuns: 300 },
    );
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
      const centres = Array.from({ length: count }, (_, i) => Math.round(x[i]! + width[i]! / 2));
      return centres.map((centre, i) => (i === 0 ? 0 : Number(Math.abs(centre - centres[i - 1]!) > 100)));
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
