// The difference and what it is made from.
import type { OnnxAttribute, OnnxModel } from '../read/onnx/onnxModel.ts';
import type { BuildFigures } from '../read/tensorrt/buildOutput.ts';
import type { Accounting, FusionReport } from '../fusion/fusionReport.ts';
import { builtNetworkOf } from '../network/network.ts';
import { isStandardDomain } from '../network/modelGraph.ts';
import { countLayers, countRegions, engineMs, inForeignNode, type PrecisionShare } from './words.ts';
import { oneLine, timeText } from '../base/text.ts';
import type { BuildManifest } from '../build/buildManifest.ts';

/** What changed between two builds: `trtlens diff A B --json`. Fields may be added; these keep their names and meaning. */
export interface BuildDiff {
  /** Version of this format. */
  schema: 1;
  /** The first build. */
  a: DiffSide;
  /** The second build. */
  b: DiffSide;
  /** What differs in what was requested, and with what it was built: `FP32 → FP16 by model.trtprec`. '': not known. */
  request: string;
  /** What the change costs and why, in one line: `36 % faster: 12 attentions fused`. */
  verdict: string;
  /** Which nodes of A are which nodes of B. */
  matched: MatchedNodes;
  /** What changed, the largest change of time first, then by kind and position. Empty: nothing that both sides know differs. */
  changes: Change[];
  /** Inputs for which the engines were built with other shapes: their times are not of the same work. */
  shapes: InputShapes[];
  /** Times of all layers. */
  time: DiffTime;
  /** Counts and figures of both sides. */
  totals: DiffTotals;
  /** Which fusions the marked tensors of one side cost; absent unless exactly one side is known to have marked tensors. */
  marked?: MarkedComparison;
}

/** Tensors of an engine that its model does not make outputs. */
export interface MarkedTensors {
  /** Names of those marked as outputs. */
  outputs: string[];
  /** Names of those marked for debugging. */
  debug: string[];
  /** Every tensor is marked as an output: a build that is called unfused. */
  all: boolean;
}

/** A build with marked tensors, compared with the one without. */
export interface MarkedComparison {
  /** The side with marked tensors. */
  side: 'a' | 'b';
  /** Names of those marked as outputs. */
  outputs: string[];
  /** Names of those marked for debugging. */
  debug: string[];
  /** Every tensor is marked as an output: a build that is called unfused. */
  all: boolean;
  /** Kernels of the plain side with several nodes that are computed together on the marked side, too. */
  survived: number;
  /** Those that are not. */
  dissolved: DissolvedFusion[];
  /** Those with a node of which the marked side says nothing. */
  unknown: number;
  /** Kernels of the marked side that compute several nodes. */
  fused: number;
  /** Nodes of one of them, as text; null: there is none. */
  example: string | null;
  /** Milliseconds that the marked side takes more; null: not timed on both sides. */
  deltaMs: number | null;
}

/** A kernel of the plain side whose nodes the marked side computes in several. */
export interface DissolvedFusion {
  /** Its name. */
  kernel: string;
  /** Ids of its nodes on the marked side. */
  nodes: string[];
  /** How many kernels compute them there. */
  kernels: number;
}

/** Shapes of one input: `4×64`, or the smallest, usual and largest of each optimization profile. */
export interface InputShapes {
  /** Name of the input. */
  input: string;
  /** Shapes of A. */
  a: string;
  /** Shapes of B. */
  b: string;
}

/** One of the two builds. */
export interface DiffSide {
  /** The build folder or report file, as given. */
  source: string;
  /** File name of the model. */
  model: string;
  /** null: not known. */
  product: 'tensorrt' | 'tensorrt-rtx' | null;
  /** Version of TensorRT; null: not known. */
  version: string | null;
  /** null: not known. */
  gpu: string | null;
  /** The engine layers are not listed: those compared are TensorRT's plan, without reformats and kernels. */
  planned: boolean;
  /** The times are those of kernels in a trace of Nsight Systems, without what a profiler of layers adds. */
  traced: boolean;
  /** The optimization profile whose layers are compared, from 0, and how many the engine has; omitted: it has one. */
  optimizationProfile?: { shown: number; of: number };
  /** Why there is no engine: the build failed or was cancelled. Absent: it passed, or nothing is known of it. */
  failed?: string;
}

