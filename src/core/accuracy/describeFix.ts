import type { TensorTypes } from '../model/tensorTypes.ts';
import type { NodeIndex } from '../precision/language/nodeIndex.ts';
import { readOverrides } from '../precision/language/readOverrides.ts';
import { resolveOverrides } from '../precision/language/resolveOverrides.ts';
import { planPrecision } from '../precision/plan/precisionPlan.ts';
import { planRewrite } from '../precision/rewrite/planRewrite.ts';
import type { AccuracyFix, AccuracyOutput } from './accuracyReport.ts';
import { errorFigure } from './accuracyText.ts';
import { addedRules, fixRules, rulesText } from './fixRules.ts';
import type { LowModel } from './lowNodes.ts';
import { finiteOrNull, worstError } from './outputErrors.ts';
import type { PrecisionFix } from './smallestFix.ts';

/** What a search ran on, and what it found. */
export interface FoundFix {
  /** null: every output passes, so nothing was searched. */
  fix: PrecisionFix | null;
  low: LowModel;
  types: TensorTypes;
  index: NodeIndex;
  base: 'fp16' | 'bf16' | 'int8' | 'fp8';
  /** The outputs without the fix. */
  outputs: readonly AccuracyOutput[];
  tolerance: number;
  runs: number;
  /** Rules that the model was judged with; undefined: none. */
  given: string | undefined;
  /** The model as a `model` line names it. */
  modelLine: string;
}

/** How many Casts the typed copy of the model under these rules has more than the model. */
function castsUnder(rules: string, base: 'fp16' | 'bf16', { low, types, index }: FoundFix): number {
  const overrides = readOverrides(rules);
  const plan = planPrecision(overrides, index, resolveOverrides(overrides, index, null));
  return planRewrite(low.model, { ...plan, base }, {}, types).counts.casts;
}

/** The fix as a report gives it, with its rules as text: appended to the given ones, otherwise as a file of their own. */
export function describeFix(search: FoundFix): AccuracyFix {
  const { fix, low, index, base, outputs, tolerance, runs, given, modelLine } = search;
  const positions = new Map(index.nodes.map(({ id }, position) => [id, position]));
  const found = (fix?.exact ?? []).map((own) => ({ own, position: positions.get(low.low[own]!.node.id)! }));
  const ownOf = new Map(found.map(({ own, position }) => [position, own]));
  const rules = fixRules(
    found.map(({ position }) => position),
    index,
  );
  const without = rules.map(({ selector, nodes }) => {
    const errors = nodes.flatMap((position) => fix?.without.get(ownOf.get(position)!) ?? []);
    return { selector, nodes: nodes.map((i) => index.nodes[i]!.id), worst: Math.max(...errors) };
  });
  const notes = without.map(({ worst }) => (worst === -Infinity ? '' : `without: ${errorFigure(finiteOrNull(worst))}`));
  const before = worstError(outputs);
  const error = fix?.error ?? before ?? 0;
  const comments = [
    `Found by simulation: error ${errorFigure(error)} instead of ${errorFigure(before)} (tolerance ${tolerance})`,
  ];
  const isQdq = base === 'int8' || base === 'fp8';
  if (isQdq && rules.length > 0)
    comments.push('These nodes must not read Q/DQ nodes: leave them out when you quantize the model');
  const added = rules.length > 0 ? addedRules(comments, rules, notes) : '';
  const text =
    given === undefined
      ? rulesText({ model: modelLine, base: isQdq ? 'keep' : base, comments }, rules, notes)
      : `${given}${given === '' || given.endsWith('\n') ? '' : '\n'}${added}`;
  return {
    nodes: found.map(({ position }) => index.nodes[position]!.id),
    names: found.map(({ position }) => index.names[position]!),
    error,
    minimal: fix?.minimal ?? true,
    runs,
    casts: isQdq ? null : castsUnder(text, base, search),
    added,
    rules: text,
    without: without.map(({ worst, ...rule }) => ({ ...rule, error: finiteOrNull(worst) })),
  };
}
