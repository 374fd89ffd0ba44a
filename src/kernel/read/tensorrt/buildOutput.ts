// The types of a build log, of layers and of profiles.
import type { Problem } from '../../base/problem.ts';
import type { ParsedNode } from '../../network/nodeNames.ts';

/** What a build is doing, in the order that its log shows. */
export type BuildStage = 'start' | 'parse' | 'optimize' | 'calibrate' | 'tactics' | 'finalize' | 'run' | 'end';

/** What the log of a running build says, as it is written. `line` counts from 1. */
export type BuildEvent =
  | { kind: 'stage'; stage: BuildStage; line: number }
  | { kind: 'node'; name: string; op: string; parsed: number; line: number }
  | { kind: 'funnel'; stage: string; layers: number; line: number }
  /** `device`: a loadable of the DLA. */
  | { kind: 'foreign-node'; name: string; line: number; device?: 'dla' }
  /** A layer's tactics are being timed now. `layer` counts the layers timed so far, this one included. */
  | { kind: 'timing'; name: string; layer: number; line: number }
  | { kind: 'combination'; name: string; formats: string; line: number }
  | { kind: 'chosen'; name: string; runner: string; tactic: string; ms: number | null; line: number }
  | { kind: 'cache-hit'; name: string; hits: number; line: number }
  | { kind: 'skipped'; name: string; reason: string; line: number }
  | { kind: 'message'; severity: 'warning' | 'error'; text: string; line: number }
  | { kind: 'outcome'; outcome: 'passed' | 'failed'; line: number };

/** Figures of a build that its layers do not show. null: not known. */
export interface BuildFigures {
  /** Name of the GPU. */
  gpu: string | null;
  /** Bytes. */
  activationMemory: number | null;
  /** Bytes. */
  weightsMemory: number | null;
  /** Bytes. */
  engineSize: number | null;
  /** Seconds that the build took. */
  buildSeconds: number | null;
  /** Warnings in the build log. */
  warnings: number | null;
}

/** One tensor at a layer's border, as TensorRT describes it. */
export interface EngineTensor {
  /** The engine's name of the tensor. */
  name: string;
  /** Dimensions; -1: dynamic. null: not given. */
  dims: number[] | null;
  /** Short type name (`Float`, `Half`, `Int8`, `BFloat16`, `FP8`, `Int64`, `Int32`, `Bool`, …), or null. */
  type: string | null;
  /** The format text as TensorRT wrote it (`Row major linear FP32`, `Half`, …), or null. */
  format: string | null;
}

/** One layer of an engine, from layer info or from the list of layers in a log. */
export interface EngineLayer {
  /** As TensorRT writes it, profile suffix included. */
  name: string;
  /** LayerType or runner; '' if only names were recorded. */
  type: string;
  inputs: EngineTensor[];
  outputs: EngineTensor[];
  /** Raw metadata with its separators U+001E and U+001F; null if the source has none (names only, old versions). */
  metadata: string | null;
  tacticName: string | null;
  /** Hexadecimal or decimal text: 64 bits do not fit a number. */
  tactic: string | null;
  streamId: number | null;
  /** Optimization profile, from the suffix ` [profile N]`; 0 without. */
  profile: number;
  /** Line in the log, from 1; null from JSON. */
  line: number | null;
  /** Everything else that the file said, kept and shown. */
  extra: Record<string, unknown>;
}

