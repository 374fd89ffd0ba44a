// Reads, writes and checks a config.pbtxt.
import type { Problem } from '../../../kernel/base/problem.ts';
import { decodeUtf8 } from '../../../kernel/base/text.ts';
import type { BuildManifest } from '../../../kernel/build/buildManifest.ts';
import type { FusionReport, ReportShape } from '../../../kernel/fusion/fusionReport.ts';
import type { GraphData } from '../../../kernel/picture/graph/viewData.ts';

/** An input or output as Triton's `config.pbtxt` describes it. */
export interface TritonTensor {
  name: string;
  /** `TYPE_FP32`; null: not known, or Triton has none for it. */
  dataType: string | null;
  /** Sizes of the engine's binding, -1: open; null: not known. */
  dims: number[] | null;
}

/** What Triton needs to know of an engine. */
export interface TritonModel {
  name: string;
  inputs: TritonTensor[];
  outputs: TritonTensor[];
  /** The largest batch of all profiles; 0: the first dimension of some input or output is not an open batch. */
  maxBatch: number;
  /** Of each optimization profile, the batch that it is tuned for; one entry without open dimensions. */
  profiles: { index: number; optBatch: number | null }[];
}

/** Why Triton cannot serve what a build made; null: nothing known speaks against it. */
export function whyNotServed({ result, tensorrt }: Pick<BuildManifest, 'result' | 'tensorrt'>): string | null {
  if (result === 'failed' || result === 'cancelled')
    return `its result is '${result}', so there is no engine to serve. Build the model again`;
  if (result === 'running') return 'it is still running. Wait until it ends';
  return tensorrt.product === 'tensorrt-rtx'
    ? "its engine is of TensorRT-RTX, and Triton's backend (tensorrt_plan) loads engines of TensorRT only. Build the model with TensorRT"
    : null;
}

const dataTypes: Readonly<Record<string, string>> = {
  float: 'TYPE_FP32',
  float16: 'TYPE_FP16',
  bfloat16: 'TYPE_BF16',
  int8: 'TYPE_INT8',
  uint8: 'TYPE_UINT8',
  int32: 'TYPE_INT32',
  int64: 'TYPE_INT64',
  bool: 'TYPE_BOOL',
};

/**
 * The engine's bindings and profiles. Inputs and outputs are those of the model, with the sizes that the engine was
 * built for; what the build does not say stays open or unknown.
 */
export function tritonModel(name: string, graph: GraphData, report: FusionReport): TritonModel {
  const shapes = report.builtShapes ?? [];
  const inputs = graph.inputs.map(({ name: input, type, shape }) => tensorOf(input, type, shape));
  const outputs = graph.outputs.map(({ name: output, type, shape }) => {
    const inferred = report.tensors.find((tensor) => tensor.name === output);
    return tensorOf(output, type ?? inferred?.type ?? null, shape ?? inferred?.shape ?? null);
  });
  const indices = [...new Set(shapes.map(({ profile }) => profile))].toSorted((a, b) => a - b);
  const profiles = (indices.length === 0 ? [0] : indices).map((index) => ({
    index,
    optBatch: batchOf(shapes, inputs, index, 'opt'),
  }));
  const all = [...inputs, ...outputs];
  const isBatched = all.length > 0 && all.every(({ dims }) => dims?.[0] === -1);
  const largest = isBatched ? profiles.map(({ index }) => batchOf(shapes, inputs, index, 'max')) : [];
  const known = largest.filter((batch) => batch !== null);
  return { name, inputs, outputs, maxBatch: known.length === largest.length ? Math.max(0, ...known) : 0, profiles };
}

function tensorOf(name: string, type: string | null, shape: readonly (number | string | null)[] | null): TritonTensor {
  const dims = shape === null ? null : shape.map((size) => (typeof size === 'number' && size >= 0 ? size : -1));
  return { name, dataType: type === null ? null : (dataTypes[type] ?? null), dims };
}

/** The first size of all inputs in one profile; null: they differ, or are not known. */
function batchOf(
  shapes: readonly ReportShape[],
  inputs: readonly TritonTensor[],
  profile: number,
  kind: 'opt' | 'max',
): number | null {
  const sizes = inputs.map(
    ({ name }) => shapes.find((shape) => shape.input === name && shape.profile === profile)?.[kind][0] ?? null,
  );
  const [first = null] = sizes;
  return sizes.every((size) => size === first) ? first : null;
}

