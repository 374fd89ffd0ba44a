// Checks rules before a build.
import { counted } from '../../kernel/base/text.ts';
import {
  type BuildFacts,
  hasLayerFlags,
  targetName,
  targetOfBuild,
  type TensorrtTarget,
} from '../../kernel/rules/buildFacts.ts';
import { buildIndexOf } from '../../kernel/rules/buildIndex.ts';
import { checkBuild, checkForeignNodes, checkNames } from './internal/checkBuild.ts';
import { checkRepeats } from './internal/checkRepeats.ts';
import { checkSelectors } from './internal/checkSelectors.ts';
import { checkTypes } from './internal/checkTypes.ts';
import type { OverrideFile, PrecisionProblem, Rule } from '../../kernel/rules/overrideFile.ts';
import {
  addProblem,
  type CheckContext,
  countNodes,
  type KnownScales,
  type NodeCounts,
  type RuleFacts,
  scalesOf,
  someNames,
} from '../../kernel/rules/precisionPlan.ts';
import {
  type NodeIndex,
  type ResolvedRules,
  resolveOverrides,
  type RuleMatch,
} from '../../kernel/rules/resolveOverrides.ts';
import { normalizations } from '../../kernel/rules/verifyPrecision.ts';

/** Nodes of a rule that flags cannot reach: the log of the last build registers no layer of their name. */
export function checkRegistered(context: CheckContext, match: RuleMatch): void {
  const { build, index, target } = context;
  const range = match.rule.selectors[0]?.range;
  if (!build || !range || hasLayerFlags(target) !== true || build.flags?.stronglyTyped) return;
  const { unregistered } = buildIndexOf(build);
  if (unregistered.size === 0) return;
  const lost = Array.from(match.nodes).filter((i) => unregistered.has(i) && index.computes[i] === 1);
  if (lost.length === 0) return;
  const names = lost.map((i) => index.names[i] ?? '');
  const ops = new Set(lost.map((i) => index.nodes[i]?.op ?? ''));
  const ownWay = match.rule.type?.type === 'fp32' && [...ops].every((op) => normalizations.has(op));
  const what =
    names.length === 1
      ? `no layer the name ${JSON.stringify(names[0])}`
      : `no layers the names of ${counted(names.length, 'node')} (${someNames(names, 2)})`;
  const message = `The log of the last build shows that ${targetName(target)} gave ${what}. --layerPrecisions does not apply to ${names.length === 1 ? 'it' : 'them'}, and trtexec does not warn. ${ownWay ? 'According to NVIDIA, normalization computes in FP32 by default anyway, but no log shows it' : 'Apply the rules to the model instead'}.`;
  addProblem(context, range, ownWay ? 'info' : 'warning', 'layer-unregistered', message);
}

/** What there is to know about an override file against a model and its last build. */
export interface PrecisionCheck {
  /** All problems, the reader's included, in the order of the text. */
  problems: PrecisionProblem[];
  /** One entry a rule, in order. */
  rules: RuleFacts[];
  /** null without a model. */
  resolution: ResolvedRules | null;
  target: TensorrtTarget;
}

/**
 * Checks an override file. Without a model only the text itself is checked; without a build nothing is said about
 * ForeignNodes. `target` is the TensorRT to check for: by default the one of the last build. `known` is what was read of the
 * file of the `scales` line.
 */
export function checkOverrides(
  file: OverrideFile,
  index: NodeIndex | null,
  build: BuildFacts | null,
  target: TensorrtTarget = targetOfBuild(build),
  known: KnownScales | null = null,
): PrecisionCheck {
  if (!index) {
    const rules = file.rules.map((rule) => ({ rule, line: rule.range.line, nodes: 0, effective: 0, ...nothing }));
    return { problems: inOrder(file.problems), rules, resolution: null, target };
  }
  // A build of another model (or of this one before it was changed) says nothing about these nodes.
  const fitting = build?.nodes.length === index.nodes.length ? build : null;
  const resolution = resolveOverrides(file, index, fitting);
  const problems = [...file.problems];
  const scales = scalesOf(file) === null ? null : (known ?? unread);
  const rules = resolution.matches.map((match): RuleFacts => {
    const { rule, nodes, effective } = match;
    const { line } = rule.range;
    const checked = checkRule(match, file.lines[line - 1]?.problems ?? [], { index, build: fitting, target, scales });
    for (const problem of checked.problems) problems.push(problem);
    return { rule, line, nodes: nodes.length, effective, ...checked.counts };
  });
  const context = { file, index, build: fitting, target, scales, resolution, problems };
  checkRepeats(context);
  checkBuild(context);
  return { problems: inOrder(problems), rules, resolution, target };
}

const unread: KnownScales = { tensors: null };

const nothing: NodeCounts = { eligible: 0, foreign: 0, groups: [] };

function inOrder(problems: readonly PrecisionProblem[]): PrecisionProblem[] {
  return [...problems].sort((a, b) => a.line - b.line || a.column - b.column);
}

/** What one rule is found to be, whatever the other rules say. */
interface CheckedRule extends CheckContext {
  counts: NodeCounts;
}

/** The reader gives unchanged lines' rules again at the next keystroke: only changed ones are checked again. */
const checkedRules = new WeakMap<Rule, CheckedRule>();

function checkRule(
  match: RuleMatch,
  unread: readonly PrecisionProblem[],
  { index, build, target, scales }: Omit<CheckContext, 'problems'>,
): CheckedRule {
  const known = checkedRules.get(match.rule);
  if (known?.index === index && known.build === build && known.target === target && known.scales === scales)
    return known;
  const checked = { index, build, target, scales, counts: countNodes(match.nodes, index, build), problems: [] };
  checkSelectors(checked, match, unread);
  checkTypes(checked, match);
  checkNames(checked, match);
  checkRegistered(checked, match);
  checkForeignNodes(checked, match, checked.counts);
  checkedRules.set(match.rule, checked);
  return checked;
}
