// Reads a model without its weights.
import { type ByteSource, errorText, type Problem, type Read } from '../../base/problem.ts';
import { ModelReading, problemOf, readEntry, readOpset } from './internal/modelReading.ts';
import { FUNCTION, MODEL } from './internal/onnxFields.ts';
import { readGraph, readNode } from './internal/readGraph.ts';
import { type Reading, WireCursor, WireError } from './internal/wireCursor.ts';
import { emptyModel, type OnnxFunction, type OnnxGraph, type OnnxModel } from './onnxModel.ts';

/** What a file that is not an ONNX model seems to be, and what to do about it: one or two sentences for the user. */
export function describeForeignFile(head: Uint8Array): string {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'it is compressed with gzip. Unpack it first (gunzip).';
  const begin = Array.from(head.subarray(0, 512), (byte) => String.fromCharCode(byte)).join('');
  if (begin.startsWith('PK\x03\x04')) {
    return 'it is a ZIP archive, possibly a PyTorch checkpoint. Unpack it, or export the checkpoint to ONNX first.';
  }
  if (begin.startsWith('version https://git-lfs.github.com')) {
    return 'it is a Git LFS pointer to the model. Run "git lfs pull" to get the model.';
  }
  if (begin.startsWith('ftrt') || begin.startsWith('ptrt'))
    return 'it is a TensorRT engine. Open the model that it was built from.';
  if (/^\s*<(!doctype|html|\?xml)/i.test(begin)) {
    return 'it is a web page, probably from a failed download. Download the model again.';
  }
  if (/^\s*[{[]/.test(begin) && isText(head)) return 'it is JSON text.';
  if (isText(head)) return 'it is a text file.';
  return 'the content is not ONNX, or it is damaged at the start.';
}

function isText(head: Uint8Array): boolean {
  return head.length > 0 && head.every((byte) => byte >= 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d);
}

/** After a jump so little is read, because the next tensor's weights may follow at once; read on in a row, it doubles. */
const SMALLEST_WINDOW = 4096;
const LARGEST_WINDOW = 1 << 18;
/** A jump over less than this is not worth a small window. */
const SMALL_JUMP = 1 << 14;

export { type EpContext, epContexts } from './internal/epContexts.ts';

export interface ReadModelOptions {
  /** Looked at between reads. Once aborted, the reader returns without a value and with the problem `cancelled`. */
  signal?: { readonly aborted: boolean };
  /** Told now and then how many nodes there are so far. */
  onNodes?: (count: number) => void;
  /** Keep where in the file graphs, nodes, tensors and values stand (`span`), for the editor of models. */
  spans?: boolean;
  /** Only how many nodes there are is wanted: one without anything in it may stand for many. Problems are the same. */
  counting?: boolean;
}

/**
 * Reads the structure of an ONNX model, never its weights: tensors' elements are skipped by their length, and
 * external data is never opened.
 *
 * Never throws. Without a value: `empty-file`, `not-onnx`, `unreadable` (the source failed), `cancelled`. With what
 * could be read: `truncated`, `malformed`, `too-deep`, `too-many`, `no-graph` (errors, with the byte offset and what
 * was being read), `no-nodes`, `no-outputs`, `no-opset` (warnings).
 */
export async function readModel(source: ByteSource, options: ReadModelOptions = {}): Promise<Read<OnnxModel>> {
  if (source.size === 0) return failed('empty-file', 'The file is empty (0 bytes). Export the model again.');
  const cursor = new WireCursor(source.size);
  const reading = new ModelReading(cursor, options);
  const model = newModel(reading);
  try {
    await feed(source, reading, readModelFields(reading, model), options);
  } catch (error) {
    if (error instanceof WireError) reading.report(problemOf(error));
    else if (error instanceof Stopped) return failed(error.code, error.message);
    else throw error;
  }
  options.onNodes?.(reading.nodes.length);
  // Problems name nodes.
  if (options.counting && reading.problems.length > 0) return readModel(source, { ...options, counting: false });
  if ((reading.problems.length > 0 || reading.graphs === 0) && !isRecognized(model)) return notOnnx(source);
  return { value: model, problems: [...reading.allProblems(), ...judge(model, reading)] };
}

/** True when these first bytes of a file can be the beginning of an ONNX model. */
export function sniffModel(head: Uint8Array): boolean {
  const cursor = new WireCursor(head.length);
  cursor.load(0, head);
  const known = new Set(Object.values(MODEL));
  let recognized = false;
  try {
    while (cursor.pos < head.length) {
      const tag = cursor.field(Infinity);
      if (!known.has(tag)) return false;
      recognized ||= tag === MODEL.graph || tag === MODEL.opset || (tag === MODEL.irVersion && cursor.value < 1000);
      cursor.skip();
    }
  } catch {
    // The head ends inside a field, or is no protobuf: what came before decides.
  }
  return recognized;
}

/** The source failed, or the reader was told to stop. */
class Stopped extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const failed = (code: string, message: string): Read<OnnxModel> => ({
  value: undefined,
  problems: [{ severity: 'error', code, message }],
});

/** Runs the reading, and gives it the bytes that it asks for. */
async function feed(
  source: ByteSource,
  reading: ModelReading,
  parts: Reading,
  { signal, onNodes }: ReadModelOptions,
): Promise<void> {
  const { cursor } = reading;
  let window = SMALLEST_WINDOW;
  for (let wanted = parts.next(); !wanted.done; wanted = parts.next()) {
    if (signal?.aborted) throw new Stopped('cancelled', 'Reading the model was cancelled.');
    onNodes?.(reading.nodes.length);
    const start = cursor.pos;
    const jump = start - cursor.windowEnd;
    if (start > 0) window = jump > SMALL_JUMP ? SMALLEST_WINDOW : Math.min(window * 2, LARGEST_WINDOW);
    const length = Math.min(Math.max(wanted.value, window), cursor.fileSize - start);
    // eslint-disable-next-line no-await-in-loop -- each read depends on what the one before held
    const bytes = await readAll(source, start, length, reading.spare);
    reading.spare = undefined;
    cursor.load(start, bytes);
    if (bytes.length < length) cursor.fileSize = start + bytes.length;
  }
}

async function readAll(source: ByteSource, offset: number, length: number, into?: Uint8Array): Promise<Uint8Array> {
  try {
    return await source.read(offset, length, into);
  } catch (error) {
    const reason = errorText(error);
    throw new Stopped('unreadable', `The model could not be read at byte ${offset}: ${reason}`);
  }
}

const newModel = (reading: ModelReading): OnnxModel => ({ ...emptyModel(), nodes: reading.nodes });

function* readModelFields(reading: ModelReading, model: OnnxModel): Reading {
  const { cursor } = reading;
  const read = (tag: number): void => {
    switch (tag) {
      case MODEL.irVersion:
        model.irVersion = cursor.value;
        break;
      case MODEL.producer:
        model.producer = cursor.text();
        break;
      case MODEL.producerVersion:
        model.producerVersion = cursor.text();
        break;
      case MODEL.domain:
        model.domain = cursor.text();
        break;
      case MODEL.opset:
        model.opsets.push(readOpset(cursor));
        break;
      case MODEL.metadata:
        model.metadata.push(readEntry(cursor));
        break;
      case MODEL.graph:
        readMainGraph(reading, model.graph);
        break;
      case MODEL.function:
        readFunction(reading, model.functions);
        break;
      case MODEL.trainingInfo:
        model.trains = true;
        cursor.skip();
        break;
      default:
        cursor.skip();
    }
  };
  // A length that runs past the file means that the file is cut off, which is noticed where the bytes end.
  yield* reading.fields(cursor.fileSize, read, Infinity);
}

function readMainGraph(reading: ModelReading, graph: OnnxGraph): void {
  const { cursor } = reading;
  const { pos, payloadEnd } = cursor;
  // A graph in several pieces is legal and is read as one; no one span covers it.
  if (reading.graphs++ === 0) reading.mark(graph);
  else delete graph.span;
  reading.later.push(recovering(reading, pos, payloadEnd, 'the graph', readGraph(reading, graph, payloadEnd, 0)));
  cursor.seek(payloadEnd);
}

function readFunction(reading: ModelReading, functions: OnnxFunction[]): void {
  const { cursor } = reading;
  const { pos, payloadEnd } = cursor;
  const body: OnnxFunction = { name: '', domain: '', overload: '', inputs: [], outputs: [], nodes: [], opsets: [] };
  const path = `functions/${functions.push(body) - 1}`;
  const fields = readFunctionFields(reading, body, path, payloadEnd);
  reading.later.push(recovering(reading, pos, payloadEnd, path, fields));
  cursor.seek(payloadEnd);
}

/** Reads a part from `start` on, and goes on after it if it is damaged. */
function* recovering(reading: ModelReading, start: number, end: number, what: string, part: Reading): Reading {
  reading.cursor.seek(start);
  try {
    yield* part;
  } catch (error) {
    reading.recover(error, end, () => what);
  }
}

function* readFunctionFields(reading: ModelReading, body: OnnxFunction, path: string, end: number): Reading {
  const { cursor } = reading;
  const modelNodes = reading.nodes;
  reading.nodes = [];
  try {
    yield* reading.fields(end, (tag) => {
      if (tag === FUNCTION.name) body.name = cursor.text();
      else if (tag === FUNCTION.domain) body.domain = cursor.text();
      else if (tag === FUNCTION.overload) body.overload = cursor.text();
      else if (tag === FUNCTION.input) body.inputs.push(cursor.text());
      else if (tag === FUNCTION.output) body.outputs.push(cursor.text());
      else if (tag === FUNCTION.node) readNode(reading, body.nodes, path, 0);
      else if (tag === FUNCTION.opset) (body.opsets ??= []).push(readOpset(cursor));
      else cursor.skip();
    });
  } finally {
    reading.nodes = modelNodes;
  }
}

/** Whether anything was read that only an ONNX model has. Random bytes often begin like some protobuf message. */
function isRecognized({ irVersion, opsets, graph, nodes }: OnnxModel): boolean {
  const hasVersion = (irVersion > 0 && irVersion < 1000) || opsets.some(({ version }) => version > 0 && version < 1000);
  return hasVersion || (nodes.some(({ op }) => /^[\w.:-]+$/.test(op)) && graph.path === '');
}

/** Only after nothing else: a file that is not a model, recognized by what it seems to be. */
async function notOnnx(source: ByteSource): Promise<Read<OnnxModel>> {
  const head = await readAll(source, 0, Math.min(512, source.size)).catch(() => new Uint8Array(0));
  return failed('not-onnx', `This is not an ONNX model: ${describeForeignFile(head)}`);
}

/** What is odd about a model that could be read. */
function judge(model: OnnxModel, reading: ModelReading): Problem[] {
  const { graph, opsets } = model;
  if (reading.problems.some(({ code }) => code === 'truncated' || code === 'too-many')) return [];
  if (reading.graphs === 0) {
    const message = 'The model has no graph. Export it again completely.';
    return [{ severity: 'error', code: 'no-graph', message }];
  }
  const problems: Problem[] = [];
  const warn = (code: string, message: string): unknown => problems.push({ severity: 'warning', code, message });
  if (graph.nodes.length === 0) warn('no-nodes', 'The graph has no nodes.');
  if (graph.outputs.length === 0)
    warn('no-outputs', 'The graph has no outputs, so TensorRT cannot build an engine from it.');
  if (opsets.length === 0) {
    warn('no-opset', 'The model has no opset version. It may be truncated, or its exporter omitted the version.');
  }
  return problems;
}
