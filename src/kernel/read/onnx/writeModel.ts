// Writes nodes, tensors and whole models.
import protobuf from 'protobufjs/minimal.js';
import type { ByteSource } from '../../base/problem.ts';
import {
  ATTRIBUTE,
  DIMENSION,
  ENTRY,
  GRAPH,
  MODEL,
  NODE,
  OPSET,
  SHAPE,
  TENSOR,
  TENSOR_TYPE,
  TYPE,
  VALUE,
} from './internal/onnxFields.ts';
import { WireError } from './internal/wireCursor.ts';
import { type Field, fieldEnd, scanFields } from './internal/scanFields.ts';
import {
  byteLength,
  type ByteSpan,
  convertElements,
  type DataType,
  dataTypeNumber,
  elementBytes,
  type GraphNote,
  joinSegments,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValue,
  type RealElement,
  type Segment,
  segmentsSize,
} from './onnxModel.ts';

/** A graph to write in place of a model's own. Parts that come from the model are copied from their bytes. */
export interface NewGraph {
  name: string;
  /** New ones, or the model's with all that is in them. */
  nodes: (NewNode | OnnxNode)[];
  /** The model's, copied with their types and shapes, or new ones by name and type. */
  inputs: (OnnxValue | NewValue)[];
  outputs: (OnnxValue | NewValue)[];
  initializers: (OnnxTensor | NewTensor)[];
  /** Declared types of tensors inside, copied. */
  values?: OnnxValue[];
  /** Description, metadata and annotations, copied. */
  others?: GraphNote[];
}

export interface NewValue {
  name: string;
  newType: DataType;
  /** Its rank, where it must be known; the dimensions stay open. */
  rank?: number;
  /** Its dimensions, where they are known; a text is a symbolic one, null one of unknown size. */
  shape?: readonly (number | string | null)[];
}

export interface NewTensor {
  name: string;
  newType: DataType;
  shape: number[];
  /** Little-endian, as raw data has it; or where that is; or where another file has it, as the entries of external data. */
  bytes: Uint8Array | { copy: Segment; size: number } | { external: Record<string, string> };
}

/** A new node, or one like a node of the model that reads and writes other tensors. */
export interface NewNode {
  op: string;
  name: string;
  inputs: string[];
  outputs: string[];
  attributes?: Record<string, NewAttribute>;
  domain?: string;
  /** Domain, overload and attributes are this node's, but for those that `attributes` names. */
  like?: OnnxNode;
}

export type NewAttribute =
  | { float: number }
  | { int: number }
  | { floats: number[] }
  | { ints: number[] }
  | { string: string }
  | { graph: NewGraph };

/** Weights from this size on (bytes) are named by their place in the file instead of copied. */
const LARGE = 1 << 12;

/** The fields of a graph's message. */
export function graphFields(graph: NewGraph, weights: string | null): Segment[] {
  return [
    { bytes: protobuf.Writer.create().uint32(GRAPH.name).string(graph.name).finish() },
    ...graph.nodes.flatMap((node) =>
      'id' in node ? [copyField(node.span!)] : message(GRAPH.node, nodeFields(node, weights)),
    ),
    ...graph.initializers.flatMap((tensor) => initializer(tensor, weights)),
    ...graph.inputs.flatMap((value) => valueField(GRAPH.input, value)),
    ...graph.outputs.flatMap((value) => valueField(GRAPH.output, value)),
    ...[...(graph.values ?? []), ...(graph.others ?? [])].map(({ span }) => copyField(span!)),
  ];
}

/** A field that holds a message. */
export function message(tag: number, fields: Segment[]): Segment[] {
  return [{ bytes: protobuf.Writer.create().uint32(tag).uint32(segmentsSize(fields)).finish() }, ...fields];
}

const copyField = ({ at, offset, length }: ByteSpan): Segment => ({
  copy: { offset: at, length: offset + length - at },
});

/** A graph's field with a new node. */
export const graphNode = (node: NewNode): Segment[] => message(GRAPH.node, nodeFields(node, null));

