import { counted, sizeText, timeText } from '../text/numbers.ts';
import type { FloatIsland } from './floatIslands.ts';
import type { PairFate, QuantisedPair } from './pairs.ts';

/** What became of a pair, as it is read in a sentence: `Pair of "x": fused`. */
export const pairFates: Readonly<Record<PairFate, string>> = {
  fused: 'fused into a kernel next to it',
  moved: 'fused into a kernel further away',
  kernel: 'a kernel of its own',
  reformat: 'a reformat',
  folded: 'folded',
  removed: 'removed',
  unknown: 'unknown',
};

/** `64 fused, 2 kernel`, of the pairs of activations; '' if there are none. */
export function pairCounts(pairs: readonly QuantisedPair[]): string {
  const fates = new Map<PairFate, number>();
  for (const { fate, constant } of pairs) if (!constant) fates.set(fate, (fates.get(fate) ?? 0) + 1);
  return [...fates].map(([fate, count]) => `${count} ${fate}`).join(', ');
}

/** `2 nodes in floating point between INT8 nodes: 2.00 KiB go in and out, 12.4 µs`. */
export function islandText({ nodes, bytes, ms }: FloatIsland): string {
  const cost = [bytes === null ? '' : `${sizeText(bytes)} go in and out`, ms === null ? '' : timeText(ms)];
  const known = cost.filter((part) => part !== '').join(', ');
  return `${counted(nodes.length, 'node')} in floating point between INT8 nodes${known === '' ? '' : `: ${known}`}`;
}
