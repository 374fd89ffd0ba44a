import { type Inspection, inspectLog } from '../inspection.ts';
import type { ByteSource } from '../../base/problem.ts';
import { BuildLogReader } from '../../read/tensorrt/readBuildLog.ts';
import { Utf8Decoder } from '../../base/text.ts';
import { inspectJson } from './inspectJson.ts';
import { inspectCalibration, inspectCounters, inspectOverrides } from './inspectText.ts';

/** Enough of a text to recognize JSON. */
const HEAD = 1 << 16;
const CHUNK = 1 << 20;
/** Longest text that is read as a whole; a longer one can only be a log. */
const MAX_WHOLE = 400 << 20;
/** Calibration caches and overrides are small. */
const MAX_SMALL = 64 << 20;

/** Identifies a text by its content; null for one of no known format. */
export async function inspectTextFile(source: ByteSource): Promise<Inspection | null> {
  const first = await textOf(source, Math.min(source.size, HEAD));
  if (source.size <= MAX_WHOLE && looksLikeJson(first)) {
    const found = inspectJson(await textOf(source, source.size), first);
    if (found !== null) return found;
  }
  // ncu prints its messages, and those of the program, first.
  if (source.size <= MAX_WHOLE && /^"ID",.*"Kernel Name"/m.test(first))
    return inspectCounters(await textOf(source, source.size));
  if (source.size <= MAX_SMALL) {
    const text = source.size <= HEAD ? first : await textOf(source, source.size);
    const found = inspectCalibration(text) ?? inspectOverrides(text);
    if (found !== null) return found;
  }
  return inspectAsLog(source);
}

/** JSON starts with a bracket, also after comments; a log's brackets hold a level, a time or a name. */
function looksLikeJson(first: string): boolean {
  // Layers that a program asked the inspector for one by one have a heading each.
  const start = first.replace(/^(?:\uFEFF|\s|#.*\n|-{2,}\s*Layer \d+\s*-{2,})*/, '');
  if (start.startsWith('{"event":')) return false;
  return /^(?:,\s*)?(?:\{|\[\s*(?:[\]{["]|$))/.test(start);
}

async function textOf(source: ByteSource, length: number): Promise<string> {
  const decoder = new Utf8Decoder();
  const parts: string[] = [];
  for (let at = 0; at < length; at += CHUNK) {
    // eslint-disable-next-line no-await-in-loop -- one piece after the other keeps memory low
    parts.push(decoder.push(await source.read(at, Math.min(CHUNK, length - at))));
  }
  parts.push(decoder.end());
  return parts.join('');
}

async function inspectAsLog(source: ByteSource): Promise<Inspection | null> {
  const reader = new BuildLogReader();
  const decoder = new Utf8Decoder();
  for (let at = 0; at < source.size; at += CHUNK) {
    // eslint-disable-next-line no-await-in-loop -- a log may be larger than memory
    reader.push(decoder.push(await source.read(at, Math.min(CHUNK, source.size - at))));
  }
  reader.push(decoder.end());
  const { value, problems } = reader.end();
  return inspectLog(value, problems);
}
