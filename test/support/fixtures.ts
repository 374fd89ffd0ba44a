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

/** What a capture is: see test/fixtures/captures/README.md. */
export interface Capture {
  /** Name of a model in test/fixtures/models. */
  model?: string | null;
  what?: string;
  tensorrt: string;
  /** What was run, one after the other, on the GPU; TensorRT-RTX was run by its Python module. */
  cmd?: string[];
  rc?: number[];
  result?: string;
  nodes?: string;
  engine_layers?: string;
  foreign_nodes?: string;
}

/** All captured builds by their folder, `tensorrt-10.6.0/vit_tiny.fp16`. */
export const captureIndex = JSON.parse(readFileSync(fixturePath('captures/manifest.json'), 'utf8')) as Record<
  string,
  Capture
>;

/** The builds on the GPU, one row each: what it is and how it ended. A cell without a value is empty. */
export function manifest(): Record<string, string>[] {
  return Object.entries(captureIndex)
    .filter(([, { cmd }]) => cmd !== undefined)
    .map(([folder, capture]) => ({
      case: folder.slice(folder.indexOf('/') + 1),
      command: capture.cmd!.join(' ;; '),
      ...Object.fromEntries(
        (['tensorrt', 'model', 'what', 'result', 'nodes', 'engine_layers', 'foreign_nodes'] as const).map((key) => [
          key,
          capture[key] ?? '',
        ]),
      ),
    }));
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
