// The structure of a model, its element types, how elements are converted, segments of a file.
import type { ByteSource } from '../../base/problem.ts';

/**
 * Where something is in its file: `at` is the first byte of the field that holds it (tag and length prefix), then
 * `offset` and `length` of the message itself. Only present if spans were requested.
 */
export interface ByteSpan {
  at: number;
  offset: number;
  length: number;
}

/**
 * An ONNX model as far as TensorRT Lens needs it: its structure, never its weights.
 * Names are exactly the file's. Ids follow the fusion report: a node's position in its graph, and for a node of a
 * subgraph the owner's id, the attribute's name and the position: `20/then_branch/3`.
 */
export interface OnnxModel {
  irVersion: number;
  producer: string;
  producerVersion: string;
  domain: string;
  opsets: { domain: string; version: number }[];
  metadata: { key: string; value: string }[];
  graph: OnnxGraph;
  functions: OnnxFunction[];
  /** It says how to train it, too (`training_info`), which is skipped. */
  trains?: true;
  /** Every node in file order, each subgraph's nodes right after their owner. Functions' bodies are not part of it. */
  nodes: OnnxNode[];
}

/** A model of which nothing has been read yet. */
export const emptyModel = (): OnnxModel => ({
  irVersion: 0,
  producer: '',
  producerVersion: '',
  domain: '',
  opsets: [],
  metadata: [],
  graph: emptyGraph(''),
  functions: [],
  nodes: [],
});

export interface OnnxGraph {
  name: string;
  /** '' for the main graph, else `<owner id>/<attribute>`. */
  path: string;
  nodes: OnnxNode[];
  inputs: OnnxValue[];
  outputs: OnnxValue[];
  /** Tensors with known types inside the graph. */
  values: OnnxValue[];
  initializers: OnnxTensor[];
  metadata?: { key: string; value: string }[];
  /** Description, metadata and quantization annotations, to be copied; only in a model that was read with spans. */
  others?: GraphNote[];
  span?: ByteSpan;
}

/** A graph of which nothing has been read yet. */
export const emptyGraph = (path: string): OnnxGraph => ({
  name: '',
  path,
  nodes: [],
  inputs: [],
  outputs: [],
  values: [],
  initializers: [],
});

/** A field of a graph that says something about the graph, or about one of its tensors. */
export interface GraphNote {
  span?: ByteSpan;
  /** The tensor that a quantization annotation is about. */
  tensor?: string;
  /** Names of the tensors that have its scale and zero point. */
  parameters?: string[];
}

export interface OnnxNode {
  id: string;
  name: string;
  op: string;
  domain: string;
  /** '' stands for an optional input that is not given. */
  inputs: string[];
  outputs: string[];
  attributes: OnnxAttribute[];
  /** A graph in a list of graphs has its position in the attribute's name: `branches[1]`. */
  subgraphs: { attribute: string; graph: OnnxGraph }[];
  metadata: { key: string; value: string }[];
  /** Its description, where that can have lines of the program that it comes from. */
  doc?: string;
  /** Which of several functions of the same domain and name is called; absent for none. */
  overload?: string;
  span?: ByteSpan;
}

/** Attribute values small enough to show are kept; tensors only as their type and shape; graphs are in `subgraphs`. */
export interface OnnxAttribute {
  name: string;
  kind:
    | 'float'
    | 'int'
    | 'string'
    | 'tensor'
    | 'graph'
    | 'floats'
    | 'ints'
    | 'strings'
    | 'tensors'
    | 'graphs'
    | 'other';
  value: number | string | number[] | string[] | OnnxTensor | OnnxTensor[] | null;
  /** Length of a list of which only the beginning was kept; of a string, in bytes. */
  count?: number;
  /** Where in the file the bytes of a string begin of which only the beginning was kept. */
  offset?: number;
  /** In a function's body: the attribute of the function whose value this one takes. */
  reference?: string;
  span?: ByteSpan;
}

