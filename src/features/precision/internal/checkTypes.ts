import { changeTo } from './changeType.ts';
import { addProblem, type CheckContext, someNames } from '../../../kernel/rules/precisionPlan.ts';
import { checkOutputs } from './checkOutputs.ts';
import { checkQuantized } from './checkQuantized.ts';
import { namesFix } from './explainUnknownName.ts';
import {
  type Exemption,
  hasLayerFlags,
  missingCapability,
  type NodeFacts,
  targetName,
  typeSince,
} from '../../../kernel/rules/buildFacts.ts';
import type { NodeIndex, RuleMatch } from '../../../kernel/rules/resolveOverrides.ts';
import { halfSince } from '../../../kernel/rules/opTypes.ts';
import { isFloating, type Rule, type TypeWord } from '../../../kernel/rules/overrideFile.ts';
import { removeSelector } from './removeSelector.ts';
import { fateWords } from '../../../kernel/report/words.ts';
import { counted } from '../../../kernel/base/text.ts';

/** Types that the version, the GPU or the operator cannot do, and nodes that accept no precision. */
export function checkTypes(context: CheckContext, match: RuleMatch): void {
  const { rule } = match;
  if (!rule.usable || !rule.type) return;
  for (const word of [rule.type, ...rule.outputs]) checkTarget(context, word);
  checkExempt(context, match);
  checkComputeType(context, match, rule.type);
  checkOutputs(context, match);
}

/** Types that the version or the GPU at hand does not have, also on a `base` line, which takes the `others`. */
export function checkTarget(context: CheckContext, word: TypeWord, others?: readonly string[]): void {
  const { target } = context;
  if (!word.type) return;
  const since = typeSince(word.type, target);
  if (since) {
    const message = `${targetName(target)} does not support ${word.type}: TensorRT has it since ${since}.`;
    addProblem(context, word.range, 'error', 'type-unsupported-version', message, changeTo(word, others));
    return;
  }
  const capability = missingCapability(word.type, target);
  if (capability !== null) {
    const message = `The GPU of the last build (compute capability ${decimal(target.capability)}) does not support ${word.type}, which needs ${decimal(capability)}.`;
    addProblem(context, word.range, 'warning', 'type-unsupported-gpu', message, changeTo(word, others));
  }
}

function decimal(capability: number | null): string {
  return capability === null ? '?' : (capability / 10).toFixed(1);
}

const exemptText: Readonly<Record<Exemption, { code: string; text: string }>> = {
  integer: { code: 'integer-node', text: 'computes integers or booleans, which have no selectable precision' },
  convert: { code: 'convert-node', text: 'has an output type that the model fixes' },
  shape: { code: 'shape-node', text: 'computes a shape on the host, where layer precisions do not apply' },
  constant: {
    code: 'constant-node',
    text: 'depends only on constants or static shapes, so TensorRT folds it during the build',
  },
  control: { code: 'control-node', text: 'does not become a layer; select the nodes inside its subgraphs' },
  engine: { code: 'engine-node', text: 'is an engine that ONNX Runtime compiled, in the precisions of its build' },
};

function checkExempt(context: CheckContext, match: RuleMatch): void {
  for (const [s, selector] of match.rule.selectors.entries()) {
    const selected = match.selected[s] ?? new Int32Array(0);
    if (selector.negated || selected.length === 0) continue;
    const nodes = Array.from(selected.subarray(0, 1), (i) => context.index.nodes[i]);
    const exempt = nodes[0]?.exempt ?? null;
    if (exempt === null || selected.some((i) => context.index.computes[i] === 1)) {
      if (selector.kind === 'name') checkFolded(context, match.rule, s, selected);
      continue;
    }
    const { code, text } = exemptText[exempt];
    const message =
      selected.length === 1
        ? `This node ${text}.`
        : `None of the ${counted(selected.length, 'node')} selected here accepts a precision: the first ${text}.`;
    const whole = { ...selector, textRange: selector.range };
    const inside = exempt === 'control' ? namesFix(whole, namesInside(context.index, selected)) : [];
    addProblem(context, selector.range, 'warning', code, message, [...inside, removeSelector(match.rule, s)]);
  }
}

/** The nodes inside the subgraphs of nodes that can accept a precision. */
function namesInside(index: NodeIndex, owners: Int32Array): string[] {
  const ids = new Set(Array.from(owners, (i) => index.nodes[i]?.id));
  const names = new Set<string>();
  for (const [i, { id, exempt }] of index.nodes.entries()) {
    if (exempt !== null) continue;
    for (let end = id.indexOf('/'); end >= 0; end = id.indexOf('/', end + 1))
      if (ids.has(id.slice(0, end))) names.add(index.names[i] ?? '');
  }
  return [...names];
}

/** A named node that the last build had no work for. */
function checkFolded(context: CheckContext, rule: Rule, position: number, selected: Int32Array): void {
  const selector = rule.selectors[position];
  const node = selected[0] ?? -1;
  const fate = context.build?.nodes[node]?.fate;
  if (!selector || selected.length !== 1 || (fate !== 'folded' && fate !== 'removed' && fate !== 'shape')) return;
  const message = `According to the last build, this node ${fateWords[fate].predicate}, so a precision has no effect on it.`;
  addProblem(context, selector.range, 'warning', 'folded-node', message, [removeSelector(rule, position)]);
}

function checkComputeType(context: CheckContext, match: RuleMatch, word: TypeWord): void {
  const type = word.type;
  if (!type || type === 'fp32') return;
  const eligible: NodeFacts[] = [];
  for (const i of match.nodes) {
    const node = context.index.nodes[i];
    if (node?.exempt === null) eligible.push(node);
  }
  if (eligible.length === 0) return;
  if (type === 'int32' || type === 'int64' || type === 'bool') {
    const ops = [...new Set(eligible.map(({ op }) => op))];
    const message =
      ops.length === 1
        ? `${ops[0]} computes in floating point and does not support ${type}.`
        : `${someNames(ops)} compute in floating point and do not support ${type}.`;
    addProblem(context, word.range, 'error', 'type-unsupported-op', message, changeTo(word));
    return;
  }
  if (!isFloating(type) || type === 'fp8') {
    checkQuantized(context, word, eligible);
    return;
  }
  const half = type === 'fp16' ? 'float16' : 'bfloat16';
  const opset = context.index.facts.opset;
  const single = eligible.filter(({ op, domain }) => halfSince(op, domain, half) > opset);
  if (single.length === 0) return;
  const ops = [...new Set(single.map(({ op }) => op))];
  const newest = Math.max(...ops.map((op) => halfSince(op, '', half)));
  const when = newest >= 999 ? 'in no opset' : `only since opset ${newest} (this model has ${opset})`;
  const all = single.length === eligible.length;
  const rest = all ? '' : ` A rewritten model keeps ${counted(single.length, 'such node')} in fp32.`;
  const message = `ONNX allows ${type} for ${someNames(ops)} ${when}.${rest}`;
  // Flags name no ONNX types: there it is TensorRT's own layer that counts.
  const severity = all && hasLayerFlags(context.target) !== true ? 'error' : 'info';
  addProblem(context, word.range, severity, 'type-unsupported-op', message, changeTo(word));
}
