import { describe, expect, test } from 'vitest';
import type { EngineLayer, KernelTrace } from '../../../../../src/kernel/read/tensorrt/buildOutput.ts';
import { readLayerInfo } from '../../../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { readNsysTrace } from '../../../../../src/kernel/read/tensorrt/readTrace.ts';
import { joinTrace } from '../../../../../src/kernel/fusion/internal/traceJoin.ts';
import { inspectFile } from '../../../../../src/kernel/inspect/inspectFile.ts';
import { bytesOf } from '../../../../../src/kernel/base/problem.ts';
import { readFixture } from '../../../../support/fixtures.ts';

interface Sums {
  kernels: number;
  ns: number;
  /** By name of the innermost range; graphs are not among them. */
  ranges: Record<string, number>;
  /** Copies and memsets by kind: how many, nanoseconds, bytes. */
  memory: Record<string, [count: number, ns: number, bytes: number]>;
  /** Calls that launched a kernel each, and their nanoseconds. */
  calls: [count: number, ns: number];
  /** Median and 90th percentile in nanoseconds of those after the first pass. */
  laterCalls?: [p50: number, p90: number];
  /** Nanoseconds of each pass from its first kernel to the end of its last, and without any kernel. */
  passes: [span: number, idle: number][];
}
const text = (path: string): string => new TextDecoder().decode(readFixture(path));
const sums = JSON.parse(text('traces/sums.json')) as Record<string, Sums>;
const read = (name: string) => readNsysTrace(bytesOf(readFixture(`traces/${name}`)));
const layersOf = (engine: string): EngineLayer[] =>
  readLayerInfo(text(`traces/${engine}/layers.json.gz`)).value!.layers;
const total = (trace: KernelTrace, name: string): number =>
  trace.groups
    .filter(({ ranges }) => ranges[0]!.name === name)
    .reduce((sum, { passNs }) => sum + passNs.reduce((all, ns) => all + ns, 0), 0);

describe.each(Object.keys(sums))('%s', (name) => {
  const [engine, kind] = name.split('/') as [string, string];

  test('every launch belongs to a layer, and times are those that SQL adds up', async () => {
    const { value, problems } = await read(`${name}.sqlite.gz`);
    const { kernels, ns, ranges, memory, calls, laterCalls, passes } = sums[name]!;
    const layers = layersOf(engine);
    const join = joinTrace(layers, value!.trace!);
    expect(problems).toEqual([]);
    expect(join.problems).toEqual([]);
    expect(
      Object.fromEntries(value!.trace!.memory!.map((sum) => [sum.kind, [sum.count, sum.ms * 1e6, sum.bytes]])),
    ).toEqual(memory);
    const { pass, launches, ...profile } = join.traced!.profile;
    expect(profile).toEqual({
      memory: value!.trace!.memory,
      source: 'nsys',
      recorder: '2023.4.4.54',
      gpu: {
        name: 'NVIDIA H200',
        bytesPerSecond: 4_814_304_000_000,
        cacheBytes: 62_914_560,
        computeCapability: '9.0',
      },
      kernels,
      attributed: kernels,
      otherMs: 0,
      passes: passes.length,
    });
    const spans = passes.map(([span]) => span).toSorted((a, b) => a - b);
    const mean = (values: number[]) => values.reduce((sum, one) => sum + one, 0) / values.length / 1e6;
    expect(pass!.averageMs).toBeCloseTo(mean(spans), 9);
    const median = spans[Math.ceil(spans.length / 2) - 1]!;
    expect([pass!.p50, pass!.p99]).toEqual([median / 1e6, spans.at(-1)! / 1e6]);
    expect(pass!.gapMs).toBe(passes.find(([span]) => span === median)![1] / 1e6);
    const [p50, p90] = laterCalls ?? [];
    expect(launches).toEqual({
      calls: calls[0],
      ms: calls[1] / 1e6,
      ...(p50 !== undefined && p90 !== undefined && { p50: p50 / 1e6, p90: p90 / 1e6 }),
    });
    const gaps = join.traced!.layers.reduce((sum, layer) => sum + (layer?.gapMs ?? 0), 0);
    expect(gaps).toBeCloseTo(pass!.gapMs, 6);
    const ran = join.traced!.layers.flatMap((layer) => layer?.ran ?? []);
    expect(Math.min(...ran.map(({ startMs }) => startMs))).toBe(0);
    expect(Math.max(...ran.map(({ endMs }) => endMs))).toBe(pass!.p50);
    const whole = join.averageMs.reduce<number>((sum, ms) => sum + (ms ?? 0), 0) * join.traced!.profile.passes;
    expect(whole).toBeCloseTo(ns / 1e6, 9);
    expect(join.percent.reduce<number>((sum, percent) => sum + (percent ?? 0), 0)).toBeCloseTo(100, 9);
    if (kind === 'plain')
      for (const [range, time] of Object.entries(ranges))
        expect([range, total(value!.trace!, range)]).toEqual([range, time]);
  });
});

