// The type that each node gets; what a check works with.
import { thousands } from '../base/text.ts';
import { type DataType, isFloatType, type OnnxNode } from '../read/onnx/onnxModel.ts';
import { sharesOneType } from '../network/outputTypes.ts';
import type { BuildFacts, NodeFacts, TensorrtTarget } from './buildFacts.ts';
import { buildIndexOf } from './buildIndex.ts';
import { isSingleInput } from './opTypes.ts';
import {
  type Fix,
  type OverrideFile,
  type PrecisionProblem,
  type PrecisionType,
  problemAt,
  type Rule,
  type TextRange,
} from './overrideFile.ts';
import type { NodeIndex, ResolvedRules } from './resolveOverrides.ts';

/** Types that a rewrite moves between; all others stay as they are. */
export type RealType = 'float' | 'float16' | 'bfloat16';

export function isRealType(type: DataType | null): type is RealType {
  return type === 'float' || type === 'float16' || type === 'bfloat16';
}

/**
 * How a node's types hang together: `free`: all floating-point inputs and outputs share one type, which a rewrite may
 * choose; `inputs`: the same for its inputs, while its outputs are no floating-point numbers; `fixed`: it stays as it
 * is (its types are written into it, or are not known here).
 */
export type Typing = 'free' | 'inputs' | 'fixed';

/** How a node's types hang together. `calls` are local functions (`domain` newline `name`), whose bodies stay as they are. */
export function typingOf(node: OnnxNode, types: (DataType | null)[], calls: ReadonlySet<string>): Typing {
  if (node.subgraphs.length > 0 || calls.has(`${node.domain}\n${node.op}`)) return 'fixed';
  if (!sharesOneType(node)) return 'fixed';
  return types.some((type) => isRealType(type) || type === 'double') ? 'free' : 'inputs';
}

/** Whether an input follows the node's type. The others keep the type that they have in the model. */
export function followsType(node: OnnxNode, input: number): boolean {
  if (isSingleInput(node.op, node.domain, input)) return false;
  if (node.op === 'Resize') return input === 0;
  if (node.op === 'Dropout') return input === 0;
  // Its indices and depth are whole numbers, whatever their type.
  if (node.op === 'OneHot') return input === 2;
  return true;
}

/** Whether an output follows the node's type: statistics of a normalization have a type of their own. */
export function outputFollows({ op }: OnnxNode, output: number): boolean {
  const statistics = /^(Skip)?(?:Simplified)?LayerNormalization$/.exec(op);
  // What skips also gives the sum, after the statistics.
  return !statistics || output === 0 || (statistics[1] !== undefined && output === 3);
}

/** Operators that read any type and give nothing that depends on their input's values' type. */
export function readsAnyType(node: OnnxNode): boolean {
  return node.op === 'Shape' || node.op === 'Size';
}

/** Operators that only move data: cheap to run in any type. */
const moving: ReadonlySet<string> = new Set([
  'Concat',
  'DepthToSpace',
  'Expand',
  'Flatten',
  'Gather',
  'GatherElements',
  'GatherND',
  'Identity',
  'Pad',
  'Reshape',
  'Slice',
  'SpaceToDepth',
  'Split',
  'Squeeze',
  'Tile',
  'Transpose',
  'Unsqueeze',
]);

/** Operators of one step an element, which cost little next to a product. */
const pointwise: ReadonlySet<string> = new Set([
  'Abs',
  'Add',
  'Clip',
  'Div',
  'Mul',
  'Neg',
  'Pow',
  'Reciprocal',
  'Relu',
  'Sqrt',
  'Sub',
  'Where',
]);

/** Whether running a node in another type costs little. */
export function isCheap(node: OnnxNode): boolean {
  return node.domain === '' && (moving.has(node.op) || pointwise.has(node.op));
}

