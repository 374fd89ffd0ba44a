import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readReplay } from '../../../../src/core/replay/readReplay.ts';
import { captureText, samplesPath } from '../../../support/fixtures.ts';

interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  required?: string[];
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema | Schema[];
  anyOf?: Schema[];
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  definitions?: Record<string, Schema>;
  if?: Schema;
  then?: Schema;
}

const schema = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../../../schemas/replay.schema.json', import.meta.url)), 'utf8'),
) as Schema;

/** The part of JSON Schema that the file uses; places where a value does not fit. */
function violations(value: unknown, rule: Schema, path = ''): string[] {
  if (rule.$ref !== undefined) {
    const target = schema.definitions?.[rule.$ref.replace('#/definitions/', '')];
    if (!target) throw new Error(`${rule.$ref} is not defined`);
    return violations(value, target, path);
  }
  if (rule.anyOf) return rule.anyOf.some((one) => violations(value, one, path).length === 0) ? [] : [path];
  const literals = rule.const === undefined ? rule.enum : [rule.const];
  if (literals && !literals.includes(value)) return [path];
  const types = rule.type === undefined ? [] : [rule.type].flat();
  if (types.length > 0 && !types.some((type) => isOf(value, type))) return [path];
  if (typeof value === 'number' && !isWithin(value, rule)) return [path];
  if (Array.isArray(value)) return listViolations(value, rule, path);
  return typeof value === 'object' && value !== null
    ? objectViolations(value as Record<string, unknown>, rule, path)
    : [];
}

function isWithin(value: number, { minimum = -Infinity, maximum = Infinity }: Schema): boolean {
  return minimum <= value && value <= maximum;
}

function isOf(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

function listViolations(list: unknown[], { items, minItems = 0, maxItems = Infinity }: Schema, path: string): string[] {
  if (list.length < minItems || list.length > maxItems) return [path];
  return list.flatMap((one, i) => {
    const rule = Array.isArray(items) ? items[i] : items;
    return rule ? violations(one, rule, `${path}[${i}]`) : [];
  });
}

function objectViolations(object: Record<string, unknown>, rule: Schema, path: string): string[] {
  const missing = (rule.required ?? []).filter((key) => !(key in object)).map((key) => `${path}.${key}`);
  const wrong = Object.entries(object).flatMap(([key, value]) => {
    const at = `${path}.${key}`;
    const pattern = Object.entries(rule.patternProperties ?? {}).find(([source]) => new RegExp(source).test(key))?.[1];
    const own = rule.properties?.[key] ?? pattern ?? rule.additionalProperties;
    if (own === false) return [at];
    return typeof own === 'object' ? violations(value, own, at) : [];
  });
  return [...missing, ...wrong];
}

function check(text: string): string[] {
  const value = JSON.parse(text) as unknown;
  const meant = schema.if !== undefined && violations(value, schema.if).length === 0;
  return [...violations(value, schema), ...(meant ? violations(value, schema.then ?? {}) : [])];
}

function capture(name: string): string {
  const text = captureText(name);
  if (text === undefined) throw new Error(`The capture ${name} is missing`);
  return text;
}

test('every real replay fits the schema', () => {
  const texts = readdirSync(samplesPath('replay'))
    .filter((name) => !name.includes('debug'))
    .map((name) => readFileSync(samplesPath(`replay/${name}`), 'utf8'));
  for (const version of ['8.6.1', '10.6.0']) {
    for (const name of [
      'vit_tiny.poly_replay/replay',
      'vit_tiny.poly_replay/edited',
      'fp16_overflow.poly_replay/replay',
    ])
      texts.push(capture(`tensorrt-${version}/${name}.json`));
  }
  expect(texts.length).toBe(10);
  for (const text of texts) expect(check(text)).toEqual([]);
});

test('other files of such a name are left alone', () => {
  const debug = 'fp16_overflow.poly_debug_precision/polygraphy_debug_replay';
  for (const name of [debug, `${debug}_skip_current`])
    expect(check(capture(`tensorrt-10.6.0/${name}.json`))).toEqual([]);
  expect(check(readFileSync(samplesPath('replay/cookbook_8.6.1_polygraphy_debug_replay.json'), 'utf8'))).toEqual([]);
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
