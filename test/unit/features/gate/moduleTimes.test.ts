import type { GateSide } from '../../../../src/kernel/rules/gateSide.ts';
import { describe, expect, test } from 'vitest';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { readLayerInfo } from '../../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { readNsysTrace } from '../../../../src/kernel/read/tensorrt/readTrace.ts';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import type { FusionReport } from '../../../../src/kernel/fusion/fusionReport.ts';
import { evaluateGate } from '../../../../src/features/gate/evaluateGate.ts';
import { initGate, readGate } from '../../../../src/features/gate/readGate.ts';
import { readFixture } from '../../../support/fixtures.ts';
import { reportWith } from '../diff/reportWith.ts';

const sideOf = (report: FusionReport, more: Partial<GateSide> = {}): GateSide => ({ source: 's', report, ...more });

/** Verdict and message of each check. */
function judge(rules: string, build: GateSide, baseline: GateSide | null): string[] {
  const { value, problems } = readGate(rules.includes('rules:\n') ? rules : `rules:\n  ${rules}\n`);
  expect(problems).toEqual([]);
  return evaluateGate('g.yaml', value!, build, baseline).checks.map(({ verdict, message }) => `${verdict}: ${message}`);
}

const names = ['/a/x/MatMul', '/a/x/Add', '/a/y/Mul', '/b/Conv', '/b/Relu'];
/** A report with one kernel for each group of nodes, and its time in milliseconds. */
const timed = (...kernels: [ms: number, ...nodes: number[]][]): FusionReport => {
  const report = reportWith(
    names,
    kernels.map(([, ...nodes]) => ({ nodes: nodes.map((node) => names[node]!) })),
  );
  for (const [at, layer] of report.layers.entries()) layer.averageMs = kernels[at]![0];
  return report;
};

describe('time: { modules }', () => {
  const usual = timed([0.1, 0, 1], [0.05, 2], [2, 3, 4]);
  const rule = "time: { total: '+10%', modules: '+25%' }";

  test('one module that takes three times as long fails, although the total passes', () => {
    expect(judge(rule, sideOf(timed([0.1, 0, 1], [0.15, 2], [2, 3, 4])), sideOf(usual))).toEqual([
      'passed: 2.25 ms (baseline 2.15 ms, +4.7 %); the limit is +10%.',
      'failed: 2 of 4 modules over the limit of +25%. The most: /a/y, 0.150 ms (baseline 50.0 µs, +200.0 %).',
    ]);
    expect(judge(rule, sideOf(usual), sideOf(usual))[1]).toBe('passed: 4 modules within the limit of +25%.');
  });

  test('kernels that are fused across modules move no time from one to the other', () => {
    const fused = timed([0.15, 0, 1, 2], [2, 3, 4]);
    expect(judge(rule, sideOf(fused), sideOf(usual))[1]).toBe('passed: 4 modules within the limit of +25%.');
  });

  test('half a microsecond is noise, and so is what several profiles spread over', () => {
    const small = (ms: number) => timed([ms, 0, 1], [0.05, 2], [2, 3, 4]);
    expect(judge(rule, sideOf(small(0.0014)), sideOf(small(0.001)))[1]).toMatch(/^passed/);
    expect(judge(rule, sideOf(small(0.0034)), sideOf(small(0.002)))[1]).toMatch(/^failed: 1 of 4 modules.*\/a\/x/);
    const spread = sideOf(small(0.0034), { repeats: [small(0.002), small(0.0034)] });
    expect(judge(rule, spread, sideOf(small(0.002), { repeats: [small(0.0021)] }))[1]).toMatch(/^passed/);
  });

  test('what cannot be compared fails with the reason', () => {
    const flat = reportWith(['Conv1'], [{ nodes: ['Conv1'] }]);
    flat.layers[0]!.averageMs = 1;
    const only = "time: { modules: '+25%' }";
    expect(judge(only, sideOf(flat), sideOf(flat))[0]).toMatch(/^failed: No module to compare/);
    expect(judge(only, sideOf(usual), null)[0]).toMatch(/^failed: \+25% needs a baseline/);
    const untimed = reportWith(names, [{ nodes: names }]);
    for (const layer of untimed.layers) layer.averageMs = null;
    expect(judge(only, sideOf(untimed), sideOf(usual))[0]).toMatch(/^failed: The times are unknown/);
    expect(judge("time: { modules: '1 ms' }", sideOf(usual), null)[0]).toBe(
      'failed: 1 of 4 modules over the limit of 1 ms. The most: /b, 2.00 ms.',
    );
  });
});

