import { type ModelReading, quoted, readEntry, within } from './modelReading.ts';
import { ANNOTATION, GRAPH, NODE } from './onnxFields.ts';
import {
  emptyGraph,
  type GraphNote,
  type OnnxAttribute,
  type OnnxGraph,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValue,
} from '../onnxModel.ts';
import { type Pending, readAttribute } from './readAttribute.ts';
import { skipPlainNodes, skipPlainTensor } from './plainParts.ts';
import { newTensor, readSparseTensor, readTensor } from './readTensor.ts';
import { readValue } from './readValue.ts';
import { MISSING, type Reading, type WireCursor, WireError } from './wireCursor.ts';
import { appended } from '../../../base/addTo.ts';

/** Real models nest a handful of levels; protobuf's own readers stop at 100 messages. */
const DEPTH_LIMIT = 100;

/** Fills a graph from a GraphProto that ends at `end`. `depth`: how many graphs it is in. */
export function* readGraph(reading: ModelReading, graph: OnnxGraph, end: number, depth: number): Reading {
  const { cursor } = reading;
  if (depth > DEPTH_LIMIT) {
    throw new WireError('too-deep', `graphs are nested more than ${DEPTH_LIMIT} deep`, cursor.pos);
  }
  yield* reading.fields(end, (tag) => {
    switch (tag) {
      case GRAPH.node:
        if (!reading.counting || !countNodes(reading, graph.nodes, end))
          readNode(reading, graph.nodes, graph.path, depth);
        break;
      case GRAPH.initializer:
      case GRAPH.sparseInitializer:
        readInitializer(reading, graph, tag === GRAPH.sparseInitializer);
        break;
      case GRAPH.input:
        readNamedValue(reading, graph.inputs);
        break;
      case GRAPH.output:
        readNamedValue(reading, graph.outputs);
        break;
      case GRAPH.value:
        readNamedValue(reading, graph.values);
        break;
      case GRAPH.name:
        graph.name = cursor.text();
        break;
      case GRAPH.metadata: {
        const note = markedNote(reading);
        const entry = readEntry(cursor);
        (graph.metadata ??= []).push(entry);
        keepNote(graph, note);
        break;
      }
      case GRAPH.docString:
        keepNote(graph, markedNote(reading));
        cursor.skip();
        break;
      case GRAPH.quantization: {
        const note = markedNote(reading);
        if (note.span) readAnnotation(cursor, note);
        else cursor.skip();
        keepNote(graph, note);
        break;
      }
      default:
        cursor.skip();
    }
  });
}

function markedNote(reading: ModelReading): GraphNote {
  const note: GraphNote = {};
  reading.mark(note);
  return note;
}

function keepNote(graph: OnnxGraph, note: GraphNote): void {
  if (note.span) (graph.others ??= []).push(note);
}

/** The TensorAnnotation in the field at the cursor. */
function readAnnotation(cursor: WireCursor, note: GraphNote): void {
  const end = cursor.payloadEnd;
  note.parameters = [];
  while (cursor.pos < end) {
    const tag = cursor.field(end);
    if (tag === ANNOTATION.tensor) note.tensor = cursor.text();
    else if (tag === ANNOTATION.parameter) note.parameters.push(readEntry(cursor).value);
    else cursor.skip();
  }
}

function readInitializer(reading: ModelReading, graph: OnnxGraph, sparse: boolean): void {
  const { cursor } = reading;
  const end = cursor.payloadEnd;
  const tensor: OnnxTensor = newTensor();
  reading.mark(tensor);
  try {
    if (reading.counting && !sparse && skipPlainTensor(cursor)) return reading.count();
    if (sparse) readSparseTensor(cursor, tensor);
    else readTensor(cursor, tensor);
  } catch (error) {
    if (error === MISSING) throw error;
    const index = graph.initializers.push(tensor) - 1;
    reading.recover(error, end, () => `initializer ${index}${quoted(tensor.name)}${inGraph(graph.path)}`);
    return;
  }
  reading.count();
  graph.initializers.push(tensor);
}

function readNamedValue(reading: ModelReading, list: OnnxValue[]): void {
  const { cursor } = reading;
  const end = cursor.payloadEnd;
  const value: OnnxValue = { name: '', type: null, shape: null };
  reading.mark(value);
  try {
    readValue(cursor, value);
  } catch (error) {
    if (error === MISSING) throw error;
    const index = list.push(value) - 1;
    reading.recover(error, end, () => `the type of tensor${quoted(value.name) || ` ${index}`}`);
    return;
  }
  reading.count();
  list.push(value);
}

const newNode = (id: string): OnnxNode => ({
  id,
  name: '',
  op: '',
  domain: '',
  inputs: [],
  outputs: [],
  attributes: [],
  subgraphs: [],
  metadata: [],
});

