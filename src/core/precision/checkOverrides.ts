import type { BuildFacts } from './buildFacts.ts';
import { buildIndexOf } from './buildIndex.ts';
import { checkBuild } from './checkBuild.ts';
import type { CheckContext } from './checkContext.ts';
import { checkRepeats } from './checkRepeats.ts';
import { checkSelectors } from './checkSelectors.ts';
import { checkTypes } from './checkTypes.ts';
import type { NodeIndex } from './nodeIndex.ts';
import type { OverrideFile, Rule } from './overrideFile.ts';
import type { PrecisionProblem } from './precisionProblem.ts';
import { resolveOverrides } from './resolveOverrides.ts';
import type { Resolution } from './resolveOverrides.ts';
import { targetOf } from './tensorrtTarget.ts';
import type { TensorrtTarget } from './tensorrtTarget.ts';

/** What there is to know about an override file against a model and its last build. */
export interface PrecisionCheck {
  /** All problems, the reader's included, in the order of the text. */
  problems: PrecisionProblem[];
  /** One entry a rule, in order. */
  rules: RuleFacts[];
  /** null without a model. */
  resolution: Resolution | null;
  target: TensorrtTarget;
}

export interface RuleFacts {
  rule: Rule;
  line: number;
  /** Nodes that it selects. */
  nodes: number;
  /** Of these, nodes that it decides for: no later rule selects them. */
  effective: number;
  /** Of these, nodes that take a precision at all. */
  eligible: number;
  /** Selected nodes inside ForeignNodes of the last build. */
  foreign: number;
  /** Per ForeignNode (position in the build) the number of selected nodes, most first. */
  groups: { group: number; nodes: number }[];
}

/**
 * Checks an override file. Without a model only the text itself is checked; without a build nothing is said about
 * ForeignNodes. `target` is the TensorRT to check for: by default the one of the last build.
 */
export function checkOverrides(
  file: OverrideFile,
  index: NodeIndex | null,
  build: BuildFacts | null,
  target: TensorrtTarget = targetOf(build?.product ?? null, build?.version ?? null, build?.gpu ?? null),
): PrecisionCheck {
  const problems = [...file.problems];
  // A build of another model (or of this one before it was changed) says nothing about these nodes.
  const fitting = index && build && build.nodes.length === index.nodes.length ? build : null;
  const resolution = index ? resolveOverrides(file, index, fitting) : null;
  const rules = file.rules.map((rule, i) =>
    ruleFacts(rule, resolution?.matches[i]?.nodes, resolution?.matches[i]?.effective, index, fitting),
  );
  if (index && resolution) {
    const context: CheckContext = { file, index, build: fitting, target, resolution, rules, problems };
    checkSelectors(context);
    checkTypes(context);
    checkRepeats(context);
    checkBuild(context);
  }
  problems.sort((a, b) => a.line - b.line || a.column - b.column);
  return { problems, rules, resolution, target };
}

const none = new Int32Array(0);

function ruleFacts(
  rule: Rule,
  nodes: Int32Array = none,
  effective = 0,
  index: NodeIndex | null,
  build: BuildFacts | null,
): RuleFacts {
  const line = rule.range.line;
  const known = counts.get(nodes);
  if (known && known.index === index && known.build === build)
    return { rule, line, nodes: nodes.length, effective, ...known.facts };
  const facts = countNodes(nodes, index, build);
  counts.set(nodes, { index, build, facts });
  return { rule, line, nodes: nodes.length, effective, ...facts };
}

type NodeCounts = Pick<RuleFacts, 'eligible' | 'foreign' | 'groups'>;

/** What was counted for lists of nodes, which the index gives again for the same pattern at the next keystroke. */
const counts = new WeakMap<Int32Array, { index: NodeIndex | null; build: BuildFacts | null; facts: NodeCounts }>();

function countNodes(nodes: Int32Array, index: NodeIndex | null, build: BuildFacts | null): NodeCounts {
  let eligible = 0;
  let foreign = 0;
  const groupOf = build && nodes.length > 0 ? buildIndexOf(build).foreign : null;
  const inGroup: number[] = [];
  for (const node of nodes) {
    eligible += index?.computes[node] ?? 0;
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
