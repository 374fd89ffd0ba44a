import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Outline, unionOutline } from '../../../../src/core/picture/graph/fusionGroups.ts';

/** Whether a point is inside an odd number of loops. */
function isInside(outline: Outline, px: number, py: number): boolean {
  let inside = false;
  for (const loop of outline) {
    for (let i = 0; i < loop.length; i += 2) {
      const [x0, y0] = [loop[i]!, loop[i + 1]!];
      const [x1, y1] = [loop[(i + 2) % loop.length]!, loop[(i + 3) % loop.length]!];
      if (y0 > py !== y1 > py && px < x0 + ((py - y0) / (y1 - y0)) * (x1 - x0)) inside = !inside;
    }
  }
  return inside;
}

describe('unionOutline', () => {
  it('is the enlarged box itself for one box', () => {
    expect(unionOutline([10, 20, 30, 40], 5)).toEqual([[5, 15, 45, 15, 45, 65, 5, 65]]);
  });

  it('has no corner where two boxes continue each other', () => {
    expect(unionOutline([0, 0, 10, 10, 0, 10, 10, 10], 0)).toEqual([[0, 0, 10, 0, 10, 20, 0, 20]]);
  });

  it('has one loop for each part, and one for a hole', () => {
    expect(unionOutline([0, 0, 10, 10, 100, 0, 10, 10], 0)).toHaveLength(2);
    const frame = [0, 0, 90, 30, 0, 60, 90, 30, 0, 0, 30, 90, 60, 0, 30, 90];
    const outline = unionOutline(frame, 0);
    expect(outline).toHaveLength(2);
    expect(isInside(outline, 45, 45)).toBe(false);
    expect(isInside(outline, 15, 45)).toBe(true);
  });

  it('makes one side of sides that are nearly in line: no slivers', () => {
    expect(unionOutline([0, 0, 50, 40, 3, 40, 51, 40], 0)).toEqual([[0, 0, 54, 0, 54, 80, 0, 80]]);
  });

  it('encloses random boxes and nothing else, with sides that are horizontal or vertical in turn', () => {
    // On a grid that is wider than what counts as nearly in line.
    const side = fc.integer({ min: 0, max: 9 }).map((at) => at * 8);
    const box = fc.tuple(side, side, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }));
    fc.assert(
      fc.property(fc.array(box, { minLength: 1, maxLength: 12 }), (drawn) => {
        const boxes = drawn.flatMap(([x, y, width, height]) => [x, y, width * 8, height * 8]);
        const outline = unionOutline(boxes, 0);
        for (const loop of outline) {
          for (let i = 0; i < loop.length; i += 2) {
            const [dx, dy] = [loop[i]! - loop.at(i - 2)!, loop[i + 1]! - loop.at(i - 1)!];
            const [nx, ny] = [loop[(i + 2) % loop.length]! - loop[i]!, loop[(i + 3) % loop.length]! - loop[i + 1]!];
            expect((dx === 0) !== (dy === 0)).toBe(true);
            expect(dx === 0).toBe(ny === 0);
            expect(Math.abs(nx + ny)).toBeGreaterThanOrEqual(8);
          }
        }
        for (let x = -4; x < 124; x += 8) {
          for (let y = -4; y < 124; y += 8) {
            const within = drawn.some(([bx, by, w, h]) => x > bx && x < bx + w * 8 && y > by && y < by + h * 8);
            expect(isInside(outline, x, y)).toBe(within);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
