// The types of a FusionReport and of what it is made from.
import type { Problem } from '../base/problem.ts';
import type { OnnxModel } from '../read/onnx/onnxModel.ts';
import type {
  BuildFigures,
  BuildLog,
  EngineTensor,
  LayerInfo,
  MemoryOperations,
  Profile,
  TracedGpu,
} from '../read/tensorrt/buildOutput.ts';
import type { KernelCounters } from '../read/tensorrt/readLayerInfo.ts';

/** The contract between the core, the command line, the views and every script that reads results (`docs/reference/fusion-report.md`). Fields may be added; these keep their names and meaning. */
export interface FusionReport {
  /** Version of this contract. */
  schema: 1;
  /** Which build of the log this is; omitted where the log has only one. */
  build?: ReportBuild;
  /** What built the engine; null: the inputs do not say. */
  tensorrt: { product: 'tensorrt' | 'tensorrt-rtx' | null; version: string | null };
  /** The shapes for which the engine was built, of inputs with open dimensions in each optimization profile; omitted: the inputs do not say. */
  builtShapes?: ReportShape[];
  /** The optimization profile whose layers are listed, from 0, and of how many; omitted: the layers are of one. */
  optimizationProfile?: { shown: number; of: number };
  /**
   * Only without an ONNX file: the report is on the engine alone. `model.file` is then the file that lists the layers,
   * `nodes` and `tensors` are empty, `accounting` counts nothing: what happened to the model's nodes is unknown.
   */
  subject?: 'engine';
  /** File name of the model, and how many nodes it has, those of subgraphs included. */
  model: { file: string; nodes: number };
  /** Every engine layer, in engine order. */
  layers: ReportLayer[];
  /** Every ForeignNode: a part of the network that TensorRT gave to its compiler Myelin as a whole. */
  foreignNodes: ReportForeignNode[];
  /** Every ONNX node, in file order, subgraphs after their owner. */
  nodes: ReportNode[];
  /** Every tensor of the model's graphs but the initializers, each graph's inputs first. */
  tensors: ReportTensor[];
  /** How many nodes have which fate. */
  accounting: Accounting;
  /** Whether the build was checked for nodes that TensorRT lost (`unaccounted`); omitted without a model and in reports of older versions. */
  lostNodes?: LostNodes;
  /** What each execution provider of ONNX Runtime runs, by its log; omitted without one. */
  placement?: ProviderShare[];
  /** Where the times come from, if from a trace of the GPU; omitted otherwise. */
  profile?: TracedProfile;
  /** How many layers the network had after each stage of the optimizer, as the log counts them. */
  funnel: { stage: string; layers: number }[];
  /** Why a boundary is where it is, or what helped or hindered; each with its evidence. Never invented. */
  remarks: Remark[];
  /** Time that may be avoidable; omitted where no layer was timed. */
  findings?: TimeFinding[];
  /** What holds this build back, the costliest first, five at most; omitted without a model, and where the layers are not known. */
  heldBack?: HeldBack[];
  /** What fusion saved in each group of several nodes; omitted without a model. */
  savings?: FusionSaving[];
  /** What the open dimensions of the model cost, found by building it for fixed shapes; omitted where that was not done. */
  dynamicShapes?: DynamicShapesCost;
  /** Memory, sizes and times of the build; omitted in reports that stay with their build. */
  figures?: BuildFigures;
  /** What is wrong with the inputs, and what the report therefore cannot say. */
  problems: Problem[];
}

/**
 * What happened to a node. A node in several layers has one fate, the first that applies: foreign, fused, single, then
 * the others.
 */
export type Fate =
  /** fused into a ForeignNode (Myelin): TensorRT lists or names it as a member, or it is derived */
  | 'foreign'
  /** computed by an engine layer together with other nodes */
  | 'fused'
  /** computed by an engine layer of its own */
  | 'single'
  /** constant-folded: a constant, a node that depends only on constants, or on shapes where the engine's shapes are fixed */
  | 'folded'
  /**
   * needs no work in this engine: an identity, a dead node, a cast or reshape without effect, a pair that cancels out, a
   * branch that is not taken; never a node that a layer names or whose output a layer writes
   */
  | 'removed'
  /** computes shapes on the host, because shapes in the engine are dynamic */
  | 'shape'
  /**
   * lost or moved: it changes values, and TensorRT names it nowhere, neither in a kernel, a member list or a fused name nor
   * as folded or removed; the reason gives the evidence
   */
  | 'unaccounted'
  /** the inputs don't say what happened to it, or the model that was built did not have it */
  | 'unknown';