export interface MatchedNodes {
  /** Pairs found by name (node or output tensor). */
  byName: number;
  /** Pairs found by weights, or by operator, attributes and neighbors. */
  byStructure: number;
  /** The ids of these pairs; all other pairs were found by name. */
  structure: { a: string; b: string }[];
  /** Ids of A's nodes that B does not have. */
  onlyA: string[];
  /** Ids of B's nodes that A does not have. */
  onlyB: string[];
  /** How many of `onlyA` and `onlyB` only change types: QuantizeLinear, DequantizeLinear and Cast. */
  conversions: { a: number; b: number };
}

/**
 * - `split`, `merged`, `moved`: nodes are computed together with fewer, more, or other nodes than before
 * - `folded`: no longer computed (constant-folded, removed, or gone from the model); `computed`: the reverse
 * - `kernel`: the same nodes are computed by another kernel or tactic, or a kernel without nodes was added or is gone
 * - `precision`: by the same or other layers, but with other types
 * - `format`: with other memory layouts, or a reformat layer was added or is gone
 * - `time`: nothing but the time differs
 * - `lost`: it changes values, and TensorRT names it nowhere in B (`unaccounted`)
 * - `unknown`: known in A, unknown in B
 */
export type ChangeKind =
  | 'split'
  | 'merged'
  | 'moved'
  | 'folded'
  | 'computed'
  | 'kernel'
  | 'precision'
  | 'format'
  | 'time'
  | 'lost'
  | 'unknown';

/** One change, of one cluster: nodes that are computed together in either build. */
export interface Change {
  /** What kind of change it is. */
  kind: ChangeKind;
  /** Ids of A's nodes that it concerns. */
  nodesA: string[];
  /** Ids of B's nodes that it concerns. */
  nodesB: string[];
  /** What was there in A, as text; '' for nothing. */
  a: string;
  /** What is there in B, as text; '' for nothing. */
  b: string;
  /** Ids of A's layers that it concerns. */
  layersA: number[];
  /** Ids of B's layers that it concerns. */
  layersB: number[];
  /** Milliseconds that B takes more than A. null: not timed on both sides, or counted in another change of the same layers. */
  deltaMs: number | null;
  /** true: TensorRT itself named every node on both sides; false: at least one is derived. */
  exact: boolean;
  /** One sentence. */
  message: string;
  /** Where the code of its nodes is: `blocks.py:14–43`; absent where the exporter did not record it. */
  code?: string;
}

export interface DiffTime {
  /** Sum over all layers; null without a profile. */
  aMs: number | null;
  /** Sum over all layers of B; null without a profile. */
  bMs: number | null;
  /** Sum of `deltaMs` over all changes. */
  attributedMs: number | null;
  /** Sum of what layers that are computed in the same way differ by, each within the noise of its measurements: no change has it. */
  noiseMs: number | null;
  /** The difference of the sums is within the noise of the measurements; null: not timed on both sides. */
  isNoise: boolean | null;
}

/** What happened to a node of A or B; every node of both sides is in exactly one state, matched nodes count once. */
export interface NodeStates {
  /** Computed together with the same nodes, or not computed on either side. */
  same: number;
  /** Computed together with fewer nodes. */
  split: number;
  /** Computed together with more nodes. */
  merged: number;
  /** Computed together with other nodes, or inside instead of outside of a ForeignNode. */
  moved: number;
  /** Computed in A only. */
  folded: number;
  /** Computed in B only. */
  computed: number;
  /** Lost or moved in B, and not in A. */
  lost: number;
  /** Known in A, unknown in B. */
  unknown: number;
  /** Unknown in A, so that nothing can be said. */
  notComparable: number;
  /** Not in the model of B. */
  onlyA: number;
  /** Not in the model of A. */
  onlyB: number;
}

/** A number of both sides; null if a side does not know it. */
export interface Both {
  /** Of A; null: not known. */
  a: number | null;
  /** Of B; null: not known. */
  b: number | null;
}

