// Reads a layer from one line of a log, placements, and the graph of a Torch-TensorRT module.
import type { Problem, Read } from '../../base/problem.ts';
import { profileOf } from '../../network/layerName.ts';
import { torchKeys } from '../../network/sourceLines.ts';
import type { OnnxAttribute, OnnxModel, OnnxNode, OnnxTensor, OnnxValue } from '../onnx/onnxModel.ts';
import type { EngineLayer, EngineTensor } from './buildOutput.ts';

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
      Object.defineProperty(layer.extra, key, { value, writable: true, enumerable: true, configurable: true });
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

/** Where ONNX Runtime put the nodes of a session, as its verbose log lists them (`session_state.cc`, "Node placements"). */
export interface Placement {
  /** The execution providers with what they run, in the order of the log. */
  providers: PlacedProvider[];
  /** The TensorRT provider says that it runs the whole graph. */
  wholeGraph: boolean;
  /** Why a node is not where it could be, by its name. */
  reasons: Map<string, string>;
  /** Names of nodes that a TensorRT parser inside ONNX Runtime read. */
  parsed: Set<string>;
}

export interface PlacedProvider {
  /** `TensorrtExecutionProvider`. */
  name: string;
  /** How many nodes it runs, of ONNX Runtime's graph: a part that TensorRT runs is one node. */
  count: number;
  /** Its nodes; null: the log does not list them, because one provider runs all. */
  nodes: { op: string; name: string }[] | null;
  /** Line of the log, from 1. */
  line: number;
}

const prefix = /^(?:\u001b\[[\d;]*m)?(?:\S+ \S+ )?\[[VIWEF]:onnxruntime:[^\]]*\] ?/;

/**
 * Reads the verbose log of ONNX Runtime (`log_severity_level=0`), of 1.0 and later. Of several sessions the last one counts.
 * @returns no value where the log has no placements; the problem says what to do
 */
export function readPlacement(text: string): { value: Placement | undefined; problems: Problem[] } {
  let providers: PlacedProvider[] | undefined;
  let open: PlacedProvider | undefined;
  // A session says these before its placements, or when it builds an engine behind them.
  let facts = noFacts();
  let next = noFacts();
  for (const [at, raw] of text.split(/\r?\n/).entries()) {
    const message = raw.replace(prefix, '').replace(/\u001b\[m$/, '');
    const isPrefixed = message.length < raw.length;
    if (message.trim() === 'Node placements') {
      facts = next;
      next = noFacts();
      providers = [];
      open = undefined;
    } else if (providers !== undefined && isPrefixed) {
      const provider = providerOf(message, at + 1);
      if (provider !== undefined) {
        providers.push(provider);
        open = provider.nodes === null || provider.nodes.length > 0 ? undefined : provider;
      } else if (open !== undefined) {
        const node = nodeOf(message.trim());
        if (node === undefined || open.nodes!.length >= open.count) open = undefined;
        else open.nodes!.push(node);
      }
    }
    noteReason(message, next.reasons);
    if (/\[(?:TensorRT|NvTensorRTRTX) EP\] Whole graph will run/.test(message)) next.wholeGraph = true;
    const read = /^.{0,200}?Parsing node: (.+) \[[\w.:]+\]/.exec(message);
    if (read) next.parsed.add(read[1]!);
  }
  if (providers === undefined || providers.length === 0) {
    const message =
      'The log of ONNX Runtime does not say where nodes run: create the session with log_severity_level=0.';
    return { value: undefined, problems: [{ severity: 'error', code: 'no-placements', message }] };
  }
  const value: Placement = {
    providers,
    wholeGraph: facts.wholeGraph || next.wholeGraph,
    reasons: new Map([...facts.reasons, ...next.reasons]),
    parsed: new Set([...facts.parsed, ...next.parsed]),
  };
  return { value, problems: [] };
}

const noFacts = (): Omit<Placement, 'providers'> => ({ wholeGraph: false, reasons: new Map(), parsed: new Set() });

/** `All nodes placed on [P]. Number of nodes: 7`, ` Node(s) placed on [P]. Number of nodes: 2`, older ` Provider: [P]: [Op (name), ]`. */
function providerOf(message: string, line: number): PlacedProvider | undefined {
  const all = /^ ?All nodes (?:have been )?placed on \[([^\]]+)\]\.(?: Number of nodes: (\d+))?/.exec(message);
  if (all) return { name: all[1]!, count: Number(all[2] ?? 0), nodes: null, line };
  const some = /^ ?Node\(s\) placed on \[([^\]]+)\]\. Number of nodes: (\d+)/.exec(message);
  if (some) return { name: some[1]!, count: Number(some[2]), nodes: [], line };
  const list = /^ ?Provider: \[([^\]]+)\]: \[(.*)\]$/.exec(message);
  if (!list) return undefined;
  const nodes = [...list[2]!.matchAll(/(?<![\w.:])([\w.:]+) \(([^()]*)\), /g)].map(([, op, name]) => ({
    op: op!,
    name: name!,
  }));
  return { name: list[1]!, count: nodes.length, nodes, line };
}

/** `Gather (Gather_1067)`; the name may be empty. */
function nodeOf(text: string): { op: string; name: string } | undefined {
  const found = /^([\w.:-]+) \((.*)\)$/.exec(text);
  return found ? { op: found[1]!, name: found[2]! } : undefined;
}