/** The fields of a node's message. */
function nodeFields(
  { op, name, inputs, outputs, attributes = {}, like, domain = like?.domain }: NewNode,
  weights: string | null,
): Segment[] {
  const writer = protobuf.Writer.create();
  for (const input of inputs) writer.uint32(NODE.input).string(input);
  for (const output of outputs) writer.uint32(NODE.output).string(output);
  writer.uint32(NODE.name).string(name).uint32(NODE.op).string(op);
  if (domain) writer.uint32(NODE.domain).string(domain);
  if (like?.overload) writer.uint32(NODE.overload).string(like.overload);
  const fields: Segment[] = [{ bytes: writer.finish() }];
  for (const { name: own, span } of like?.attributes ?? [])
    if (span && !Object.hasOwn(attributes, own)) fields.push(copyField(span));
  for (const [own, value] of Object.entries(attributes))
    fields.push(...message(NODE.attribute, attributeFields(own, value, weights)));
  return fields;
}

/** AttributeProto.AttributeType. */
const kinds = { float: 1, int: 2, string: 3, graph: 5, floats: 6, ints: 7 };

function attributeFields(name: string, value: NewAttribute, weights: string | null): Segment[] {
  const writer = protobuf.Writer.create().uint32(ATTRIBUTE.name).string(name).uint32(ATTRIBUTE.type);
  if ('graph' in value)
    return [
      { bytes: writer.uint32(kinds.graph).finish() },
      ...message(ATTRIBUTE.graph, graphFields(value.graph, weights)),
    ];
  if ('int' in value) writer.uint32(kinds.int).uint32(ATTRIBUTE.int).int64(value.int);
  else if ('float' in value) writer.uint32(kinds.float).uint32(ATTRIBUTE.float).float(value.float);
  else if ('string' in value) writer.uint32(kinds.string).uint32(ATTRIBUTE.string).string(value.string);
  else if ('floats' in value) {
    writer.uint32(kinds.floats);
    for (const one of value.floats) writer.uint32(ATTRIBUTE.float1).float(one);
  } else {
    writer.uint32(kinds.ints);
    for (const one of value.ints) writer.uint32(ATTRIBUTE.int1).int64(one);
  }
  return [{ bytes: writer.finish() }];
}

/** A graph's field with an initializer. */
export function initializer(tensor: OnnxTensor | NewTensor, weights: string | null): Segment[] {
  if (!('newType' in tensor)) {
    const place = weights === null ? null : placeInFile(tensor);
    if (place === null || weights === null) return [copyField(tensor.span!)];
    const writer = tensorHead(tensor.name, tensor.type, tensor.shape);
    const entries = { location: weights, offset: String(place.offset), length: String(place.length) };
    return message(GRAPH.initializer, [{ bytes: externalEntries(writer, entries).finish() }]);
  }
  const writer = tensorHead(tensor.name, tensor.newType, tensor.shape);
  const { bytes } = tensor;
  if ('external' in bytes)
    return message(GRAPH.initializer, [{ bytes: externalEntries(writer, bytes.external).finish() }]);
  writer.uint32(TENSOR.rawData);
  if (bytes instanceof Uint8Array) return message(GRAPH.initializer, [{ bytes: writer.bytes(bytes).finish() }]);
  return message(GRAPH.initializer, [{ bytes: writer.uint32(bytes.size).finish() }, bytes.copy]);
}

/** Lets a tensor point into a file next to the model. */
export function externalEntries(writer: protobuf.Writer, entries: Record<string, string>): protobuf.Writer {
  for (const [key, value] of Object.entries(entries)) {
    writer.uint32(TENSOR.externalData).fork().uint32(ENTRY.key).string(key);
    writer.uint32(ENTRY.value).string(value).ldelim();
  }
  return writer.uint32(TENSOR.location).uint32(1);
}

function tensorHead(name: string, type: DataType, shape: number[]): protobuf.Writer {
  const writer = protobuf.Writer.create().uint32(TENSOR.dims).fork();
  for (const dim of shape) writer.int64(dim);
  return writer.ldelim().uint32(TENSOR.dataType).uint32(dataTypeNumber(type)!).uint32(TENSOR.name).string(name);
}

