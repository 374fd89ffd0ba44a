import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  readLayerInfo,
  readProfile,
  readTiming,
  summarizeTiming,
} from '../../../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { captureText, manifest } from '../../../../support/fixtures.ts';

describe('profiles', () => {
  test('rows are the layers of the layer info, in order, but for control flow', () => {
    let compared = 0;
    for (const row of manifest()) {
      const folder = `tensorrt-${row['tensorrt']}/${row['case']}`;
      const text = captureText(`${folder}/profile.json`);
      if (text === undefined) continue;
      const { value, problems } = readProfile(text);
      expect([row['case'], problems, value!.iterations! > 0]).toEqual([row['case'], [], true]);
      const layers = readLayerInfo(captureText(`${folder}/layers.json`)!).value!.layers;
      if (layers.length === 0 || (row['case'] === 'loop_if.fp32' && row['tensorrt'] === '10.6.0')) continue;
      expect([row['case'], value!.rows.map(({ name }) => name)]).toEqual([row['case'], layers.map(({ name }) => name)]);
      compared++;
    }
    expect(compared).toBe(40);
  });

  test('with a Loop and an If the rows are what ran', () => {
    expect(readProfile(captureText('tensorrt-10.6.0/loop_if.fp32/profile.json')!).value!.rows).toHaveLength(19);
  });

  test('with verbosity none the profile still names every kernel', () => {
    expect(readProfile(captureText('tensorrt-10.6.0/vit_tiny.none/profile.json')!).value!.rows).toHaveLength(90);
  });

  test('numbers are those of the file', () => {
    const { rows, iterations } = readProfile(captureText('tensorrt-10.6.0/vit_tiny.fp32/profile.json')!).value!;
    expect(iterations).toBe(21);
    expect(rows[1]).toEqual({
      name: '/patch_embed/proj/Conv',
      timeMs: 0.71024,
      averageMs: 0.033821,
      medianMs: 0.034048,
      percentage: 3.94607,
    });
    expect(rows.reduce((sum, { percentage }) => sum + percentage, 0)).toBeCloseTo(100, 2);
  });

  test('names that are not escaped, words for numbers, four keys of old versions', () => {
    const text = [
      '[',
      '  { "count" : 7 }',
      ', { "name" : ""a" b\\c", "timeMs" : nan, "averageMs" : inf, "medianMs" : 0.5, "percentage" : -nan }',
      ', { "name" : "tab\there, "quoted"", "timeMs" : 1, "averageMs" : 2, "percentage" : 3 }',
      ', { "name" : "tab\there, "quoted"", "timeMs" : 1e-3, "averageMs" : 2, "percentage" : 3 }',
      ']',
    ].join('\n');
    const { value, problems } = readProfile(text);
    expect(value!.rows).toEqual([
      { name: '"a" b\\c', timeMs: NaN, averageMs: Infinity, medianMs: 0.5, percentage: NaN },
      { name: 'tab\there, "quoted"', timeMs: 1, averageMs: 2, medianMs: null, percentage: 3 },
      { name: 'tab\there, "quoted"', timeMs: 0.001, averageMs: 2, medianMs: null, percentage: 3 },
    ]);
    expect(problems.every(({ severity }) => severity === 'info')).toBe(true);
  });

  test('of a log one thing is wrong: it is no profile', () => {
    const { value, problems } = readProfile(captureText('tensorrt-10.6.0/vit_tiny.fp16/log.txt')!);
    expect([value, problems.map(({ code }) => code)]).toEqual([undefined, ['no-profile']]);
  });

  test('a cut-off profile gives its whole rows', () => {
    const text = captureText('tensorrt-10.6.0/vit_tiny.fp16/profile.json')!;
    const { rows } = readProfile(text).value!;
    for (let length = 400; length < text.length; length += 701) {
      const cut = readProfile(text.slice(0, length));
      const whole = (text.slice(0, length).match(/percentage" : [\d.e-]+ \}/g) ?? []).length;
      expect(cut.value!.rows.slice(0, whole)).toEqual(rows.slice(0, whole));
      expect(cut.problems.length).toBeGreaterThan(0);
    }
  });

  test('no text makes it throw', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            '[',
            ']',
            '{',
            '}',
            '"name" : "',
            '"timeMs" : ',
            '"',
            ',',
            '\\',
            'nan',
            '1',
            '\n',
            '"count" : 3',
          ),
          { maxLength: 40 },
        ),
        (parts) => {
          const { value, problems } = readProfile(parts.join(''));
          expect(value === undefined ? problems.length : 1).toBeGreaterThan(0);
          readTiming(parts.join(''));
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('times', () => {
  test('old files have fewer members; other files are no times', () => {
    expect(readTiming('[ { "inMs" : 0.1, "computeMs" : 2.5, "outMs" : 0.2 } ]').value!.rows).toEqual([
      { computeMs: 2.5, latencyMs: null, h2dMs: 0.1, d2hMs: 0.2 },
    ]);
    const { value, problems } = readTiming('{"a": 1}');
    expect([value, problems.map(({ code }) => code)]).toEqual([undefined, ['no-timing']]);
  });
});

describe('traces in Chrome’s format', () => {
  const event = (name: string, ts: number, dur: number, more: object = {}) => ({
    name,
    ts,
    dur,
    ph: 'X',
    pid: 1,
    tid: 1,
    ...more,
  });
  const rowsOf = (document: unknown) => {
    const { value, problems } = readProfile(JSON.stringify(document));
    expect(problems).toEqual([]);
    return [value!.iterations, value!.rows.map(({ name, averageMs, percentage }) => [name, averageMs, percentage])];
  };

  test('Torch-TensorRT and Perfetto: an event a layer, in the order of time', () => {
    const events = [event('b', 10, 1000), event('a', 0, 3000), { name: 'process', ph: 'M' }];
    const rows = [['a', 3, 75], ['b', 1, 25]]; // oxfmt-ignore
    expect(rowsOf(events)).toEqual([1, rows]);
    expect(rowsOf({ traceEvents: events, displayTimeUnit: 'ms' })).toEqual([1, rows]);
  });

  test('what comes again in the same order is another inference, what comes otherwise is another layer', () => {
    const run = (names: string[]) => rowsOf(names.map((name, index) => event(name, index, 1000 * (index + 1))));
    expect(run(['a', 'b', 'a', 'b'])).toEqual([2, [['a', 2, 40], ['b', 3, 60]]]); // oxfmt-ignore
    expect(run(['a', 'a', 'b'])).toEqual([1, [['a', 1, 100 / 6], ['a', 2, 200 / 6], ['b', 3, 50]]]); // oxfmt-ignore
    expect(run(['a', 'b', 'a'])).toMatchObject([1, { length: 3 }]);
  });

  test('ONNX Runtime: the kernels of nodes, not sessions, threads or fences', () => {
    const node = (name: string, ts: number) => event(`${name}_kernel_time`, ts, 500, { cat: 'Node', args: { op_name: 'Conv' } }); // oxfmt-ignore
    const session = event('model_run', 0, 9000, { cat: 'Session' });
    const fence = event('conv_fence_before', 1, 1, { cat: 'Node' });
    expect(rowsOf([session, fence, node('conv', 1), node('relu', 2), node('conv', 3), node('relu', 4)])).toEqual([
      2,
      [['conv', 0.5, 50], ['relu', 0.5, 50]],
    ]); // oxfmt-ignore
  });

  test('long traces take no more than their length', () => {
    const events = Array.from({ length: 40_000 }, (_, at) =>
      event(at % 2 === 0 ? 'a' : at === 39_999 ? 'c' : 'b', at, 1),
    );
    expect(readProfile(JSON.stringify(events)).value).toMatchObject({ iterations: 1, rows: { length: 40_000 } });
  });
});

test('times of inferences have percentiles by part', () => {
  const rows = Array.from({ length: 100 }, (_, at) => ({
    computeMs: at + 1,
    latencyMs: at === 0 ? 7 : null,
    h2dMs: null,
    d2hMs: 2,
  }));
  expect(summarizeTiming({ rows })).toEqual({
    computeMs: { averageMs: 50.5, p10: 10, p50: 50, p90: 90, p99: 99 },
    latencyMs: { averageMs: 7, p10: 7, p50: 7, p90: 7, p99: 7 },
    d2hMs: { averageMs: 2, p10: 2, p50: 2, p90: 2, p99: 2 },
  });
});