/** What a build log says. Counts, names and times are TensorRT's own; lines count from 1. */
export interface BuildLog {
  product: 'tensorrt' | 'tensorrt-rtx' | null;
  /** The library's version where the log says it, otherwise the program's: "10.6.0". */
  version: string | null;
  writer: 'trtexec' | 'polygraphy' | 'python' | 'onnxruntime' | 'driver' | null;
  gpu: string | null;
  /** From the last frame line; `cut-off`: the log ends before the build does; `unknown`: nothing says. */
  outcome: 'passed' | 'failed' | 'cut-off' | 'unknown';
  /** The last line that says that a build passed, where that is the outcome. */
  passed?: number;
  lines: number;
  /** The parser's account: each ONNX node with the TensorRT layers that it became. */
  parsedNodes: ParsedNode[];
  /** One entry per `Original: N layers`: calibration, backend strategies and repeated builds each give one. The last is the engine's. */
  phases: BuildPhase[];
  /** The last list of engine layers; empty if the log has none. */
  engineLayers: EngineLayer[];
  /** The shapes for which trtexec says it builds, of every input with open dimensions; omitted: it does not say. */
  builtShapes?: LoggedShape[];
  /** Names of the engine's inputs and outputs after that list. */
  bindings: string[];
  /** Layers in final order from `Layer: X Host Persistent…`: names ForeignNodes where the list above shows their kernels. */
  finalLayers: string[];
  /** Rows of a `--dumpProfile` table. */
  profile: ProfileRow[];
  precision: PrecisionLine[];
  messages: LogMessage[];
  memory: LoggedMemory;
  timingCacheHits: number;
  seconds: { parse: number | null; build: number | null };
  /**
   * Layers as the engine inspector printed them (`--dumpLayerInfo`), where the builder's own list says something else:
   * kernels next to ForeignNodes, or names only.
   */
  inspectorLayers?: EngineLayer[];
  /** Builds that `polygraphy debug` tried one after the other. */
  iterations?: LogIteration[];
  /** Runs of a program that the file contains: one for each `&&&& RUNNING` line or Polygraphy command. */
  runs?: LogRun[];
  /** The command that the last line names, where the log has no beginning of that run: an excerpt. */
  endedCommand?: string;
  /** Where the log's builds begin and end, if there are several; what is read of them is mixed. */
  builds?: LoggedBuild[];
  /** An operator that the parser has no importer for, and for which it has found no plugin by the end of the log. */
  sought?: StrayOperator;
  /** Model that was parsed last, as the log names it. */
  model?: LoggedModel | null;
  /** Things that were counted but not kept, by category: memory is bounded on a log of any size. */
  dropped?: Record<string, number>;
  timingCache?: LoggedTimingCache;
  evidence?: LogEvidence;
  /** Lines without a prefix that are no part of anything known, in order: the first and the last ones of the log. */
  strays?: StrayLine[];
  /** The last line that is not empty, with its prefix; omitted: the log says how it ended. */
  lastLine?: StrayLine;
  /** ONNX Runtime made the session: what TensorRT refused runs with another execution provider. */
  sessionReady?: true;
  /** How far the program came last, where only a line of TensorRT's says it: an execution context needs a loaded engine. */
  reached?: 'plugins' | 'parsing' | 'optimizing' | 'context';
  /**
   * Loadables of the DLA, how many layers run on the GPU, and the names of both in order, as the log lists them; omitted:
   * it does not.
   */
  devices?: { loadables: string[]; gpuLayers: number; layers: string[] };
  /** Inferences in a second, as trtexec measured; null or omitted: the log does not say. */
  throughput?: number | null;
  /** The program around TensorRT, where its prefix or its words name it. */
  host?: HostProgram;
}

/** Programs that build or run engines inside. */
export type HostProgram =
  | 'onnxruntime'
  /** The NvTensorRTRTX provider of ONNX Runtime. */
  | 'nv-tensorrt-rtx'
  | 'triton'
  | 'torch-tensorrt';

/** A line with its number, from 1. */
export interface StrayLine {
  line: number;
  text: string;
}

/** Shapes of one input in one optimization profile. */
export interface LoggedShape {
  /** Number of the profile, from 0. */
  profile: number;
  input: string;
  min: number[];
  opt: number[];
  max: number[];
}

/** What speaks for this text being a log of TensorRT's tools at all, in lines. */
export interface LogEvidence {
  /** Lines with a prefix that the library itself writes (`[TRT]`). */
  library: number;
  /** Lines with any writer's prefix. */
  prefixed: number;
  /** Lines with a known phrase of TensorRT, with or without a prefix. */
  phrases: number;
  /** Lines that only trtexec or Polygraphy write. */
  tools: number;
}

/** What the builder says about its timing cache. Numbers are null if it does not say. */
export interface LoggedTimingCache {
  /** `local`: for this build alone; `global`: kept in a file or by the caller. */
  mode: 'local' | 'global' | 'disabled' | null;
  loadedBytes: number | null;
  savedBytes: number | null;
  entries: number | null;
  /** Layers that were not timed again, by the cache's own count. */
  served: number | null;
}

