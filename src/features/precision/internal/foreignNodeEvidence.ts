import { counted, shorten, thousands } from '../../../kernel/base/text.ts';
import { before } from '../../../kernel/build/trtexecFlags.ts';
import { buildIndexOf } from '../../../kernel/rules/buildIndex.ts';
import type { CheckContext, NodeCounts } from '../../../kernel/rules/precisionPlan.ts';
import type { RuleMatch } from '../../../kernel/rules/resolveOverrides.ts';
import { hasLayerFlags, targetName } from '../../../kernel/rules/buildFacts.ts';

/**
 * What this version does with a rule for nodes inside a ForeignNode: from the last build's own log where it says
 * something, otherwise from recorded builds (8.6.1 and 10.6.0), named as such. Never a guess.
 */
export function foreignNodeEvidence(
  context: CheckContext,
  match: RuleMatch,
  counts: NodeCounts,
): { severity: 'info' | 'warning'; message: string } {
  const { target } = context;
  const where = whereText(context, match.nodes.length, counts);
  if (hasLayerFlags(target) === false || context.build?.flags?.stronglyTyped) {
    return {
      severity: 'info',
      message: `${where} Casts in the model also work inside a ForeignNode: in a recorded 10.6.0 build of a model with Casts around 14 nodes, all their kernels read and wrote the requested type.`,
    };
  }
  const own = ownLines(context, match);
  if (target.version && before(target.version, [9, 0, 0])) {
    const recorded =
      target.version[0] === 8 && target.version[1] === 6 ? '' : ' (of 8.6.1; this version has no recorded build)';
    return {
      severity: 'warning',
      message: `${where} ${targetName(target)} shows a ForeignNode as one layer and logs no layer precision, so the rule cannot be verified. In recorded builds${recorded} such a rule changed only the types at the boundary of the region or its scratch memory, as far as the log shows. To be sure, apply the rules to the model.`,
    };
  }
  const recorded =
    target.version?.[0] === 10 && target.version[1] === 6 ? 'In recorded builds' : 'In recorded 10.6.0 builds';
  return {
    severity: 'info',
    message: `${where}${own} ${recorded} a LayerNormalization got FP32 inputs as requested; a Softmax inside a fused attention kernel kept FP16 at the boundary of the kernel, so its own type cannot be verified. To be sure, apply the rules to the model.`,
  };
}

function whereText(context: CheckContext, nodes: number, counts: NodeCounts): string {
  const { build } = context;
  const largest = counts.groups[0];
  const name = build?.foreignNodes[largest?.group ?? -1]?.name ?? '';
  const all = counts.foreign === nodes;
  const count = all
    ? nodes === 1
      ? 'This node is'
      : nodes === 2
        ? 'Both nodes are'
        : `All ${counted(nodes, 'node')} are`
    : `${thousands(counts.foreign)} of ${counted(nodes, 'node')} ${counts.foreign === 1 ? 'is' : 'are'}`;
  const place =
    counts.groups.length === 1
      ? `the ForeignNode ${shorten(name)}`
      : `${counts.groups.length} ForeignNodes, most in ${shorten(name)}`;
  return `${count} inside ${place} of the last build.`;
}

/** The log of the last build on these very nodes. */
function ownLines(context: CheckContext, match: RuleMatch): string {
  const set = context.build && buildIndexOf(context.build).setLayers;
  if (!set || set.size === 0 || !match.rule.type) return '';
  let taken = 0;
  for (const i of match.nodes) if (set.has(context.index.names[i] ?? '')) taken++;
  if (taken === 0) return ' The last build did not request it.';
  if (taken === match.nodes.length)
    return ` The last build accepted the rule ("Set layer … to precision" for ${taken === 1 ? 'it' : 'each'}).`;
  return ` The last build accepted it for ${taken} of them.`;
}