/** What the user wants of each node, after all rules: the input of both back-ends and of the check after a build. */
export interface PrecisionPlan {
  base: 'keep' | 'fp16' | 'bf16';
  require: 'obey' | 'prefer';
  /** Where the scales of `int8` rules are from, as the file says, relative to it; null: it does not. */
  scales: string | null;
  /** Nodes with a request, in the model's order. Nodes that accept no precision are omitted. */
  nodes: PlannedNode[];
  /** Per rule (same order as in the file) the nodes that it applies to but that accept no precision. */
  skipped: { line: number; nodes: number }[];
}

export interface PlannedNode {
  /** Position in the model's nodes. */
  position: number;
  id: string;
  /** The name under which TensorRT knows it. */
  name: string;
  /** An earlier node has this name: TensorRT gives it to that one's layer, and numbers this one's. */
  later?: true;
  op: string;
  compute: PrecisionType;
  /** One type an output; null: not asked for. */
  outputs: PrecisionType[] | null;
  /** Line of the rule, from 1. */
  line: number;
}

/** Works out every node's request from the rules as resolved. Rules with errors are no part of it. */
export function planPrecision(file: OverrideFile, index: NodeIndex, resolution: ResolvedRules): PrecisionPlan {
  const plan: PrecisionPlan = {
    base: baseOf(file),
    require: requireOf(file),
    scales: scalesOf(file),
    nodes: [],
    skipped: [],
  };
  const skipped = new Map<number, number>();
  for (const [position, r] of resolution.winner.entries()) {
    const rule = resolution.matches[r]?.rule;
    const node = index.nodes[position];
    if (!rule?.type?.type || !node) continue;
    if (node.exempt !== null) {
      skipped.set(rule.range.line, (skipped.get(rule.range.line) ?? 0) + 1);
      continue;
    }
    plan.nodes.push({
      position,
      id: node.id,
      name: index.names[position] ?? '',
      ...(isLater(position, index) && { later: true }),
      op: node.op,
      compute: rule.type.type,
      outputs: outputTypesOf(rule, node),
      line: rule.range.line,
    });
  }
  plan.skipped = [...skipped].map(([line, nodes]) => ({ line, nodes })).sort((a, b) => a.line - b.line);
  return plan;
}

function isLater(position: number, index: NodeIndex): boolean {
  const first = index.named(index.names[position] ?? '').find((other) => index.nodes[other]?.exempt !== 'constant');
  return first !== undefined && first < position;
}

/** One type for all outputs is for those that are floating-point numbers: indices stay what they are. */
function outputTypesOf(rule: Rule, { types: own, outputs }: NodeFacts): PrecisionType[] | null {
  const types = rule.outputs.map(({ type }) => type).filter((type) => type !== null);
  const only = types[0];
  if (only === undefined || (types.length > 1 && types.length !== outputs.length)) return null;
  if (types.length > 1) return types;
  return outputs.map((_, i) => {
    const type = own[i] ?? null;
    if (type === null || isFloatType(type)) return only;
    return type === 'bool' ? 'bool' : 'int32';
  });
}

/** The `base` line's word; `keep` without one. */
export function baseOf(file: OverrideFile): PrecisionPlan['base'] {
  const value = file.base?.usable ? file.base.value : null;
  return value === 'fp16' || value === 'bf16' ? value : 'keep';
}

/** The `require` line's word; `obey` without one. */
export function requireOf(file: OverrideFile): PrecisionPlan['require'] {
  return file.require?.usable && file.require.value === 'prefer' ? 'prefer' : 'obey';
}

/** The `scales` line's path; null without one. */
export const scalesOf = ({ scales }: OverrideFile): string | null => (scales?.usable ? scales.value : null);

/**
 * What happened to a request: the engine computes so, it does not, nothing that the build left says so, or the build
 * was not made with this request, so it says nothing about it.
 */
export type Verdict = 'obeyed' | 'disobeyed' | 'unseen' | 'unbuilt';

/** What the user reads; `unseen` stays the value in JSON. */
export const verdictWords: Record<Verdict, string> = {
  obeyed: 'obeyed',
  disobeyed: 'disobeyed',
  unseen: 'unverifiable',
  unbuilt: 'unbuilt',
};