export interface DiffTotals {
  /** How many nodes are in which state. */
  states: NodeStates;
  /** Matched nodes whose groups were compared kernel by kernel, and those compared by whole ForeignNodes because one side does not list kernels. */
  comparedBy: { kernels: number; foreignNodes: number };
  /** Nodes of the model. */
  nodes: Both;
  /** Layers and kernels that the report lists. */
  layers: Both;
  /** Layers and kernels; null where a ForeignNode does not list its kernels. */
  kernels: Both;
  /** ForeignNodes of the engine; null where its layers are not known. */
  foreignNodes: Both;
  /** Loadables of the DLA. */
  loadables: Both;
  /** Reformat layers; null where the engine's layers are not known. */
  reformats: Both;
  /** Nodes by fate, of both reports. */
  accounting: { a: Accounting; b: Accounting };
  /** How much of the requested precision each engine has; null: its layers show no types. */
  precision: { a: PrecisionShare | null; b: PrecisionShare | null };
  /** Launches that fusion saves, against a kernel for each node (derived); null: of a group it is not known. */
  savedLaunches: Both;
  /** Bytes that stay in kernels by fusion (derived). */
  savedBytes: Both;
  /** Milliseconds that fusion saves, of a report that was made against a marked build (`--marked`). */
  savedMs: Both;
  /** Bytes. */
  activationMemory: Both;
  /** Bytes. */
  weightsMemory: Both;
  /** Bytes. */
  engineSize: Both;
  /** Seconds that the builds took. */
  buildSeconds: Both;
  /** Warnings in the build logs. */
  warnings: Both;
}

/** One side of a comparison: a report, and what else is known of its build and model. */
export interface DiffInput {
  /** The build folder or report file, as given. */
  source: string;
  report: FusionReport;
  /** Nodes with their edges, in the order of `report.nodes`; absent where only the report is there. */
  network?: NetworkNode[] | undefined;
  figures?: BuildFigures | undefined;
  /** How it was built; absent or null: not known. */
  manifest?: BuildManifest | null | undefined;
  /** The precision that the build was requested: `fp16`. Absent or null: none, any, or not known. */
  requested?: string | null | undefined;
  /** Absent: not known. */
  marked?: MarkedTensors | undefined;
  /** Why there is no engine: the build failed or was cancelled. Absent: it passed, or nothing is known of it. */
  failed?: string | undefined;
}

/**
 * What an engine's bindings, or its build's options, say of tensors that the model does not make outputs.
 * @param bindings names of the engine's inputs and outputs; empty: not known
 * @param options those of the build: `outputs` (a list, or `all`) and `debugTensors`
 */
export function markedTensors(
  { graph, nodes }: OnnxModel,
  bindings: readonly string[],
  options: Readonly<Record<string, unknown>> = {},
): MarkedTensors | undefined {
  const { outputs, debugTensors } = options;
  if (bindings.length === 0 && outputs === undefined && debugTensors === undefined) return undefined;
  const own = new Set([...graph.inputs, ...graph.outputs].map(({ name }) => name));
  const asked = listOf(outputs);
  const marked = (bindings.length > 0 ? bindings : asked).filter((name) => !own.has(name));
  const isBound = new Set(bindings);
  const made = nodes.flatMap((node) => node.outputs).filter((name) => name !== '');
  // Constants and shapes are no outputs: TensorRT marks what its network computes.
  const all =
    outputs === 'all' || (made.length > 4 && made.filter((name) => isBound.has(name)).length > made.length / 2);
  return { outputs: marked, debug: listOf(debugTensors), all };
}

const listOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

/** A node as far as matching needs it. */
export interface NetworkNode {
  id: string;
  name: string;
  /** Operator, with its domain unless that is ONNX's own. */
  op: string;
  /**
   * Tensors by name, those of a subgraph with a line break and a number behind it: names may repeat between graphs. '' for
   * an optional input that is not given.
   */
  inputs: string[];
  outputs: string[];
  /** Its attributes as one text; '' if they are not known. */
  attributes: string;
  /** Shapes of the inputs that are initializers, by position, as text: `[64,3,7,7]`. */
  constants: string[];
  /** Digests of these inputs' values, as one text; absent or '': not known. */
  weights?: string;
}

/**
 * The nodes of a model, in the order of a report on it.
 * @param digests of the values of initializers, by name
 */
export function nodesToMatch(model: OnnxModel, digests?: ReadonlyMap<string, string>): NetworkNode[] {
  const { nodes, tensors, inputs, outputs } = builtNetworkOf(model);
  const nameOf = (tensor: number): string => {
    const { name = '', owner = -1 } = tensors[tensor] ?? {};
    return owner < 0 ? name : `${name}\n${tensor}`;
  };
  return nodes.map(({ id, name, op, domain, outputs: made, attributes }, index) => {
    const stored = inputs[index]!.map((tensor) => tensors[tensor]?.stored);
    let at = 0;
    return {
      id,
      name,
      op: isStandardDomain(domain) ? op : `${domain}::${op}`,
      inputs: inputs[index]!.map(nameOf),
      outputs: made.map((output) => (output === '' ? '' : nameOf(outputs[index]![at++]!))),
      attributes: attributes.map(attributeText).toSorted().join(';'),
      constants: stored.map((one) => (one ? `[${one.shape.join(',')}]` : '')),
      ...(digests && { weights: stored.map((one) => (one && digests.get(one.name)) ?? '').join('') }),
    };
  });
}

