import { ATTRIBUTE } from './onnxFields.ts';
import type { ByteSpan, OnnxAttribute, OnnxTensor } from './onnxModel.ts';
import { newTensor, readSparseTensor, readTensor } from './readTensor.ts';
import { HEAD, type Reading, type WireCursor } from './wireCursor.ts';

/** Of longer lists only the beginning is kept. */
const LIST_LIMIT = 256;
/** Of longer strings only the beginning is kept: plugins keep whole weights in them. */
const STRING_LIMIT = 4096;
/** Lists of numbers are counted in pieces of this many bytes. */
const PIECE = 1 << 16;

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

/** A graph in an attribute, which is read later. */
export interface GraphPlace {
  span: ByteSpan;
  inList: boolean;
}

/** What was met of an attribute's value: its type may come after it, or not at all in very old models. */
interface Met {
  type: number;
  seen: Kind;
  number: number;
  string: string;
  stringBytes: number;
  floats: number[] | undefined;
  ints: number[] | undefined;
  strings: string[] | undefined;
  tensors: OnnxTensor[] | undefined;
  /** Length of the list, kept or not. */
  count: number;
  graphs: GraphPlace[] | undefined;
}

const none: GraphPlace[] = [];

/** Fills an attribute from an AttributeProto that ends at `end`; graphs are passed over, and returned as places. */
export function* readAttributeFields(cursor: WireCursor, attribute: OnnxAttribute, end: number): Reading<GraphPlace[]> {
  const met: Met = {
    type: 0,
    seen: 'other',
    number: 0,
    string: '',
    stringBytes: 0,
    floats: undefined,
    ints: undefined,
    strings: undefined,
    tensors: undefined,
    count: 0,
    graphs: undefined,
  };
  while (cursor.pos < end) {
    if (cursor.lacks(HEAD)) yield HEAD;
    const tag = cursor.field(end);
    if (tag === ATTRIBUTE.name) attribute.name = cursor.hasText ? cursor.text() : yield* cursor.longText();
    else if (tag === ATTRIBUTE.type) met.type = cursor.value;
    else if (tag === ATTRIBUTE.int || tag === ATTRIBUTE.float) {
      met.seen = tag === ATTRIBUTE.int ? 'int' : 'float';
      met.number = cursor.value;
    } else yield* readValue(cursor, tag, attribute, met);
  }
  settle(attribute, met);
  return met.graphs ?? none;
}

function* readValue(cursor: WireCursor, tag: number, attribute: OnnxAttribute, met: Met): Reading {
  switch (tag) {
    case ATTRIBUTE.string:
      met.seen = 'string';
      met.stringBytes = cursor.size;
      met.string = yield* cursor.longText(STRING_LIMIT);
      break;
    case ATTRIBUTE.tensor:
    case ATTRIBUTE.tensors:
      met.seen = tag === ATTRIBUTE.tensor ? 'tensor' : 'tensors';
      yield* readTensorValue(cursor, met, false);
      break;
    case ATTRIBUTE.sparseTensor:
      yield* readTensorValue(cursor, met, true);
      break;
    case ATTRIBUTE.graph:
    case ATTRIBUTE.graphs:
      met.seen = tag === ATTRIBUTE.graph ? 'graph' : 'graphs';
      (met.graphs ??= []).push({
        span: { at: cursor.at, offset: cursor.pos, length: cursor.size },
        inList: tag === ATTRIBUTE.graphs,
      });
      cursor.seek(cursor.pos + cursor.size);
      break;
    case ATTRIBUTE.float1:
    case ATTRIBUTE.int1:
      addNumber(cursor.value, tag === ATTRIBUTE.float1, met);
      break;
    case ATTRIBUTE.floats:
    case ATTRIBUTE.ints:
      yield* readNumbers(cursor, tag === ATTRIBUTE.floats, met);
      break;
    case ATTRIBUTE.strings:
      yield* readStringOfList(cursor, met);
      break;
    case ATTRIBUTE.reference:
      attribute.reference = yield* cursor.longText();
      break;
    default:
      cursor.skip();
  }
}

function* readTensorValue(cursor: WireCursor, met: Met, sparse: boolean): Reading {
  const tensor = newTensor();
  const end = cursor.pos + cursor.size;
  met.count++;
  met.tensors ??= [];
  if (met.tensors.length < LIST_LIMIT) met.tensors.push(tensor);
  yield* sparse ? readSparseTensor(cursor, tensor, end) : readTensor(cursor, tensor, end);
}

function* readStringOfList(cursor: WireCursor, met: Met): Reading {
  met.seen = 'strings';
  met.count++;
  met.strings ??= [];
  if (met.strings.length < LIST_LIMIT) met.strings.push(yield* cursor.longText(STRING_LIMIT));
  else cursor.skip();
}

/** The list that numbers go into. */
function numbersOf(isFloat: boolean, met: Met): number[] {
  met.seen = isFloat ? 'floats' : 'ints';
  return isFloat ? (met.floats ??= []) : (met.ints ??= []);
}

function addNumber(value: number, isFloat: boolean, met: Met): void {
  const list = numbersOf(isFloat, met);
  met.count++;
  if (list.length < LIST_LIMIT) list.push(value);
}

function* readNumbers(cursor: WireCursor, isFloat: boolean, met: Met): Reading {
  const list = numbersOf(isFloat, met);
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
      return met.number;
    case 'string':
      return met.string;
    case 'floats':
    case 'ints':
    case 'strings':
    case 'tensors':
      return met[kind] ?? [];
    case 'tensor':
    case 'other':
      return met.tensors?.[0] ?? null;
    case 'graph':
    case 'graphs':
      return null;
  }
}
