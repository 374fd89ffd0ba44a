import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readLayerInfo } from '../../../../src/core/engine/readLayerInfo.ts';
import { readProfile } from '../../../../src/core/engine/readProfile.ts';
import { readTiming } from '../../../../src/core/engine/readTiming.ts';
import { captureText, manifest } from '../../../support/fixtures.ts';

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
