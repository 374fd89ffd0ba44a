import { describe, expect, it } from 'vitest';
import { figuresOf, figuresText, headlineOf } from '../../../../../src/kernel/picture/page/headline.ts';
import { buildManifest } from '../../../../support/buildManifest.ts';
import { blocksReport, handLayer, handReport } from './handReport.ts';

describe('the figures of a report', () => {
  it('count layers, fates and time, and select what they count', () => {
    const figures = figuresOf(blocksReport(), null);
    expect(figuresText(figures)).toBe(
      '3 layers · 1 ForeignNode 80 % · 1 single · 1 folded · 1 removed · 1 unknown · 10.0 ms',
    );
    expect(figures.map(({ key, selection }) => [key, selection.kind])).toEqual([
      ['layers', 'layers'],
      ['foreign', 'fate'],
      ['single', 'fate'],
      ['folded', 'fate'],
      ['removed', 'fate'],
      ['unknown', 'fate'],
      ['time', 'layers'],
    ]);
  });

  it('leave out fates without nodes, except that nothing is unknown', () => {
    const report = handReport(
      [
        ['/a', 'Add', 'fused'],
        ['/b', 'Mul', 'fused'],
      ],
      [handLayer(0, 'fused', ['0', '1'])],
    );
    const figures = figuresOf(report, null);
    expect(figuresText(figures)).toBe('1 layer · 2 fused · 0 unknown');
    expect(figures.at(-1)!.selection).toEqual({ kind: 'none' });
    expect(figures[1]!.meaning).toBe('In fused layers: 2 of 2 nodes.');
  });

  it('give the share of the requested type, which is zero where the request had no effect', () => {
    const tensor = (name: string, type: string) => ({ name, type, dims: [1], format: null }) as never;
    const report = handReport(
      [
        ['/a', 'Add', 'single'],
        ['/b', 'Mul', 'single'],
      ],
      [
        handLayer(0, 'single', ['0'], { outputs: [tensor('x', 'Half')] }),
        handLayer(1, 'single', ['1'], { outputs: [tensor('y', 'Float')] }),
      ],
    );
    const precision = (requested: string | null) => figuresOf(report, requested).find(({ key }) => key === 'precision');
    expect(precision('fp16')).toMatchObject({ text: 'FP16 50 %', selection: { kind: 'layers', ids: [0] } });
    expect(precision('bf16')).toMatchObject({ text: 'BF16 0 %', selection: { kind: 'none' } });
  });
});

describe('what is next', () => {
  const view = { title: 'm.onnx', graph: null, hints: [] };

  it('is to build or to check where nothing was built, and nothing where the banner says what failed', () => {
    const { figures, next } = headlineOf({ ...view, report: null, build: null });
    expect(figuresText(figures)).toBe('0 nodes · no build');
    expect(next.map(({ run }) => run)).toEqual(['build', 'check', 'attach']);
    expect(headlineOf({ ...view, report: null, build: buildManifest({ result: 'failed' }) }).next).toEqual([]);
  });

  it('is no build of a model in which ONNX Runtime keeps engines', () => {
    const node = {
      id: '0',
      name: '',
      op: 'EPContext',
      domain: 'com.microsoft',
      inputs: [],
      outputs: [],
      attributes: [],
    };
    const graph = { name: 'g', nodes: [node], inputs: [], outputs: [], tensors: [] };
    const { next, notes } = headlineOf({ ...view, graph, report: null, build: null });
    expect(next.map(({ run }) => run)).toEqual(['attach']);
    expect(notes.join(' ')).toContain('open the model from which it was made');
  });

  const reportWith = (
    ...findings: (readonly [code: 'reformat-cost' | 'memory-bound' | 'host-gaps', ms: number, layers: number[]])[]
  ) => ({
    ...blocksReport(),
    findings: findings.map(([code, ms, layers]) => ({
      code,
      exact: true,
      message: code,
      evidence: [],
      ms,
      nodes: [],
      layers,
    })),
  });
  const stepsOf = (report: ReturnType<typeof reportWith>) =>
    headlineOf({ ...view, report, build: buildManifest({}) }).next.map(({ text, selection }) => [
      text.replace(/ [\d.]+ [mµ]s.*/, ''),
      selection?.kind === 'layers' ? selection.ids : [],
    ]);

  it('is two findings at most, the most time first, and the slowest kernel', () => {
    expect(
      stepsOf(reportWith(['reformat-cost', 0.01, [1]], ['memory-bound', 0.1, [2]], ['host-gaps', 0.05, [1, 2]])),
    ).toEqual([
      ['Memory-bound', [2]],
      ['Waits for the host', [1, 2]],
      ['Slowest kernel: /stem/Conv', [1]],
    ]);
  });

  it('leads to no layer twice', () => {
    expect(
      stepsOf(reportWith(['reformat-cost', 0.01, [2]], ['memory-bound', 0.1, [1]], ['host-gaps', 0.05, [1]])),
    ).toEqual([
      ['Memory-bound', [1]],
      ['Reformats', [2]],
    ]);
  });

  it('is first what disobeys a rule', () => {
    const asked = [
      { node: '3', type: 'fp32', line: 2, verdict: 'disobeyed', certain: true, reason: 'It is FP16.' } as const,
    ];
    const [first] = headlineOf({ ...view, report: blocksReport(), build: null, asked: [...asked] }).next;
    expect(first).toEqual({
      text: '1 node not in the requested precision',
      meaning: 'It is FP16.',
      selection: { kind: 'nodes', ids: ['3'] },
    });
  });
});