/** How the report knows which nodes a layer computes. */
export type Evidence =
  /** TensorRT's metadata of the layer names them */
  | 'metadata'
  /** the build log says so */
  | 'log'
  /** the layer's name is made of their names */
  | 'name'
  /** derived: they are between the layer's input and output tensors */
  | 'reach';

/** What an engine layer is. */
export type LayerKind =
  /** computes one node */
  | 'single'
  /** computes several nodes */
  | 'fused'
  /** a whole ForeignNode, where TensorRT does not list its kernels */
  | 'foreign'
  /** a kernel inside a ForeignNode; a jump, a wait, a copy or a memset inside of it is `other`, a call for shapes `shape` */
  | 'kernel'
  /** copies a tensor into another type or memory layout */
  | 'reformat'
  /** computes shapes, or copies them between host and device */
  | 'shape'
  /** a constant */
  | 'constant'
  /** none of these, or not known */
  | 'other';

/** How many nodes have which fate. The counts add up to `total`. */
export interface Accounting {
  /** All nodes of the model, those of subgraphs included. */
  total: number;
  /** Fused into a ForeignNode. */
  foreign: number;
  /** In an engine layer with other nodes. */
  fused: number;
  /** In an engine layer alone. */
  single: number;
  /** Constant-folded. */
  folded: number;
  /** Without work in this engine. */
  removed: number;
  /** Computing shapes on the host. */
  shape: number;
  /** Lost or moved: they change values, and TensorRT names them nowhere. */
  unaccounted: number;
  /** Not known. */
  unknown: number;
}

/** Whether a build was checked for lost nodes. */
export interface LostNodes {
  /** true: each node that changes values is accounted for, or its fate is `unaccounted`; false: the inputs do not allow it. */
  checked: boolean;
  /** Why it was not checked; omitted where it was. */
  reason?: string;
}

/** Shapes of one input in one optimization profile. */
export interface ReportShape {
  /** Name of the input. */
  input: string;
  /** Number of the optimization profile, from 0. */
  profile: number;
  /** Smallest shape. */
  min: number[];
  /** Shape that the engine is tuned for. */
  opt: number[];
  /** Largest shape. */
  max: number[];
}

/** One of several builds in a log. */
export interface ReportBuild {
  /** Which build, from 1. */
  number: number;
  /** How many builds the log has. */
  of: number;
  /** Line of the log where it begins. */
  line: number;
}

/** What the times of layers were taken from: the kernels of a trace. */
export interface TracedProfile {
  /** What recorded the trace: Nsight Systems. */
  source: 'nsys';
  /** Version of what recorded it, as `2023.4.4.54`; omitted: the trace does not say. */
  recorder?: string;
  /** The GPU that ran the kernels; omitted: the trace does not say. */
  gpu?: TracedGpu;
  /** How many kernels ran. */
  kernels: number;
  /** How many of them a layer launched; by correlation id and NVTX range, of a CUDA graph by the order of its capture. */
  attributed: number;
  /** Time of all other kernels in milliseconds, in the whole trace. */
  otherMs: number;
  /** Copies and memsets in the whole trace, one entry a kind; omitted: it recorded none. */
  memory?: MemoryOperations[];
  /** Passes through an engine: enqueues that ran kernels, and launches of CUDA graphs. */
  passes: number;
  /** What a pass took on the GPU; omitted where no kernel belongs to one. */
  pass?: TracedPass;
  /** How many calls of the host launched a kernel each, and their time altogether in milliseconds; their median and 90th percentile without the first pass, in which modules load. Omitted: none, as where CUDA graphs run. */
  launches?: { calls: number; ms: number; p50?: number; p90?: number };
}

/** What passes through an engine took, from the start of the first kernel to the end of the last. Milliseconds. */
export interface TracedPass {
  /** Average. */
  averageMs: number;
  /** What 90 % of the passes reach or exceed (nearest rank); omitted by older versions. */
  p10?: number;
  /** Median (nearest rank). */
  p50: number;
  /** What 90 % of the passes do not exceed (nearest rank). */
  p90: number;
  /** What 99 % of the passes do not exceed (nearest rank). */
  p99: number;
  /** For how much of the median pass no kernel ran. */
  gapMs: number;
}

