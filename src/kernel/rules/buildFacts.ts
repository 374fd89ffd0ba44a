// What is known of the model, the build and the TensorRT version.
import { addTo } from '../base/addTo.ts';
import { before, flagSince, parseVersion, type Version } from '../build/trtexecFlags.ts';
import { productName } from '../base/text.ts';
import { type DataType, isEpContext, isFloatType, type OnnxModel, type OnnxNode } from '../read/onnx/onnxModel.ts';
import type { BuildLog, EngineTensor, LayerInfo, PrecisionLine } from '../read/tensorrt/buildOutput.ts';
import { type Fate, type FusionReport, type LayerKind, nodeTimes, type ReportNode } from '../fusion/fusionReport.ts';
import { type Network, networkOf } from '../network/network.ts';
import { type ModelGraph, products, quantizable, standardOpset } from '../network/modelGraph.ts';
import { originalNames } from '../network/repairMap.ts';
import type { NodeRole } from '../network/nodeRoles.ts';
import { elementType, isContainer } from '../network/outputTypes.ts';
import { activationsAt } from '../quantization/calibration.ts';
import { QuantizedGraph } from '../quantization/quantization.ts';
import type { PrecisionType } from './overrideFile.ts';

/** What precision overrides need to know of a model, as plain JSON: it also travels to the language server. */
export interface ModelFacts {
  /** File name for messages. */
  file: string;
  /** Version of the standard operator set. */
  opset: number;
  /** Every node in the report's order, subgraphs after their owner. */
  nodes: NodeFacts[];
  /** The model's inputs and weights, which are no nodes, with the nodes (positions, the first ones) that read them. */
  sources?: { name: string; kind: 'input' | 'weight'; nodes: number[] }[];
  /** Names of nodes inside local functions, which rules do not reach. */
  inFunctions?: { name: string; function: string }[];
}

export interface NodeFacts {
  id: string;
  /** The model's name, '' if it has none. */
  name: string;
  op: string;
  domain: string;
  /** Names of its output tensors; '' for one that is not used. */
  outputs: string[];
  /** ONNX element type of each output; null: cannot be told. */
  types: (string | null)[];
  /** Why no precision can be chosen for it; null: it takes one. */
  exempt: Exemption | null;
  /**
   * Type to which the only reader of each output casts it; null: no Cast, or others read it too. Absent if there is
   * none.
   */
  casts?: (string | null)[];
  /** Of a product of data and a weight: the weight's shape. Absent for all others. */
  weight?: number[];
  /** Of an operator that TensorRT quantizes: the tensors that need a scale so that it computes in INT8. */
  activations?: string[];
  /** In a repaired model, of a node that a repair wrote: the name that it stands for in the original. */
  original?: string;
}

/**
 * Why a node accepts no precision: `integer` only makes integers or booleans; `convert` (Cast, Q/DQ) makes the type
 * that the model names; `shape` and `constant` are its role in the graph; `control` (If, Loop, Scan) is not a layer
 * itself; `engine` is compiled already.
 */
export type Exemption = 'integer' | 'convert' | 'shape' | 'constant' | 'control' | 'engine';

/** Takes the facts out of a model. */
export function modelFacts(model: OnnxModel, file: string): ModelFacts {
  const network = networkOf(model);
  const { roles } = network.roles;
  const quantized = new QuantizedGraph(network);
  const originals = originalNames(model);
  const givenOut = new Set([...network.graphOutputs, ...[...network.bodyOutputs.values()].flat()]);
  return {
    file,
    opset: standardOpset(model),
    nodes: model.nodes.map((node, index) => {
      const casts = castsOf(network, index, givenOut);
      const weight = weightOf(network, index);
      const original = originals.get(node.name);
      const activations = quantizable.has(node.op) ? activationsAt(quantized, index) : null;
      return {
        id: node.id,
        name: node.name,
        op: node.op,
        domain: node.domain,
        outputs: node.outputs,
        types: tensorTypesOf(node, network),
        exempt: exemptionOf(node, roles[index]!, network),
        ...(casts && { casts }),
        ...(weight !== null && { weight }),
        ...(activations !== null && { activations }),
        ...(original !== undefined && { original }),
      };
    }),
    sources: sourcesOf(network),
    inFunctions: model.functions.flatMap((one) =>
      one.nodes.flatMap(({ name }) => (name === '' ? [] : [{ name, function: one.name }])),
    ),
  };
}

