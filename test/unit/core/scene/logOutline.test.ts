import { describe, expect, it } from 'vitest';
import { logOutline } from '../../../../src/host/graph/internal/logOutline.ts';
import { captureText } from '../../../support/fixtures.ts';

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
