import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Path of a file under test/fixtures. */
export const fixturePath = (name: string): string => `${root}test/fixtures/${name}`;

/** Path of one of the captured models, e.g. `vit_tiny`. Their large weights are external and not there. */
export const modelPath = (model: string): string => fixturePath(`models/${model}.onnx`);

/** Bytes of a file under test/fixtures/captures; `.gz` is tried too, and unpacked. undefined: the capture has no such file. */
export function captureBytes(name: string): Uint8Array | undefined {
  const path = fixturePath(`captures/${name}`);
  if (existsSync(path)) return readFileSync(path);
  return existsSync(`${path}.gz`) ? gunzipSync(readFileSync(`${path}.gz`)) : undefined;
}

/** The same as text. */
export function captureText(name: string): string | undefined {
  const bytes = captureBytes(name);
  return bytes && new TextDecoder().decode(bytes);
}

/** Rows of the captures' manifest (builds on the GPU): what each capture is and how it ended. */
export function manifest(): Record<string, string>[] {
  const [head, ...rows] = readFileSync(fixturePath('captures/MANIFEST.tsv'), 'utf8').trimEnd().split('\n');
  const keys = head!.split('\t');
  return rows.map((row) => Object.fromEntries(row.split('\t').map((cell, i) => [keys[i]!, cell])));
}

/** Bytes of a file under test/fixtures, unpacked. */
export function readFixture(path: string): Uint8Array {
  const bytes = readFileSync(fixturePath(path));
  return path.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}

/** Paths, from test/fixtures, of every file in a folder there, sorted. */
export const filesBelow = (folder: string): string[] =>
  readdirSync(fixturePath(folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(fixturePath(''), join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .toSorted();
