import { appended } from '../../../base/addTo.ts';
import { ATTRIBUTE } from './onnxFields.ts';
import type { ByteSpan, OnnxAttribute, OnnxTensor } from '../onnxModel.ts';
import { newTensor, readSparseTensor, readTensor } from './readTensor.ts';
import type { WireCursor } from './wireCursor.ts';

/** Of longer lists only the beginning is kept. */
const LIST_LIMIT = 256;
/** Of longer strings only the beginning is kept: plugins keep whole weights in them. */
const STRING_LIMIT = 4096;

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

/** A part of an attribute that may take any number of windows: graphs, and lists of which only the length is wanted. */
export interface Pending {
  kind: 'graph' | 'graphs' | 'ints';
  attribute: OnnxAttribute;
  span: ByteSpan;
}

/** What was met of an attribute's value: its type may come after it, or not at all in very old models. */
interface Met {
  type: number;
  seen: Kind;
  number: number;
  string: string;
  stringBytes: number;
  stringAt: number;
  numbers: number[] | undefined;
  strings: string[] | undefined;
  tensors: OnnxTensor[] | undefined;
  /** Length of the list, kept or not. */
  count: number;
  pending: Pending[] | undefined;
}

/** Fills an attribute from the AttributeProto in the field at the cursor, and returns what is left to be read. */
export function readAttribute(cursor: WireCursor, attribute: OnnxAttribute): Pending[] | undefined {
  const end = cursor.payloadEnd;
  const met: Met = {
    type: 0,
    seen: 'other',
    number: 0,
    string: '',
    stringBytes: 0,
    stringAt: 0,
    numbers: undefined,
    strings: undefined,
    tensors: undefined,
    count: 0,
    pending: undefined,
  };
  while (cursor.pos < end) {
    const tag = cursor.field(end);
    if (tag === ATTRIBUTE.name) attribute.name = cursor.text();
    else if (tag === ATTRIBUTE.type) met.type = cursor.value;
    else if (tag === ATTRIBUTE.int || tag === ATTRIBUTE.float) {
      met.seen = tag === ATTRIBUTE.int ? 'int' : 'float';
      met.number = cursor.value;
    } else readContent(cursor, tag, attribute, met);
  }
  settle(attribute, met);
  return met.pending;
}

function readContent(cursor: WireCursor, tag: number, attribute: OnnxAttribute, met: Met): void {
  switch (tag) {
    case ATTRIBUTE.string:
      met.seen = 'string';
      met.stringBytes = cursor.size;
      met.stringAt = cursor.pos;
      met.string = cursor.text(STRING_LIMIT);
      break;
    case ATTRIBUTE.tensor:
    case ATTRIBUTE.tensors:
      met.seen = tag === ATTRIBUTE.tensor ? 'tensor' : 'tensors';
      addTensor(cursor, met, attribute, false);
      break;
    case ATTRIBUTE.sparseTensor:
      addTensor(cursor, met, attribute, true);
      break;
    case ATTRIBUTE.graph:
    case ATTRIBUTE.graphs:
      met.seen = tag === ATTRIBUTE.graph ? 'graph' : 'graphs';
      leave(cursor, met, { kind: met.seen, attribute, from: cursor.pos });
      break;
    case ATTRIBUTE.float1:
    case ATTRIBUTE.int1:
      met.seen = tag === ATTRIBUTE.float1 ? 'floats' : 'ints';
      met.count++;
      addNumber(met, cursor.value);
      break;
    case ATTRIBUTE.floats:
      met.seen = 'floats';
      readFloats(cursor, met);
      break;
    case ATTRIBUTE.ints:
      met.seen = 'ints';
      readInts(cursor, met, attribute);
      break;
    case ATTRIBUTE.strings:
      met.seen = 'strings';
      addString(cursor, met);
      break;
    case ATTRIBUTE.reference:
      attribute.reference = cursor.text();
      break;
    default:
      cursor.skip();
  }
}

/** Leaves the rest of the current field for later, and skips it even if the file is cut off in it. */
function leave(
  cursor: WireCursor,
  met: Met,
  { kind, attribute, from }: { kind: Pending['kind']; attribute: OnnxAttribute; from: number },
  end = cursor.payloadEnd,
): void {
  (met.pending ??= []).push({ kind, attribute, span: { at: cursor.at, offset: from, length: end - from } });
  cursor.seek(end);
}

function addTensor(cursor: WireCursor, met: Met, { span }: OnnxAttribute, sparse: boolean): void {
  const tensor = newTensor();
  if (span) tensor.span = { at: cursor.at, offset: cursor.pos, length: cursor.size };
  met.count++;
  if (sparse) readSparseTensor(cursor, tensor);
  else readTensor(cursor, tensor);
  if (met.count <= LIST_LIMIT) met.tensors = appended(met.tensors ?? [], tensor);
}

function addString(cursor: WireCursor, met: Met): void {
  met.count++;
  if (met.count <= LIST_LIMIT) met.strings = appended(met.strings ?? [], cursor.text(STRING_LIMIT));
  else cursor.skip();
}

function addNumber(met: Met, value: number): void {
  const { numbers = [] } = met;
  if (numbers.length < LIST_LIMIT) met.numbers = appended(numbers, value);
}

/** How many elements of a list are kept so far. */
const kept = (met: Met): number => met.numbers?.length ?? 0;

function readFloats(cursor: WireCursor, met: Met): void {
  const end = cursor.payloadEnd;
  if (end > cursor.fileSize) throw cursor.truncated();
  met.count += Math.floor(cursor.size / 4);
  while (cursor.pos + 4 <= end && kept(met) < LIST_LIMIT) addNumber(met, cursor.packedFloat());
  cursor.seek(end);
}

function readInts(cursor: WireCursor, met: Met, attribute: OnnxAttribute): void {
  const end = cursor.payloadEnd;
  if (end > cursor.fileSize) throw cursor.truncated();
  while (cursor.pos < end && kept(met) < LIST_LIMIT) {
    addNumber(met, cursor.packedInt(end));
    met.count++;
  }
  if (cursor.pos < end) leave(cursor, met, { kind: 'ints', attribute, from: cursor.pos }, end);
}

/** Sets kind and value from what was met. */
function settle(attribute: OnnxAttribute, met: Met): void {
  const kind = met.type === 0 ? met.seen : (kinds[met.type] ?? 'other');
  attribute.kind = kind;
  if (attribute.reference !== undefined) return;
  attribute.value = valueOf(kind, met);
  const isLong = met.count > LIST_LIMIT || met.pending?.some((place) => place.kind === 'ints');
  if (kind === 'string') {
    if (met.stringBytes > STRING_LIMIT) {
      attribute.count = met.stringBytes;
      attribute.offset = met.stringAt;
    }
  } else if (isLong) attribute.count = met.count;
}

/** A type without a value means zero or empty: writers of proto3 leave that out. */
function valueOf(kind: Kind, met: Met): OnnxAttribute['value'] {
  switch (kind) {
    case 'float':
    case 'int':
      return met.number;
    case 'string':
      return met.string;
    case 'floats':
    case 'ints':
      return met.numbers ?? [];
    case 'strings':
      return met.strings ?? [];
    case 'tensors':
      return met.tensors ?? [];
    case 'tensor':
    case 'other':
      return met.tensors?.[0] ?? null;
    case 'graph':
    case 'graphs':
      return null;
  }
}