/** Where the elements of a large tensor are, if they are in one piece and as raw data has them. */
function placeInFile({ data, type, shape, sparse }: OnnxTensor): { offset: number; length: number } | null {
  if (sparse || !data || !('inline' in data)) return null;
  const { offset, length, field, scattered } = data.inline;
  const asRaw = field === undefined || field === 'float' || field === 'double';
  return !scattered && asRaw && length >= LARGE && length === byteLength(type, shape) ? { offset, length } : null;
}

/** A graph's field with the declaration of a tensor. */
export function valueField(tag: number, value: OnnxValue | NewValue): Segment[] {
  const writer = protobuf.Writer.create();
  if (!('newType' in value)) {
    const { offset, length } = value.span!;
    return [{ bytes: writer.uint32(tag).uint32(length).finish() }, { copy: { offset, length } }];
  }
  writer.uint32(VALUE.name).string(value.name).uint32(VALUE.type).fork().uint32(TYPE.tensor).fork();
  writer.uint32(TENSOR_TYPE.elementType).uint32(dataTypeNumber(value.newType)!);
  const dims = value.shape ?? (value.rank === undefined ? null : Array<null>(value.rank).fill(null));
  if (dims) {
    writer.uint32(TENSOR_TYPE.shape).fork();
    for (const dim of dims) {
      writer.uint32(SHAPE.dimension).fork();
      if (typeof dim === 'number') writer.uint32(DIMENSION.value).int64(dim);
      else if (typeof dim === 'string') writer.uint32(DIMENSION.parameter).string(dim);
      writer.ldelim();
    }
    writer.ldelim();
  }
  writer.ldelim().ldelim();
  return message(tag, [{ bytes: writer.finish() }]);
}

/** As new files have it; external data and every operator set are allowed in it. */
const IR_VERSION = 10;

/**
 * A model with another graph, as pieces of the old file and new bytes; operator sets, functions and metadata stay.
 * `model` was read with spans.
 * @param weights the model's own file name: large weights inside the model become external data in that file, so
 * that the new model stays small. null: they are copied
 * @param irVersion the least that the new model has
 */
export function composeModel(
  model: OnnxModel,
  size: number,
  graph: NewGraph,
  weights: string | null,
  irVersion = IR_VERSION,
): Segment[] {
  const { at, offset, length } = model.graph.span!;
  const end = protobuf.Writer.create().uint32(MODEL.irVersion).uint32(Math.max(irVersion, model.irVersion));
  return joinSegments([
    { copy: { offset: 0, length: at } },
    ...message(MODEL.graph, graphFields(graph, weights)),
    { copy: { offset: offset + length, length: size - offset - length } },
    // Of a field that is written twice the last one counts.
    { bytes: end.finish() },
  ]);
}

/** What a model has more, at its end, that uses operators of another domain. */
export function importedDomain(domain: string, version = 1): Segment {
  const writer = protobuf.Writer.create().uint32(MODEL.opset).fork();
  return { bytes: writer.uint32(OPSET.domain).string(domain).uint32(OPSET.version).int64(version).ldelim().finish() };
}

/** In the metadata of a model that trtlens wrote, at the end of its file. */
export const modelMark: Uint8Array = protobuf.Writer.create()
  .uint32(MODEL.metadata)
  .fork()
  .uint32(ENTRY.key)
  .string('generator')
  .uint32(ENTRY.value)
  .string('TensorRT Lens')
  .ldelim()
  .finish();

/** Whether a model has the mark; false where it is damaged or no model. */
export async function isMarked(source: ByteSource): Promise<boolean> {
  try {
    for (const field of await scanFields(source, { at: 0, offset: 0, length: source.size })) {
      const length = fieldEnd(field) - field.at;
      if (field.tag !== MODEL.metadata || length !== modelMark.length) continue;
      // oxlint-disable-next-line no-await-in-loop -- a few entries
      const bytes = await source.read(field.at, length);
      if (bytes.every((byte, i) => byte === modelMark[i])) return true;
    }
    return false;
  } catch (error) {
    if (error instanceof WireError) return false;
    throw error;
  }
}

/** What takes the place of the bytes from `start` to `end` of the model; nothing is replaced where they are equal. */
interface Replacement {
  start: number;
  end: number;
  segments: Segment[];
}

/**
 * Changes inside one protobuf message of a file. Messages nest; where the length of one changes, its length prefix and
 * those around it are written again. Every other byte is copied.
 */
