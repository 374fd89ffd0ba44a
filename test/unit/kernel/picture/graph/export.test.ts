import { beforeAll, describe, expect, it } from 'vitest';
import type { BuildManifest } from '../../../../../src/kernel/build/buildManifest.ts';
import { engineMs } from '../../../../../src/kernel/report/words.ts';
import {
  chromeTrace,
  modelExplorerData,
  type TraceEvent,
} from '../../../../../src/kernel/picture/page/fusionTimeline.ts';
import type { ViewData } from '../../../../../src/kernel/picture/graph/viewData.ts';
import { captureData } from '../../../../webview/support/captureData.ts';
import { buildManifest } from '../../../../support/buildManifest.ts';
import { reportWith } from '../../../features/diff/reportWith.ts';
import { handLayer, handReport } from './handReport.ts';

let vit: ViewData;
let unnamed: ViewData;
beforeAll(async () => {
  vit = await captureData('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16');
  unnamed = await captureData('unnamed', 'tensorrt-10.6.0/unnamed.fp32');
});

type Slice = Extract<TraceEvent, { ph: 'X' }>;

/**
 * Reads a trace as the Trace Event Format defines it: complete events with times in microseconds, metadata events that name
 * processes and threads; slices of one thread follow each other or contain each other. Gives the slices by their thread's name.
 */
function readTrace(text: string): Map<string, Slice[]> {
  const { traceEvents, displayTimeUnit } = JSON.parse(text) as { traceEvents: TraceEvent[]; displayTimeUnit: string };
  expect(['ms', 'ns']).toContain(displayTimeUnit);
  const names = new Map<string, string>();
  const processes = new Map<number, string>();
  for (const event of traceEvents) {
    if (event.ph !== 'M') continue;
    if (event.name === 'process_name') processes.set(event.pid, event.args.name);
    else names.set(`${event.pid}/${event.tid}`, event.args.name);
  }
  const threads = new Map<string, Slice[]>();
  for (const event of traceEvents) {
    expect(Number.isInteger(event.pid) && Number.isInteger(event.tid)).toBe(true);
    expect(processes.get(event.pid)).toBeTruthy();
    if (event.ph !== 'X') continue;
    expect(event.name).not.toBe('');
    expect(event.ts).toBeGreaterThanOrEqual(0);
    expect(event.dur).toBeGreaterThanOrEqual(0);
    const thread = names.get(`${event.pid}/${event.tid}`);
    expect(thread).toBeTruthy();
    threads.set(thread!, [...(threads.get(thread!) ?? []), event]);
  }
  for (const slices of threads.values()) {
    const open: Slice[] = [];
    for (const slice of slices.toSorted((a, b) => a.ts - b.ts || b.dur - a.dur)) {
      while (open.length > 0 && open.at(-1)!.ts + open.at(-1)!.dur <= slice.ts + 1e-6) open.pop();
      const around = open.at(-1);
      if (around) expect(slice.ts + slice.dur).toBeLessThanOrEqual(around.ts + around.dur + 1e-6);
      open.push(slice);
    }
  }
  return threads;
}

const sum = (slices: readonly Slice[] = []) => slices.reduce((total, { dur }) => total + dur, 0) / 1000;

describe('a build as a trace', () => {
  it('has every kernel with its time and nodes, layers around them, and the stages of the build', () => {
    const stages = [
      { stage: 'parse', ms: 12.5 },
      { stage: 'tactics', ms: 3000 },
    ] as const;
    const manifest: BuildManifest = buildManifest({
      timeLine: { totalMs: 3012.5, stages: [...stages], slowest: [{ layer: 'fc', ms: 40 }] },
    });
    const threads = readTrace(JSON.stringify(chromeTrace(vit.report!, manifest)));
    expect([...threads.keys()]).toEqual(['Layers', 'Kernels, stream 0', 'Stages']);
    const kernels = threads.get('Kernels, stream 0')!;
    expect(kernels).toHaveLength(vit.report!.layers.length);
    expect(sum(kernels)).toBeCloseTo(engineMs(vit.report!)!, 4);
    expect(sum(threads.get('Layers'))).toBeCloseTo(engineMs(vit.report!)!, 4);
    expect(threads.get('Layers')!.filter(({ name }) => name === 'blocks.0–11 · Attention ×12 + MLP ×12')).toHaveLength(
      1,
    );
    const mha = kernels.find(({ name }) => name.includes('_gemm_mha_v2'))!;
    expect(mha.args).toMatchObject({ nodeCount: 4, exact: true });
    expect((mha.args['nodes'] as string[]).some((name) => name.endsWith('/Softmax'))).toBe(true);
    expect(threads.get('Stages')!.map(({ name, ts, dur }) => [name, ts, dur])).toEqual([
      ['parsing the model', 0, 12500],
      ['timing tactics', 12500, 3_000_000],
    ]);
  });

  it('has a track per stream, and the stages alone where no layer has a time', () => {
    const timed = reportWith(
      ['A1', 'B2'],
      [
        { nodes: ['A1'], stream: 0 },
        { nodes: ['B2'], stream: 3 },
      ],
    );
    expect([...readTrace(JSON.stringify(chromeTrace(timed, null))).keys()]).toEqual([
      'Layers',
      'Kernels, stream 0',
      'Kernels, stream 3',
    ]);
    const bare = reportWith(['A1'], [{ nodes: ['A1'], averageMs: null }]);
    expect(chromeTrace(bare, null)).toBeNull();
    const manifest = buildManifest({ timeLine: { totalMs: 1, stages: [{ stage: 'parse', ms: 1 }], slowest: [] } });
    expect([...readTrace(JSON.stringify(chromeTrace(bare, manifest))).keys()]).toEqual(['Stages']);
  });

  it('of a trace has the median pass as it was recorded, with its gaps and what overlaps on other streams', () => {
    const ran = (startMs: number, endMs: number, stream: number) => ({ averageMs: 9, ran: { startMs, endMs, stream } });
    const report = handReport(
      [],
      [
        handLayer(0, 'kernel', [], { foreignNode: 0, ...ran(0, 1, 23) }),
        handLayer(1, 'kernel', [], { foreignNode: 0, ...ran(4, 7, 23) }),
        handLayer(2, 'other', [], { averageMs: 0 }),
        handLayer(3, 'kernel', [], { foreignNode: 1, ...ran(5, 8, 7) }),
        handLayer(4, 'reformat', [], ran(2, 3, 23)),
      ],
    );
    const trace = chromeTrace(report, null)!;
    expect(trace.otherData['times']).toBe('the median pass of the trace');
    const threads = readTrace(JSON.stringify(trace));
    const of = (name: string) => threads.get(name)!.map(({ args, ts, dur }) => [args['layer'], ts, dur]);
    expect(of('Kernels, stream 23')).toEqual([
      [0, 0, 1000],
      [4, 2000, 1000],
      [1, 4000, 3000],
    ]);
    expect(of('Kernels, stream 7')).toEqual([[3, 5000, 3000]]);
    expect(threads.get('Layers, stream 23')).toHaveLength(3);
    expect(threads.get('Layers, stream 7')!.map(({ name }) => name)).toEqual(['ForeignNode 1']);
    expect(threads.get('Kernels, stream 7')![0]!.args['averageMs']).toBe(9);
  });
});