async function traced(build: string, name: string): Promise<FusionReport> {
  const modelFile = `${build.split('.')[0]}.onnx`;
  const model = (await readModel(bytesOf(readFixture(`models/${modelFile}`)))).value!;
  const layerInfo = readLayerInfo(new TextDecoder().decode(readFixture(`traces/${build}/layers.json.gz`))).value;
  const { value: profile } = await readNsysTrace(bytesOf(readFixture(`traces/${build}/${name}.sqlite.gz`)));
  return createReport({ model, modelFile, layerInfo, profile });
}

test('the gate of --init finds one layer that takes three times as long, and passes another trace of the engine', async () => {
  const baseline = sideOf(await traced('bert_base.fp16', 'plain'));
  const gate = initGate('bert_base.onnx', 'b.json', baseline);
  expect(gate).toContain("time: { total: '+10%', modules: '+25%' }");
  const again = await traced('bert_base.fp16', 'graph');
  expect(judge(gate, sideOf(again), baseline).filter((line) => !line.startsWith('passed'))).toEqual([]);
  const slow = structuredClone(baseline.report);
  const running = slow.layers.filter(({ averageMs, nodes }) => averageMs !== null && nodes.length > 0);
  const middle = running.toSorted((a, b) => a.averageMs! - b.averageMs!)[running.length >> 1]!;
  middle.averageMs = middle.averageMs! * 3;
  delete middle.p10;
  const failed = judge(gate, sideOf(slow), baseline).filter((line) => !line.startsWith('passed'));
  expect(failed).toEqual([expect.stringMatching(/^failed: \d+ of \d+ modules over the limit of \+25%\. The most: \//)]);
});

test('time: p50, p90 and p99 are percentiles of the passes of a trace, not names of nodes', async () => {
  const report = await traced('vit_tiny.fp16', 'plain');
  const pass = report.profile!.pass!;
  const whole = report.layers.reduce((sum, { averageMs }) => sum + (averageMs ?? 0), 0);
  for (const key of ['p50', 'p90', 'p99'] as const) {
    const value = (whole * pass[key]) / pass.p50;
    expect(judge(`time: { ${key}: '${value * 1.001} ms' }`, sideOf(report), null)[0]).toMatch(/^passed/);
    expect(judge(`time: { ${key}: '${value * 0.999} ms' }`, sideOf(report), null)[0]).toMatch(/^failed: \d/);
  }
});

test('time: { p90 } is that of the passes of a trace; a profile has none', async () => {
  const [plain, graph] = [await traced('vit_tiny.fp16', 'plain'), await traced('vit_tiny.fp16', 'graph')];
  expect(judge("time: { p90: '+20%' }", sideOf(graph), sideOf(plain))[0]).toMatch(
    /^failed: \d\.\d+ ms \(baseline 0\.\d+ ms, \+/,
  );
  expect(judge("time: { p90: '1 us' }", sideOf(plain), null)[0]).toMatch(/^failed: 0\.\d+ ms; the limit is 1\.00 µs/);
  expect(judge("time: { p90: '1 ms' }", sideOf(timed([1, 0])), null)[0]).toMatch(/^failed: Percentiles need a trace/);
});

describe('rules for a release', () => {
  const report = timed([1, 0, 1, 2, 3, 4]);
  test('no marked tensors', () => {
    const marked = { outputs: ['t'], debug: [], all: false };
    expect(judge('marked: { outputs: 0, debug: 0 }', sideOf(report, { marked }), null)).toEqual([
      'failed: 1 tensor marked as output; the limit is 0.',
      'passed: 0 tensors marked for debugging; the limit is 0.',
    ]);
    expect(judge('marked: { debug: 0 }', sideOf(report), null)[0]).toMatch(
      /^failed: Whether tensors are marked is unknown/,
    );
  });

  test('the version and the GPU of the baseline', () => {
    const of = (version: string | null) => sideOf({ ...report, tensorrt: { ...report.tensorrt, version } });
    expect(judge('tensorrt: same', of('10.6.0'), of('10.6.0'))[0]).toMatch(/^passed: .*10\.6\.0, as the baseline\.$/);
    expect(judge('tensorrt: same', of('10.7.0'), of('10.6.0'))[0]).toMatch(
      /^failed: .*10\.7\.0; the baseline is of .*10\.6\.0/,
    );
    expect(judge('tensorrt: same', of('10.7.0'), of(null))[0]).toBe(
      'failed: The version of the baseline is not known.',
    );
    expect(judge('tensorrt: same', of('10.7.0'), null)[0]).toBe('failed: This rule needs a baseline.');
    expect(judge('gpu: same', of('10.7.0'), of('10.7.0'))[0]).toBe('failed: The GPU of the build is not known.');
  });
});
