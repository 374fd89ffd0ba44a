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

/** `64 fused, 2 kernels of their own`, of the pairs of activations; '' if there are none. */
export function pairCounts(pairs: readonly QuantisedPair[]): string {
  const fates = new Map<PairFate, number>();
  for (const { fate, constant } of pairs) if (!constant) fates.set(fate, (fates.get(fate) ?? 0) + 1);
  return [...fates].map(([fate, count]) => countText(fate, count)).join(', ');
}

function countText(fate: PairFate, count: number): string {
  if (fate === 'kernel') return count === 1 ? '1 kernel of its own' : `${count} kernels of their own`;
  return fate === 'reformat' ? counted(count, fate) : `${count} ${fate}`;
}

/** `Q/DQ pairs: 2 of activations, 3 of weights. Pass …`: what is known of the pairs; '' if there are none. @param built a build says what became of them */
export function pairSummary(pairs: readonly QuantisedPair[], built: boolean): string {
  if (pairs.length === 0) return '';
  const activations = pairs.filter(({ constant }) => !constant).length;
  const counts = `${activations} of activations${built && activations > 0 ? ` (${pairCounts(pairs)})` : ''}, ${pairs.length - activations} of weights`;
  return `Q/DQ pairs: ${counts}.${built ? '' : ' Pass --build FOLDER for what TensorRT made of them.'}`;
}

/** `2 nodes in floating point between INT8 nodes: 2.00 KiB go in and out, 12.4 µs`. */
export function islandText({ nodes, bytes, ms }: FloatIsland): string {
  const cost = [bytes === null ? '' : `${sizeText(bytes)} go in and out`, ms === null ? '' : timeText(ms)];
  const known = cost.filter((part) => part !== '').join(', ');
  return `${counted(nodes.length, 'node')} in floating point between INT8 nodes${known === '' ? '' : `: ${known}`}`;
}