describe('node data for Model Explorer', () => {
  it('is what its interface allows: by graph, by node id or output tensor, with colors and a whole gradient', () => {
    for (const { graph, report } of [vit, unnamed]) {
      const sets = modelExplorerData(graph!, report!);
      expect(sets.map(({ name }) => name)).toEqual(
        report!.layers.some(({ averageMs }) => averageMs !== null)
          ? ['fate', 'kernel', 'precision', 'time']
          : ['fate', 'kernel', 'precision'],
      );
      // What Model Explorer finds a node by.
      const known = new Map<string, Set<string>>();
      for (const { id, name, outputs } of graph!.nodes)
        for (const key of [name, ...outputs]) known.set(key, (known.get(key) ?? new Set()).add(id));
      for (const { data } of sets) {
        expect(Object.keys(data)).toEqual([graph!.name]);
        const { name, results, gradient, ...rest } = data[graph!.name]!;
        expect(name).not.toBe('');
        expect(rest).toEqual({});
        for (const [key, { value, bgColor, ...more }] of Object.entries(results)) {
          expect(known.get(key)?.size, key).toBe(1);
          expect(more).toEqual({});
          if (gradient === undefined) expect(bgColor).toMatch(/^#[\da-f]{6}$/);
          expect(typeof value).toBe(gradient === undefined ? 'string' : 'number');
        }
        if (gradient) expect(gradient.map(({ stop }) => stop)).toEqual([0, 1]);
      }
    }
  });

  it('keeps a node that is called __proto__, and gives no node the value of another that is called like its output', () => {
    const graph = structuredClone(vit.graph!);
    const [first, second, third] = graph.nodes;
    first!.name = '__proto__';
    second!.name = '';
    second!.outputs = [third!.name];
    const [{ data }] = modelExplorerData(graph, vit.report!) as [ReturnType<typeof modelExplorerData>[number]];
    const { results } = data[graph.name]!;
    expect(Object.keys(results)).toContain('__proto__');
    expect(Object.keys((JSON.parse(JSON.stringify(data)) as typeof data)[graph.name]!.results)).toHaveLength(
      graph.nodes.length - 1,
    );
    expect(Object.keys(results)).not.toContain(third!.name);
    expect(Object.keys(results)).toContain(third!.outputs[0]);
  });

  it('says of every node what became of it, and its times are those of the layers', () => {
    const { graph, report } = vit;
    const sets = new Map(
      modelExplorerData(graph!, report!).map(({ name, data }) => [name, data[graph!.name]!.results]),
    );
    expect(Object.keys(sets.get('fate')!)).toHaveLength(report!.nodes.length);
    expect(sets.get('kernel')!['/patch_embed/proj/Conv']!.value).toContain('/patch_embed/proj/Conv');
    const mha = Object.values(sets.get('kernel')!).filter(({ value }) => String(value).includes('_gemm_mha_v2'));
    expect(mha).toHaveLength(12 * 4);
    const times = Object.values(sets.get('time')!).reduce((total, { value }) => total + Number(value), 0);
    const withNodes = report!.layers.filter(({ nodes }) => nodes.length > 0);
    expect(times).toBeCloseTo(
      withNodes.reduce((total, { averageMs }) => total + (averageMs ?? 0), 0),
      9,
    );
  });
});