/** A layer of the engine. */
export interface ReportLayer {
  /** Position in `layers`, from 0. */
  id: number;
  /** The name as TensorRT writes it. */
  name: string;
  /** TensorRT's type of the layer, as `CaskConvolution` or `kgen`; '' if only names were recorded. */
  type: string;
  /** What the layer is. */
  kind: LayerKind;
  /** Id in foreignNodes, for a kernel (or the opaque layer) of a ForeignNode. */
  foreignNode: number | null;
  /** Ids of the ONNX nodes that it computes, all or in part. */
  nodes: string[];
  /** How the report knows `nodes`. */
  evidence: Evidence[];
  /** Average time in milliseconds; null: not timed. From a trace: of the passes in which it launched kernels. */
  averageMs: number | null;
  /** The time in milliseconds that 90 % of the passes reach or exceed (nearest rank); only from a trace. */
  p10?: number;
  /** Median time of a pass in milliseconds (nearest rank); only from a trace. */
  p50?: number;
  /** The time in milliseconds that 90 % of the passes do not exceed (nearest rank); only from a trace. */
  p90?: number;
  /** The time in milliseconds that 99 % of the passes do not exceed (nearest rank); only from a trace. */
  p99?: number;
  /** How many kernels it launched in the whole trace; only from a trace. */
  launches?: number;
  /** How long in the median pass no kernel ran before those of the layer, in milliseconds; only from a trace. */
  gapMs?: number;
  /** How long the host was in a call that launched a kernel of the layer, in milliseconds on average; only from a trace, and not for kernels of CUDA graphs. */
  launchMs?: number;
  /** Median of these calls in milliseconds (nearest rank), without those of the first pass, in which modules load. */
  launchP50?: number;
  /** The time in milliseconds that 90 % of these calls do not exceed (nearest rank). */
  launchP90?: number;
  /** When it ran in the median pass of the trace, in milliseconds from the start of the first kernel to the end of the layer's last, and the CUDA stream of its longest kernel; only from a trace. */
  ran?: { startMs: number; endMs: number; stream: number };
  /** What Nsight Compute measured of its kernels, in percent of what the GPU can do; null: not measured. Only with its output. */
  counters?: LayerCounters;
  /** What its fusion of several nodes saved; only with a build in which they are in more kernels (`--marked`). */
  saved?: LayerSaving;
  /** Share of the total time in percent, as the profile says; null: not timed. */
  percent: number | null;
  /** Name of the kernel that runs it, or the tactic's number where TensorRT gives no name; null: not given. */
  tactic: string | null;
  /** Tensors that it reads, as TensorRT describes them. */
  inputs: EngineTensor[];
  /** Tensors that it writes. */
  outputs: EngineTensor[];
  /** CUDA stream that TensorRT put it on, counted by TensorRT; omitted where the engine uses one stream, or none is given. */
  stream?: number;
  /** Line in the log that lists it, from 1; null: no log lists it. */
  line: number | null;
  /** TensorRT's own metadata of the layer, as it wrote it, control characters included. Omitted where it wrote none. */
  metadata?: string;
}

/** What Nsight Compute measured, in percent of what the GPU can do; null: not measured. */
export interface LayerCounters {
  /** Throughput of the multiprocessors. */
  sm: number | null;
  /** Throughput of the GPU's memory. */
  dram: number | null;
  /** Use of the tensor cores. */
  tensor: number | null;
  /** Warps that are active, of those that fit. */
  occupancy: number | null;
}

/** A part of the network that Myelin, or the compiler of the DLA, compiles as a whole. */
export interface ReportForeignNode {
  /** Position in `foreignNodes`, from 0. */
  id: number;
  /** TensorRT's name, as `{ForeignNode[a...b]}`. */
  name: string;
  /**
   * What it is called everywhere: where its nodes are and what they compute, as `stages.2/blocks.2 · LayerNorm + MLP`.
   * Derived from its nodes, and no other has the same. Omitted where nothing says, and by older versions.
   */
  title?: string;
  /** A loadable of the DLA, as the log says (`[DlaLayer]`); omitted: Myelin compiles it for the GPU, or nothing says. */
  device?: 'dla';
  /** Ids of the ONNX nodes in it. */
  nodes: string[];
  /** true: TensorRT itself named every member; false: derived from the graph. */
  exact: boolean;
  /** Ids of its layers: its kernels, or the one opaque layer. */
  layers: number[];
  /** Names of the tensors that it reads from outside. */
  inputs: string[];
  /** Names of the tensors that it gives to the outside. */
  outputs: string[];
  /** Average time of all its layers in milliseconds; null: none was timed. */
  averageMs: number | null;
  /** Line in the log that names it, from 1; null: no log does. */
  line: number | null;
}

