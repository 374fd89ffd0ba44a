import { readAttributeFields } from './readAttribute.ts';
import { type ModelReading, readEntry, within } from './modelReading.ts';
import { GRAPH, NODE } from './onnxFields.ts';
import type { OnnxAttribute, OnnxGraph, OnnxNode, OnnxTensor, OnnxValue } from './onnxModel.ts';
import { newTensor, readSparseTensor, readTensor } from './readTensor.ts';
import { readValue } from './readValue.ts';
import { HEAD, type Reading, type WireCursor, WireError } from './wireCursor.ts';

/** Real models nest a handful of levels; protobuf's own readers stop at 100 messages. */
const DEPTH_LIMIT = 100;

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
    else if (tag === GRAPH.name) graph.name = cursor.hasText ? cursor.text() : yield* cursor.longText();
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
        node.inputs.push(cursor.hasText ? cursor.text() : yield* cursor.longText());
        break;
      case NODE.output:
        node.outputs.push(cursor.hasText ? cursor.text() : yield* cursor.longText());
        break;
      case NODE.name:
        node.name = cursor.hasText ? cursor.text() : yield* cursor.longText();
        break;
      case NODE.op:
        node.op = cursor.hasText ? cursor.text() : yield* cursor.longText();
        break;
      case NODE.domain:
        node.domain = cursor.hasText ? cursor.text() : yield* cursor.longText();
        break;
      case NODE.overload:
        node.overload = cursor.hasText ? cursor.text() : yield* cursor.longText();
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

function* readAttribute(reading: ModelReading, node: OnnxNode, depth: number): Reading {
  const { cursor } = reading;
  reading.count();
  const end = cursor.pos + cursor.size;
  const attribute: OnnxAttribute = { name: '', kind: 'other', value: null };
  node.attributes.push(attribute);
  try {
    const graphs = yield* readAttributeFields(cursor, attribute, end);
    // Only now, because a graph's path contains the attribute's name, which may stand behind it.
    for (const { span, inList } of graphs) {
      const graphEnd = span.offset + span.length;
      const name = inList ? `${attribute.name}[${node.subgraphs.length}]` : attribute.name;
      const graph = newGraph(`${node.id}/${name}`);
      node.subgraphs.push({ attribute: name, graph });
      cursor.seek(span.offset);
      if (reading.spans) graph.span = span;
      yield* readGraph(reading, graph, graphEnd, depth + 1);
    }
    cursor.seek(end);
  } catch (error) {
    throw within(error, `attribute${quoted(attribute.name) || ` ${node.attributes.length - 1}`}`);
  }
}

const quoted = (name: string): string => (name ? ` "${name.length > 200 ? `${name.slice(0, 200)}…` : name}"` : '');
const inGraph = (path: string): string => (path ? ` in ${path}` : '');