/** Element types of a node's outputs; null also for one that is not a tensor. */
function tensorTypesOf(node: OnnxNode, network: Network): (DataType | null)[] {
  return network.outputTypesOf(node).map((type) => (isContainer(type) ? null : type));
}

/** The types to which Casts turn a node's outputs that nothing else reads; null: none is. */
function castsOf(graph: ModelGraph, index: number, givenOut: ReadonlySet<number>): (DataType | null)[] | null {
  let at = 0;
  const casts = graph.nodes[index]!.outputs.map((name) => {
    const tensor = name === '' ? -1 : graph.outputs[index]![at++]!;
    const [reader, ...more] = graph.tensors[tensor]?.consumers ?? [];
    const cast = reader === undefined || more.length > 0 || givenOut.has(tensor) ? null : graph.nodes[reader]!;
    return cast?.op === 'Cast' ? cast : null;
  });
  return casts.some((cast) => cast !== null) ? casts.map((cast) => cast && elementType(cast, 'to')) : null;
}

/** Operators behind which a weight is still that weight, in another type. */
const sameWeight: ReadonlySet<string> = new Set(['QuantizeLinear', 'DequantizeLinear', 'Cast', 'Identity']);

/** Shape of the one weight that a product has. */
function weightOf(graph: ModelGraph, index: number): number[] | null {
  if (!products.has(graph.nodes[index]!.op)) return null;
  const weights = graph.inputs[index]!.slice(0, 2).flatMap((tensor) => {
    const { kind, value } = graph.tensors[asStored(graph, tensor)] ?? {};
    return kind === 'initializer' && value?.shape ? [value.shape.map(Number)] : [];
  });
  return weights.length === 1 ? weights[0]! : null;
}

/** The tensor that Casts and Q/DQ nodes made this one of. */
function asStored(graph: ModelGraph, tensor: number): number {
  const { producer } = graph.tensors[tensor] ?? { producer: -1 };
  const node = producer >= 0 ? graph.nodes[producer]! : undefined;
  return node && sameWeight.has(node.op) ? asStored(graph, graph.inputs[producer]![0] ?? -1) : tensor;
}

/** As many readers of a weight as someone would put in one rule. */
const mostReaders = 20;

function sourcesOf(graph: ModelGraph): NonNullable<ModelFacts['sources']> {
  return graph.tensors.flatMap(({ name, kind, owner, consumers }, tensor) => {
    if (owner >= 0 || (kind !== 'input' && kind !== 'initializer')) return [];
    // What a subgraph reads from outside counts for the reader only, not for the node that has the subgraph.
    const readers = [...new Set(consumers)].filter((node) => graph.inputs[node]!.includes(tensor));
    const nodes = readers.sort((a, b) => a - b).slice(0, mostReaders);
    return [{ name, kind: kind === 'input' ? ('input' as const) : ('weight' as const), nodes }];
  });
}

const control: ReadonlySet<string> = new Set(['If', 'Loop', 'Scan']);
const convert: ReadonlySet<string> = new Set([
  'Cast',
  'CastLike',
  'BitCast',
  'QuantizeLinear',
  'DequantizeLinear',
  'DynamicQuantizeLinear',
]);
function exemptionOf(node: OnnxNode, role: NodeRole, network: Network): Exemption | null {
  if (control.has(node.op) && node.subgraphs.length > 0) return 'control';
  if (isEpContext(node)) return 'engine';
  if (role === 'constant' || role === 'shape') return role;
  if (convert.has(node.op)) return 'convert';
  const outputs = tensorTypesOf(node, network);
  const whole =
    outputs.length > 0 && outputs.every((type, i) => node.outputs[i] === '' || (type !== null && !isFloatType(type)));
  return whole ? 'integer' : null;
}