/** A node of the model and what happened to it. */
export interface ReportNode {
  /**
   * Position in its graph; in a subgraph the owner's id, the attribute and the position, as `20/then_branch/3`. The nodes
   * of a local function count for each call: the call's id, the function and the position, as `7/Gelu/2`.
   */
  id: string;
  /** The name in the model; '' for none. */
  name: string;
  /** ONNX operator. */
  op: string;
  /** What happened to it. */
  fate: Fate;
  /** Ids of the layers that compute it, completely or in part. */
  layers: number[];
  /** Id of the ForeignNode that it is in; null: in none. */
  foreignNode: number | null;
  /** Of a member of a ForeignNode that no kernel names: ids of one to three layers one of which can compute it, derived from the graph. Omitted where more are possible. */
  within?: number[];
  /** Line of the rules that took it out of the copy of the model that was built. Otherwise omitted. */
  removedByLine?: number;
  /** true for a member of a ForeignNode that no kernel names and that changes no data, only their shape. Otherwise omitted. */
  view?: true;
  /** true: TensorRT's output or the model itself says so; false: derived from them, or not known. */
  exact: boolean;
  /** One sentence: how the fate is known, or why it is not. */
  reason: string;
  /** The line of the program that it comes from, as `model.py:12`; where the exporter or the hook for Torch-TensorRT recorded it. */
  source?: string;
  /** Where ONNX Runtime runs it; omitted without its log. */
  placement?: NodePlacement;
}

/** Where ONNX Runtime runs a node. */
export interface NodePlacement {
  /** The execution provider, as `CUDAExecutionProvider`; null: the log does not say, or it is not run. */
  provider: string | null;
  /** true: the log names the node or says that all nodes are there; false: derived. */
  exact: boolean;
  /** One sentence: how it is known, or why the node is there. */
  reason: string;
}

/** What one execution provider of ONNX Runtime runs. */
export interface ProviderShare {
  /** Its name, as `TensorrtExecutionProvider`. */
  provider: string;
  /** How many nodes of the model it runs, as far as that is known. */
  nodes: number;
  /** How many nodes of ONNX Runtime's own graph it runs: an engine of TensorRT is one. */
  listed: number;
  /** How many of these are engines of TensorRT. */
  engines: number;
  /** How many of these copy a tensor between host and device. */
  copies: number;
  /** Line of the log that says so, from 1. */
  line: number;
}

/** A tensor of the model, as far as its type and shape are known without running it. */
export interface ReportTensor {
  /** Names may repeat between a graph and its subgraphs: the producer tells them apart. */
  name: string;
  /** Id of the node that produces it; null for an input of its graph. */
  producer: string | null;
  /** Ids of the nodes that read it; for what a subgraph reads from outside, also the node that has the subgraph. */
  consumers: string[];
  /** ONNX's name of the element type (`float`, `float16`, `int64`), `seq(float)` for a sequence; null: not known. */
  type: string | null;
  /** Sizes, names of symbolic dimensions, null for a dimension that is not known; null: not even the rank is known. */
  shape: readonly (number | string | null)[] | null;
  /**
   * Ids of the engine layers that write it: several where each writes a part (what a Concat puts together); none where it stays inside a layer, or where the inputs do not name the layers' tensors.
   */
  layers: number[];
}

