import { judgeLayers } from '../../precision/verify/judgeLayers.ts';
import { resolveOverrides } from '../../precision/language/resolveOverrides.ts';
import { readSelector } from './gateSelector.ts';
import { planPrecision } from '../../precision/plan/precisionPlan.ts';
import { counted } from '../../text/numbers.ts';
import type { Check } from './gateFile.ts';
import type { GateFinding, GateSide } from './judgeGate.ts';

/** Judges `precision: { selector: type }` by what the layers of the build show, as `trtlens precision verify` does. */
export function judgePrecision({ key, limit }: Check, { types }: GateSide): GateFinding {
  if (limit.kind !== 'type') return { kept: null, message: 'This limit is not a type.' };
  if (!types) return { kept: null, message: 'This rule needs the nodes: pass the model with --onnx.' };
  const { facts, index } = types;
  const file = readSelector(key, limit.type);
  const resolved = resolveOverrides(file, index, facts);
  if (resolved.matches.every((match) => match.nodes.length === 0))
    return { kept: null, message: `${key} selects no node.` };
  const { nodes } = planPrecision(file, index, resolved);
  if (nodes.length === 0) return { kept: null, message: `${key} selects no node that accepts a precision.` };
  const judged = nodes.map((node) => ({ node, ...judgeLayers(node, facts, index.nodes[node.position]?.weight) }));
  const wrong = judged.filter(({ verdict }) => verdict === 'disobeyed');
  const named = (some: typeof judged) => some.map(({ node: { id, name } }) => ({ id, name }));
  const total = counted(nodes.length, 'node');
  if (wrong.length > 0)
    return {
      kept: false,
      message: `${wrong.length} of ${total} are not computed in ${limit.type}. For example, ${wrong[0]!.node.name}: ${wrong[0]!.reason}`,
      value: wrong.length,
      nodes: named(wrong),
    };
  const hidden = judged.filter(({ verdict }) => verdict === 'unseen');
  if (hidden.length > 0)
    return {
      kept: null,
      message: `The type of ${hidden.length} of ${total} cannot be verified. For example, ${hidden[0]!.node.name}: ${hidden[0]!.reason}`,
    };
  const probably = judged.filter(({ certain }) => !certain).length;
  const note = probably > 0 ? ` (${probably} of them probably, as verify says)` : '';
  return { kept: true, message: `${total} computed in ${limit.type}${note}.`, value: 0 };
}
