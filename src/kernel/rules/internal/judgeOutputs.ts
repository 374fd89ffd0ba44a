import { shorten } from '../../base/text.ts';
import type { BuildFacts, BuiltLayer, NodeFacts } from '../buildFacts.ts';
import { isFloating, precisionType, type PrecisionType, typeOfEngineTensor } from '../overrideFile.ts';
import type { NodeVerdict } from '../precisionPlan.ts';

/**
 * A rule that also asks for output types is obeyed only where these are seen, too: at the outputs of the layer that
 * shows the compute type. In a strongly typed build a Cast after the node makes them, and may be part of the same
 * kernel.
 */
export function judgeOutputs(
  judged: NodeVerdict,
  build: BuildFacts,
  stronglyTyped: boolean,
  typed: NodeFacts | null,
): NodeVerdict {
  const { node } = judged;
  const wanted = new Set((node.outputs ?? []).filter(isFloating));
  // A typed copy has those Casts: it was written so.
  if (judged.verdict !== 'obeyed' || wanted.size === 0 || build.declared) return judged;
  if (typed) return judgeTyped(judged, typed);
  const asComputed = wanted.size === 1 && wanted.has(node.compute);
  const layer = build.layers.find(({ name }) => name === judged.layer);
  if (!layer && !stronglyTyped) return asComputed ? judged : { ...judged, verdict: 'disobeyed' };
  const made = layer ? outputsOf(layer) : [];
  if (asComputed && isOnly(made, node.compute)) return judged;
  if (layer?.nodes.length === 1 && made.length > 0) {
    if (made.every((type) => wanted.has(type))) return judged;
    if (!stronglyTyped && build.nodes[node.position]?.layers.length === 1) {
      const reason = `The layer ${shorten(layer.name)} outputs ${listed(made)}, not ${listed(wanted)}.`;
      return { ...judged, verdict: 'disobeyed', reason };
    }
  }
  return { ...judged, verdict: 'unseen', certain: true, reason: unseen(node.compute, wanted, layer, made) };
}

/** By the strongly typed model that was built: the output itself, or what the Cast after it makes. */
function judgeTyped(judged: NodeVerdict, { types, casts }: NodeFacts): NodeVerdict {
  for (const [i, wanted] of (judged.node.outputs ?? []).entries()) {
    const made = [types[i], casts?.[i]].flatMap((type) => precisionType(type ?? '') ?? []);
    if (!isFloating(wanted) || made.length === 0 || made.includes(wanted)) continue;
    const reason = `The build was strongly typed, and in the model output ${i} of this node is ${[...new Set(made)].join(', cast to ')}, not ${wanted}.`;
    return { ...judged, verdict: 'disobeyed', reason };
  }
  return judged;
}

function unseen(compute: PrecisionType, wanted: Set<PrecisionType>, layer?: BuiltLayer, made: PrecisionType[] = []) {
  const seen = layer && made.length > 0 ? `: ${shorten(layer.name)} outputs ${listed(made)}` : '';
  return `It computes in ${compute}, but its output type ${listed(wanted)} cannot be verified${seen}.`;
}

function outputsOf(layer: BuiltLayer): PrecisionType[] {
  const types = layer.outputs.map(({ type }) => typeOfEngineTensor(type));
  return types.filter((type) => type !== null).filter(isFloating);
}

const isOnly = (types: PrecisionType[], type: PrecisionType): boolean =>
  types.length > 0 && types.every((one) => one === type);

const listed = (types: Iterable<PrecisionType>): string => [...new Set(types)].sort().join(' and ');