export interface OnnxValue {
  name: string;
  /** null: the type is not given or is not a tensor type. */
  type: DataType | null;
  /** null: rank unknown. A string is a symbolic dimension, null one of unknown size. */
  shape: (number | string | null)[] | null;
  span?: ByteSpan;
}

export interface OnnxTensor {
  name: string;
  type: DataType;
  shape: number[];
  /** Where the bytes are: inline offsets count from the file's start; external paths are never opened. */
  data: { inline: InlineData } | { external: Record<string, string> } | null;
  /** The values of small integer tensors (at most 64 elements), which shape arithmetic needs. */
  ints?: number[];
  /** The values of small floating-point tensors (at most 64 elements), such as scales. */
  floats?: number[];
  /** A sparse tensor: `shape` is the dense one, `data` the values that are not zero. */
  sparse?: true;
  span?: ByteSpan;
}

export interface InlineData {
  offset: number;
  length: number;
  /** The typed field that holds the elements, packed (floats and doubles as in raw data, integers as varints); absent for raw data. */
  field?: 'float' | 'int32' | 'int64' | 'uint64' | 'double' | 'string';
  /** The elements come in several fields; offset and length cover them all, tags included. */
  scattered?: true;
}

export interface OnnxFunction {
  name: string;
  domain: string;
  overload: string;
  inputs: string[];
  outputs: string[];
  /** Their ids are `functions/<position of the function>/<position>`. */
  nodes: OnnxNode[];
  opsets?: { domain: string; version: number }[];
}

/** ONNX's own names in lower case (`float`, `float16`, `bfloat16`, `float8e4m3fn`, `int4`, …); `type 99` for a number that is not known yet. */
export type DataType = string;

/** One row of TensorProto.DataType: its number in the file, ONNX's name in lower case, bits of one element (0: no fixed size). */
interface TensorType {
  name: DataType;
  bits: number;
  kind: 'float' | 'signed' | 'unsigned' | 'bool' | 'complex' | 'string';
}

/** In the order of their numbers, from 1 on. */
const types: TensorType[] = [
  { name: 'float', bits: 32, kind: 'float' },
  { name: 'uint8', bits: 8, kind: 'unsigned' },
  { name: 'int8', bits: 8, kind: 'signed' },
  { name: 'uint16', bits: 16, kind: 'unsigned' },
  { name: 'int16', bits: 16, kind: 'signed' },
  { name: 'int32', bits: 32, kind: 'signed' },
  { name: 'int64', bits: 64, kind: 'signed' },
  { name: 'string', bits: 0, kind: 'string' },
  { name: 'bool', bits: 8, kind: 'bool' },
  { name: 'float16', bits: 16, kind: 'float' },
  { name: 'double', bits: 64, kind: 'float' },
  { name: 'uint32', bits: 32, kind: 'unsigned' },
  { name: 'uint64', bits: 64, kind: 'unsigned' },
  { name: 'complex64', bits: 64, kind: 'complex' },
  { name: 'complex128', bits: 128, kind: 'complex' },
  { name: 'bfloat16', bits: 16, kind: 'float' },
  { name: 'float8e4m3fn', bits: 8, kind: 'float' },
  { name: 'float8e4m3fnuz', bits: 8, kind: 'float' },
  { name: 'float8e5m2', bits: 8, kind: 'float' },
  { name: 'float8e5m2fnuz', bits: 8, kind: 'float' },
  { name: 'uint4', bits: 4, kind: 'unsigned' },
  { name: 'int4', bits: 4, kind: 'signed' },
  { name: 'float4e2m1', bits: 4, kind: 'float' },
  { name: 'float8e8m0', bits: 8, kind: 'float' },
  { name: 'uint2', bits: 2, kind: 'unsigned' },
  { name: 'int2', bits: 2, kind: 'signed' },
  { name: 'float6e2m3', bits: 6, kind: 'float' },
  { name: 'float6e3m2', bits: 6, kind: 'float' },
];

const byName = new Map(types.map((type, index) => [type.name, { ...type, number: index + 1 }]));