export interface LoggedMemory {
  /** Bytes; null if the log does not say. */
  workspace: number | null;
  activation: number | null;
  weights: number | null;
  scratch: number | null;
  hostPersistent?: number | null;
  devicePersistent?: number | null;
  engine?: number | null;
  /** Scratch memory of the layers that have any, in the order of the list; bytes, and the line of each, from 1. */
  layerScratch?: { name: string; bytes: number; line: number }[];
}

export interface LogRun {
  program: string;
  command: string;
  line: number;
  outcome: 'passed' | 'failed' | 'cut-off';
}

/** One of several builds in a log: its first and last line, from 1. */
export interface LoggedBuild {
  line: number;
  end: number;
}

export interface LogIteration {
  number: number;
  outcome: 'passed' | 'failed';
  line: number;
}

export interface StrayOperator {
  op: string;
  line: number;
}

export interface LoggedModel {
  file: string | null;
  producer: string | null;
  opset: number | null;
  inputs: { name: string; type: string; dims: string }[];
  outputs: string[];
}

/** A layer of TensorRT's network as the optimizer is given it, after dead layers are gone. */
export interface LoggedGraphNode {
  /** `FILL`, `CONSTANT`, `MATRIX_MULTIPLY`, … */
  kind: string;
  name: string;
  line: number;
}

export interface BuildPhase {
  line: number;
  /** True for the network that an INT8 calibration builds first. */
  calibration: boolean;
  funnel: { stage: string; layers: number; line: number }[];
  /** `…Fusion: Fusing A with B`, `Removing X`, conversions, merges, in order. */
  events: FusionEvent[];
  foreignNodes: LoggedForeignNode[];
  /** The list under `GRAPH NODES` (TensorRT-RTX, 11); absent where the log has none. */
  graphNodes?: LoggedGraphNode[];
  /** Layers timed, in order, with what won. */
  tactics: TimedLayer[];
  reformats: { layer: string; tensor: string; from: string; to: string; line: number }[];
  /** Tables of evaluated tactics for operations inside ForeignNodes (10.8 and later). */
  operations?: TimedOperation[];
  /** Backend strategy, where the log names it. */
  strategy?: number | null;
  /** Times "Removed N format requirement combinations … due to precision constraints" counted up. */
  removedCombinations?: number;
}

export interface FusionEvent {
  pass: string;
  kind: 'fuse' | 'absorb' | 'remove' | 'convert' | 'merge' | 'eliminate' | 'copy' | 'swap' | 'pattern';
  /** Layer names as written: [A, B] for `Fusing A with B`, [C, A, B] for `fusing (A and B) into C`, [X] for a removal. */
  layers: string[];
  line: number;
}

export interface LoggedForeignNode {
  /** `{ForeignNode[a...b]}` */
  name: string;
  line: number;
  /** Raw text of the `metadata:` line (RTX, 10.16+); null in versions that only cost the layer. */
  metadata: string | null;
  /** The line was longer than this reader keeps: members are missing at the end. */
  truncated?: boolean;
}

export interface TimedLayer {
  name: string;
  line: number;
  /** Format combinations tried. */
  combinations: TimedCombination[];
  /** A reformat that was timed for the choice of formats, no layer of the network. */
  reformat?: boolean;
}

export interface TimedCombination {
  formats: string;
  line: number;
  /** Tactics timed, at most the first 1000 are kept. */
  tactics: { runner: string; runnerId: string | null; name: string | null; tactic: string; ms: number | null }[];
  chosen: { runner: string; tactic: string; ms: number | null } | null;
  cached: boolean;
  skipped: { reason: string; line: number }[];
}

/** `Autotuning op X(key: …)` with its `Sorted table of all evaluated tactics`. */
export interface TimedOperation {
  name: string;
  key: string | null;
  /** What follows the name: `[ONNX Layer: …]`, raw. */
  metadata: string | null;
  /** The layer whose tactics were being timed. */
  layer: string | null;
  line: number;
  tactics: { id: number; ms: number | null; ratio: number | null; kernel: string; hash: string }[];
  chosen: { hash: string; ms: number | null } | null;
}

export interface ProfileRow {
  name: string;
  timeMs: number;
  averageMs: number;
  medianMs: number | null;
  percentage: number;
}

