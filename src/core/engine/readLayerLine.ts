import { profileOf } from '../model/layerNameParts.ts';
import type { EngineLayer, EngineTensor } from './engineLayer.ts';

export function bareLayer(name: string, line: number | null): EngineLayer {
  return {
    name,
    type: '',
    inputs: [],
    outputs: [],
    metadata: null,
    tacticName: null,
    tactic: null,
    streamId: null,
    profile: profileOf(name),
    line,
    extra: {},
  };
}

const NATIVE = /^Layer\(([^)]*)\): ([^]*), Tactic: (0x[0-9a-fA-F]+|-?\d+), ([^]*)$/;

/**
 * A line of `Engine Layer Information:`, as `Layer(Myelin): NAME, Tactic: 0x0, in (Half[1,192:8,14,14]) -> out (Float[1])`,
 * or with the tensors of 8.2, `in[Half(1,3)]`. Returns null for any other line.
 */
export function readNativeLayer(text: string, line: number | null): EngineLayer | null {
  const match = NATIVE.exec(text);
  if (match === null) return null;
  const [, type = '', name = '', tactic = '', tensors = ''] = match;
  const arrow = splitArrow(tensors);
  const layer = bareLayer(name, line);
  layer.type = type;
  layer.tactic = tactic;
  layer.inputs = nativeTensors(arrow[0]);
  layer.outputs = nativeTensors(arrow[1]);
  return layer;
}

/** Inputs and outputs; a tensor's name may hold an arrow of its own, so the split is where a tensor ends before it. */
function splitArrow(text: string): [string, string] {
  if (text.startsWith(' -> ')) return ['', text.slice(4)];
  for (let at = text.indexOf(' -> '); at >= 0; at = text.indexOf(' -> ', at + 1))
    if (
      /[\])]\)?$/.test(text.slice(Math.max(0, at - 2), at)) &&
      /\w[[(][^[\]()]*[\])]\)?\]?$/.test(text.slice(Math.max(0, at - 200), at))
    )
      return [text.slice(0, at), text.slice(at + 4)];
  const last = text.lastIndexOf(' -> ');
  return last < 0 ? [text, ''] : [text.slice(0, last), text.slice(last + 4)];
}

const NATIVE_TENSOR = /([^]*?)(?: \((\w+)\[([^[\]]*)\]\)|\[(\w+)\(([^()]*)\)\])(?:, |$)/gy;

function nativeTensors(text: string): EngineTensor[] {
  const tensors: EngineTensor[] = [];
  if (text.trim() === '') return tensors;
  NATIVE_TENSOR.lastIndex = 0;
  let end = 0;
  for (let match = NATIVE_TENSOR.exec(text); match !== null; match = NATIVE_TENSOR.exec(text)) {
    const type = match[2] ?? match[4] ?? null;
    const dims = match[3] ?? match[5] ?? '';
    tensors.push({ name: match[1]!, dims: nativeDims(dims), type, format: `${type}[${dims}]` });
    end = NATIVE_TENSOR.lastIndex;
    if (end >= text.length) break;
  }
  const rest = text.slice(end).trim();
  if (rest !== '') tensors.push({ name: rest, dims: null, type: null, format: null });
  return tensors.slice();
}

/** `1,192:8,14,14`: 192 channels in vectors of 8. Anything that is not a number is dynamic. */
function nativeDims(text: string): number[] {
  const dims: number[] = [];
  for (let at = 0; at < text.length;) {
    const comma = text.indexOf(',', at);
    const end = comma < 0 ? text.length : comma;
    const size = Number.parseInt(text.slice(at, end), 10);
    dims.push(size >= 0 ? size : -1);
    at = end + 1;
  }
  // Without the spare room that `push` leaves: there are tens of thousands of these lists.
  return dims.slice();
}

/**
 * A line of `Layers:`, as `Name: X, LayerType: kgen, Inputs: [ { Name: …, Dimensions: […], Format/Datatype: Half }], …,
 * StreamId: 0, Metadata: [ONNX Layer: a]`. Names are not quoted and may hold commas and brackets. Returns null for any other line.
 */
export function readDetailedLayer(text: string, line: number | null): EngineLayer | null {
  if (!text.startsWith('Name: ')) return null;
  const typeAt = text.indexOf(', LayerType: ');
  if (typeAt < 0) return null;
  const layer = bareLayer(text.slice(6, typeAt), line);
  const metadataAt = text.indexOf(', Metadata: ', typeAt);
  if (metadataAt >= 0) layer.metadata = text.slice(metadataAt + 12).replace(/\r$/, '');
  else if (text.endsWith(', Metadata:')) layer.metadata = '';
  const end = metadataAt >= 0 ? metadataAt : layer.metadata === '' ? text.length - 11 : text.length;
  for (const [key, value] of keysOf(text.slice(typeAt + 2, end))) setKey(layer, key, value);
  return layer;
}

function setKey(layer: EngineLayer, key: string, value: string): void {
  switch (key) {
    case 'LayerType':
      layer.type = value;
      break;
    case 'Inputs':
      layer.inputs = textTensors(value);
      break;
    case 'Outputs':
      layer.outputs = textTensors(value);
      break;
    case 'TacticName':
      layer.tacticName = value;
      break;
    case 'TacticValue':
      layer.tactic = value;
      break;
    case 'StreamId':
      layer.streamId = Number.isFinite(Number(value)) ? Number(value) : null;
      break;
    case 'Constants':
      layer.extra[key] = textTensors(value);
      break;
    default:
      layer.extra[key] = value;
  }
}

const NEXT_KEY = /, ([A-Z][A-Za-z0-9/_]*): /g;

