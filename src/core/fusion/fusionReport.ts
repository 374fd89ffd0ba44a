import type { Problem } from '../text/problem.ts';
import type { EngineTensor } from '../engine/engineLayer.ts';

/** The contract between the core, the command line, the views and every script that reads results (`docs/fusion-report.md`). Fields may be added; these keep their names and meaning. */
export interface FusionReport {
  schema: 1;
  /** Which build of the log this is; left out where the log has only one. */
  build?: ReportBuild;
  tensorrt: { product: 'tensorrt' | 'tensorrt-rtx' | null; version: string | null };
  model: { file: string; nodes: number };
  /** Every engine layer, in engine order. */
  layers: ReportLayer[];
  foreignNodes: ReportForeignNode[];
  /** Every ONNX node, in file order, subgraphs after their owner. */
  nodes: ReportNode[];
  /** Every tensor of the model's graphs but the initializers, each graph's inputs first. */
  tensors: ReportTensor[];
  accounting: Accounting;
  funnel: { stage: string; layers: number }[];
  /** Why a boundary is where it is, or what helped or hindered; each with its evidence. Never invented. */
  remarks: Remark[];
  problems: Problem[];
}

export type Fate = 'foreign' | 'fused' | 'single' | 'folded' | 'removed' | 'shape' | 'unknown';
/** How the report knows: TensorRT's metadata, its log, the grammar of fused names, or reachability in the graph (derived). */
export type Evidence = 'metadata' | 'log' | 'name' | 'reach';
export type LayerKind = 'single' | 'fused' | 'foreign' | 'kernel' | 'reformat' | 'shape' | 'constant' | 'other';

export interface Accounting {
  total: number;
  foreign: number;
  fused: number;
  single: number;
  folded: number;
  removed: number;
  shape: number;
  unknown: number;
}

/** One of several builds in a log. */
export interface ReportBuild {
  /** From 1. */
  number: number;
  of: number;
  /** Line of the log where it begins. */
  line: number;
}

export interface ReportLayer {
  id: number;
  name: string;
  type: string;
  kind: LayerKind;
  /** Id in foreignNodes, for a kernel (or the opaque layer) of a ForeignNode. */
  foreignNode: number | null;
  /** Ids of the ONNX nodes that it computes, all or in part. */
  nodes: string[];
  evidence: Evidence[];
  averageMs: number | null;
  /** Share of the whole in percent, as the profile says. */
  percent: number | null;
  tactic: string | null;
  inputs: EngineTensor[];
  outputs: EngineTensor[];
  /** Line in the log that lists it, from 1. */
  line: number | null;
  /** TensorRT's own metadata of the layer, as it wrote it, control characters included. Omitted where it wrote none. */
  metadata?: string;
}

export interface ReportForeignNode {
  id: number;
  name: string;
  nodes: string[];
  /** true: TensorRT itself named every member; false: derived from the graph. */
  exact: boolean;
  layers: number[];
  inputs: string[];
  outputs: string[];
  averageMs: number | null;
  line: number | null;
}

export interface ReportNode {
  id: string;
  name: string;
  op: string;
  fate: Fate;
  layers: number[];
  foreignNode: number | null;
  exact: boolean;
  /** One sentence: how the fate is known, or why it is not. */
  reason: string;
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
   * Ids of the engine layers that write it: several where each writes a part (what a Concat puts together) or belongs to
   * another optimization profile; none where it stays inside a layer, or where the inputs do not name the layers' tensors.
   */
  layers: number[];
}

export interface Remark {
  /** As compilers' optimisation remarks: something was done, was not done, or was found out. */
  kind: 'passed' | 'missed' | 'analysis';
  /** Stable: `graph-output`, `read-by-other-group`, `host-shape`, `reformat`, `precision`, `native-layer`, `plugin`, `profile`, … */
  code: string;
  message: string;
  /** What in the inputs says so: a log line, a tensor, a layer. */
  evidence: { line?: number; tensor?: string; layer?: number };
  nodes: string[];
  layers: number[];
}
