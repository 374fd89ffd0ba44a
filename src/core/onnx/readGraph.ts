import { type ModelReading, readEntry, within } from './modelReading.ts';
import { ATTRIBUTE, GRAPH, NODE } from './onnxFields.ts';
import type { OnnxAttribute, OnnxGraph, OnnxNode, OnnxTensor, OnnxValue } from './onnxModel.ts';
import { newTensor, readSparseTensor, readTensor } from './readTensor.ts';
import { readValue } from './readValue.ts';
import { HEAD, type Reading, type WireCursor, WireError } from './wireCursor.ts';

/** Real models nest a handful of levels; protobuf's own readers stop at 100 messages. */
const DEPTH_LIMIT = 100;
/** Of longer lists only the beginning is kept. */
const LIST_LIMIT = 256;
/** Of longer strings only the beginning is kept: plugins keep whole weights in them. */
const STRING_LIMIT = 4096;
/** Lists of numbers are counted in pieces of this many bytes. */
const PIECE = 1 << 16;

/** A graph of which nothing has been read yet. */
export const newGraph = (path: string): OnnxGraph => ({
  name: '',
  path,
  nodes: [],
  inputs: [],
  outputs: [],
  values: [],
  initializers: [],
});

/** Fills a graph from a GraphProto that ends at `end`. `depth`: how many graphs it is in. */
export function* readGraph(reading: ModelReading, graph: OnnxGraph, end: number, depth: number): Reading {
  const { cursor } = reading;
  const values: Record<number, OnnxValue[]> = {
    [GRAPH.input]: graph.inputs,
    [GRAPH.output]: graph.outputs,
    [GRAPH.value]: graph.values,
  };
  if (depth > DEPTH_LIMIT) {
    throw new WireError('too-deep', `graphs are nested more than ${DEPTH_LIMIT} deep`, cursor.at);
  }
  while (cursor.pos < end) {
    if (cursor.lacks(HEAD)) yield HEAD;
    const tag = cursor.field(end);
    const list = values[tag];
    if (tag === GRAPH.node) yield* readNode(reading, graph.nodes, graph.path, depth);
    else if (tag === GRAPH.initializer || tag === GRAPH.sparseInitializer) {
      yield* readInitializer(reading, graph, tag === GRAPH.sparseInitializer);
    } else if (list) yield* readNamedValue(reading, list);
    else if (tag === GRAPH.name) graph.name = yield* cursor.text();
    else if (tag === GRAPH.metadata) yield* readEntryInto(cursor, (graph.metadata ??= []));
    else cursor.skip();
  }
}

function* readInitializer(reading: ModelReading, graph: OnnxGraph, sparse: boolean): Reading {
  const { cursor } = reading;
  reading.count();
  const end = cursor.pos + cursor.size;
  const tensor: OnnxTensor = { ...newTensor(), ...reading.span() };
  const index = graph.initializers.push(tensor) - 1;
  try {
    yield* sparse ? readSparseTensor(cursor, tensor, end) : readTensor(cursor, tensor, end);
  } catch (error) {
    reading.recover(error, end, `initializer ${index}${quoted(tensor.name)}${inGraph(graph.path)}`);
  }
}

function* readNamedValue(reading: ModelReading, list: OnnxValue[]): Reading {
  const { cursor } = reading;
  reading.count();
  const end = cursor.pos + cursor.size;
  const value: OnnxValue = { name: '', type: null, shape: null, ...reading.span() };
  list.push(value);
  try {
    yield* readValue(cursor, value, end);
  } catch (error) {
    reading.recover(error, end, `the type of tensor${quoted(value.name) || ` ${list.length - 1}`}`);
  }
}

function* readEntryInto(cursor: WireCursor, list: { key: string; value: string }[]): Reading {
  const entry = { key: '', value: '' };
  list.push(entry);
  yield* readEntry(cursor, entry, cursor.pos + cursor.size);
}