test.each(['bert_base.fp16', 'fusion_zoo.fp32', 'vit_tiny.fp16'])(
  'a CUDA graph of %s gives each layer the launches that it has without one',
  async (engine) => {
    const launches = async (kind: string): Promise<(number | undefined)[]> => {
      const { value } = await read(`${engine}/${kind}.sqlite.gz`);
      const { traced } = joinTrace(layersOf(engine), value!.trace!);
      return traced!.layers.map((layer) => layer && layer.launches! / traced!.profile.passes);
    };
    expect(await launches('graph')).toEqual(await launches('plain'));
  },
);

test('median, 90th and 99th percentile are times of passes', () => {
  const trace: KernelTrace = {
    kernels: 200,
    ms: 0.02,
    passes: 100,
    groups: [
      {
        ranges: [{ name: 'inner', turn: 0 }, { name: 'conv', turn: 0 }],
        launches: 200,
        passes: Int32Array.from({ length: 100 }, (_, pass) => pass),
        passNs: Float64Array.from({ length: 100 }, (_, pass) => 1000 * (100 - pass)),
        gapNs: 0,
        calls: 0,
        callNs: 0,
        laterCallNs: new Float32Array(0),
      },
    ],
    occurrences: new Map([['conv', { least: 1, most: 1 }]]),
  }; // oxfmt-ignore
  const layer = { name: 'conv' } as EngineLayer;
  const { averageMs, traced } = joinTrace([layer], trace);
  expect([averageMs, traced!.layers]).toEqual([
    [0.0505],
    [{ p10: 0.01, p50: 0.05, p90: 0.09, p99: 0.099, launches: 200, gapMs: 0 }],
  ]);
  // Two layers of the name, one range of it in each pass: which of the two ran is not known.
  const unclear = joinTrace([layer, layer], trace);
  expect([unclear.averageMs, unclear.traced!.profile.attributed]).toEqual([[null, null], 0]);
  expect(unclear.problems.map(({ code }) => code)).toEqual(['trace-order']);
});

test.each(['odd', 'backwards'])(
  '%s: small pages, long texts, large ids, several processes and threads, ranges that overlap',
  async (name) => {
    const { value, problems } = await read(`${name}.sqlite`);
    expect(problems).toEqual([]);
    const { groups, kernels, ms } = value!.trace!;
    const found = groups.map(({ ranges, passNs }): [string, number[]] => [ranges[0]!.name.slice(0, 30), [...passNs]]);
    expect(found.toSorted((a, b) => a[1][0]! - b[1][0]!)).toEqual([
      [`layer_${'x'.repeat(24)}`, [1]],
      ['overlapping', [10]],
      ['second process', [1000]],
      ['ExecutionContext::enqueue', [10_000]],
      ['second thread', [20_000]],
    ]);
    expect([kernels, ms]).toEqual([6, 0.131011]);
    // The median pass is the first thread's. The kernel of the second process runs until 3000, in its gap.
    const idle = groups.map(({ gapNs }) => gapNs).toSorted((a, b) => a - b);
    expect(idle).toEqual([0, 0, 0, 0, 1000]);
  },
);

describe('what cannot be read', () => {
  test('says why', async () => {
    const codes = async (bytes: Uint8Array) => (await readNsysTrace(bytesOf(bytes))).problems.map(({ code }) => code);
    expect(await codes(readFixture('traces/wal.sqlite'))).toEqual(['sqlite-wal']);
    expect(await codes(readFixture('traces/rowid.sqlite'))).toEqual(['no-profile']);
    const { problems } = await read('renamed.sqlite');
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      [
        'trace-schema',
        'The table CUPTI_ACTIVITY_KIND_KERNEL, written by Nsight Systems 2031.1, has no column start. Export the trace with another version of nsys.',
      ],
    ]);
    expect(await codes(new TextEncoder().encode('SQLite format 3\0'))).toEqual(['damaged']);
    expect(await codes(new TextEncoder().encode('{}'))).toEqual(['no-sqlite']);
  });

  test('inspect names a trace, and a database that is none', async () => {
    const kind = async (name: string) => (await inspectFile(bytesOf(readFixture(`traces/${name}`)))).kind;
    expect(await kind('odd.sqlite')).toBe('trace');
    expect(await kind('rowid.sqlite')).toBe('unknown');
  });

  test('a truncated or mutated trace never fails or hangs', async () => {
    const whole = readFixture('traces/odd.sqlite');
    const { kernels } = (await readNsysTrace(bytesOf(whole))).value!.trace!;
    let damaged = 0;
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let round = 0; round < 1500; round++) {
      const bytes = round % 3 === 0 ? whole.slice(0, random(whole.length)) : whole.slice();
      if (round % 3 > 0)
        for (let change = 0; change < 1 + random(20); change++) bytes[random(bytes.length)] = random(256);
      // oxlint-disable-next-line no-await-in-loop -- one case after the other
      const { value, problems } = await readNsysTrace(bytesOf(bytes));
      if (problems.length > 0) damaged++;
      expect(value !== undefined || problems.length > 0).toBe(true);
      expect(value?.trace?.kernels ?? 0).toBeLessThanOrEqual(100 * kernels);
    }
    expect(damaged).toBeGreaterThan(500);
  });
});