/** `Key: value, Key: value`: a key is a word with a capital, after a comma and outside brackets. */
function keysOf(text: string): [string, string][] {
  const found: [string, string][] = [];
  const first = text.indexOf(': ');
  if (first < 0) return found;
  let key = text.slice(0, first);
  let from = first + 2;
  for (;;) {
    const end = valueEnd(text, key, from);
    found.push([key, text.slice(from, end)]);
    NEXT_KEY.lastIndex = end;
    const match = NEXT_KEY.exec(text);
    if (match === null) return found;
    key = match[1]!;
    from = NEXT_KEY.lastIndex;
  }
}

/** Lists of tensors end with `}]`, other lists and objects with their bracket; the rest at the next key. */
function valueEnd(text: string, key: string, from: number): number {
  if ((key === 'Inputs' || key === 'Outputs' || key === 'Constants') && text.charCodeAt(from) === 0x5b) {
    if (text.startsWith('[]', from)) return from + 2;
    for (let at = text.indexOf('}]', from); at >= 0; at = text.indexOf('}]', at + 1)) {
      NEXT_KEY.lastIndex = at + 2;
      if (
        at + 2 === text.length ||
        (text.startsWith(', ', at + 2) && /^, [A-Z][A-Za-z0-9/_]*: /.test(text.slice(at + 2, at + 60)))
      )
        return at + 2;
    }
    return text.length;
  }
  NEXT_KEY.lastIndex = from - 2;
  let match = NEXT_KEY.exec(text);
  if (match !== null && match.index < from - 1) match = NEXT_KEY.exec(text);
  return match === null ? text.length : match.index;
}

const TENSOR_START = '{ Name: ';
const NEXT_TENSOR = ' }, { Name: ';
const DIMENSIONS = ', Dimensions: [';

/** `[ { Name: x, Location: Device, Dimensions: [1,3], Format/Datatype: Half }, … ]` */
function textTensors(text: string): EngineTensor[] {
  const tensors: EngineTensor[] = [];
  let at = text.indexOf(TENSOR_START);
  while (at >= 0) {
    at += TENSOR_START.length;
    const next = text.indexOf(NEXT_TENSOR, at);
    const last = next < 0 ? text.lastIndexOf(' }') : next;
    tensors.push(textTensor(text.slice(at, last < at ? text.length : last)));
    at = next < 0 ? -1 : next + 4;
  }
  return tensors.slice();
}

/** One tensor, from its name on to the end of its last value. */
function textTensor(text: string): EngineTensor {
  const dimsAt = text.indexOf(DIMENSIONS);
  if (dimsAt < 0) return { name: text, dims: null, type: null, format: null };
  const closes = text.indexOf(']', dimsAt);
  const close = closes < 0 ? text.length : closes;
  const nameEnd = text.lastIndexOf(', Location: ', dimsAt);
  const name = text.slice(0, nameEnd >= 0 && isWordOnly(text, nameEnd + 12, dimsAt) ? nameEnd : dimsAt);
  const dims = nativeDims(text.slice(dimsAt + DIMENSIONS.length, close));
  const joint = valueOf(text, ', Format/Datatype: ', close);
  if (joint !== null) return { name, dims, type: typeOfFormat(joint), format: joint };
  const type = valueOf(text, ', Datatype: ', close) ?? valueOf(text, ', DataType: ', close);
  return { name, dims, type, format: valueOf(text, ', Format: ', close) ?? type };
}

function isWordOnly(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at) | 0x20;
    if (code < 0x61 || code > 0x7a) return false;
  }
  return to > from;
}

/** The value after `key`, up to the next key or the end; a format's text may hold commas of its own, a type's does not. */
function valueOf(text: string, key: string, from: number): string | null {
  const at = text.indexOf(key, from);
  if (at < 0) return null;
  const start = at + key.length;
  let stop = text.length;
  for (const next of [', Datatype: ', ', DataType: ', ', Format: ']) {
    const found = text.indexOf(next, start);
    if (found >= 0 && found < stop) stop = found;
  }
  return text.slice(start, stop);
}

const SHORT_TYPES = new Set([
  'Float',
  'Half',
  'Int32',
  'Int64',
  'Bool',
  'Int8',
  'BFloat16',
  'UInt8',
  'FP8',
  'Int4',
  'FP4',
]);

const FORMAT_TYPES: [RegExp, string][] = [
  [/\bFP32\b|^Float$|\bFloat\b/, 'Float'],
  [/\bFP16\b|\bHalf\b/, 'Half'],
  [/\bBF16\b|\bBFloat16\b/, 'BFloat16'],
  [/\bINT8\b|\bInt8\b/, 'Int8'],
  [/\bINT32\b|\bInt32\b/, 'Int32'],
  [/\bINT64\b|\bInt64\b/, 'Int64'],
  [/\bBOOL\b|\bBool\b/i, 'Bool'],
  [/\bUINT8\b|\bUInt8\b/, 'UInt8'],
  [/\bFP8\b|\bFp8\b/, 'FP8'],
  [/\bINT4\b|\bInt4\b/, 'Int4'],
  [/\bFP4\b|\bFp4\b/, 'FP4'],
];

/**
 * The data type in a `Format/Datatype` text: the short ones (`Half`) as they are, the long ones
 * (`Channel major FP16 format where channel % 8 == 0`) by the type that they name; null if they name none.
 */
export function typeOfFormat(format: string): string | null {
  if (format === '') return null;
  if (SHORT_TYPES.has(format)) return format;
  for (const [pattern, type] of FORMAT_TYPES) if (pattern.test(format)) return type;
  return /^\w+$/.test(format) ? format : null;
}
