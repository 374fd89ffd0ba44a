import { closestWords } from '../../../base/text.ts';
import { type JsonArray, type JsonNode, type JsonObject, memberOf } from '../../../base/json.ts';
import type { ReplayFix, ReplayVariant, Span, TensorFormat, TensorPlaces } from '../replayFile.ts';

/** TensorRT's data types in the order of its own list. */
export const dataTypes: readonly string[] = [
  'FLOAT',
  'HALF',
  'INT8',
  'INT32',
  'BOOL',
  'UINT8',
  'FP8',
  'BF16',
  'INT64',
  'INT4',
  'FP4',
  'E8M0',
];

/** TensorRT's formats in the order of its own list. */
const formats: readonly string[] = [
  'LINEAR',
  'CHW2',
  'HWC8',
  'CHW4',
  'CHW16',
  'CHW32',
  'DHWC8',
  'CDHW32',
  'HWC',
  'DLA_LINEAR',
  'DLA_HWC4',
  'HWC16',
  'DHWC',
];

export interface ReadTensor {
  format: TensorFormat;
  places: TensorPlaces;
  variant: ReplayVariant;
}

/** Default severity: error. */
type Report = (span: Span, code: string, message: string, fixes?: ReplayFix[], severity?: 'error' | 'warning') => void;

/** Reads one input or output in any of the four forms; null otherwise. */
export function readTensorFormat(node: JsonNode, report: Report): ReadTensor | null {
  if (node.kind === 'array') return readList(node, report);
  if (node.kind === 'object') return readObject(node, report);
  report(
    spanOf(node),
    'bad-tensor',
    'An input or output must be an object with dtype, strides, vectorized_dim and components_per_element.',
  );
  return null;
}

/** Forms A and B: `["TensorFormat.LINEAR", "DataType.FLOAT", [784, 28, 1]]`. */
function readList(node: JsonArray, report: Report): ReadTensor | null {
  const [format, dtype, strides] = node.items;
  if (format?.kind !== 'string' || dtype?.kind !== 'string' || (strides !== undefined && strides.kind !== 'array')) {
    report(
      spanOf(node),
      'bad-tensor',
      'In this format an input or output must be a list of format, data type and, since 0.42, strides.',
    );
    return null;
  }
  const numbers = strides ? readStrides(strides, report) : null;
  return {
    format: {
      dtype: dataType(dtype.value, spanOf(dtype), report),
      format: formatOf(format.value, spanOf(format), 'B', report),
      strides: numbers,
      vectorizedDim: null,
      components: null,
    },
    places: {
      span: spanOf(node),
      dtype: spanOf(dtype),
      format: spanOf(format),
      strides: strides ? spanOf(strides) : null,
      strideNumbers: strides ? strides.items.map(spanOf) : [],
      vectorizedDim: null,
      components: null,
    },
    variant: strides ? 'B' : 'A',
  };
}

/** Forms C and D. */
function readObject(node: JsonObject, report: Report): ReadTensor | null {
  const dtype = memberOf(node, 'dtype');
  const strides = memberOf(node, 'strides');
  if (dtype?.kind !== 'string') {
    report(
      dtype ? spanOf(dtype) : spanOf(node),
      'bad-tensor',
      'This input or output has no "dtype", such as "DataType.HALF".',
    );
    return null;
  }
  if (strides !== undefined && strides.kind !== 'array')
    report(spanOf(strides), 'bad-tensor', '"strides" must be a list of numbers.');
  const list = strides?.kind === 'array' ? strides : null;
  const format = memberOf(node, 'tensor_format');
  for (const name of ['strides', 'vectorized_dim', 'components_per_element'])
    if (!memberOf(node, name)) report(spanOf(node), 'missing-member', `This input or output has no "${name}".`);
  const dim = integer(node, 'vectorized_dim', report);
  const components = integer(node, 'components_per_element', report);
  return {
    format: {
      dtype: dataType(dtype.value, spanOf(dtype), report),
      format: format?.kind === 'string' ? formatOf(format.value, spanOf(format), 'C', report) : null,
      strides: list ? readStrides(list, report) : null,
      vectorizedDim: dim.value,
      components: components.value,
    },
    places: {
      span: spanOf(node),
      dtype: spanOf(dtype),
      format: format?.kind === 'string' ? spanOf(format) : null,
      strides: list ? spanOf(list) : null,
      strideNumbers: list ? list.items.map(spanOf) : [],
      vectorizedDim: dim.span,
      components: components.span,
    },
    variant: format ? 'C' : 'D',
  };
}

function readStrides(list: JsonArray, report: Report): number[] {
  return list.items.map((item) => {
    const value = item.kind === 'number' && /^-?\d+$/.test(item.text) ? Number(item.text) : Number.NaN;
    if (Number.isSafeInteger(value)) return value;
    report(spanOf(item), 'bad-stride', 'A stride must be an integer.');
    return 0;
  });
}

/** `null` stands where TensorRT before 8.6 had nothing to say. */
function integer(node: JsonObject, key: string, report: Report): { value: number | null; span: Span | null } {
  const member = memberOf(node, key);
  if (member === undefined || (member.kind === 'literal' && member.value === null))
    return { value: null, span: member ? spanOf(member) : null };
  const value = member.kind === 'number' && /^-?\d+$/.test(member.text) ? Number(member.text) : Number.NaN;
  if (!Number.isSafeInteger(value)) report(spanOf(member), 'bad-tensor', `"${key}" must be an integer.`);
  return { value: Number.isSafeInteger(value) ? value : null, span: spanOf(member) };
}

function dataType(text: string, span: Span, report: Report): string {
  const { word, fixes } = wordOf(text, 'DataType', dataTypes, span);
  if (fixes)
    report(
      span,
      'unknown-type',
      `"${text}" is not a TensorRT data type. Data types are DataType.FLOAT, DataType.HALF, DataType.INT8, …`,
      fixes,
    );
  return word;
}

function formatOf(text: string, span: Span, variant: ReplayVariant, report: Report): string {
  const { word, fixes } = wordOf(text, 'TensorFormat', formats, span);
  if (!fixes) return word;
  const who = variant === 'C' ? ' Polygraphy up to 0.49.0 cannot load it; later versions ignore "tensor_format".' : '';
  const message = `"${text}" is not a TensorRT format. Formats are TensorFormat.LINEAR, TensorFormat.CHW32, TensorFormat.HWC8, …${who}`;
  report(span, 'unknown-format', message, fixes, variant === 'C' ? 'warning' : 'error');
  return word;
}

/** A value of one of TensorRT's enums; `fixes` where it is none. */
function wordOf(
  text: string,
  kind: string,
  words: readonly string[],
  span: Span,
): { word: string; fixes?: ReplayFix[] } {
  const word = text.startsWith(`${kind}.`) ? text.slice(kind.length + 1) : text;
  if (words.includes(word) && text !== word) return { word };
  const near = words.includes(word) ? [word] : closestWords(word.toUpperCase(), words, 2);
  const fixes = (near.length > 0 ? near : words.slice(0, 2)).map((one, i) => ({
    title: `Change to ${kind}.${one}`,
    edits: [{ ...span, text: JSON.stringify(`${kind}.${one}`) }],
    preferred: i === 0,
  }));
  return { word, fixes };
}

function spanOf({ start, end }: JsonNode): Span {
  return { start, end };
}
