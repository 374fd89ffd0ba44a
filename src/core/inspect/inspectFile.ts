import type { Inspection } from './inspection.ts';
import type { ByteSource } from '../text/byteSource.ts';
import { BuildLogReader } from '../engine/readBuildLog.ts';
import { readNsysTrace } from '../engine/trace/readNsysTrace.ts';
import { SqliteFile } from '../engine/trace/sqliteFile.ts';
import { readModel, sniffModel } from '../onnx/readModel.ts';
import { encodingOf, Utf8Decoder } from '../text/utf8Decoder.ts';
import { inspectBinary } from './inspectBinary.ts';
import type { EngineTarget } from './portability.ts';
import { inspection } from './inspection.ts';
import { inspectJson } from './inspectJson.ts';
import { inspectCalibration, inspectLog, inspectOverrides } from './inspectText.ts';
import { errorText } from '../text/errorText.ts';
import { counted } from '../text/numbers.ts';

const nowhere: EngineTarget = { product: null, version: null, computeCapability: null };
const HEAD = 1 << 16;
const CHUNK = 1 << 20;
/** Longest text that is read as a whole; a longer one can only be a log. */
const MAX_WHOLE = 400 << 20;
/** Calibration caches and overrides are small. */
const MAX_SMALL = 64 << 20;

/**
 * Identifies a file by its content, never by its name, except that an empty file whose name mentions layers is the
 * layer info that trtexec leaves when the engine keeps none. The source holds the file unpacked (no gzip). Never throws
 * on content; a source that fails makes it `unknown` with the problem `unreadable`.
 */
export async function inspectFile(
  source: ByteSource,
  { name = '', target = nowhere }: { name?: string; target?: EngineTarget } = {},
): Promise<Inspection> {
  try {
    return await inspectContent(source, name, target);
  } catch (error) {
    return unknown('The file cannot be read', 'unreadable', `The file cannot be read: ${errorText(error)}`);
  }
}

function unknown(summary: string, code: string, message: string): Inspection {
  return inspection('unknown', summary, { problems: [{ severity: 'error', code, message }] });
}

async function inspectContent(source: ByteSource, name: string, target: EngineTarget): Promise<Inspection> {
  if (source.size === 0) return inspectEmpty(name);
  const head = await source.read(0, Math.min(HEAD, source.size));
  if (head[0] === 0x1f && head[1] === 0x8b)
    return unknown('A gzip-compressed file', 'compressed', 'The file is compressed with gzip. Unpack it first.');
  if (SqliteFile.sniff(head)) return inspectTrace(source);
  const binary = inspectBinary(head, source.size, target);
  if (binary !== null) return binary;
  // Text may happen to read as the first fields of a model, but no model is text throughout.
  if (!isText(head)) return (await inspectModel(source, head)) ?? inspectUnknownBinary(source.size);
  return (await inspectText(source)) ?? (await inspectModel(source, head)) ?? unknownText();
}

async function inspectTrace(source: ByteSource): Promise<Inspection> {
  const { value, problems } = await readNsysTrace(source);
  if (!value?.trace) return inspection('unknown', 'An SQLite file without kernels of Nsight Systems', { problems });
  const { kernels, passes } = value.trace;
  return inspection('trace', `Trace of Nsight Systems: ${counted(kernels, 'kernel')}`, {
    counts: { kernels, passes },
    problems,
  });
}

function inspectEmpty(name: string): Inspection {
  const message =
    'The file is empty (0 bytes). trtexec writes empty layer info if the engine was built with profilingVerbosity=none. Build with --profilingVerbosity=detailed.';
  const problems = [{ severity: 'warning' as const, code: 'empty-file', message }];
  if (/layer|graph\.json$|engine_info/i.test(name))
    return inspection('layer-info', 'Layer info without layers: an empty file', { counts: { layers: 0 }, problems });
  return inspection('unknown', 'An empty file', { problems });
}

/** Text has no control characters but tabs, line ends, escapes and TensorRT's separators. */
function isText(head: Uint8Array): boolean {
  if (encodingOf(head) !== 'utf-8') return true;
  for (const byte of head)
    if (
      byte < 0x20 &&
      byte !== 0x09 &&
      byte !== 0x0a &&
      byte !== 0x0d &&
      byte !== 0x1b &&
      byte !== 0x1e &&
      byte !== 0x1f
    )
      return false;
  return true;
}

async function inspectModel(source: ByteSource, head: Uint8Array): Promise<Inspection | null> {
  if (!sniffModel(head)) return null;
  const { value, problems } = await readModel(source, { edges: false });
  if (value === undefined) return null;
  const counts = { nodes: value.nodes.length, inputs: value.graph.inputs.length, outputs: value.graph.outputs.length };
  return inspection('onnx', `ONNX model: ${counted(counts.nodes, 'node')}`, { counts, problems });
}

function inspectUnknownBinary(size: number): Inspection {
  return unknown(
    'Unrecognised binary file',
    'unknown-kind',
    `The ${counted(size, 'byte')} are not an ONNX model, a TensorRT engine or a timing cache.`,
  );
}

function unknownText(): Inspection {
  return unknown(
    'Unrecognised text file',
    'unknown-kind',
    'The text is not a build log, layer info, profile, replay or calibration cache of TensorRT, and not a precision override file.',
  );
}

async function inspectText(source: ByteSource): Promise<Inspection | null> {
  const first = await textOf(source, Math.min(source.size, HEAD));
  if (source.size <= MAX_WHOLE && looksLikeJson(first)) {
    const found = inspectJson(await textOf(source, source.size), first);
    if (found !== null) return found;
  }
  if (source.size <= MAX_SMALL) {
    const text = source.size <= HEAD ? first : await textOf(source, source.size);
    const found = inspectCalibration(text) ?? inspectOverrides(text);
    if (found !== null) return found;
  }
  return inspectAsLog(source);
}

/** JSON starts with a bracket, also after comments; a log's brackets hold a level, a time or a name. */
function looksLikeJson(first: string): boolean {
  const start = first.replace(/^(?:\uFEFF|\s|#.*\n)*/, '');
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
