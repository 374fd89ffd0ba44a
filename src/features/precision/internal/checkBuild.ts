import {
  addProblem,
  type CheckContext,
  type FileContext,
  type NodeCounts,
  someNames,
} from '../../../kernel/rules/precisionPlan.ts';
import { checkTarget } from './checkTypes.ts';
import { foreignNodeEvidence } from './foreignNodeEvidence.ts';
import type { NodeIndex, RuleMatch } from '../../../kernel/rules/resolveOverrides.ts';
import { counted, maxArgumentBytes, thousands, utf8Length } from '../../../kernel/base/text.ts';
import { precisionType, removeLine } from '../../../kernel/rules/overrideFile.ts';
import { hasLayerFlags, noLayerFlags, targetName, typeSince } from '../../../kernel/rules/buildFacts.ts';
import { cannotCarry, dialectOf, type TrtexecDialect } from '../../../kernel/build/trtexecFlags.ts';

/** What the TensorRT at hand and the flags of the last build mean for the file as a whole. */
export function checkBuild(context: FileContext): void {
  const { base } = context.file;
  if (base?.usable && base.value !== null) {
    const word = { type: precisionType(base.value), text: base.value, range: base.valueRange };
    checkTarget(context, word, ['fp16', 'keep']);
  }
  checkFlags(context);
  checkLastFlags(context);
  checkLength(context);
}

const nameBytes = new WeakMap<NodeIndex, Int32Array>();

/** All layers with their types make one argument, and a system passes none that is longer than this. */
function checkLength(context: FileContext): void {
  const { index, resolution, target, file, build } = context;
  if (hasLayerFlags(target) !== true || build?.flags?.stronglyTyped) return;
  const bytes = bytesOf(index);
  let length = '--layerPrecisions='.length;
  let layers = 0;
  for (const [node, r] of resolution.winner.entries()) {
    const type = resolution.matches[r]?.rule.type?.type;
    if (!type || index.computes[node] !== 1) continue;
    layers++;
    length += (bytes[node] ?? 0) + type.length + 2;
  }
  if (length <= maxArgumentBytes) return;
  const most = resolution.matches.reduce((sum, { effective }) => Math.max(sum, effective), 0);
  const range = resolution.matches.find(({ effective }) => effective === most)?.rule.selectors[0]?.range;
  if (!range) return;
  const base = file.base ? '' : ', or add a "base" line for the type of most nodes';
  const message = `--layerPrecisions for ${counted(layers, 'layer')} would be ${counted(length, 'byte')} long; Linux allows at most ${thousands(maxArgumentBytes)} bytes in one argument. Apply the rules to the model${base}, or build with the Python back-end.`;
  addProblem(context, range, 'warning', 'argument-too-long', message);
}

function bytesOf(index: NodeIndex): Int32Array {
  let bytes = nameBytes.get(index);
  if (!bytes) nameBytes.set(index, (bytes = Int32Array.from(index.names, utf8Length)));
  return bytes;
}

function checkFlags(context: FileContext): void {
  const { file, target, build } = context;
  if (hasLayerFlags(target) !== false) return;
  if (file.require) {
    const message = `${noLayerFlags(target)} "require" has no effect.`;
    addProblem(context, file.require.range, 'warning', 'no-layer-flags', message, [
      { title: 'Remove this line', edits: [removeLine(file.require.range.line)], preferred: true },
    ]).unnecessary = true;
    return;
  }
  // Who has built a typed copy knows.
  if (build?.declared !== undefined) return;
  const first = file.rules.find(({ usable, type }) => usable && type !== null);
  if (first?.type) addProblem(context, first.type.range, 'info', 'no-layer-flags', noLayerFlags(target));
}

/** What the last build was run with that makes rules idle. */
function checkLastFlags(context: FileContext): void {
  const { build, target, resolution } = context;
  if (hasLayerFlags(target) !== true || !build || build.declared !== undefined) return;
  const usable = resolution.matches
    .filter(({ rule, nodes }) => rule.usable && rule.type !== null && nodes.length > 0)
    .map(({ rule }) => rule);
  const first = usable[0];
  if (!first?.type) return;
  if (build.flags?.stronglyTyped) {
    const message =
      'The last build was strongly typed, so TensorRT took all types from the model and ignored layer precisions. Build with these overrides, or apply them to the model.';
    addProblem(context, first.type.range, 'warning', 'flag-missing', message);
    return;
  }
  if (build.lines?.some(({ kind }) => kind === 'ignored')) {
    const message =
      'The last build ignored all layer precisions, because it ran without --precisionConstraints=obey or prefer. Build with these overrides, which sets the option.';
    addProblem(context, first.type.range, 'warning', 'flag-missing', message);
  }
  const { flags } = build;
  if (!flags) return;
  // A rule cannot request fp8 or int4 at all.
  for (const type of ['fp16', 'bf16', 'int8'] as const) {
    const word = usable.map((rule) => rule.type).find((candidate) => candidate?.type === type);
    if (!word || flags.types.includes(type) || typeSince(type, target) !== null) continue;
    const message = `The last build ran without --${type}, so ${targetName(target)} could not choose ${type} kernels. Build with these overrides, which adds the flag.`;
    addProblem(context, word.range, 'info', 'flag-missing', message);
  }
}

/** Names of a rule's nodes that trtexec's flags cannot express. */
export function checkNames(context: CheckContext, match: RuleMatch): void {
  const { index, target } = context;
  const range = match.rule.selectors[0]?.range;
  if (!range || hasLayerFlags(target) === false) return;
  const reasons = stuckNames(index, dialectOf(target.version));
  if (reasons.size === 0) return;
  const stuck = Array.from(match.nodes).filter((i) => reasons.has(i) && index.nodes[i]?.exempt === null);
  const one = stuck[0];
  if (one === undefined) return;
  const names = stuck.map((i) => index.names[i] ?? '');
  const what =
    stuck.length === 1
      ? `The name ${JSON.stringify(names[0])}`
      : `${counted(stuck.length, 'name')} (${someNames(names, 2)})`;
  const message = `${what} cannot be passed to trtexec: ${reasons.get(one)}. The rule still works in a rewritten model and with the Python back-end.`;
  addProblem(context, range, hasLayerFlags(target) === null ? 'info' : 'warning', 'trtexec-cannot-carry', message);
}

const stuckByIndex = new WeakMap<NodeIndex, { wildcard: boolean; reasons: Map<number, string> }>();

/** Nodes (positions) whose names a dialect cannot express, with the reason; found once for a model. */
function stuckNames(index: NodeIndex, dialect: TrtexecDialect): ReadonlyMap<number, string> {
  const known = stuckByIndex.get(index);
  if (known?.wildcard === dialect.wildcard) return known.reasons;
  const reasons = new Map<number, string>();
  for (const [i, name] of index.names.entries()) {
    const reason = cannotCarry(name, dialect, index.names);
    if (reason !== null) reasons.set(i, reason);
  }
  stuckByIndex.set(index, { wildcard: dialect.wildcard, reasons });
  return reasons;
}

/** What is known of a rule for nodes inside ForeignNodes of the last build. */
export function checkForeignNodes(context: CheckContext, match: RuleMatch, counts: NodeCounts): void {
  const range = match.rule.selectors[0]?.range;
  if (
    !context.build ||
    counts.foreign === 0 ||
    counts.eligible === 0 ||
    !match.rule.usable ||
    !match.rule.type ||
    !range
  )
    return;
  const { severity, message } = foreignNodeEvidence(context, match, counts);
  addProblem(context, range, severity, 'inside-foreign-node', message);
}
