import type { Inspection } from './inspection.ts';
import type { ByteSource } from '../text/byteSource.ts';
import { SqliteFile } from '../engine/trace/sqliteFile.ts';
import { readModel, sniffModel } from '../onnx/readModel.ts';
import { encodingOf } from '../text/utf8Decoder.ts';
import { inspectBinary } from './inspectBinary.ts';
import { type EngineTarget, unknownTarget } from './engineKnowledge.ts';
import { inspection } from './inspection.ts';
import { errorText } from '../text/errorText.ts';
import { counted } from '../text/numbers.ts';

const HEAD = 1 << 16;

/**
 * Identifies a file by its content, never by its name, except that an empty file whose name mentions layers is the
 * layer info that trtexec leaves when the engine keeps none. The source holds the file unpacked (no gzip). Never throws
 * on content; a source that fails makes it `unknown` with the problem `unreadable`.
 */
export async function inspectFile(
  source: ByteSource,
  { name = '', target = unknownTarget }: { name?: string; target?: EngineTarget } = {},
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
  // Models are many; the readers of all texts are loaded only for a text.
  const { inspectTextFile } = await import('./inspectTextFile.ts');
  return (await inspectTextFile(source)) ?? (await inspectModel(source, head)) ?? unknownText();
}

async function inspectTrace(source: ByteSource): Promise<Inspection> {
  const { readNsysTrace } = await import('../engine/trace/readNsysTrace.ts');
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
  const { value, problems } = await readModel(source, { counting: true });
  if (value === undefined) return null;
  const counts = { nodes: value.nodes.length, inputs: value.graph.inputs.length, outputs: value.graph.outputs.length };
  return inspection('onnx', `ONNX model: ${counted(counts.nodes, 'node')}`, { counts, problems });
}

function inspectUnknownBinary(size: number): Inspection {
  return unknown(
    'Unrecognized binary file',
    'unknown-kind',
    `The ${counted(size, 'byte')} are not an ONNX model, a TensorRT engine or a timing cache.`,
  );
}

function unknownText(): Inspection {
  return unknown(
    'Unrecognized text file',
    'unknown-kind',
    'The text is not a build log, layer info, profile, replay or calibration cache of TensorRT, and not a precision override file.',
  );
}
