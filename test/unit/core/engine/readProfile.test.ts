import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readLayerInfo } from '../../../../src/core/engine/readLayerInfo.ts';
import { readProfile } from '../../../../src/core/engine/readProfile.ts';
import { readTiming } from '../../../../src/core/engine/readTiming.ts';
import { captureText, manifest } from '../../../support/fixtures.ts';
import { sampleText, samplesIn } from '../../../support/samples.ts';

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

  test("other people's profiles, and what only looks like one", () => {
    const rows: Record<string, number | undefined> = {};
    for (const name of samplesIn('profile')) rows[name] = readProfile(sampleText(`profile/${name}`)).value?.rows.length;
    expect(Object.fromEntries(Object.entries(rows).filter(([, count]) => count !== undefined))).toEqual({
      'fuzzylabs_alexnet_fp16.profile.json': 14, 'fuzzylabs_resnet18_fp16.profile.json': 26, 'trex_mobilenet_qat.profile.json': 73,
      'trex_resnet_a100_fp16.profile.json': 36, 'trex_resnet_a100_qat.profile.json': 37, 'trex_resnet_a100_qat_residual.profile.json': 26,
      'trex_tfresnet_3090_fp32.profile.json': 103, 'trex_tfresnet_3090_qat.profile.json': 63,
    }); // prettier-ignore
    const excerpt = readProfile(sampleText('issues/profile_foreignnode_8.4_2308.txt'));
    expect(excerpt.value!.rows.map(({ name, averageMs }) => [name, averageMs])).toEqual([
      ['{ForeignNode[ReduceMean_4492...Mul_4557]}', 37.2837],
      ['{ForeignNode[ReduceMean_699...Mul_764]}', 37.2825],
    ]);
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
  test('one row per inference', () => {
    const rows: Record<string, number> = {};
    for (const name of samplesIn('timing')) rows[name] = readTiming(sampleText(`timing/${name}`)).value!.rows.length;
    expect(rows).toEqual({
      'fuzzylabs_alexnet_fp16.timing.json.gz': 6039, 'fuzzylabs_resnet18_fp16.timing.json.gz': 10742, 'trex_mobilenet_qat.timing.json.gz': 8945,
      'trex_resnet_a100_fp16.timing.json.gz': 3698, 'trex_resnet_a100_qat.timing.json.gz': 3614, 'trex_resnet_a100_qat_residual.timing.json.gz': 5833,
      'trex_tfresnet_3090_fp32.timing.json': 263, 'trex_tfresnet_3090_qat.timing.json.gz': 1456,
    }); // prettier-ignore
    const [first] = readTiming(sampleText('timing/trex_tfresnet_3090_fp32.timing.json')).value!.rows;
    expect(Object.values(first!).every((value) => typeof value === 'number')).toBe(true);
  });

  test('old files have fewer members; other files are no times', () => {
    expect(readTiming('[ { "inMs" : 0.1, "computeMs" : 2.5, "outMs" : 0.2 } ]').value!.rows).toEqual([
      { computeMs: 2.5, latencyMs: null, h2dMs: 0.1, d2hMs: 0.2 },
    ]);
    const { value, problems } = readTiming('{"a": 1}');
    expect([value, problems.map(({ code }) => code)]).toEqual([undefined, ['no-timing']]);
  });
});