/** Time that may be avoidable, by the times of a profile or trace. */
export interface TimeFinding {
  /** What it is: short kernels between which the GPU waits, long waits for the host, tensors at the bandwidth of the memory, products without tensor cores, channels that need padding, copies between layouts and types. */
  code: 'launch-bound' | 'host-gaps' | 'memory-bound' | 'no-tensor-cores' | 'misaligned-channels' | 'reformat-cost';
  /** true: measured; false: derived from names, types and shapes, as the evidence says. */
  exact: boolean;
  /** One or two sentences: what, and what helps. */
  message: string;
  /** What in the inputs says so, the largest first; a few of many. */
  evidence: string[];
  /** Milliseconds of an inference that it concerns: of the layers, of host-gaps the waits. */
  ms: number;
  /** Ids of the nodes concerned. */
  nodes: string[];
  /** Ids of the layers concerned, the slowest first. */
  layers: number[];
}

/** Why a part of the engine may be slower than it needs to be. */
export interface HeldBack {
  /** What it is. */
  code:
    | 'attention-not-fused'
    | 'normalization-not-fused'
    | 'activation-not-fused'
    | 'outside-quantization'
    | 'attention-not-quantized'
    | 'reformat-between-islands'
    | 'no-tensor-cores';
  /** Which condition of the fusion fails, as builds with one difference showed; `unknown`: none that was tried. Omitted where it is not about a condition. */
  condition?: HeldBackCondition;
  /** Ids of the nodes concerned. */
  nodes: string[];
  /** Ids of the layers that compute them. */
  layers: number[];
  /** Milliseconds of these layers; null: not timed. */
  ms: number | null;
  /** Bytes that these layers hand to each other; null: not known. */
  bytes: number | null;
  /** What, why, and what is fused instead. */
  message: string;
  /** What in the inputs says so, and in which builds the condition was found. */
  evidence: string[];
  /** What to run next; null: nothing is known to help. */
  change: { command: string } | null;
}

/** More would hide what matters. */
export const mostHeldBack = 5;

/** A condition of a fusion. */
export type HeldBackCondition =
  | 'type'
  | 'head-size'
  | 'length'
  | 'mask-form'
  | 'scale-form'
  | 'layout'
  | 'quantization'
  | 'dynamic-shape'
  | 'softmax-form'
  | 'extra-consumer'
  | 'unknown';

/** What fusion saved in one group, against a kernel for each node that writes its outputs to memory. Derived from the members and the static shapes of the model, never measured. */
export interface FusionSaving {
  /** The group: a ForeignNode, or a layer outside of them, by its id. */
  of: { foreignNode: number } | { layer: number };
  /** Bytes of the tensors that only one kernel computes and reads, in the model's types: each would be written once and read at least once. null: the group's kernels are not listed. */
  bytes: number | null;
  /** How many tensors `bytes` counts. */
  tensors: number;
  /** How many more there are whose size or type is not known. */
  unknownTensors: number;
  /** Nodes that compute something, less the kernels that run them; null: how many kernels run is not known. */
  launches: number | null;
}

/** What the fusion in one layer saved. null: not known. */
export interface LayerSaving {
  /** Nodes that compute something, less the kernels that run them. */
  launches: number | null;
  /** Bytes of the tensors that only this kernel computes and reads. */
  bytes: number | null;
  /** Milliseconds of its nodes in the other build, less its own; negative: they were faster apart. */
  ms: number | null;
}

/** What the open dimensions of a model cost. */
export interface DynamicShapesCost {
  /** The fixed shapes that it was built for, as text. */
  shapes: string;
  /** What built both. */
  tensorrt: FusionReport['tensorrt'];
  /** Kernels and layers that run in the engine. */
  kernels: { dynamic: number; fixed: number };
  /** Ids of the nodes that share a kernel or a layer with others only with fixed shapes. */
  fused: string[];
  /** Ids of the nodes that are not computed with fixed shapes. */
  folded: string[];
}

/** A finding about the build: why the engine is as it is. */
export interface Remark {
  /** As compilers' optimization remarks: something was done, was not done, or was found out. */
  kind: 'passed' | 'missed' | 'analysis';
  /** Stable: `graph-output`, `read-by-other-group`, `host-shape`, `reformat`, `precision`, `native-layer`, `plugin`, `profile`, `repair`, `known-fault`, … */
  code: string;
  /** One or two sentences. */
  message: string;
  /** What in the inputs says so: a log line, a tensor, a layer. Empty where `nodes` themselves say so: `repair`, `known-fault`. */
  evidence: { line?: number; tensor?: string; layer?: number };
  /** Ids of the nodes concerned. */
  nodes: string[];
  /** Ids of the layers concerned. */
  layers: number[];
}