/** A field of a message in protobuf's text format. */
export interface TextField {
  name: string;
  value: string | TextField[];
  /** Line, from 1. */
  line: number;
}

/** Deeper nesting than this no configuration has. */
const deepest = 32;

/**
 * Reads protobuf's text format: fields with scalars, strings, messages in braces or angle brackets, lists in brackets
 * (each element a field of its own). Strings lose their quotes and escapes. Never throws; reading ends at the first
 * error, which is in `problems` with its line.
 */
export function readPbtxt(text: string): { value: TextField[]; problems: Problem[] } {
  const tokens = tokensOf(text);
  let at = 0;
  const fail = (message: string): never => {
    throw new Broken(message, tokens[Math.min(at, tokens.length - 1)]?.line ?? 1);
  };
  const isNext = (...texts: string[]): boolean =>
    at < tokens.length && tokens[at]!.quoted === undefined && texts.includes(tokens[at]!.text);

  const scalar = (): string => {
    let value = '';
    const first = tokens[at];
    if (first === undefined) return fail('the file ends where a value is expected');
    if (first.quoted === undefined) {
      if (!/^[\w.+-]+$/.test(first.text)) return fail(`'${first.text}' is not a value`);
      at++;
      return first.text;
    }
    // Adjacent strings are one.
    for (; tokens[at]?.quoted !== undefined; at++) value += tokens[at]!.quoted!;
    return value;
  };
  const element = (name: string, line: number, depth: number): TextField => {
    if (!isNext('{', '<')) return { name, value: scalar(), line };
    const end = tokens[at++]!.text === '{' ? '}' : '>';
    return { name, value: message(end, depth + 1), line };
  };
  const message = (end: string | null, depth: number): TextField[] => {
    if (depth > deepest) return fail('the messages are nested too deeply');
    const fields: TextField[] = [];
    for (;;) {
      while (isNext(',', ';')) at++;
      const token = tokens[at];
      if (token === undefined) return end === null ? fields : fail(`'${end}' is missing`);
      if (end !== null && isNext(end)) {
        at++;
        return fields;
      }
      if (token.quoted !== undefined || !/^[A-Za-z_]\w*$/.test(token.text))
        return fail(`'${token.text}' is not a field`);
      at++;
      const colon = isNext(':');
      if (colon) at++;
      if (!isNext('[')) {
        if (!colon && !isNext('{', '<')) return fail(`':' is missing after '${token.text}'`);
        fields.push(element(token.text, token.line, depth));
        continue;
      }
      at++;
      while (!isNext(']')) {
        const { line } = tokens[at] ?? token;
        fields.push(element(token.text, line, depth));
        if (isNext(',')) {
          at++;
          if (isNext(']')) return fail("a value is missing between ',' and ']'");
        } else if (!isNext(']')) return fail("']' is missing");
      }
      at++;
    }
  };
  try {
    return { value: message(null, 0), problems: [] };
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    return { value: [], problems: [{ severity: 'error', code: 'pbtxt', message: error.message, line: error.line }] };
  }
}

