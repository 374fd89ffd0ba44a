import type { ParsedNode } from '../model/parsedNode.ts';
import type { Problem } from '../text/problem.ts';
import type { EngineLayer } from './engineLayer.ts';

/** What a build log says. Counts, names and times are TensorRT's own; lines count from 1. */
export interface BuildLog {
  product: 'tensorrt' | 'tensorrt-rtx' | null;
  /** The library's version where the log says it, otherwise the program's: "10.6.0". */
  version: string | null;
  writer: 'trtexec' | 'polygraphy' | 'python' | 'onnxruntime' | 'driver' | null;
  gpu: string | null;
  /** From the last frame line; `cut-off`: the log ends before the build does; `unknown`: nothing says. */
  outcome: 'passed' | 'failed' | 'cut-off' | 'unknown';
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
  /** Where the log's builds begin and end, if there are several; what is read of them is mixed. */
  builds?: LoggedBuild[];
  /** Model that was parsed last, as the log names it. */
  model?: LoggedModel | null;
  /** Things that were counted but not kept, by category: memory is bounded on a log of any size. */
  dropped?: Record<string, number>;
  timingCache?: LoggedTimingCache;
  evidence?: LogEvidence;
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
