import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const folder = fileURLToPath(new URL('../../../shared/samples/', import.meta.url));

/** Path of a file of the samples: other people's files beside the checkout, which are not ours to ship. Throws where it is missing. */
export function samplesPath(name: string): string {
  const path = folder + name;
  if (!existsSync(path)) throw new Error(`${path} is missing: the tests in test/samples read ../shared/samples`);
  return path;
}

/** Bytes of a sample file, unpacked. Throws where it is missing. */
export function sampleBytes(name: string): Uint8Array {
  const bytes = readFileSync(samplesPath(name));
  return name.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}

export const sampleText = (name: string): string => new TextDecoder().decode(sampleBytes(name));

/** Names of the files in one folder of the samples, sorted. */
export const samplesIn = (name: string): string[] => readdirSync(samplesPath(name)).toSorted();
