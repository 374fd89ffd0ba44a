import { expect, test } from 'vitest';
import { readReplay } from '../../../../src/kernel/read/replay/readReplay.ts';
import { captureText } from '../../../support/fixtures.ts';
import { readSchema, schemaViolations } from '../../../support/jsonSchema.ts';

const check = (text: string): string[] => schemaViolations(JSON.parse(text), readSchema('replay'));

function capture(name: string): string {
  const text = captureText(name);
  if (text === undefined) throw new Error(`The capture ${name} is missing`);
  return text;
}

test('every real replay fits the schema', () => {
  const texts: string[] = [];
  for (const version of ['8.6.1', '10.6.0']) {
    for (const name of [
      'vit_tiny.poly_replay/replay',
      'vit_tiny.poly_replay/edited',
      'fp16_overflow.poly_replay/replay',
    ])
      texts.push(capture(`tensorrt-${version}/${name}.json`));
  }
  expect(texts.length).toBe(6);
  for (const text of texts) expect(check(text)).toEqual([]);
});

test('other files of such a name are left alone', () => {
  const debug = 'fp16_overflow.poly_debug_precision/polygraphy_debug_replay';
  for (const name of [debug, `${debug}_skip_current`])
    expect(check(capture(`tensorrt-10.6.0/${name}.json`))).toEqual([]);
  expect(check('{"buffer": {"size": 1000000}}')).toEqual([]);
});

test('schema and reader agree about what is wrong', () => {
  const good = capture('tensorrt-10.6.0/vit_tiny.poly_replay/replay.json');
  const breaks: [string | RegExp, string][] = [
    ['"DataType.HALF"', '"DataType.HALB"'],
    [/"implementation": \d+,/, ''],
    ['"tactic": 0', '"tactic": "0"'],
    ['"tactic": 0', '"tactic": 0.5'],
    [/"strides": \[[^\]]*\]/, '"strides": "x"'],
    ['"dtype": "DataType.HALF",', ''],
    ['"vectorized_dim": 1', '"vectorized_dim": "1"'],
    [/"components_per_element": \d+,/, ''],
    ['"replay": {', '"reply": {'],
  ];
  for (const [from, to] of breaks) {
    const broken = good.replace(from, to);
    expect(broken).not.toBe(good);
    expect(check(broken), String(from)).not.toEqual([]);
    expect(readReplay(broken).problems.length, String(from)).toBeGreaterThan(0);
  }
});
