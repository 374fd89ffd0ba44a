import { isFloatType } from '../../../kernel/read/onnx/onnxModel.ts';
import { changeTo } from './changeType.ts';
import { addProblem, type CheckContext, someNames } from '../../../kernel/rules/precisionPlan.ts';
import { checkQuantized } from './checkQuantized.ts';
import { isFloating, replaceRange, type TypeWord } from '../../../kernel/rules/overrideFile.ts';
import type { RuleMatch } from '../../../kernel/rules/resolveOverrides.ts';
import { counted } from '../../../kernel/base/text.ts';

/** The types after `->`: as many as the nodes have outputs, and of a kind that the outputs can have. */
export function checkOutputs(context: CheckContext, match: RuleMatch): void {
  const { outputs } = match.rule;
  if (outputs.length === 0 || checkCount(context, match)) return;
  for (const [position, word] of outputs.entries()) {
    if (word.type === null || word.type === 'fp32') continue;
    if (isFloating(word.type) && word.type !== 'fp8') continue;
    if (word.type === 'int8' || word.type === 'fp8' || word.type === 'int4') checkQuantized(context, word, null);
    else checkWhole(context, match, word, outputs.length === 1 ? null : position);
  }
  if (outputs.length > 1) checkFloat(context, match);
}

function checkCount(context: CheckContext, { rule, nodes }: RuleMatch): boolean {
  const given = rule.outputs.length;
  const first = rule.outputs[0];
  const last = rule.outputs.at(-1);
  if (given < 2 || !first || !last) return false;
  const wrong: string[] = [];
  for (const i of nodes) {
    const node = context.index.nodes[i];
    if (node?.exempt === null && node.outputs.length !== given)
      wrong.push(`${context.index.names[i]} (${node.outputs.length})`);
  }
  if (wrong.length === 0) return false;
  const range = { ...first.range, endColumn: last.range.endColumn };
  const message = `${counted(given, 'output type')} given, but ${someNames(wrong)} ${wrong.length === 1 ? 'has' : 'have'} a different number of outputs. Give one type for all outputs, or one for each.`;
  const fixes = first.type
    ? [{ title: `Use ${first.type} for all outputs`, edits: [replaceRange(range, first.type)] }]
    : [];
  addProblem(context, range, 'error', 'output-count', message, fixes);
  return true;
}

/** An integer or boolean type for outputs that are floating-point numbers; `position` null: for every output. */
function checkWhole(context: CheckContext, { nodes }: RuleMatch, word: TypeWord, position: number | null): void {
  const { index } = context;
  for (const i of nodes) {
    const node = index.nodes[i];
    const types = position === null ? node?.types : [node?.types[position]];
    if (node?.exempt !== null || !types?.some((type) => type && isFloatType(type))) continue;
    const message = `${JSON.stringify(index.names[i])} has floating-point outputs, so ${word.type} is not a valid output type.`;
    addProblem(context, word.range, 'error', 'output-type', message, changeTo(word));
    return;
  }
}

/** A floating-point type for one output that is integers or booleans. */
function checkFloat(context: CheckContext, { rule, nodes }: RuleMatch): void {
  const { index } = context;
  for (const [position, word] of rule.outputs.entries()) {
    if (word.type === null || !isFloating(word.type)) continue;
    for (const i of nodes) {
      const node = index.nodes[i];
      const type = node?.types[position];
      if (node?.exempt !== null || !type || isFloatType(type)) continue;
      const own = type === 'bool' ? 'bool' : 'int32';
      const message = `Output ${position + 1} of ${JSON.stringify(index.names[i])} is ${type} and cannot become ${word.type}.`;
      const fix = { title: `Change to ${own}`, edits: [replaceRange(word.range, own)], preferred: true };
      addProblem(context, word.range, 'warning', 'output-type', message, [fix]);
      break;
    }
  }
}