/** A tensor's own name, without what tells it from one of that name in another graph. */
export const plainName = (tensor: string): string => tensor.replace(/\n\d+$/, '');

/** The nodes of a report whose model is not at hand: names and operators only. */
export const namesOnly = ({ nodes }: FusionReport): NetworkNode[] =>
  nodes.map(({ id, name, op }) => ({ id, name, op, inputs: [], outputs: [], attributes: '', constants: [] }));

const attributeText = ({ name, kind, value, count }: OnnxAttribute): string => {
  if (kind === 'graph' || kind === 'graphs') return name;
  const text =
    Array.isArray(value) && typeof value[0] === 'object' ? `${value.length}` : JSON.stringify(value, noPlace);
  return `${name}=${text}${count === undefined ? '' : `#${count}`}`;
};

/** Where a tensor's bytes are in its file, and what it is called, says nothing about what it is. */
const noPlace = (key: string, value: unknown): unknown =>
  key === 'data' || key === 'span' || key === 'name' ? undefined : value;

// Compares what two builds recorded; the comparison that a view shows.

/** A build, and what its files say about fusion; null if they say nothing. */
export interface Compared {
  manifest: BuildManifest;
  report: FusionReport | null;
}

/** A field in which two builds differ; '' if one has no such field. */
export interface Difference {
  field: string;
  values: [string, string];
}

/** Nodes of which it is told one by one that their fate differs. */
const mostNodes = 500;

/** Where two builds differ: in what was requested, with what it was built, what came out, and node by node. */
export function compareBuilds(a: Compared, b: Compared): Difference[] {
  const options = Object.keys({ ...a.manifest.options, ...b.manifest.options }).toSorted();
  const [first, second] = [fieldsOf(a, options), fieldsOf(b, options)];
  const names = [...new Set([...first.keys(), ...second.keys()])];
  const fields = names.map((field): Difference => ({
    field,
    values: [first.get(field) ?? '', second.get(field) ?? ''],
  }));
  return [...fields, ...nodes(a.report, b.report)].filter(({ values: [one, other] }) => one !== other);
}

/** Both sides as texts with as many lines, for an editor that shows them next to each other. */
export function comparisonTexts(differences: Difference[]): [string, string] {
  const width = Math.max(0, ...differences.map(({ field }) => (field.length > 60 ? 0 : field.length)));
  const side = (index: 0 | 1) =>
    differences.map(({ field, values }) => `${field.padEnd(width)}  ${oneLine(values[index]) || '–'}\n`).join('');
  return [side(0), side(1)];
}

function fieldsOf({ manifest, report }: Compared, optionNames: string[]): Map<string, string> {
  const { model, backend, origin, tensorrt, gpu, driver, options, result, error, seconds } = manifest;
  const fields = new Map<string, string>([
    ['model', model.file],
    ['model.sha256', model.sha256 ?? ''],
    ['backend', backend],
    ['origin', origin],
    ['product', tensorrt.product ?? ''],
    ['version', tensorrt.version ?? ''],
    ['gpu', gpu ?? ''],
    ['driver', driver ?? ''],
  ]);
  for (const name of optionNames) {
    const value = options[name] ?? '';
    fields.set(`option ${name}`, Array.isArray(value) ? value.join(', ') : String(value));
  }
  fields.set('result', result).set('error', error ?? '');
  fields.set('build time', seconds === null ? '' : timeText(seconds * 1000));
  if (report !== null) for (const [name, value] of fusionOf(report)) fields.set(name, value);
  return fields;
}

function fusionOf(report: FusionReport): [string, string][] {
  const { accounting } = report;
  const { total, kinds, kernels } = countLayers(report);
  const { loadables } = countRegions(report.foreignNodes);
  const ms = engineMs(report);
  const counts = Object.entries(accounting).map(([fate, count]): [string, string] => [`nodes ${fate}`, String(count)]);
  return [
    ['engine layers', String(total)],
    ['ForeignNodes', String(kinds.foreign - loadables)],
    ...(loadables > 0 ? ([['DLA loadables', String(loadables)]] satisfies [string, string][]) : []),
    ['kernels', String(kernels)],
    ...counts,
    ['time of all layers', ms === null ? '' : timeText(ms)],
  ];
}

