import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Outline, unionOutline } from '../../../../../src/kernel/picture/graph/fusionGroups.ts';
import { logOutline } from '../../../../../src/kernel/vscode/graph/internal/logOutline.ts';
import { captureText } from '../../../../support/fixtures.ts';

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

const outline = (capture: string) => logOutline(captureText(`${capture}/log.txt`)!);

describe('logOutline', () => {
  it('lists the stages of a build one after the other, each with what came of it', () => {
    const stages = outline('tensorrt-10.6.0/fusion_zoo.fp32');
    expect(stages.map(({ title, detail, line, end }) => [title, detail, line, end])).toEqual([
      ['parsing the model', '120 nodes', 160, 1313],
      ['fusing layers', '20 layers', 1314, 1474],
      ['timing tactics', '20 layers timed', 1475, 6081],
      ['finishing the engine', '', 6082, 6265],
      ['running the engine', '', 6266, 6345],
      ['done', 'passed', 6346, 6346],
    ]);
  });

  it('lists passes, ForeignNodes, timed layers and the layers of the engine inside of their stage', () => {
    const stages = outline('tensorrt-10.6.0/fusion_zoo.fp32');
    for (const { line, end, parts } of stages)
      for (const part of parts) {
        expect(part.line).toBeGreaterThanOrEqual(line);
        expect(part.end).toBeGreaterThanOrEqual(part.line);
        expect(part.end).toBeLessThanOrEqual(end);
      }
    const partsOf = (stage: string) => stages.find((one) => one.stage === stage)!.parts;
    expect(partsOf('optimize').some(({ title, detail }) => title.includes('Myelin') && detail === '38 layers')).toBe(
      true,
    );
    expect(partsOf('tactics')).toHaveLength(20);
    expect(partsOf('tactics').filter(({ title }) => title.startsWith('{ForeignNode['))).toHaveLength(3);
    expect(partsOf('finalize').filter(({ kind }) => kind === 'layer')).toHaveLength(44);
  });

  it('ends a timed layer where the next one begins, and a message in its line', () => {
    const tactics = outline('tensorrt-10.6.0/fusion_zoo.fp32').find(({ stage }) => stage === 'tactics')!;
    expect(tactics.parts.slice(0, 2).map(({ line, end }) => [line, end])).toEqual([
      [1478, 1742],
      [1743, 1898],
    ]);
    const messages = outline('tensorrt-10.6.0/fusion_zoo.fp32').flatMap(({ parts }) =>
      parts.filter(({ kind }) => kind === 'warning'),
    );
    expect(messages.length).toBeGreaterThan(2);
    expect(messages.every(({ line, end }) => line === end)).toBe(true);
  });

  it('has the errors of a build that failed', () => {
    const [parse] = outline('tensorrt-10.6.0/unsupported_op.fp32');
    expect(parse!.parts.filter(({ kind }) => kind === 'error').map(({ title }) => title)).toContainEqual(
      expect.stringContaining('MyCustomOp'),
    );
  });

  it('is empty for a text that is not a build log', () => {
    expect(logOutline('')).toEqual([]);
    expect(logOutline('[INFO] Server started\nParsing the arguments\nDone\n')).toEqual([]);
  });
});
