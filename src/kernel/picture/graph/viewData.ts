// What a view gets.
import type { JudgedNode } from '../../simulation/simulated.ts';
import type { BuildManifest } from '../../build/buildManifest.ts';
import type { BuildState } from '../../build/diagnosis.ts';
import type { BuildComparison } from '../../report/buildDiff.ts';
import { shapeText } from '../../base/text.ts';
import type { OnnxAttribute, OnnxGraph, OnnxModel, OnnxTensor } from '../../read/onnx/onnxModel.ts';
import type { FusionReport } from '../../fusion/fusionReport.ts';
import { scopeFrom } from '../../network/layerName.ts';
import { sourceFrom } from '../../network/sourceLines.ts';
import { expandFunctions } from '../../network/modelGraph.ts';
import type { Quantization } from '../../quantization/quantization.ts';

/** What an item stands for: what the user selects by it. Ids as in the report. */
export type PanelSelection =
  | { kind: 'nodes'; ids: string[] }
  | { kind: 'layers'; ids: number[] }
  | { kind: 'foreignNode'; id: number }
  | { kind: 'fate'; fate: string }
  | { kind: 'none' };

/** Everything a view needs, as plain JSON: what the host sends, what the plain page fetches, what the report page embeds. */
export interface ViewData {
  /** Shown as the title: the model's file name, or the log's. */
  title: string;
  graph: GraphData | null;
  report: FusionReport | null;
  build: BuildManifest | null;
  /** What is missing for more, as text: "no profile: …". */
  hints: string[];
  /** The low precision, or `fp32`, that the build was asked for as a whole; absent: any type, or not known. */
  requested?: string;
  /** What the override rules of the build asked for, node by node, and what came of it. */
  asked?: RequestedPrecision[];
  /** What low precision does to nodes, as far as it was judged. */
  accuracy?: NodeAccuracy[];
  /** Why the last build did not pass, and whether the picture is of the file as it is now. */
  state?: BuildState;
  /** What changed since another build, where the view compares two: this one is the newer, B. */
  comparison?: BuildComparison;
  /** Scales, Q/DQ pairs and their placement, where the model has Q/DQ nodes or a calibration cache is in use. */
  quantization?: Quantization;
}

/** What low precision does to one node. */
export type NodeAccuracy = Omit<JudgedNode, 'name' | 'op'>;

/** A precision that a rule asked for, compared with the build. */
export interface RequestedPrecision {
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
  /** The line of the program that it comes from: `/home/ann/model.py:12`. */
  source?: string;
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

/** Longest attribute text that is kept: enough for kernel shapes and short lists, not for tables. */
const longestAttribute = 120;

/**
 * The part of a model that views draw: its nodes in the report's order (each subgraph's nodes after their owner), the
 * main graph's inputs and outputs, and every tensor of any graph whose type, shape or being an initializer is known.
 * Never fails: a model with nothing in it gives empty lists.
 */
export function toGraphData(given: OnnxModel): GraphData {
  const model = expandFunctions(given);
  const tensors = new Map<string, GraphTensor>();
  collectTensors(model.graph, tensors, new Set());
  const ports = (values: OnnxGraph['inputs']): GraphTensor[] =>
    values.map(({ name, type, shape }) => ({
      name,
      type,
      shape,
      initializer: tensors.get(name)?.initializer ?? false,
    }));
  return {
    name: model.graph.name,
    nodes: model.nodes.map(({ id, name, op, domain, inputs, outputs, attributes, metadata, doc }) => ({
      id,
      name,
      op,
      domain,
      inputs,
      outputs,
      attributes: attributes
        .filter(({ kind }) => kind !== 'graph' && kind !== 'graphs')
        .map((attribute) => ({ name: attribute.name, value: attributeText(attribute) })),
      ...scopeFrom(metadata),
      ...sourceFrom({ metadata, doc }),
    })),
    // Old exporters list every initializer among the inputs; what the user feeds is the rest.
    inputs: ports(model.graph.inputs).filter(({ initializer }) => !initializer),
    outputs: ports(model.graph.outputs),
    tensors: [...tensors.values()],
  };
}

/** The main graph comes first and wins: a name in a subgraph that hides an outer one is not worth a wrong type outside. */
function collectTensors(graph: OnnxGraph, into: Map<string, GraphTensor>, seen: Set<OnnxGraph>): void {
  if (seen.has(graph)) return;
  seen.add(graph);
  for (const { name, type, shape } of graph.initializers) {
    if (name !== '' && !into.has(name)) into.set(name, { name, type, shape, initializer: true });
  }
  for (const { name, type, shape } of [...graph.inputs, ...graph.outputs, ...graph.values]) {
    if (name !== '' && !into.has(name)) into.set(name, { name, type, shape, initializer: false });
  }
  for (const node of graph.nodes) {
    for (const { graph: inner } of node.subgraphs) collectTensors(inner, into, seen);
  }
}

/** What texts do not have, but an engine in a node of ONNX Runtime does. */
// oxlint-disable-next-line no-control-regex -- that is what it looks for
const binary = /[\0-\x08\x0e-\x1f\uFFFD]/;

function attributeText({ kind, value, count }: OnnxAttribute): string {
  if (value === null) return kind === 'other' ? '(not shown)' : '(empty)';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return binary.test(value) ? '(binary data)' : shortened(value);
  if (!Array.isArray(value)) return tensorText(value);
  const parts = value.map((part) => (typeof part === 'object' ? tensorText(part) : String(part)));
  const more = count !== undefined && count > parts.length ? `, … ${count - parts.length} more` : '';
  const text = `[${parts.join(', ')}${more}]`;
  return text.length <= longestAttribute ? text : `${text.slice(0, longestAttribute - 1)}…`;
}

function tensorText({ type, shape, ints }: OnnxTensor): string {
  const head = `${type}[${shape.length === 0 ? '' : shapeText(shape)}]`;
  return shortened(ints === undefined ? head : `${head} = ${ints.join(', ')}`);
}

const shortened = (text: string): string =>
  text.length <= longestAttribute ? text : `${text.slice(0, longestAttribute - 1)}…`;