class Broken extends Error {
  readonly line: number;
  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

interface Token {
  text: string;
  line: number;
  /** The content of a string. */
  quoted?: string;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  const pattern = /\n|#[^\n]*|[^\S\n]+|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|[\w.+-]+|[^]/g;
  for (const match of text.matchAll(pattern)) {
    const [all, double, single] = match;
    if (all === '\n') line++;
    else if (!/^[#\s]/.test(all)) {
      const quoted = double ?? single;
      tokens.push({ text: all, line, ...(quoted !== undefined && { quoted: unescape(quoted) }) });
    }
  }
  return tokens;
}

const letters: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const escape =
  /((?:\\(?:[0-7]{1,3}|x[0-9a-fA-F]{1,2}))+)|\\u([0-9a-fA-F]{4})|\\U(00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})|\\(.)/g;

/** Octal and hexadecimal escapes are bytes of UTF-8, as protobuf's printers write what is not ASCII. */
const unescape = (text: string): string =>
  text.replaceAll(escape, (_, bytes?: string, short?: string, long?: string, code = '') => {
    if (bytes !== undefined) return decodeUtf8(Uint8Array.from(bytes.split('\\').slice(1), byteOf));
    const point = short ?? long;
    return point === undefined ? (letters[code] ?? code) : String.fromCodePoint(Number.parseInt(point, 16));
  });

const byteOf = (code: string): number =>
  code.startsWith('x') ? Number.parseInt(code.slice(1), 16) : Number.parseInt(code, 8);

/**
 * The text of a `config.pbtxt`. With an open batch in front of every input and output, Triton batches requests
 * (`max_batch_size`, `dynamic_batching`); otherwise the sizes are the engine's own. Several optimization profiles are
 * all named, so that Triton can choose among them.
 */
export function writeTritonConfig(model: TritonModel): string {
  const { name, maxBatch, profiles } = model;
  const batched = maxBatch > 0;
  const preferred = [...new Set(profiles.flatMap(({ optBatch }) => optBatch ?? []))].filter((batch) => batch > 1);
  const lines = [
    `name: ${quoted(name)}`,
    'platform: "tensorrt_plan"',
    `max_batch_size: ${maxBatch}`,
    ...tensors('input', model.inputs, batched),
    ...tensors('output', model.outputs, batched),
    ...(batched && maxBatch > 1
      ? [
          'dynamic_batching {',
          ...(preferred.length > 0
            ? [`  preferred_batch_size: [ ${preferred.toSorted((a, b) => a - b).join(', ')} ]`]
            : []),
          '}',
        ]
      : []),
    'instance_group [',
    '  {',
    '    count: 1',
    '    kind: KIND_GPU',
    ...(profiles.length > 1 ? [`    profile: [ ${profiles.map(({ index }) => `"${index}"`).join(', ')} ]`] : []),
    '  }',
    ']',
  ];
  return `${lines.join('\n')}\n`;
}

/** Sizes as Triton counts them: without the batch in front. */
export const tritonDims = ({ dims }: TritonTensor, batched: boolean): number[] | null =>
  dims === null ? null : batched ? dims.slice(1) : dims;

function tensors(kind: 'input' | 'output', list: readonly TritonTensor[], batched: boolean): string[] {
  const entries = list.map((tensor) => {
    const dims = tritonDims(tensor, batched);
    // Triton wants at least one size; a scalar is given one and has it taken away again.
    const sizes = dims === null ? [] : [`    dims: [ ${(dims.length === 0 ? [1] : dims).join(', ')} ]`];
    const scalar = dims?.length === 0 ? ['    reshape { shape: [ ] }'] : [];
    const type = tensor.dataType === null ? [] : [`    data_type: ${tensor.dataType}`];
    return ['  {', `    name: ${quoted(tensor.name)}`, ...type, ...sizes, ...scalar, '  }'].join('\n');
  });
  return [`${kind} [`, entries.join(',\n'), ']'];
}

/** A string of protobuf's text format: UTF-8, with what ends or hides in it escaped. */
const quoted = (text: string): string =>
  `"${text.replaceAll(/[\\"\u0000-\u001f\u007f]/g, (c) => (c === '\\' || c === '"' ? `\\${c}` : `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`))}"`;

/**
 * Compares a `config.pbtxt` with the engine that it is for: inputs and outputs, their types and sizes, the batch, the
 * optimization profiles. Each problem has its line. What a configuration leaves out, Triton takes from the engine.
 */
export function checkTritonConfig(text: string, model: TritonModel): Problem[] {
  const { value: fields, problems } = readPbtxt(text);
  if (problems.length > 0) return problems;
  const found: Problem[] = [];
  const add: Add = (code, message, line) => found.push({ severity: 'error', code, message, line });
  for (const name of ['name', 'platform', 'backend', 'max_batch_size', 'dynamic_batching']) {
    const [, again] = fields.filter((one) => one.name === name);
    if (again) add('repeated', `'${name}' is given twice, so Triton cannot read the file. Keep one.`, again.line);
  }
  checkPlatform(fields, add);
  const maxBatch = checkBatch(fields, model, add);
  checkBindings(fields, 'input', model.inputs, maxBatch > 0, add);
  checkBindings(fields, 'output', model.outputs, maxBatch > 0, add);
  checkProfiles(fields, model, add);
  return found;
}

type Add = (code: string, message: string, line: number) => void;

function checkPlatform(fields: readonly TextField[], add: Add): void {
  const platform = field(fields, 'platform') ?? field(fields, 'backend');
  if (platform === undefined || ['tensorrt_plan', 'tensorrt'].includes(textOf(platform))) return;
  const message = `${platform.name} is "${textOf(platform)}", which does not run engines. Use platform: "tensorrt_plan".`;
  add('platform', message, platform.line);
}

/** The batch that the configuration names; 0: none. */
function checkBatch(fields: readonly TextField[], { maxBatch: most }: TritonModel, add: Add): number {
  const batch = field(fields, 'max_batch_size');
  const maxBatch = batch === undefined ? 0 : Number(textOf(batch));
  if (batch !== undefined && (!Number.isSafeInteger(maxBatch) || maxBatch < 0))
    add('batch', `max_batch_size '${textOf(batch)}' is not an integer of 0 or more.`, batch.line);
  else if (batch !== undefined && maxBatch > most)
    add(
      'batch',
      most === 0
        ? `max_batch_size is ${maxBatch}, but the engine has no open batch in front of every input and output. Use 0 and write all sizes.`
        : `max_batch_size is ${maxBatch}, but the engine takes at most ${most}.`,
      batch.line,
    );
  const dynamic = field(fields, 'dynamic_batching');
  if (maxBatch === 0 && dynamic !== undefined)
    add('dynamic-batching', 'dynamic_batching needs a max_batch_size of 1 or more.', dynamic.line);
  return maxBatch > 0 ? maxBatch : 0;
}

function checkBindings(
  fields: readonly TextField[],
  kind: 'input' | 'output',
  known: readonly TritonTensor[],
  batched: boolean,
  add: Add,
): void {
  const listed = fields.filter(({ name, value }) => name === kind && typeof value !== 'string');
  for (const entry of listed) checkTensor(entry, kind, known, batched, add);
  const [first] = listed;
  // Without any, Triton takes all from the engine; outputs may be left out.
  if (kind === 'output' || first === undefined) return;
  const names = new Set(listed.map((entry) => nameOf(entry)));
  for (const { name } of known)
    if (!names.has(name)) add('missing', `The engine's input "${name}" is missing.`, first.line);
}

function checkProfiles(fields: readonly TextField[], { profiles }: TritonModel, add: Add): void {
  const indices = profiles.map(({ index }) => String(index));
  const named = fields
    .filter(({ name }) => name === 'instance_group')
    .flatMap((group) => fieldsOf(group).filter(({ name }) => name === 'profile'));
  for (const profile of named)
    if (!indices.includes(textOf(profile)))
      add(
        'profile',
        `The engine has no optimization profile ${textOf(profile)}: it has ${indices.join(', ')}.`,
        profile.line,
      );
}

function checkTensor(
  entry: TextField,
  kind: 'input' | 'output',
  known: readonly TritonTensor[],
  batched: boolean,
  add: Add,
): void {
  const name = nameOf(entry);
  const tensor = known.find((one) => one.name === name);
  if (tensor === undefined) {
    const names = known.map((one) => `"${one.name}"`).join(', ') || 'none';
    add('unknown', `The engine has no ${kind} "${name}"; its ${kind}s are ${names}.`, entry.line);
    return;
  }
  const type = field(fieldsOf(entry), 'data_type');
  if (type !== undefined && tensor.dataType !== null && type.value !== tensor.dataType)
    add('type', `${kind} "${name}" is ${textOf(type)}, but the engine's is ${tensor.dataType}.`, type.line);
  const listed = fieldsOf(entry).filter((one) => one.name === 'dims');
  const own = tritonDims(tensor, batched);
  // Sizes that are reshaped are not those of the engine.
  if (listed.length === 0 || own === null || field(fieldsOf(entry), 'reshape') !== undefined) return;
  const dims = listed.map(({ value }) => Number(value));
  const fits = dims.length === own.length && dims.every((size, axis) => size === own[axis] || own[axis] === -1);
  if (!fits)
    add(
      'dims',
      `${kind} "${name}" has dims [ ${dims.join(', ')} ], but the engine's are [ ${own.join(', ')} ]${batched ? ' without the batch' : ''}.`,
      listed[0]!.line,
    );
}

const fieldsOf = ({ value }: TextField): TextField[] => (typeof value === 'string' ? [] : value);
const field = (fields: readonly TextField[], name: string): TextField | undefined =>
  fields.findLast((one) => one.name === name);
const nameOf = (entry: TextField): string => textOf(field(fieldsOf(entry), 'name'));
const textOf = (one: TextField | undefined): string => (typeof one?.value === 'string' ? one.value : '');