/** What precision overrides need to know of the last build, as plain JSON: it also travels to the language server. */
export interface BuildFacts {
  product: 'tensorrt' | 'tensorrt-rtx' | null;
  version: string | null;
  gpu: string | null;
  /** The types and constraints that the build was run with; null: not known. */
  flags: BuildFlags | null;
  /** The build failed, or its log ends before it does, and no layers of an engine are known. */
  unfinished?: boolean;
  /** Log or layers are of a build of another model. */
  otherModel?: boolean;
  /** Of an engine with several optimization profiles: the one that the layers are of, from 0, and how many there are. */
  optimizationProfile?: { shown: number; of: number };
  foreignNodes: { name: string; title?: string; exact: boolean }[];
  /** By position of the node in the model; the nodes of functions, for each call, come after those. */
  nodes: BuiltNode[];
  layers: BuiltLayer[];
  /** Further layers of TensorRT's network that the parser made for a node (`/split/Split_64`), with their nodes' positions. */
  aliases: { name: string; nodes: number[] }[];
  /** Positions of nodes for which the parser registered no layer of their name, as the log says: flags cannot reach these. */
  unregistered?: number[];
  /** The log's lines about precision; null: there was no log. */
  lines: PrecisionLine[] | null;
  /** Where a typed copy of the model was built: its compute type of each node, by position; null: it had no choice. */
  declared?: (PrecisionType | null)[];
  /** The override rules that the build was made with; null: with none; absent: not known. */
  rules?: string | null;
}

export interface BuildFlags {
  types: string[];
  constraints: 'none' | 'prefer' | 'obey';
  stronglyTyped: boolean;
  /** Precisions or output types of single layers were given. */
  layers: boolean;
}

export interface BuiltNode {
  fate: Fate;
  /** Position in `foreignNodes`, or -1. */
  foreign: number;
  /** Positions in `layers`. */
  layers: number[];
  /** Its share of their time. */
  averageMs: number | null;
}

export interface SeenTensor {
  name: string;
  type: string | null;
  /** Number of elements; null if it is not known or dynamic. */
  elements: number | null;
  /** Of a constant of some size: its shape, padding and all. */
  dims?: number[];
}

export interface BuiltLayer {
  name: string;
  /** LayerType: `CaskConvolution`, `kgen`, `gemm`, … */
  type: string;
  kind: LayerKind;
  tactic: string | null;
  /** Positions of its nodes. */
  nodes: number[];
  inputs: SeenTensor[];
  outputs: SeenTensor[];
  /** What is built into the kernel, where it is not listed among its inputs. */
  constants?: SeenTensor[];
  /** Compute type where the layer says it (its weights' type), otherwise null. */
  weights: string | null;
  averageMs: number | null;
}

/**
 * Joins a fusion report with the log and the layer info it was made from. `own`: the model's nodes, of which a report has
 * more where functions are called; by default all of the report's. `flags` come from the build's command; by default from the command in the log.
 */
export function buildFacts(
  report: FusionReport,
  log: BuildLog | null,
  layerInfo: LayerInfo | null = null,
  flags: BuildFlags | null = flagsOfLog(log),
  own: readonly { id: string }[] = report.nodes,
): BuildFacts {
  const isOwn = new Set(own.map(({ id }) => id));
  const nodes = [...report.nodes.filter(({ id }) => isOwn.has(id)), ...report.nodes.filter(({ id }) => !isOwn.has(id))];
  const positions = new Map(nodes.map((node, i) => [node.id, i]));
  const at = (ids: readonly string[]) => ids.map((id) => positions.get(id)).filter((i) => i !== undefined);
  const layerAt = new Map(report.layers.map((layer, i) => [layer.id, i]));
  const foreignAt = new Map(report.foreignNodes.map((group, i) => [group.id, i]));
  const weights = weightTypes(layerInfo);
  const constants = constantsOf(log);
  const times = nodeTimes(report);
  const timeOf = new Map(report.nodes.map(({ id }, position) => [id, times[position] ?? null]));
  const layers = report.layers.map((layer) => ({
    name: layer.name,
    type: layer.type,
    kind: layer.kind,
    tactic: layer.tactic,
    nodes: at(layer.nodes),
    inputs: layer.inputs.map(border),
    outputs: layer.outputs.map(border),
    ...(constants.has(layer.name) && { constants: constants.get(layer.name)!.map(border) }),
    weights: weights.get(layer.name) ?? null,
    averageMs: layer.averageMs,
  }));
  return {
    product: report.tensorrt.product,
    version: report.tensorrt.version,
    gpu: log?.gpu ?? null,
    flags,
    unfinished: layers.length === 0 && (log?.outcome === 'failed' || log?.outcome === 'cut-off'),
    otherModel: report.problems.some(({ code }) => code === 'other-model'),
    ...(report.optimizationProfile && { optimizationProfile: report.optimizationProfile }),
    foreignNodes: report.foreignNodes.map(({ name, title, exact }) => ({
      name,
      ...(title !== undefined && { title }),
      exact,
    })),
    nodes: nodes.map((node) => {
      const own = node.layers.map((id) => layerAt.get(id)).filter((i) => i !== undefined);
      return {
        fate: node.fate,
        foreign: node.foreignNode === null ? -1 : (foreignAt.get(node.foreignNode) ?? -1),
        layers: own,
        averageMs: timeOf.get(node.id) ?? null,
      };
    }),
    layers,
    aliases: log ? registeredAliases(log, nodes) : [],
    unregistered: log ? unregisteredNodes(log, nodes) : [],
    lines: log?.precision ?? null,
  };
}

