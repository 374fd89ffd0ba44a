import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { samplesPath } from './fixtures.ts';

/** Bytes of a sample file, unpacked. Throws where the samples are missing. */
export function sampleBytes(name: string): Uint8Array {
  const bytes = readFileSync(samplesPath(name));
  return name.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}

export const sampleText = (name: string): string => new TextDecoder().decode(sampleBytes(name));

/** Names of the files in one folder of the samples, sorted. */
export const samplesIn = (folder: string): string[] => readdirSync(samplesPath(folder)).toSorted();