/** ONNX's name of a data type number; `type 99` for a number that is not known (0, "undefined", included). */
export function dataTypeName(number: number): DataType {
  return types[number - 1]?.name ?? `type ${number}`;
}

/** The number that stands for a data type in a file; also for `type 99`. undefined: no such type. */
export function dataTypeNumber(name: DataType): number | undefined {
  const unknown = /^type (\d+)$/.exec(name);
  return unknown ? Number(unknown[1]) : byName.get(name)?.number;
}

/** Bits of one element as stored in raw data; 0 where elements have no fixed size (string, unknown types). */
export function bitsPerElement(name: DataType): number {
  return byName.get(name)?.bits ?? 0;
}

/** Bytes of a tensor's raw data: types of less than a byte are packed, the last byte is padded. undefined: no fixed size. */
export function byteLength(name: DataType, shape: number[]): number | undefined {
  const bits = bitsPerElement(name);
  return bits === 0 ? undefined : Math.ceil((elementCount(shape) * bits) / 8);
}

/** Product of the dimensions: 1 for a scalar, 0 where a dimension is 0 or negative. */
export function elementCount(shape: number[]): number {
  return shape.reduce((count, dimension) => count * Math.max(0, dimension), 1);
}

/** Integers and bool: what indices, shapes and conditions are made of. */
export function isIntegerType(name: DataType): boolean {
  const kind = byName.get(name)?.kind;
  return kind === 'signed' || kind === 'unsigned' || kind === 'bool';
}

/** Every floating-point type, from double down to float4e2m1. */
export function isFloatType(name: DataType): boolean {
  return byName.get(name)?.kind === 'float';
}

/** Types with a sign of their own among the integers. */
export function isSignedType(name: DataType): boolean {
  return byName.get(name)?.kind === 'signed';
}

/** Every tensor that a model contains: initializers and attributes, of its graph, subgraphs and functions. */
export const modelTensors = ({ graph, functions }: OnnxModel): OnnxTensor[] => [
  ...graphTensors(graph),
  ...functions.flatMap(({ nodes }) => nodes.flatMap(nodeTensors)),
];

const graphTensors = (graph: OnnxGraph): OnnxTensor[] => [...graph.initializers, ...graph.nodes.flatMap(nodeTensors)];

function nodeTensors(node: OnnxNode): OnnxTensor[] {
  const values = node.attributes.flatMap(({ value }) => (Array.isArray(value) ? value : [value]));
  const own = values.filter((value): value is OnnxTensor => typeof value === 'object' && value !== null);
  return [...own, ...node.subgraphs.flatMap(({ graph }) => graphTensors(graph))];
}

/** Floating-point types between which tensors can be converted. */
export type RealElement = 'float' | 'float16' | 'bfloat16' | 'double';

/** What a conversion did to values that the target type cannot hold. */
export interface ConversionLoss {
  /** Finite values beyond the target's range; they became its largest finite value, not infinity. */
  clamped: number;
  /** Values other than zero that became zero. */
  vanished: number;
  /** Where these values are: pieces of the model (no `file`) or of its external data, by their beginning. */
  where?: { file?: string; offset: number; clamped: number; vanished: number }[];
}

/** Bytes of one element. */
export const elementBytes: Record<RealElement, number> = { float: 4, float16: 2, bfloat16: 2, double: 8 };

/** True for the types that `convertElements` takes. */
export function isRealElement(type: string): type is RealElement {
  return Object.hasOwn(elementBytes, type);
}

/**
 * Converts little-endian elements; rounds to the nearest, ties to even. Values that are too large stay finite, because
 * an infinity in a weight or mask ends as NaN; infinities and NaN stay what they are. `bytes` holds whole elements.
 */
export function convertElements(
  bytes: Uint8Array,
  from: RealElement,
  to: RealElement,
  loss: ConversionLoss = { clamped: 0, vanished: 0 },
): Uint8Array {
  const fast = from === 'float' ? fastWriters[to] : undefined;
  if (fast) return fast(wordsOf(bytes), loss);
  const count = Math.floor(bytes.length / elementBytes[from]);
  const result = new Uint8Array(count * elementBytes[to]);
  const source = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const target = new DataView(result.buffer);
  const read = readers[from];
  const write = writers[to];
  for (let index = 0; index < count; index++) write(target, index, read(source, index), loss);
  return result;
}