/** Stands for each node that is only counted. */
const countedNode = newNode('');

/** Reads the node in the field at the cursor, and adds it to `list` and to the reading's nodes. */
export function readNode(reading: ModelReading, list: OnnxNode[], path: string, depth: number): void {
  const { cursor } = reading;
  const end = cursor.payloadEnd;
  const index = list.length;
  const node = newNode(path ? `${path}/${index}` : `${index}`);
  reading.mark(node);
  const what = (): string => `node ${index}${quoted(node.name)}${node.op && ` (${node.op})`}${inGraph(path)}`;
  const keep = (): void => {
    list.push(node);
    reading.nodes.push(node);
  };
  let pending = nothing;
  try {
    pending = readNodeFields(reading, node, end);
    for (const place of pending) reading.later.push(readPending(reading, node, place, depth, what));
  } catch (error) {
    // A node that is cut off before its operator is of no use to anyone.
    const useless = node.op === '' && error instanceof WireError && error.kind === 'truncated';
    if (error instanceof WireError && !useless) keep();
    reading.recover(error, end, what, node.id);
    return;
  }
  reading.count(1 + node.attributes.length);
  keep();
}

/** Skips nodes from the one in the field at the cursor on, as far as nothing in them has to be read. */
function countNodes(reading: ModelReading, list: OnnxNode[], limit: number): boolean {
  const { nodes, attributes } = skipPlainNodes(reading.cursor, limit);
  reading.count(nodes + attributes);
  for (let index = 0; index < nodes; index++) {
    list.push(countedNode);
    reading.nodes.push(countedNode);
  }
  return nodes > 0;
}

const nothing: Pending[] = [];

function readNodeFields(reading: ModelReading, node: OnnxNode, end: number): Pending[] {
  const { cursor } = reading;
  let pending = nothing;
  while (cursor.pos < end) {
    switch (cursor.field(end)) {
      case NODE.input:
        node.inputs = appended(node.inputs, cursor.text());
        break;
      case NODE.output:
        node.outputs = appended(node.outputs, cursor.text());
        break;
      case NODE.name:
        node.name = cursor.text();
        break;
      case NODE.op:
        node.op = cursor.text();
        break;
      case NODE.domain:
        node.domain = cursor.text();
        break;
      case NODE.overload:
        node.overload = cursor.text();
        break;
      case NODE.attribute: {
        const attribute: OnnxAttribute = { name: '', kind: 'other', value: null };
        node.attributes = appended(node.attributes, attribute);
        reading.mark(attribute);
        try {
          const places = readAttribute(cursor, attribute);
          if (places) pending = [...pending, ...places];
        } catch (error) {
          throw within(error, describe(node, attribute));
        }
        break;
      }
      case NODE.docString: {
        const doc = cursor.text();
        // Exporters write the name of a function, a license or nothing; only lines of a program are of use.
        if (doc.includes('): ')) node.doc = doc;
        break;
      }
      case NODE.metadata:
        node.metadata = appended(node.metadata, readEntry(cursor));
        break;
      default:
        cursor.skip();
    }
  }
  return pending;
}

/** What an attribute left for later: its graph, or the length of an endless list. */
function* readPending(
  reading: ModelReading,
  node: OnnxNode,
  place: Pending,
  depth: number,
  what: () => string,
): Reading {
  const { cursor } = reading;
  const { attribute, span } = place;
  const end = span.offset + span.length;
  cursor.seek(span.offset);
  try {
    if (place.kind === 'ints') {
      for (let left = span.length; left > 0; left = end - cursor.pos) {
        const piece = Math.min(left, PIECE);
        if (!cursor.holds(piece)) yield piece;
        attribute.count = (attribute.count ?? 0) + cursor.countInts(piece);
        cursor.release();
      }
      return;
    }
    const name = place.kind === 'graphs' ? `${attribute.name}[${node.subgraphs.length}]` : attribute.name;
    const graph = emptyGraph(`${node.id}/${name}`);
    node.subgraphs.push({ attribute: name, graph });
    if (reading.spans) graph.span = span;
    yield* readGraph(reading, graph, end, depth + 1);
  } catch (error) {
    reading.recover(within(error, describe(node, attribute)), end, what, node.id);
  }
}

/** Lists of numbers are counted in pieces of this many bytes. */
const PIECE = 1 << 16;

const describe = ({ attributes }: OnnxNode, attribute: OnnxAttribute): string =>
  `attribute${quoted(attribute.name) || ` ${attributes.indexOf(attribute)}`}`;
const inGraph = (path: string): string => (path ? ` in ${path}` : '');
