import { isFloatType } from '../../onnx/tensorTypes.ts';
import type { NodeFacts } from './modelFacts.ts';
import type { NodeIndex } from '../language/nodeIndex.ts';
import type { OverrideFile, Rule } from '../language/overrideFile.ts';
import type { PrecisionType } from '../language/precisionType.ts';
import type { ResolvedRules } from '../language/resolveOverrides.ts';

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