export interface PrecisionLine {
  kind: 'set' | 'set-output' | 'skipped' | 'ignored' | 'non-conforming' | 'layernorm-fp16';
  layer: string;
  type: string | null;
  reason: string | null;
  line: number;
}

/** A warning or error with its continuation lines. */
export interface LogMessage {
  severity: 'warning' | 'error';
  text: string;
  line: number;
  /** TensorRT's error code, where it gives one. */
  code: number | null;
  /** Name of the node or layer in the text, if there is one. */
  subject: string | null;
  /** False if the prefix does not name the library as the writer: a program's own words. */
  library?: boolean;
  /** What the node reads at which the parser failed, where the log printed it before: `(2, 4)[FLOAT]` as `2×4`. */
  inputs?: { name: string; shape: string }[];
}

/** Read results with the log's own oddities (cut-off, unknown dialect). */
export interface BuildLogRead {
  value: BuildLog;
  problems: Problem[];
}

/** Layer info as IEngineInspector / `--exportLayerInfo` writes it, of any version since 8.2. */
export interface LayerInfo {
  /** What was recorded: whole layers, only names, or nothing (profiling verbosity none, engine without layers). */
  detail: 'detailed' | 'names' | 'none';
  layers: EngineLayer[];
  /** Names of the engine's inputs and outputs, as far as given. */
  bindings: string[];
  /** TensorRT 11's "I/O Tensors", else empty. */
  ioTensors: { name: string; mode: 'input' | 'output' | null; type: string | null; dims: number[] | null }[];
  /** How many JSON documents the file held. */
  documents: number;
  /** The JSON breaks off or is damaged: layers may be missing. */
  damaged?: true;
  /** Keys that this reader does not know, with the number of layers that carry them. */
  unknownKeys: Record<string, number>;
  /** Number of layers by LayerType. */
  layerTypes?: Record<string, number>;
}

/** Bits of an element, by TensorRT's name of the type. */
const bits: Readonly<Record<string, number>> = {
  Float: 32,
  Half: 16,
  BFloat16: 16,
  FP8: 8,
  Int8: 8,
  UInt8: 8,
  Bool: 8,
  Int32: 32,
  Int64: 64,
  Int4: 4,
  FP4: 4,
};

/** Bytes of tensors together; null where a size or type is not known, or there are none. */
export function tensorBytes(tensors: readonly EngineTensor[]): number | null {
  let sum = 0;
  for (const { dims, type } of tensors) {
    const width = bits[type ?? ''];
    if (dims === null || width === undefined || dims.some((size) => size < 0)) return null;
    sum += Math.ceil((dims.reduce((product, size) => product * size, 1) * width) / 8);
  }
  return tensors.length === 0 ? null : sum;
}

const names: [pattern: RegExp, precision: string][] = [
  [/bf16|bfloat16/i, 'bf16'],
  [/fp16|half|float16/i, 'fp16'],
  [/fp8|e4m3|e5m2/i, 'fp8'],
  [/fp4|e2m1/i, 'fp4'],
  [/fp32|^float$|float32/i, 'fp32'],
  [/int64|int32|bool|uint8/i, 'integer'],
  [/int8/i, 'int8'],
  [/int4/i, 'int4'],
];

/** TensorRT writes `Half`, `FP16`, or `Channel major FP16 format where channel % 8 == 0`. */
export function tensorPrecision({ type, format }: EngineTensor): string | null {
  for (const text of [type, format]) {
    if (text === null) continue;
    for (const [pattern, precision] of names) if (pattern.test(text)) return precision;
  }
  return null;
}

/** Average and percentiles (nearest rank) of one part of all inferences, milliseconds. */
export interface TimeDistribution {
  averageMs: number;
  p10: number;
  p50: number;
  p90: number;
  p99: number;
}

/** The distribution of at least one time; sorts the times in place. @param perMs how many of their unit are a millisecond */
export function timeDistribution(times: Float64Array | Float32Array, perMs: number): TimeDistribution {
  times.sort();
  const at = (percent: number): number => times[Math.max(0, Math.ceil((percent / 100) * times.length) - 1)]! / perMs;
  return { averageMs: sumOfTimes(times) / times.length / perMs, p10: at(10), p50: at(50), p90: at(90), p99: at(99) };
}