function border(tensor: EngineTensor): SeenTensor {
  const known = tensor.dims?.every((dim) => dim >= 0) ? tensor.dims : null;
  const elements = known ? known.reduce((size, dim) => size * dim, 1) : null;
  const weighs = known !== null && elements! >= smallestWeight && isConstantName(tensor.name);
  return { name: tensor.name, type: tensor.type, elements, ...(weighs && { dims: known }) };
}

/** As few elements are also a scale's or a bias's. */
export const smallestWeight = 16;

/** TensorRT 10 lists a kernel's constants among its inputs. */
export const isConstantName = (name: string): boolean => /dconst|constant/i.test(name);

/** `Weights.Type` of detailed layer info, by layer name. */
function weightTypes(layerInfo: LayerInfo | null): Map<string, string> {
  const types = new Map<string, string>();
  for (const { name, extra } of layerInfo?.layers ?? []) {
    const weights: unknown = extra['Weights'];
    if (typeof weights !== 'object' || weights === null || !('Type' in weights)) continue;
    if (typeof weights.Type === 'string') types.set(name, weights.Type);
  }
  return types;
}

/** `Constants` of the kernels that a log lists, by name. */
function constantsOf(log: BuildLog | null): Map<string, EngineTensor[]> {
  const found = new Map<string, EngineTensor[]>();
  for (const { name, extra } of log?.engineLayers ?? [])
    if (Array.isArray(extra['Constants'])) found.set(name, extra['Constants'] as EngineTensor[]);
  return found;
}

/** Layers that the parser made for a node under another name. */
function registeredAliases(log: BuildLog, all: readonly ReportNode[]): { name: string; nodes: number[] }[] {
  const byName = new Map<string, number[]>();
  for (const [i, node] of all.entries()) addTo(byName, node.name, i);
  const aliases = new Map<string, number[]>();
  for (const parsed of log.parsedNodes) {
    const nodes = byName.get(parsed.name);
    if (!nodes) continue;
    for (const layer of parsed.layers) if (!byName.has(layer)) aliases.set(layer, nodes);
  }
  return [...aliases].map(([name, nodes]) => ({ name, nodes }));
}

/** Nodes that the log shows parsed, and no layer of their name registered for any node. */
function unregisteredNodes(log: BuildLog, all: readonly ReportNode[]): number[] {
  const registered = new Set(log.parsedNodes.flatMap(({ layers }) => layers));
  const parsed = new Set(log.parsedNodes.map(({ name }) => name));
  if (registered.size === 0) return [];
  return all.flatMap(({ name }, i) => (parsed.has(name) && !registered.has(name) ? [i] : []));
}

const typeFlags: Readonly<Record<string, string[]>> = {
  fp16: ['fp16'],
  bf16: ['bf16'],
  int8: ['int8'],
  fp8: ['fp8'],
  int4: ['int4'],
  best: ['fp16', 'bf16', 'int8', 'fp8'],
};

/** The flags of the last command in a log that builds; null if it names none. */
function flagsOfLog(log: BuildLog | null): BuildFlags | null {
  const commands = log?.runs?.map(({ command }) => command) ?? [log?.endedCommand ?? ''];
  const flags = commands.map((command) => flagsOfCommand(command.split(/\s+/)));
  return flags.findLast((found) => found !== null) ?? null;
}