/** Only nodes that both reports have: another model's have nothing to do with each other. */
function nodes(a: FusionReport | null, b: FusionReport | null): Difference[] {
  if (a === null || b === null) return [];
  const others = new Map(b.nodes.map((node) => [node.id, node]));
  const differing: Difference[] = [];
  for (const node of a.nodes) {
    const other = others.get(node.id);
    if (other === undefined || other.name !== node.name || other.op !== node.op) continue;
    const values: [string, string] = [fateOf(a, node), fateOf(b, other)];
    if (values[0] !== values[1]) differing.push({ field: `node ${node.name || node.id} (${node.op})`, values });
  }
  const left = differing.length - mostNodes;
  if (left <= 0) return differing;
  const more: Difference = { field: 'more nodes', values: [`${left} more differ`, `${left} more differ`] };
  return [...differing.slice(0, mostNodes), more];
}

/** A ForeignNode by its title, which stays the same where its number does not. */
const fateOf = (report: FusionReport, { fate, foreignNode }: FusionReport['nodes'][number]): string =>
  fate === 'foreign' && foreignNode !== null ? inForeignNode(report, foreignNode) : fate;

/** Two builds side by side, as a view shows them: its own graph and report are those of B. */
export interface BuildComparison {
  diff: BuildDiff;
  /** The report of A. */
  before: FusionReport;
  /** What each side is called: when it was built, or its file. */
  names: { a: string; b: string };
  /** In what was requested and with what it was built the two differ. */
  facts: Difference[];
}

/** What happened to a node or a layer between two builds, in as many words as a picture has signs. */
export type ChangeState = 'lost' | 'unknown' | 'regrouped' | 'added' | 'removed' | 'changed' | 'time';

/** The states, what outweighs others first, with the sign that stands for each where color cannot. */
export const changeStates: Readonly<Record<ChangeState, { sign: string; label: string; meaning: string }>> = {
  lost: { sign: 'lost?', label: 'Lost in B?', meaning: 'it changes values, and TensorRT names it nowhere in B' },
  unknown: { sign: '?', label: 'No longer known', meaning: 'known in A; the inputs of B do not say' },
  regrouped: { sign: '±', label: 'Fused differently', meaning: 'computed together with fewer, more or other nodes' },
  added: { sign: '+', label: 'Computed in B only', meaning: 'new in the model, or folded or removed in A' },
  removed: { sign: '−', label: 'Computed in A only', meaning: 'folded, removed, or gone from the model' },
  changed: {
    sign: '~',
    label: 'Computed differently',
    meaning: 'the same nodes together, by another kernel, type or format',
  },
  time: { sign: '≈', label: 'Other time only', meaning: 'nothing but the time is known to differ' },
};

const stateOf: Readonly<Record<ChangeKind, ChangeState>> = {
  lost: 'lost',
  unknown: 'unknown',
  split: 'regrouped',
  merged: 'regrouped',
  moved: 'regrouped',
  computed: 'added',
  folded: 'removed',
  precision: 'changed',
  kernel: 'changed',
  format: 'changed',
  time: 'time',
};

/** What a change means for its nodes and layers. A layer without nodes that is only on one side is added or removed. */
export function stateOfChange({ kind, nodesA, nodesB, layersA, layersB }: Change): ChangeState {
  if (nodesA.length + nodesB.length === 0 && layersA.length === 0) return 'added';
  if (nodesA.length + nodesB.length === 0 && layersB.length === 0) return 'removed';
  return stateOf[kind];
}

const rank = Object.keys(changeStates) as ChangeState[];

/** What happened to each node and each layer of both sides; what is missing is the same. */
export function statesOf({ changes }: BuildDiff): {
  nodesA: Map<string, ChangeState>;
  nodesB: Map<string, ChangeState>;
  layersA: Map<number, ChangeState>;
  layersB: Map<number, ChangeState>;
} {
  const found = {
    nodesA: new Map<string, ChangeState>(),
    nodesB: new Map<string, ChangeState>(),
    layersA: new Map<number, ChangeState>(),
    layersB: new Map<number, ChangeState>(),
  };
  for (const change of changes) {
    const state = stateOfChange(change);
    mark(found.nodesA, change.nodesA, state);
    mark(found.nodesB, change.nodesB, state);
    mark(found.layersA, change.layersA, state);
    mark(found.layersB, change.layersB, state);
  }
  return found;
}

function mark<K>(states: Map<K, ChangeState>, keys: readonly K[], state: ChangeState): void {
  for (const key of keys) {
    const known = states.get(key);
    if (known === undefined || rank.indexOf(state) < rank.indexOf(known)) states.set(key, state);
  }
}
