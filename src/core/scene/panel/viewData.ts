import type { JudgedNode } from '../../accuracy/judgement.ts';
import type { BuildManifest } from '../../build/buildManifest.ts';
import type { BuildComparison } from '../../diff/comparison.ts';
import type { BuildState } from '../../diagnose/buildState.ts';
import type { FusionReport } from '../../fusion/fusionReport.ts';
import type { Quantisation } from '../../quantisation/quantisation.ts';

/** Everything a view needs, as plain JSON: what the host sends, what the plain page fetches, what the report page embeds. */
export interface ViewData {
  /** Shown as the title: the model's file name, or the log's. */
  title: string;
  graph: GraphData | null;
  report: FusionReport | null;
  build: BuildManifest | null;
  /** What is missing for more, as text: "no profile: …". */
  hints: string[];
  /** What the override rules of the build asked for, node by node, and what came of it. */
  asked?: AskedPrecision[];
  /** What low precision does to nodes, as far as it was judged. */
  accuracy?: NodeAccuracy[];
  /** Why the last build did not pass, and whether the picture is of the file as it is now. */
  state?: BuildState;
  /** What changed since another build, where the view compares two: this one is the newer, B. */
  comparison?: BuildComparison;
  /** Scales, Q/DQ pairs and their placement, where the model has Q/DQ nodes or a calibration cache is in use. */
  quantisation?: Quantisation;
}

/** What low precision does to one node. */
export type NodeAccuracy = Omit<JudgedNode, 'name' | 'op'>;

/** A precision that a rule asked for, compared with the build. */
export interface AskedPrecision {
  /** Id of the node. */
  node: string;
  /** `fp32`. */
  type: string;
  /** Line of the rule in the override file, from 1. */
  line: number;
  verdict: 'obeyed' | 'disobeyed' | 'unseen';
  /** False: probably. */
  certain: boolean;
  /** One sentence with the evidence. */
  reason: string;
}

/** The model's structure for drawing. `nodes` has the report's order and ids. */
export interface GraphData {
  name: string;
  nodes: GraphNode[];
  inputs: GraphTensor[];
  outputs: GraphTensor[];
  /** Tensors with known type or shape, declared or inferred, and initializers. */
  tensors: GraphTensor[];
  /**
   * The nodes are layers in the order of their execution, of which several may write parts of one tensor (what a Concat
   * puts together): a layer reads from all that wrote the tensor before it.
   */
  inExecutionOrder?: true;
}

export interface GraphNode {
  id: string;
  name: string;
  op: string;
  domain: string;
  inputs: string[];
  outputs: string[];
  /** Readable attributes, short. */
  attributes: { name: string; value: string }[];
  /**
   * The module that it is in, outermost first, joined by `/`: `encoder/layers.0/attn`; '' for none. Absent: nothing
   * records it, its name may contain it.
   */
  scope?: string;
  /** A short title, where the name is not made for that. */
  label?: string;
  /** Only the older of two builds that are compared has it: its id there, and a sentence on what became of it. */
  older?: { id: string; note: string };
}

export interface GraphTensor {
  name: string;
  type: string | null;
  shape: readonly (number | string | null)[] | null;
  initializer: boolean;
  /** Id of the node that makes it, where another tensor of that name comes before it in the list. */
  producer?: string;
  /** Memory layout in TensorRT's words, for a tensor of an engine. */
  format?: string;
}