/** Reads the node whose head the cursor has read, and adds it to `list` and to the reading's nodes. */
export function* readNode(reading: ModelReading, list: OnnxNode[], path: string, depth: number): Reading {
  const { cursor } = reading;
  reading.count();
  const end = cursor.pos + cursor.size;
  const index = list.length;
  const node: OnnxNode = {
    id: path ? `${path}/${index}` : `${index}`,
    name: '',
    op: '',
    domain: '',
    inputs: [],
    outputs: [],
    attributes: [],
    subgraphs: [],
    metadata: [],
    ...reading.span(),
  };
  list.push(node);
  reading.nodes.push(node);
  try {
    yield* readNodeFields(reading, node, end, depth);
  } catch (error) {
    // A node that is cut off before its operator is of no use to anybody.
    if (node.op === '' && reading.nodes.at(-1) === node && error instanceof WireError && error.kind === 'truncated') {
      list.pop();
      reading.nodes.pop();
    }
    const op = node.op && ` (${node.op})`;
    reading.recover(error, end, `node ${index}${quoted(node.name)}${op}${inGraph(path)}`, node.id);
  }
}

function* readNodeFields(reading: ModelReading, node: OnnxNode, end: number, depth: number): Reading {
  const { cursor } = reading;
  while (cursor.pos < end) {
    if (cursor.lacks(HEAD)) yield HEAD;
    switch (cursor.field(end)) {
      case NODE.input:
        node.inputs.push(yield* cursor.text());
        break;
      case NODE.output:
        node.outputs.push(yield* cursor.text());
        break;
      case NODE.name:
        node.name = yield* cursor.text();
        break;
      case NODE.op:
        node.op = yield* cursor.text();
        break;
      case NODE.domain:
        node.domain = yield* cursor.text();
        break;
      case NODE.overload:
        node.overload = yield* cursor.text();
        break;
      case NODE.attribute:
        yield* readAttribute(reading, node, depth);
        break;
      case NODE.metadata:
        yield* readEntryInto(cursor, node.metadata);
        break;
      default:
        cursor.skip();
    }
  }
}

type Kind = OnnxAttribute['kind'];

/** AttributeProto.AttributeType by number; what is missing (types, sparse tensors, unknown numbers) is `other`. */
const kinds: Kind[] = [
  'other',
  'float',
  'int',
  'string',
  'tensor',
  'graph',
  'floats',
  'ints',
  'strings',
  'tensors',
  'graphs',
];

/** What was met of an attribute's value: its type may come after it, or not at all in very old models. */
interface Met {
  type: number;
  seen: Kind;
  scalar: number | string | null;
  stringBytes: number;
  floats: number[];
  ints: number[];
  strings: string[];
  tensors: OnnxTensor[];
  /** Length of the longest list, kept or not. */
  count: number;
  graphs: { at: number; end: number; inList: boolean }[];
}

function* readAttribute(reading: ModelReading, node: OnnxNode, depth: number): Reading {
  const { cursor } = reading;
  reading.count();
  const end = cursor.pos + cursor.size;
  const attribute: OnnxAttribute = { name: '', kind: 'other', value: null };
  node.attributes.push(attribute);
  const met: Met = {
    type: 0,
    seen: 'other',
    scalar: null,
    stringBytes: 0,
    floats: [],
    ints: [],
    strings: [],
    tensors: [],
    count: 0,
    graphs: [],
  };
  try {
    while (cursor.pos < end) {
      if (cursor.lacks(HEAD)) yield HEAD;
      const tag = cursor.field(end);
      if (tag === ATTRIBUTE.name) attribute.name = yield* cursor.text();
      else if (tag === ATTRIBUTE.type) met.type = cursor.value;
      else if (tag === ATTRIBUTE.reference) attribute.reference = yield* cursor.text();
      else yield* readAttributeValue(cursor, tag, met);
    }
    settle(attribute, met);
    // Only now, because a graph's path contains the attribute's name, which may stand behind it.
    for (const { at, end: graphEnd, inList } of met.graphs) {
      const name = inList ? `${attribute.name}[${node.subgraphs.length}]` : attribute.name;
      const graph = newGraph(`${node.id}/${name}`);
      node.subgraphs.push({ attribute: name, graph });
      cursor.seek(at);
      if (reading.spans) graph.span = { at, offset: at, length: graphEnd - at };
      yield* readGraph(reading, graph, graphEnd, depth + 1);
    }
    cursor.seek(end);
  } catch (error) {
    throw within(error, `attribute${quoted(attribute.name) || ` ${node.attributes.length - 1}`}`);
  }
}