function noteReason(message: string, reasons: Map<string, string>): void {
  const preferred = /Force fallback to CPU execution for node: (.+?) because (.+)/.exec(message);
  if (preferred) reasons.set(preferred[1]!, `ONNX Runtime runs it on the CPU because ${preferred[2]!}`);
  const missing = /\b(\w+) kernel not found in registries for Op type: (\S+) node name: (.+)$/i.exec(message);
  if (missing) reasons.set(missing[3]!, `ONNX Runtime has no ${missing[1]!} kernel for ${missing[2]!}`);
}

/** An FX node as `trtlens_torch.py` writes it. */
interface FxNode {
  name: string;
  op: string;
  module: string;
  source: string | null;
  inputs: string[];
  args?: unknown;
  type: string | null;
  shape: (number | string)[] | null;
  layers: number;
}

interface FxGraph {
  inputs: FxNode[];
  constants: FxNode[];
  nodes: FxNode[];
  outputs: string[];
}

/** Element types of PyTorch in ONNX's words. */
const types: Readonly<Record<string, string>> = { float32: 'float', float64: 'double' };

/** Whether a file begins as JSON does, which no ONNX file does. */
export const isJson = (head: Uint8Array): boolean => /^\s*\{/.test(String.fromCharCode(...head.slice(0, 64)));

/**
 * Reads the graph that the hook for Torch-TensorRT wrote, as the model of a report: the FX nodes with their modules. Of
 * several engines the one with most nodes counts. Never throws.
 */
export function readTorchGraph(text: string): Read<OnnxModel> {
  const problems: Problem[] = [];
  let graphs: FxGraph[] = [];
  try {
    const value = JSON.parse(text) as { kind?: unknown; graphs?: unknown };
    if (value.kind === 'torch-fx' && Array.isArray(value.graphs)) graphs = value.graphs.filter(isGraph);
  } catch {
    // Not JSON, or cut off: the same as JSON of another kind.
  }
  const [graph] = graphs.toSorted((a, b) => b.nodes.length - a.nodes.length);
  if (graph === undefined) {
    const message = 'The file is not ONNX and not a graph by trtlens_torch.py. Export it again';
    return { value: undefined, problems: [{ severity: 'error', code: 'no-model', message }] };
  }
  if (graphs.length > 1) {
    const message = `The file has ${graphs.length} graphs, one for each engine. This is the largest; the nodes of the others are not in the report.`;
    problems.push({ severity: 'warning', code: 'several-graphs', message });
  }
  const nodes = graph.nodes.map(torchNode);
  const initializers = graph.constants.map(({ name, type, shape }): OnnxTensor => ({
    name,
    type: typeOf(type) ?? 'float',
    shape: (shape ?? []).map((size) => (typeof size === 'number' ? size : 0)),
    data: null,
  }));
  const value = ({ name, type, shape }: FxNode): OnnxValue => ({ name, type: typeOf(type), shape });
  const byName = new Map([...graph.inputs, ...graph.nodes].map((node) => [node.name, node]));
  const model: OnnxModel = {
    irVersion: 0,
    producer: 'Torch-TensorRT',
    producerVersion: '',
    domain: '',
    opsets: [],
    metadata: [],
    graph: {
      name: 'torch',
      path: '',
      nodes,
      inputs: graph.inputs.map(value),
      outputs: graph.outputs.flatMap((name) => (byName.has(name) ? [value(byName.get(name)!)] : [])),
      values: graph.nodes.map(value),
      initializers,
    },
    functions: [],
    nodes,
  };
  return { value: model, problems };
}

function torchNode({ name, op, module, source, inputs, args, layers }: FxNode, at: number): OnnxNode {
  const attributes: OnnxAttribute[] = [];
  if (source !== null) attributes.push({ name: 'source', kind: 'string', value: source });
  if (Array.isArray(args) && args.length > 0)
    attributes.push({ name: 'args', kind: 'string', value: JSON.stringify(args) });
  const scopes = module.split('.').map((_, depth, parts) => parts.slice(0, depth + 1).join('.'));
  return {
    id: String(at),
    name,
    op,
    domain: 'torch',
    inputs,
    outputs: [name],
    attributes,
    subgraphs: [],
    metadata: [
      // As torch.onnx writes it: the module's parents, the module, the node.
      ...(module === '' ? [] : [{ key: 'pkg.torch.onnx.name_scopes', value: listText(['', ...scopes, name]) }]),
      ...(source === null ? [] : [{ key: torchKeys.source, value: source }]),
      { key: torchKeys.layers, value: String(layers) },
    ],
  };
}

const listText = (names: string[]): string =>
  `[${names.map((name) => `'${name.replaceAll(/['\\]/g, '\\$&')}'`).join(', ')}]`;

const typeOf = (type: string | null): string | null => (type === null ? null : (types[type] ?? type));

function isGraph(value: unknown): value is FxGraph {
  const graph = value as Partial<FxGraph> | null;
  const lists = [graph?.inputs, graph?.constants, graph?.nodes];
  return (
    lists.every((list) => Array.isArray(list) && list.every(isNode)) &&
    Array.isArray(graph?.outputs) &&
    graph.outputs.every((name) => typeof name === 'string')
  );
}

function isNode(value: unknown): value is FxNode {
  const node = value as Partial<FxNode> | null;
  return (
    typeof node?.name === 'string' &&
    typeof node.op === 'string' &&
    typeof node.module === 'string' &&
    (node.source === null || typeof node.source === 'string') &&
    Array.isArray(node.inputs) &&
    node.inputs.every((name) => typeof name === 'string') &&
    (node.type === null || typeof node.type === 'string') &&
    (node.shape === null || Array.isArray(node.shape)) &&
    typeof node.layers === 'number'
  );
}