/** Of trtexec, of Polygraphy and of trtlens's own driver. */
const LAYER_FLAGS: ReadonlySet<string> = new Set([
  'layerPrecisions',
  'layerOutputTypes',
  'layer-precisions',
  'precisions',
]);

/** Arguments of a run that builds no engine, or lets a script choose the types. */
const saysNothing =
  /^--?(?:loadEngine|trt-config-(?:func-name|script|postprocess-script)|trt-network-func-name)(?:=|$)/;

/**
 * What a build's command line (trtexec's or Polygraphy's, one argument per element) says about precision; null for no
 * such command, and for one that does not say.
 */
export function flagsOfCommand(command: readonly string[]): BuildFlags | null {
  if (!command.some((argument) => /trtexec|polygraphy/.test(argument)) && !command.some((a) => a.startsWith('--onnx')))
    return null;
  const loads = command.some((argument, i) => /^(?:--model-type=)?engine$/.test(argument) && i > 0);
  if (loads || command.some((argument) => saysNothing.test(argument))) return null;
  const flags: BuildFlags = { types: ['fp32'], constraints: 'none', stronglyTyped: false, layers: false };
  for (const [i, argument] of command.entries()) {
    const [name, value] = split(argument);
    const types = Object.hasOwn(typeFlags, name) ? typeFlags[name] : undefined;
    if (types) for (const type of types) if (!flags.types.includes(type)) flags.types.push(type);
    if (name === 'stronglyTyped' || name === 'strongly-typed') flags.stronglyTyped = true;
    if (LAYER_FLAGS.has(name)) flags.layers = true;
    if (name === 'precisionConstraints' || name === 'precision-constraints') {
      const word = value ?? command[i + 1] ?? '';
      if (word === 'obey' || word === 'prefer' || word === 'none') flags.constraints = word;
    }
  }
  return flags;
}

function split(argument: string): [string, string | undefined] {
  const body = argument.replace(/^--?/, '');
  if (body === argument) return ['', undefined];
  const equals = body.indexOf('=');
  return equals < 0 ? [body, undefined] : [body.slice(0, equals), body.slice(equals + 1)];
}

/** The TensorRT that an override file is checked for. */
export interface TensorrtTarget {
  product: 'tensorrt' | 'tensorrt-rtx' | null;
  version: Version | null;
  /** Compute capability × 10 (`89`), null: not known. */
  capability: number | null;
}

/** A target from texts as logs, manifests and command lines give them. */
export function targetOf(
  product: TensorrtTarget['product'],
  version: string | null,
  gpu: string | null,
): TensorrtTarget {
  return { product, version: version === null ? null : looseVersion(version), capability: capabilityOf(gpu) };
}

/** The target of a build, or of settings that name one; null: nothing is known. */
export function targetOfBuild(
  build: { product: TensorrtTarget['product']; version: string | null; gpu: string | null } | null,
): TensorrtTarget {
  return targetOf(build?.product ?? null, build?.version ?? null, build?.gpu ?? null);
}

/** `10.6` and `8` are versions, too. */
function looseVersion(text: string): Version | null {
  const parsed = parseVersion(text);
  if (parsed) return parsed;
  const found = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(text.trim());
  return found ? [Number(found[1]), Number(found[2] ?? 0), Number(found[3] ?? 0)] : null;
}

/** The words for a target: `TensorRT 10.6`, `TensorRT-RTX`, `TensorRT`. */
export function targetName(target: TensorrtTarget): string {
  const name = productName(target.product);
  return target.version ? `${name} ${target.version[0]}.${target.version[1]}` : name;
}

/** Whether precision is requested by flags (true), lives in the model only (false), or cannot be told (null). */
export function hasLayerFlags(target: TensorrtTarget): boolean | null {
  if (target.product === 'tensorrt-rtx') return false;
  if (!target.version) return null;
  return before(target.version, [11, 0, 0]) && !before(target.version, [8, 4, 1]);
}

/** Why a target has no per-layer flags, and what does instead. */
export function noLayerFlags(target: TensorrtTarget): string {
  if (target.product !== 'tensorrt-rtx' && target.version && before(target.version, [8, 4, 1])) {
    return `${targetName(target)} supports neither --layerPrecisions (since 8.4.1) nor strongly typed networks. Use a newer version.`;
  }
  return `${targetName(target)} builds only strongly typed networks and does not support --layerPrecisions, so the types must be in the model. Build a typed copy of the model.`;
}