export class MessagePatch {
  readonly span: ByteSpan;
  private readonly tag: number;
  private readonly children = new Map<number, MessagePatch>();
  private readonly insertions: Replacement[] = [];
  private readonly replacements = new Map<number, Replacement>();

  /** `tag`: of the field that holds the message. */
  constructor(span: ByteSpan, tag: number) {
    this.span = span;
    this.tag = tag;
  }

  /** The patch of a message in this one; the same one for the same span. */
  child(span: ByteSpan, tag: number): MessagePatch {
    const known = this.children.get(span.at);
    if (known) return known;
    const child = new MessagePatch(span, tag);
    this.children.set(span.at, child);
    return child;
  }

  /** Puts segments in front of what begins at `start`, behind what was inserted there before. */
  insert(start: number, ...segments: Segment[]): void {
    this.insertions.push({ start, end: start, segments });
  }

  /** Puts segments in the place of a field: the bytes from `start` to `end`. Said twice of a field, the last one counts. */
  replace(start: number, end: number, ...segments: Segment[]): void {
    this.replacements.set(start, { start, end, segments });
  }

  /** The field that holds the message, as it will be. */
  field(): Segment[] {
    const { at, offset, length } = this.span;
    const payload = this.payload();
    const size = segmentsSize(payload);
    const head: Segment =
      size === length
        ? { copy: { offset: at, length: offset - at } }
        : { bytes: protobuf.Writer.create().uint32(this.tag).uint32(size).finish() };
    return [head, ...payload];
  }

  /** The message, as it will be. */
  payload(): Segment[] {
    const { offset, length } = this.span;
    const changes: Replacement[] = [
      ...this.insertions,
      ...this.replacements.values(),
      ...[...this.children.values()].map((child) => ({
        start: child.span.at,
        end: child.span.offset + child.span.length,
        segments: child.field(),
      })),
    ];
    // What is inserted is before what begins at the same place; insertions keep their order.
    changes.sort((a, b) => a.start - b.start || Number(a.end > a.start) - Number(b.end > b.start));
    const segments: Segment[] = [];
    let at = offset;
    for (const { start, end, segments: added } of changes) {
      if (start < at) throw new Error(`two changes of byte ${start}`);
      segments.push({ copy: { offset: at, length: start - at } });
      for (const segment of added) segments.push(segment);
      at = end;
    }
    segments.push({ copy: { offset: at, length: offset + length - at } });
    return joinSegments(segments);
  }
}

/** Places in the file that takes the converted external data; made once for all tensors of an edit. */
export class ExternalData {
  /** As the model will name it. */
  readonly location: string;
  readonly segments: Segment[] = [];
  size = 0;
  private readonly placed = new Map<string, number>();

  constructor(location: string) {
    this.location = location;
  }

  /** Adds bytes and returns their offset; the same bytes (tied weights) are added once. Large ones begin on a page. */
  place(segment: Segment, size: number): number {
    const key = JSON.stringify(segment);
    const known = this.placed.get(key);
    if (known !== undefined) return known;
    const alignment = size >= 1 << 20 ? 4096 : 64;
    const offset = Math.ceil(this.size / alignment) * alignment;
    if (offset > this.size) this.segments.push({ bytes: new Uint8Array(offset - this.size) });
    this.segments.push(segment);
    this.size = offset + size;
    this.placed.set(key, offset);
    return offset;
  }
}

const dataTags = new Set<number>([
  TENSOR.rawData,
  TENSOR.floatData,
  TENSOR.int32Data,
  TENSOR.doubleData,
  TENSOR.float1,
  TENSOR.int32,
  TENSOR.double1,
]);

/** Lists of numbers are converted while the edit is planned: as much of them in memory at a time, at most. */
const LIST_LIMIT = 1 << 24;

/** A tensor cannot be converted; the message says why, without the tensor's name. */
export class UnfitTensor extends Error {}

/**
 * Changes a tensor's type, and describes how its elements become the new ones; they end up as raw data, or in
 * `external` where they are outside the model.
 * @throws UnfitTensor, WireError, and what the source throws
 */