/**
 * 32-bit words of bytes, copied where they are not on a boundary. Typed arrays have the machine's byte order; every
 * machine that this runs on has ONNX's.
 */
function wordsOf(bytes: Uint8Array): Uint32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  return new Uint32Array(aligned.buffer, aligned.byteOffset, Math.floor(bytes.length / 4));
}

/** What nearly all weights need, on bits: ten times the speed of going through numbers. */
const fastWriters: Partial<Record<RealElement, (words: Uint32Array, loss: ConversionLoss) => Uint8Array>> = {
  float16: (words, loss) => {
    const result = new Uint16Array(words.length);
    for (let index = 0; index < words.length; index++) {
      const bits = words[index]!;
      const size = bits & 0x7fffffff;
      // Normal numbers that stay normal and finite: below 65520, and not below 2^-14.
      if (size >= 0x38800000 && size < 0x477ff000) {
        const rounded = size + 0xfff + ((size >>> 13) & 1);
        result[index] = ((bits >>> 16) & 0x8000) | ((rounded - 0x38000000) >>> 13);
      } else result[index] = halfBits(bounded(floatOfBits(bits), halfRange, loss));
    }
    return new Uint8Array(result.buffer);
  },
  bfloat16: (words, loss) => {
    const result = new Uint16Array(words.length);
    for (let index = 0; index < words.length; index++) {
      const bits = words[index]!;
      const size = bits & 0x7fffffff;
      if (size >= 0x00800000 && size < 0x7f7f8000) result[index] = (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
      else result[index] = bfloatBits(bounded(floatOfBits(bits), bfloatRange, loss));
    }
    return new Uint8Array(result.buffer);
  },
};

const readers: Record<RealElement, (view: DataView, index: number) => number> = {
  float: (view, index) => view.getFloat32(index * 4, true),
  double: (view, index) => view.getFloat64(index * 8, true),
  bfloat16: (view, index) => floatOfBits(view.getUint16(index * 2, true) << 16),
  float16: (view, index) => floatOfHalf(view.getUint16(index * 2, true)),
};

const writers: Record<RealElement, (view: DataView, index: number, value: number, loss: ConversionLoss) => void> = {
  double: (view, index, value) => view.setFloat64(index * 8, value, true),
  float: (view, index, value, loss) => view.setFloat32(index * 4, bounded(value, floatRange, loss), true),
  bfloat16: (view, index, value, loss) =>
    view.setUint16(index * 2, bfloatBits(bounded(value, bfloatRange, loss)), true),
  float16: (view, index, value, loss) => view.setUint16(index * 2, halfBits(bounded(value, halfRange, loss)), true),
};

/** The finite range of a type. */
interface ValueRange {
  largest: number;
  /** From here on, rounding to the nearest would give infinity. */
  overflow: number;
  /** Up to here, it gives zero. */
  underflow: number;
}

const floatRange: ValueRange = {
  largest: (2 - 2 ** -23) * 2 ** 127,
  overflow: (2 - 2 ** -24) * 2 ** 127,
  underflow: 2 ** -150,
};
const bfloatRange: ValueRange = {
  largest: (2 - 2 ** -7) * 2 ** 127,
  overflow: (2 - 2 ** -8) * 2 ** 127,
  underflow: 2 ** -134,
};
const halfRange: ValueRange = { largest: 65504, overflow: 65520, underflow: 2 ** -25 };

function bounded(value: number, { largest, overflow, underflow }: ValueRange, loss: ConversionLoss): number {
  const size = Math.abs(value);
  if (size <= underflow) {
    if (value !== 0) loss.vanished++;
    return value;
  }
  if (size < overflow || size === Infinity || Number.isNaN(value)) return value;
  loss.clamped++;
  return value < 0 ? -largest : largest;
}

const scratch = new DataView(new ArrayBuffer(8));

function floatOfBits(bits: number): number {
  scratch.setUint32(0, bits >>> 0);
  return scratch.getFloat32(0);
}

function floatOfHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Rounds to the nearest integer, ties to even. `value` is not negative and below 2^52. */
function roundEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return rest < 0.5 ? floor : floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

/** Sign, exponent and fraction of a number in a small format: IEEE's layout with the given widths. */
function smallBits(value: number, exponentBits: number, fractionBits: number): number {
  const top = (1 << exponentBits) - 1;
  const bias = top >> 1;
  const sign = value < 0 || Object.is(value, -0) ? 1 << (exponentBits + fractionBits) : 0;
  if (Number.isNaN(value)) return (top << fractionBits) | (1 << (fractionBits - 1));
  const size = Math.abs(value);
  if (size === Infinity) return sign | (top << fractionBits);
  if (size === 0) return sign;
  scratch.setFloat64(0, size);
  const exponent = Math.max(((scratch.getUint16(0) >> 4) & 0x7ff) - 1023, 1 - bias);
  const units = roundEven(size * 2 ** (fractionBits - exponent));
  // For a subnormal the implicit bit is missing from `units`; a carry of the rounding moves into the exponent.
  return sign | (units + ((exponent + bias - 1) << fractionBits));
}

const halfBits = (value: number): number => smallBits(value, 5, 10);
const bfloatBits = (value: number): number => smallBits(value, 8, 7);

/**
 * A piece of a file that is written again: bytes that already exist (in the model, or in the file of its external
 * data that `file` names as the model does), new ones, or elements of another type.
 */
export type Segment =
  | { copy: { file?: string; offset: number; length: number } }
  | { bytes: Uint8Array }
  | { convert: { file?: string; offset: number; length: number; from: RealElement; to: RealElement } };

/** Pieces of this many bytes are in memory at a time. A multiple of every element's size. */
const PIECE = 1 << 20;

/** Bytes that a segment becomes. */
export function segmentSize(segment: Segment): number {
  if ('bytes' in segment) return segment.bytes.length;
  if ('copy' in segment) return segment.copy.length;
  const { length, from, to } = segment.convert;
  return (length / elementBytes[from]) * elementBytes[to];
}

/** Bytes that a list of segments becomes. */
export const segmentsSize = (segments: Segment[]): number =>
  segments.reduce((size, segment) => size + segmentSize(segment), 0);

/** Neighbors joined: copied ranges that follow on one another, and new bytes. */
export function joinSegments(segments: Segment[]): Segment[] {
  const joined: Segment[] = [];
  let fresh: Uint8Array[] = [];
  const joinBytes = (): void => {
    if (fresh.length > 0) joined.push({ bytes: fresh.length === 1 ? fresh[0]! : concatenated(fresh) });
    fresh = [];
  };
  for (const segment of segments) {
    if (segmentSize(segment) === 0) continue;
    if ('bytes' in segment) {
      fresh.push(segment.bytes);
      continue;
    }
    joinBytes();
    const last = joined.at(-1);
    if (last && 'copy' in last && 'copy' in segment && continues(last.copy, segment.copy)) {
      joined[joined.length - 1] = { copy: { ...last.copy, length: last.copy.length + segment.copy.length } };
    } else joined.push(segment);
  }
  joinBytes();
  return joined;
}

function concatenated(pieces: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

type Range = { file?: string; offset: number; length: number };
const continues = (before: Range, after: Range): boolean =>
  before.file === after.file && before.offset + before.length === after.offset;

/**
 * The bytes that segments stand for, in pieces of at most some megabytes.
 * @param open gives the model (undefined) or the file of external data of that name, which is the model's word and may
 * lead anywhere; asked once for each
 * @param loss counts what conversions could not keep
 * @throws what `open` and its sources throw, and an Error where a source ends early
 */
export async function* segmentBytes(
  segments: Segment[],
  open: (file?: string) => ByteSource | Promise<ByteSource>,
  loss: ConversionLoss = { clamped: 0, vanished: 0 },
): AsyncGenerator<Uint8Array> {
  const sources = new Map<string | undefined, ByteSource>();
  for (const segment of segments) {
    if ('bytes' in segment) {
      yield segment.bytes;
      continue;
    }
    const { file, offset, length } = 'copy' in segment ? segment.copy : segment.convert;
    const before = { ...loss };
    const source = sources.get(file) ?? (await open(file));
    sources.set(file, source);
    for (let done = 0; done < length; done += PIECE) {
      const wanted = Math.min(PIECE, length - done);
      const bytes = await source.read(offset + done, wanted);
      if (bytes.length < wanted) {
        throw new Error(`${file ?? 'the model'} ends at byte ${offset + done + bytes.length}; expected ${wanted} more`);
      }
      yield 'copy' in segment ? bytes : convertElements(bytes, segment.convert.from, segment.convert.to, loss);
    }
    const [clamped, vanished] = [loss.clamped - before.clamped, loss.vanished - before.vanished];
    if (clamped + vanished > 0)
      (loss.where ??= []).push({ ...(file !== undefined && { file }), offset, clamped, vanished });
  }
}

/**
 * An edited model as a source of its own, without writing it: new bytes are in memory, everything else is read from the
 * source that was edited. Edits of edits are stacked this way.
 * @param segments pieces without external data of their own
 */
export function editedSource(segments: readonly Segment[], base: ByteSource): ByteSource {
  const starts: number[] = [];
  let size = 0;
  for (const segment of segments) {
    starts.push(size);
    size += segmentSize(segment);
  }
  const read = async (offset: number, length: number): Promise<Uint8Array> => {
    const end = Math.min(size, offset + length);
    const result = new Uint8Array(Math.max(0, end - offset));
    for (let index = indexAt(starts, offset); index < segments.length && starts[index]! < end; index++) {
      const from = Math.max(offset, starts[index]!);
      const until = Math.min(end, starts[index]! + segmentSize(segments[index]!));
      // oxlint-disable-next-line no-await-in-loop -- a read covers few segments
      result.set(await part(segments[index]!, base, from - starts[index]!, until - from), from - offset);
    }
    return result;
  };
  return { size, read };
}

function part(segment: Segment, base: ByteSource, offset: number, length: number): Promise<Uint8Array> {
  if ('bytes' in segment) return Promise.resolve(segment.bytes.subarray(offset, offset + length));
  if ('copy' in segment && segment.copy.file === undefined) return base.read(segment.copy.offset + offset, length);
  throw new Error('an edited model holds only new bytes and bytes of the model');
}

/** The last start that is not behind an offset. */
function indexAt(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle]! <= offset) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

const valueOf = (node: OnnxNode, name: string) => node.attributes.find((attribute) => attribute.name === name)?.value;

/** An integer or float attribute; undefined if it is absent. */
export function intAttribute(node: OnnxNode, name: string): number | undefined {
  const value = valueOf(node, name);
  return typeof value === 'number' ? value : undefined;
}

/** A whole list of integers; null if it is absent or only its beginning was kept. */
export function intsAttribute(node: OnnxNode, name: string): number[] | null {
  const attribute = node.attributes.find((one) => one.name === name);
  if (!Array.isArray(attribute?.value) || attribute.count !== undefined) return null;
  const numbers = attribute.value.filter((value) => typeof value === 'number');
  return numbers.length === attribute.value.length ? numbers : null;
}

/** A text attribute; undefined if it is absent. */
export function textAttribute(node: OnnxNode, name: string): string | undefined {
  const value = valueOf(node, name);
  return typeof value === 'string' ? value : undefined;
}

/** Whether a node contains an engine that ONNX Runtime compiled. */
export const isEpContext = ({ op, domain }: Pick<OnnxNode, 'op' | 'domain'>): boolean =>
  op === 'EPContext' && domain === 'com.microsoft';