/** First TensorRT version whose flags know a type, where the target is older; null: it knows the type, or its version is not known. */
export function typeSince(type: PrecisionType, target: TensorrtTarget): string | null {
  // INT64 has no flag; it is a type of tensors since 10.0.
  const since = type === 'int64' ? ([10, 0, 0] as const) : flagSince(type);
  if (!since || !target.version || target.product === 'tensorrt-rtx' || !before(target.version, since)) return null;
  return `${since[0]}.${since[1]}`;
}

/** Compute capability (× 10) that a type needs for fast kernels; NVIDIA's support matrix. */
const needs: Partial<Record<PrecisionType, number>> = { fp16: 53, int8: 61, bf16: 80, fp8: 89 };

/** The compute capability (× 10) that the type needs and the target's GPU lacks; null: fine, or not known. */
export function missingCapability(type: PrecisionType, target: TensorrtTarget): number | null {
  // Of the sixth generation 6.1 has no fast half precision, while 6.0 and 6.2 have.
  const needed = type === 'fp16' && target.capability === 61 ? 70 : needs[type];
  return needed !== undefined && target.capability !== null && target.capability < needed ? needed : null;
}

/** GPU names as drivers print them, most specific first. */
const gpus: readonly [RegExp, number][] = [
  [/\bGB10\b/, 121],
  [/\bThor\b/, 110],
  [/\b(?:B300|GB300)\b/, 103],
  [/\b(?:B200|GB200|B100)\b/, 100],
  [/RTX[\s-]*50\d0(?:\s*Ti)?|RTX PRO \d000 Blackwell/, 120],
  [/\b(?:H100|H200|H800|H20|GH200)\b/, 90],
  [/\b(?:L4|L40S?|RTX[\s-]*40\d0(?:\s*Ti)?|RTX \d000 Ada)\b/, 89],
  [/\bOrin\b/, 87],
  [/\b(?:A10G?|A16|A40|A2|RTX[\s-]*30\d0(?:\s*Ti)?|RTX A\d000)\b/, 86],
  [/\b(?:A100|A800|A30)\b/, 80],
  [/\b(?:T4|T400|T600|T1000|RTX[\s-]*20\d0(?:\s*Ti)?|GTX[\s-]*16\d0(?:\s*Ti)?|Quadro RTX|TITAN RTX)\b/, 75],
  [/\bXavier\b/, 72],
  [/\b(?:V100|GV100|TITAN V)\b/, 70],
  [/\b(?:P4|P40|Quadro P\d+|GTX[\s-]*10\d0(?:\s*Ti)?|MX(?:1[5-9]|[23]\d)0|TITAN X[Pp]?)\b/, 61],
  [/\b(?:P100|GP100)\b/, 60],
  [/\b(?:TX2|Tegra X2)\b/, 62],
  [/\b(?:Jetson Nano|TX1|Tegra X1)\b/, 53],
  [/\b(?:M4|M40|M60|Quadro M[24-6]000|GTX[\s-]*9\d0(?:\s*Ti)?)\b/, 52],
  [/\b(?:GTX\s*7(?:45|50)(?:\s*Ti)?|MX1[13]0|Quadro K(?:620|1200|2200)|Quadro M1000M)\b/, 50],
  [/\bK80\b/, 37],
];

/** Compute capability × 10 from a GPU's name or from `8.9`, `SM89`; null for names that are not known. */
export function capabilityOf(gpu: string | null): number | null {
  if (gpu === null) return null;
  const direct = /^(?:sm_?|compute capability )?(\d{1,2})\.?(\d)$/i.exec(gpu.trim());
  if (direct) return Number(direct[1]) * 10 + Number(direct[2]);
  return gpus.find(([pattern]) => pattern.test(gpu))?.[1] ?? null;
}

/** The GPU that a text names; null: none, or several that differ. */
export function gpuIn(text: string): { name: string; capability: number } | null {
  const found = gpus.flatMap(([pattern, capability]) => {
    const name = pattern.exec(text)?.[0];
    return name === undefined ? [] : [{ name, capability }];
  });
  return new Set(found.map(({ capability }) => capability)).size === 1 ? found[0]! : null;
}
