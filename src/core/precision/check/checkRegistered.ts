import { buildIndexOf } from './buildIndex.ts';
import { addProblem, someNames } from './checkContext.ts';
import type { CheckContext } from './checkContext.ts';
import { normalisations } from '../verify/judgeLayers.ts';
import type { RuleMatch } from '../language/resolveOverrides.ts';
import { hasLayerFlags, targetName } from '../plan/tensorrtTarget.ts';
import { counted } from '../../text/numbers.ts';

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
  const ownWay = match.rule.type?.type === 'fp32' && [...ops].every((op) => normalisations.has(op));
  const what =
    names.length === 1
      ? `no layer the name ${JSON.stringify(names[0])}`
      : `no layers the names of ${counted(names.length, 'node')} (${someNames(names, 2)})`;
  const message = `The log of the last build shows that ${targetName(target)} gave ${what}. --layerPrecisions does not apply to ${names.length === 1 ? 'it' : 'them'}, and trtexec does not warn. ${ownWay ? 'According to NVIDIA, normalisation computes in FP32 by default anyway, but no log shows it' : 'Apply the rules to the model instead'}.`;
  addProblem(context, range, ownWay ? 'info' : 'warning', 'layer-unregistered', message);
}
