import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'vitest';

const root = fileURLToPath(new URL('../golden', import.meta.url));
const update = process.env['UPDATE_GOLDEN'] === '1';
/** Longer files are kept compressed: `NAME.json.gz`. */
const longestPlain = 40_000;
/** So many differences are listed, the rest is counted. */
const mostShown = 25;

/** Compares a value with test/golden/NAME.json or .json.gz; the failure lists which fields differ. `npm run golden` writes the file. */
export function expectGolden(name: string, value: unknown): void {
  const text = goldenText(value);
  if (update) writeGolden(name, text);
  const expected = readGolden(name);
  if (expected === undefined) expect.fail(`test/golden/${name} does not exist: run \`npm run golden\``);
  if (expected === text) return;
  const lines = differences(JSON.parse(expected), JSON.parse(text));
  const shown = lines.slice(0, mostShown);
  if (lines.length > shown.length) shown.push(`… and ${lines.length - shown.length} more`);
  expect.fail(`test/golden/${name} differs. If this is intended, run \`npm run golden\`.\n${shown.join('\n')}`);
}

/** The same for a plain text, with vitest's own comparison by lines. */
export function expectGoldenText(name: string, text: string): void {
  const path = `${root}/${name}`;
  if (update) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  expect(text).toBe(existsSync(path) ? readFileSync(path, 'utf8') : 'missing: run `npm run golden`');
}

/** Fails for files of test/golden/FOLDER that no test compares; `names` are those that tests do, as they were given. */
export function expectNoOtherGolden(folder: string, names: string[]): void {
  const known = new Set(names.map((name) => name.slice(folder.length + 1)));
  const others = readdirSync(`${root}/${folder}`).filter(
    (file) => !known.has(file) && !known.has(file.replace(/\.json(?:\.gz)?$/, '')),
  );
  if (update) for (const file of others) rmSync(`${root}/${folder}/${file}`);
  else expect(others).toEqual([]);
}

function readGolden(name: string): string | undefined {
  const path = `${root}/${name}.json`;
  if (existsSync(path)) return readFileSync(path, 'utf8');
  return existsSync(`${path}.gz`) ? gunzipSync(readFileSync(`${path}.gz`)).toString('utf8') : undefined;
}

function writeGolden(name: string, text: string): void {
  // Another level of compression or version of zlib must not change a file whose content is the same.
  if (readGolden(name) === text) return;
  const path = `${root}/${name}.json`;
  mkdirSync(dirname(path), { recursive: true });
  for (const old of [path, `${path}.gz`]) rmSync(old, { force: true });
  if (text.length <= longestPlain) writeFileSync(path, text);
  else writeFileSync(`${path}.gz`, gzipSync(text, { level: 9 }));
}

/** JSON that a line-by-line diff suits: lists and objects with structure inside go over several lines, others stay on one. */
export function goldenText(value: unknown): string {
  return `${lay(JSON.parse(JSON.stringify(value, plainForm)), '')}\n`;
}

/** What JSON has no form for: maps, sets, numbers that are none. */
function plainForm(_key: string, value: unknown): unknown {
  if (value instanceof Map) return { map: [...value.entries()] };
  if (value instanceof Set) return { set: [...value] };
  if (typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))) return String(value);
  return value;
}

/** Widest line that a list or object may have before it is split. */
const widest = 240;

function lay(value: unknown, indent: string): string {
  const flat = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || flat.length + indent.length <= widest) return flat;
  const inner = `${indent} `;
  const items = Array.isArray(value)
    ? value.map((one) => inner + lay(one, inner))
    : Object.entries(value).map(([key, one]) => `${inner}${JSON.stringify(key)}: ${lay(one, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return items.length === 0 ? flat : `${open}\n${items.join(',\n')}\n${indent}${close}`;
}

/** Each place where two JSON values differ, one line each: `nodes[12 "/a/Conv"].fate: expected "fused", got "single"`. */
export function differences(expected: unknown, actual: unknown, path = ''): string[] {
  if (Object.is(expected, actual)) return [];
  if (!isObject(expected) || !isObject(actual) || Array.isArray(expected) !== Array.isArray(actual))
    return [`${path || 'the value'}: expected ${short(expected)}, got ${short(actual)}`];
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return [...keys].flatMap((key) => {
    const [was, is] = [expected[key], actual[key]];
    const at = Array.isArray(expected) ? `${path}[${key}${nameOf(was ?? is)}]` : `${path && `${path}.`}${key}`;
    if (!(key in actual)) return [`${at}: missing, expected ${short(was)}`];
    if (!(key in expected)) return [`${at}: unexpected ${short(is)}`];
    return differences(was, is, at);
  });
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function nameOf(value: unknown): string {
  const name = isObject(value) ? (value['name'] ?? value['code'] ?? value['stage']) : undefined;
  return typeof name === 'string' && name !== '' ? ` ${short(name)}` : '';
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 160 ? text : `${text.slice(0, 160)}…`;
}
