import { describeAlgorithm } from './describeChoice.ts';
import { ignoredText } from './diffReplays.ts';
import type { ReplayDiff } from './diffReplays.ts';
import { counted } from '../text/numbers.ts';

/**
 * One side of a comparison of two replays, as text, for an editor that shows both next to each other: the layers that
 * differ, in the same order on both sides. A layer that a side lacks is omitted there.
 */
export function comparisonText(diff: ReplayDiff, side: 'before' | 'after'): string {
  const { differences, same } = diff;
  const lines = [`${counted(same, 'layer is', 'layers are')} the same in both.`];
  const ignored = ignoredText(diff);
  if (ignored !== null) lines.push(ignored);
  for (const { layer, [side]: entry } of differences)
    if (entry) lines.push('', layer, ...describeAlgorithm(entry.algorithm).map((line) => `    ${line}`));
  return `${lines.join('\n')}\n`;
}