/** A loop: `reduce` makes an object for each number, and a trace has millions. */
export function sumOfTimes(times: Float64Array | Float32Array): number {
  let sum = 0;
  for (let index = 0; index < times.length; index++) sum += times[index]!;
  return sum;
}

/** Layer times of `--exportProfile`, or the kernels of a trace. Times in milliseconds. */
export interface Profile {
  iterations: number | null;
  /** `--exportProfile`: one row per layer that ran, in engine order. */
  rows: ProfileRow[];
  /** Nsight Systems: its kernels, not yet put to layers. */
  trace?: KernelTrace;
}

/** The kernels of a trace, added up by the NVTX ranges that they were launched in. */
export interface KernelTrace {
  /** How many kernels ran, and their time altogether in milliseconds. */
  kernels: number;
  ms: number;
  /** How many passes through an engine there are: enqueues that ran kernels, and launches of CUDA graphs. */
  passes: number;
  /** Copies and memsets of the whole trace, one entry a kind; omitted: it recorded none. */
  memory?: MemoryOperations[];
  /** Launches that were made inside NVTX ranges, those of CUDA graphs included. */
  groups: TimedKernels[];
  /** How often a range of each name occurs in a pass that has any: as seen from all passes. */
  occurrences: Map<string, { least: number; most: number }>;
  /** By pass: nanoseconds from the start of its first kernel to the end of its last. */
  spansNs?: Float64Array;
  /** Version of the program that wrote the file, as `2023.4.4.54`. */
  recorder?: string;
  /** The GPU that ran the kernels. */
  gpu?: TracedGpu;
}

/** A GPU as a trace describes it; null: the trace does not say. */
export interface TracedGpu {
  /** Its name, as `NVIDIA H200`. */
  name: string;
  /** Bytes per second between the GPU and its memory, at most. */
  bytesPerSecond: number | null;
  /** Bytes of the last cache before the memory. */
  cacheBytes: number | null;
  /** Compute capability, as `9.0`. */
  computeCapability: string | null;
}

/** Memory operations of one kind in a whole trace, next to its kernels. */
export interface MemoryOperations {
  /** A copy by its direction, or a `memset`. */
  kind: 'host-to-device' | 'device-to-host' | 'device-to-device' | 'other-copy' | 'set';
  /** How many there were. */
  count: number;
  /** Their time altogether in milliseconds. */
  ms: number;
  /** Bytes that they copied or set. */
  bytes: number;
}

/** Kernels that were launched in the same place of each pass. */
export interface TimedKernels {
  /** The ranges around, innermost first, and which of its name in the pass each is, from 0. */
  ranges: { name: string; turn: number }[];
  launches: number;
  /** The pass and the time in nanoseconds of each kernel; a pass may come more than once. */
  passes: Int32Array;
  passNs: Float64Array;
  /** How long no kernel ran before those in the median pass, nanoseconds. */
  gapNs: number;
  /** How many calls of the host launched one each, and how long they took, nanoseconds. */
  calls: number;
  callNs: number;
  /** How long each of these calls took, but those of the first pass, in which modules load; all, if there is one pass. */
  laterCallNs: Float32Array;
  /** When and where those of the median pass ran, in nanoseconds from the start of its first kernel. */
  ran?: { startNs: number; endNs: number; stream: number };
}

/** `--exportTimes`: one row per inference, milliseconds. */
export interface Timing {
  rows: { computeMs: number; latencyMs: number | null; h2dMs: number | null; d2hMs: number | null }[];
}

/** `8601` and `100600` as frames write them, and dotted versions: `8.6.1`, `10.6.0`; null for anything else. */
export function decodeVersion(text: string): string | null {
  const dotted = /^(\d+)\.(\d+)\.(\d+)/.exec(text);
  if (dotted) return `${dotted[1]}.${dotted[2]}.${dotted[3]}`;
  if (!/^\d{4,7}$/.test(text)) return null;
  const number = Number(text);
  if (text.length === 4) return `${Math.floor(number / 1000)}.${Math.floor(number / 100) % 10}.${number % 100}`;
  return `${Math.floor(number / 10_000)}.${Math.floor(number / 100) % 100}.${number % 100}`;
}

/** What the parser says of an input that it takes from outside of a function that another function calls. */
export const outerInput = /Found input: (?<tensor>\S+) that does not correspond to an outside scope name/;
