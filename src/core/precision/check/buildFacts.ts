import type { BuildLog, PrecisionLine } from '../../engine/buildLog.ts';
import type { EngineTensor } from '../../engine/engineLayer.ts';
import type { LayerInfo } from '../../engine/layerInfo.ts';
import type { Fate, FusionReport, LayerKind } from '../../fusion/fusionReport.ts';
import type { PrecisionType } from '../language/precisionType.ts';
import { addTo } from '../../text/addTo.ts';

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
  foreignNodes: { name: string; exact: boolean }[];
  /** By position of the node in the model. */
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
 * Joins a fusion report with the log and the layer info it was made from. `nodes` follow the report's order, which is
 * the model's. `flags` come from the build's command; by default from the command in the log.
 */
export function buildFacts(
  report: FusionReport,
  log: BuildLog | null,
  layerInfo: LayerInfo | null = null,
  flags: BuildFlags | null = flagsOfLog(log),
): BuildFacts {
  const positions = new Map(report.nodes.map((node, i) => [node.id, i]));
  const at = (ids: readonly string[]) => ids.map((id) => positions.get(id)).filter((i) => i !== undefined);
  const layerAt = new Map(report.layers.map((layer, i) => [layer.id, i]));
  const foreignAt = new Map(report.foreignNodes.map((group, i) => [group.id, i]));
  const weights = weightTypes(layerInfo);
  const constants = constantsOf(log);
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
    foreignNodes: report.foreignNodes.map(({ name, exact }) => ({ name, exact })),
    nodes: report.nodes.map((node) => {
      const own = node.layers.map((id) => layerAt.get(id)).filter((i) => i !== undefined);
      const times = own.map((i) => layers[i]?.averageMs ?? null).filter((ms) => ms !== null);
      return {
        fate: node.fate,
        foreign: node.foreignNode === null ? -1 : (foreignAt.get(node.foreignNode) ?? -1),
        layers: own,
        averageMs: times.length > 0 ? times.reduce((sum, ms) => sum + ms, 0) : null,
      };
    }),
    layers,
    aliases: log ? registeredAliases(log, report) : [],
    unregistered: log ? unregisteredNodes(log, report) : [],
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
function registeredAliases(log: BuildLog, report: FusionReport): { name: string; nodes: number[] }[] {
  const byName = new Map<string, number[]>();
  for (const [i, node] of report.nodes.entries()) addTo(byName, node.name, i);
  const aliases = new Map<string, number[]>();
  for (const parsed of log.parsedNodes) {
    const nodes = byName.get(parsed.name);
    if (!nodes) continue;
    for (const layer of parsed.layers) if (!byName.has(layer)) aliases.set(layer, nodes);
  }
  return [...aliases].map(([name, nodes]) => ({ name, nodes }));
}

/** Nodes that the log shows parsed, and no layer of their name registered for any node. */
function unregisteredNodes(log: BuildLog, report: FusionReport): number[] {
  const registered = new Set(log.parsedNodes.flatMap(({ layers }) => layers));
  const parsed = new Set(log.parsedNodes.map(({ name }) => name));
  if (registered.size === 0) return [];
  return report.nodes.flatMap(({ name }, i) => (parsed.has(name) && !registered.has(name) ? [i] : []));
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
  const flags = (log?.runs ?? []).map(({ command }) => flagsOfCommand(command.split(/\s+/)));
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
