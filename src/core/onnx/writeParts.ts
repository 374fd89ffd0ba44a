import protobuf from 'protobufjs/minimal.js';
import { ATTRIBUTE, DIMENSION, ENTRY, GRAPH, NODE, SHAPE, TENSOR, TENSOR_TYPE, TYPE, VALUE } from './onnxFields.ts';
import type { ByteSpan, DataType, OnnxNode, OnnxTensor, OnnxValue } from './onnxModel.ts';
import { type Segment, segmentsSize } from './segment.ts';
import { byteLength, dataTypeNumber } from './tensorTypes.ts';

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
    ...(graph.values ?? []).map(({ span }) => copyField(span!)),
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