export interface NodeVerdict {
  node: PlannedNode;
  verdict: Verdict;
  /** False if TensorRT's own words leave room: "probably". */
  certain: boolean;
  /** One sentence with the evidence. */
  reason: string;
  /** Name of the layer or kernel that says so; null if it is not about a layer. */
  layer: string | null;
  /** Line of the log that says so. */
  logLine: number | null;
}

export interface RuleVerdict {
  line: number;
  /** Disobeyed if one node is, else unbuilt if one node is, else unseen. */
  verdict: Verdict;
  /** False if one of the nodes that have this verdict has it only probably. */
  certain: boolean;
  counts: Record<Verdict, number>;
  message: string;
  nodes: NodeVerdict[];
}

/** Everything that the checks of one rule look at; they add to `problems`. */
export interface CheckContext {
  index: NodeIndex;
  build: BuildFacts | null;
  target: TensorrtTarget;
  /** Where the scales of `int8` rules are from; null: the file does not say. */
  scales: KnownScales | null;
  problems: PrecisionProblem[];
}

/** What is known of the file of the `scales` line. */
export interface KnownScales {
  /** Tensors that have a scale in it; null: they are measured, or the file was not read. */
  tensors: ReadonlySet<string> | null;
}

/** What the checks look at that compare rules with each other. */
export interface FileContext extends CheckContext {
  file: OverrideFile;
  resolution: ResolvedRules;
}

/** Adds a problem to the context and gives it back, for what else belongs to it. */
export function addProblem(
  context: CheckContext,
  range: TextRange,
  severity: PrecisionProblem['severity'],
  code: string,
  message: string,
  fixes: Fix[] = [],
): PrecisionProblem {
  const problem = problemAt(range, severity, code, message, fixes);
  context.problems.push(problem);
  return problem;
}

/** The first names of a list in double quotes, and how many more there are. */
export function someNames(names: readonly string[], limit = 3): string {
  const shown = names.slice(0, limit).map((name) => JSON.stringify(name));
  const rest = names.length - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${thousands(rest)} more` : shown.join(', ');
}

/** What a rule's nodes are. */
export interface NodeCounts {
  /** Nodes that accept a precision at all. */
  eligible: number;
  /** Nodes inside ForeignNodes of the last build. */
  foreign: number;
  /** Per ForeignNode (position in the build) the number of nodes, most first. */
  groups: { group: number; nodes: number }[];
}

export interface RuleFacts extends NodeCounts {
  rule: Rule;
  line: number;
  /** Nodes that it selects. */
  nodes: number;
  /** Of these, nodes that it applies to: no later rule selects them. */
  effective: number;
}

const counted = new WeakMap<Int32Array, { build: BuildFacts | null; counts: NodeCounts }>();

/** Counts a rule's nodes (positions), once for each list. Without a build nothing is foreign. */
export function countNodes(nodes: Int32Array, index: NodeIndex, build: BuildFacts | null): NodeCounts {
  let known = counted.get(nodes);
  if (known?.build !== build) counted.set(nodes, (known = { build, counts: count(nodes, index, build) }));
  return known.counts;
}

function count(nodes: Int32Array, index: NodeIndex, build: BuildFacts | null): NodeCounts {
  let eligible = 0;
  let foreign = 0;
  const groupOf = build && nodes.length > 0 ? buildIndexOf(build).foreign : null;
  const inGroup: number[] = [];
  for (const node of nodes) {
    eligible += index.computes[node] ?? 0;
    const group = groupOf?.[node] ?? -1;
    if (group < 0) continue;
    foreign++;
    inGroup[group] = (inGroup[group] ?? 0) + 1;
  }
  const groups = inGroup
    .map((count, group) => ({ group, nodes: count }))
    .filter((entry) => entry.nodes > 0)
    .sort((a, b) => b.nodes - a.nodes);
  return { eligible, foreign, groups };
}