export async function retypeTensor(
  source: ByteSource,
  patch: MessagePatch,
  tensor: OnnxTensor,
  { from, to }: { from: RealElement; to: RealElement },
  external: ExternalData,
): Promise<void> {
  if (tensor.type !== from) throw new UnfitTensor(`it is ${tensor.type}, not ${from}`);
  if (tensor.sparse) throw new UnfitTensor('it is sparse');
  const fields = await scanFields(source, patch.span);
  for (const { tag, at, offset } of fields) {
    if (tag !== TENSOR.dataType) continue;
    const number = dataTypeNumber(to)!;
    patch.replace(at, offset, { bytes: protobuf.Writer.create().uint32(TENSOR.dataType).uint32(number).finish() });
  }
  const size = byteLength(from, tensor.shape)!;
  const newSize = (size / elementBytes[from]) * elementBytes[to];
  if (tensor.data && 'external' in tensor.data) {
    moveExternal(patch, fields, tensor.data.external, { from, to, size, newSize }, external);
    return;
  }
  const data = fields.filter(({ tag }) => dataTags.has(tag));
  if (!tensor.data || data.length === 0) return;
  const [field] = data;
  if (data.length > 1 || !field || (field.tag & 7) !== 2) {
    throw new UnfitTensor('its elements are stored in several fields');
  }
  const head: Segment = { bytes: protobuf.Writer.create().uint32(TENSOR.rawData).uint32(newSize).finish() };
  if (field.tag === TENSOR.int32Data) {
    const bytes = convertElements(await bitsOfInts(source, field, size), from, to);
    patch.replace(field.at, fieldEnd(field), head, { bytes });
    return;
  }
  // Stripped of its elements, as a weightless model is: there is nothing to convert.
  if (field.length === 0) return;
  if (field.length !== size) throw new UnfitTensor(`its data has ${field.length} bytes, but its shape needs ${size}`);
  patch.replace(field.at, fieldEnd(field), head, { convert: { offset: field.offset, length: field.length, from, to } });
}

/** Lets a tensor point to its converted elements in the new file of external data. */
function moveExternal(
  patch: MessagePatch,
  fields: Field[],
  entries: Record<string, string>,
  { from, to, size, newSize }: { from: RealElement; to: RealElement; size: number; newSize: number },
  external: ExternalData,
): void {
  const offset = Number(entries['offset'] ?? 0);
  const length = Number(entries['length'] ?? size);
  if (!entries['location'] || !Number.isSafeInteger(offset) || offset < 0) {
    throw new UnfitTensor('the location of its external data cannot be read');
  }
  if (length !== size) throw new UnfitTensor(`its external data has ${length} bytes, but its shape needs ${size}`);
  const place = external.place({ convert: { file: entries['location'], offset, length, from, to } }, newSize);
  const changed: Record<string, string> = {
    location: external.location,
    offset: String(place),
    length: String(newSize),
  };
  // A checksum would be that of the old bytes.
  const kept = Object.entries(entries).filter(([key]) => key !== 'checksum' && !Object.hasOwn(changed, key));
  const writer = protobuf.Writer.create();
  for (const [key, value] of [...Object.entries(changed), ...kept]) {
    writer.uint32(TENSOR.externalData).fork().uint32(ENTRY.key).string(key).uint32(ENTRY.value).string(value).ldelim();
  }
  const old = fields.filter(({ tag }) => tag === TENSOR.externalData);
  for (const [index, field] of old.entries()) {
    patch.replace(field.at, fieldEnd(field), ...(index === 0 ? [{ bytes: writer.finish() }] : []));
  }
}

/** 16-bit floats that are written as a list of numbers, as their bytes. */
async function bitsOfInts(source: ByteSource, field: Field, size: number): Promise<Uint8Array> {
  if (field.length > LIST_LIMIT) throw new UnfitTensor('its list of elements is too long to convert');
  const reader = new protobuf.Reader(await source.read(field.offset, field.length));
  const bits: number[] = [];
  try {
    while (reader.pos < reader.len) bits.push(reader.uint32() & 0xffff);
  } catch {
    throw new UnfitTensor('its elements cannot be read');
  }
  if (bits.length * 2 !== size)
    throw new UnfitTensor(`it has ${bits.length} elements, but its shape needs ${size / 2}`);
  return Uint8Array.from(bits.flatMap((value) => [value & 0xff, value >> 8]));
}