function* readAttributeValue(cursor: WireCursor, tag: number, met: Met): Reading {
  switch (tag) {
    case ATTRIBUTE.float:
      met.seen = 'float';
      met.scalar = cursor.value;
      break;
    case ATTRIBUTE.int:
      met.seen = 'int';
      met.scalar = cursor.value;
      break;
    case ATTRIBUTE.string:
      met.seen = 'string';
      met.stringBytes = cursor.size;
      met.scalar = yield* cursor.text(STRING_LIMIT);
      break;
    case ATTRIBUTE.tensor:
    case ATTRIBUTE.tensors:
      met.seen = tag === ATTRIBUTE.tensor ? 'tensor' : 'tensors';
      yield* readAttributeTensor(cursor, met, false);
      break;
    case ATTRIBUTE.sparseTensor:
      yield* readAttributeTensor(cursor, met, true);
      break;
    case ATTRIBUTE.graph:
    case ATTRIBUTE.graphs:
      met.seen = tag === ATTRIBUTE.graph ? 'graph' : 'graphs';
      met.graphs.push({ at: cursor.pos, end: cursor.pos + cursor.size, inList: tag === ATTRIBUTE.graphs });
      cursor.seek(cursor.pos + cursor.size);
      break;
    case ATTRIBUTE.float1:
    case ATTRIBUTE.floats:
    case ATTRIBUTE.int1:
    case ATTRIBUTE.ints:
    case ATTRIBUTE.strings:
      yield* readAttributeList(cursor, tag, met);
      break;
    default:
      cursor.skip();
  }
}

function* readAttributeTensor(cursor: WireCursor, met: Met, sparse: boolean): Reading {
  const tensor = newTensor();
  const end = cursor.pos + cursor.size;
  met.count++;
  if (met.tensors.length < LIST_LIMIT) met.tensors.push(tensor);
  yield* sparse ? readSparseTensor(cursor, tensor, end) : readTensor(cursor, tensor, end);
}

function* readAttributeList(cursor: WireCursor, tag: number, met: Met): Reading {
  if (tag === ATTRIBUTE.strings) {
    met.seen = 'strings';
    met.count++;
    if (met.strings.length < LIST_LIMIT) met.strings.push(yield* cursor.text(STRING_LIMIT));
    else cursor.skip();
    return;
  }
  const isFloat = tag === ATTRIBUTE.floats || tag === ATTRIBUTE.float1;
  const list = isFloat ? met.floats : met.ints;
  met.seen = isFloat ? 'floats' : 'ints';
  if (tag === ATTRIBUTE.float1 || tag === ATTRIBUTE.int1) {
    met.count++;
    if (list.length < LIST_LIMIT) list.push(cursor.value);
    return;
  }
  const end = cursor.pos + cursor.size;
  if (end > cursor.fileSize) throw cursor.truncated();
  const before = list.length;
  while (cursor.pos < end && list.length < LIST_LIMIT) {
    if (cursor.lacks(HEAD)) yield HEAD;
    list.push(isFloat ? cursor.packedFloat() : cursor.packedInt(end));
  }
  met.count += list.length - before;
  if (isFloat) met.count += Math.floor((end - cursor.pos) / 4);
  while (!isFloat && cursor.pos < end) {
    const piece = Math.min(PIECE, end - cursor.pos);
    if (cursor.lacks(piece)) yield piece;
    met.count += cursor.countInts(piece);
  }
  cursor.seek(end);
}

/** Sets kind and value from what was met. */
function settle(attribute: OnnxAttribute, met: Met): void {
  const kind = met.type === 0 ? met.seen : (kinds[met.type] ?? 'other');
  attribute.kind = kind;
  if (attribute.reference !== undefined) return;
  attribute.value = valueOf(kind, met);
  if (kind === 'string') {
    if (met.stringBytes > STRING_LIMIT) attribute.count = met.stringBytes;
  } else if (met.count > LIST_LIMIT) attribute.count = met.count;
}

/** A type without a value means zero or empty: writers of proto3 leave that out. */
function valueOf(kind: Kind, met: Met): OnnxAttribute['value'] {
  switch (kind) {
    case 'float':
    case 'int':
      return met.scalar ?? 0;
    case 'string':
      return met.scalar ?? '';
    case 'floats':
    case 'ints':
    case 'strings':
    case 'tensors':
      return met[kind];
    case 'tensor':
    case 'other':
      return met.tensors[0] ?? null;
    case 'graph':
    case 'graphs':
      return null;
  }
}

const quoted = (name: string): string => (name ? ` "${name.length > 200 ? `${name.slice(0, 200)}…` : name}"` : '');
const inGraph = (path: string): string => (path ? ` in ${path}` : '');