/** What a report is made of: a model, if there is its ONNX file, and what there is of its build. */
export interface ReportInput {
  /** null: there is no ONNX file, so the report is on the engine alone. */
  model: OnnxModel | null;
  /** The name for the report: the model's file, without a model the file that lists the layers. */
  modelFile: string;
  modelProblems?: Problem[] | undefined;
  layerInfo?: LayerInfo | undefined;
  log?: BuildLog | undefined;
  /** Which of several builds of its file the log is. */
  build?: ReportBuild | undefined;
  profile?: Profile | undefined;
  /** What Nsight Compute measured, in the order of the launches. */
  counters?: readonly KernelCounters[] | undefined;
  /** What the readers of layer info, log and profile found. */
  problems?: Problem[] | undefined;
  /** The shapes for which the build says it made its engine. */
  builtShapes?: ReportShape[] | undefined;
  /** Which optimization profile the report is on, from 0; omitted: the first. */
  optimizationProfile?: number | undefined;
  /** Names of nodes that were added to the model for this build, such as the Casts of precision overrides. */
  added?: readonly string[] | undefined;
  /** The build is known to be of this model, such as by its hash: whatever its names are, it is not of another one. */
  sameModel?: true | undefined;
  /** Nodes that the copy of the model that was built does not have, by id: the line of the rules that removed each. */
  removed?: Readonly<Record<string, number>> | undefined;
}

/** Codes of problems which say that model, log and layer info are of different builds. */
const contradictions = new Set(['other-model', 'other-build']);

/** Whether the inputs of a report can be of one build. */
export const fitsInputs = ({ problems }: FusionReport): boolean =>
  !problems.some(({ code }) => contradictions.has(code));

/**
 * Milliseconds of each node, in the report's order: the time of a layer is divided equally among its nodes, that of a
 * ForeignNode among its members where its kernels were not measured. null: not measured.
 */
export function nodeTimes(report: FusionReport): (number | null)[] {
  const positions = new Map(report.nodes.map(({ id }, position) => [id, position]));
  const times: (number | null)[] = report.nodes.map(() => null);
  const share = (nodes: readonly string[], ms: number): void => {
    for (const id of nodes) {
      const node = positions.get(id);
      if (node !== undefined) times[node] = (times[node] ?? 0) + ms / nodes.length;
    }
  };
  for (const { nodes, averageMs } of report.layers) if (averageMs !== null) share(nodes, averageMs);
  const measured = measuredInside(report);
  for (const { id, nodes, averageMs } of report.foreignNodes)
    if (averageMs !== null && !measured.has(id)) share(nodes, averageMs);
  return times;
}

/** ForeignNodes of which at least one layer was measured. */
export const measuredInside = ({ layers }: FusionReport): Set<number> =>
  new Set(
    layers.flatMap(({ foreignNode, averageMs }) => (foreignNode === null || averageMs === null ? [] : [foreignNode])),
  );

/** What a ForeignNode is, with its number: `ForeignNode 3`, `DLA loadable 3`. */
export const foreignNumber = ({ id, device }: Pick<ReportForeignNode, 'id' | 'device'>): string =>
  `${foreignNoun(device)} ${id}`;

/** What TensorRT compiles as a whole, by its device. */
export const foreignNoun = (device: ReportForeignNode['device']): string =>
  device === 'dla' ? 'DLA loadable' : 'ForeignNode';

/**
 * ForeignNodes whose kernels are not listed, or do not say what they compute. A kernel's name has one of its nodes at
 * most: with names alone (`--profilingVerbosity=layer_names_only`) the others seem to be in no kernel.
 */
export function opaqueForeignNodes({ foreignNodes, layers }: FusionReport): Set<number> {
  const says = (id: number) =>
    layers[id]?.kind === 'kernel' && layers[id].nodes.length > 0 && layers[id].evidence.some((by) => by !== 'name');
  return new Set(foreignNodes.filter(({ layers: ids }) => !ids.some(says)).map(({ id }) => id));
}

/** Milliseconds of all layers that were measured; null if none was. */
export function totalMs(layers: readonly Pick<ReportLayer, 'averageMs'>[]): number | null {
  let sum: number | null = null;
  for (const { averageMs } of layers) if (averageMs !== null) sum = (sum ?? 0) + averageMs;
  return sum;
}
