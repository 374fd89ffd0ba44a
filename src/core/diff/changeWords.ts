import { deltaText, isSameTime } from '../text/numbers.ts';
import type { ReportNode } from '../fusion/fusionReport.ts';
import type { ChangeKind } from './buildDiff.ts';
import type { Cluster } from './clusters.ts';
import { type Group, tacticOf } from './groups.ts';

/** Nodes as a sentence names them: up to two by name, then their number. */
export function nodeWords(nodes: readonly Pick<ReportNode, 'id' | 'name' | 'op'>[]): string {
  const words = ({ id, name, op }: (typeof nodes)[number]) => name || `${op} (node ${id})`;
  if (nodes.length <= 2) return nodes.map(words).join(' and ');
  return `${words(nodes[0]!)} … ${words(nodes.at(-1)!)} (${nodes.length} nodes)`;
}

/** What computes a cluster on either side. */
export const clusterWords = ({ a, b }: Cluster): [string, string] => [groupWords(a), groupWords(b)];

function groupWords(groups: readonly Group[]): string {
  const names = groups.map(({ layers, foreign, whole }) => {
    const name = layers[0] ? (tacticOf(layers[0]) ?? layers[0].name) : 'a ForeignNode';
    return whole ? 'one ForeignNode' : foreign ? `kernel ${name}` : `layer ${name}`;
  });
  if (names.length <= 2) return names.join(' and ');
  return `${names.length} ${groups.every(({ foreign }) => foreign) ? 'kernels' : 'layers'}, first ${names[0]}`;
}

/** Where the times of two builds were not measured in the same way. */
export const otherMethods = (isTracedA: boolean): string => {
  const [trace, profile] = isTracedA ? ['A', 'B'] : ['B', 'A'];
  return `The times of ${trace} are from a trace of the GPU, those of ${profile} from a profile of layers, which adds to each.`;
};

/** A change of time behind a sentence: `: +41.0 µs`; '' if there is none. */
export function delta(ms: number | null): string {
  if (ms === null || isSameTime(ms)) return '';
  return `: ${deltaText(ms)}`;
}

/**
 * The sentence of a change of grouping or fate.
 * @param count how many nodes it concerns
 * @param where for what moved with all that is computed with it: ` into a ForeignNode,`
 */
export function words(
  kind: ChangeKind,
  label: string,
  count: number,
  [a, b]: readonly [string, string],
  ms: number | null,
  where = '',
): string {
  const together = count === 1 ? '' : 'together ';
  const time = delta(ms);
  switch (kind) {
    case 'split':
      return `${label}: computed ${together}by ${a}, now split into ${b}${time}.`;
    case 'merged':
      return `${label}: computed by ${a}, now ${together}by ${b}${time}.`;
    case 'moved':
      if (a === '') return `${label}: now also computed by ${b}${time}.`;
      if (b === '') return `${label}: no longer also computed by ${a}${time}.`;
      return `${label}: moved${where} from ${a} to ${b}${time}.`;
    case 'folded':
      return b === '' ? `${label}: only in A, ${a}${time}.` : `${label}: was ${a}, now ${b}${time}.`;
    case 'computed':
      return a === '' ? `${label}: only in B, ${b}${time}.` : `${label}: was ${a}, now ${b}${time}.`;
    case 'unknown':
      return `${label}: was ${a}, now unknown${time}.`;
    case 'kernel':
    case 'precision':
    case 'format':
    case 'time':
      return `${label}: from ${a} to ${b}${time}.`;
  }
}
