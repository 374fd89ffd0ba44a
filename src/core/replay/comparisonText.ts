import { tacticHex } from './algorithm.ts';
import type { TensorFormat } from './algorithm.ts';
import { formatWords, implementationName, isMyelin } from './describeChoice.ts';
import type { ReplayDiff } from './diffReplays.ts';
import type { ReplayEntry } from './replayFile.ts';

/**
 * One side of a comparison of two replays, in words, for an editor that shows both beside each other: the layers that
 * differ, in the same order on both sides. A layer that a side lacks is left out there.
 */
export function comparisonText({ differences, same }: ReplayDiff, side: 'before' | 'after'): string {
  const shared = `${same.toLocaleString('en-US')} ${same === 1 ? 'layer is' : 'layers are'} the same in both.`;
  const layers = differences.flatMap((difference) => {
    const entry = difference[side];
    return entry ? [['', difference.layer, ...choice(entry).map((line) => `    ${line}`)].join('\n')] : [];
  });
  return `${[shared, ...layers].join('\n')}\n`;
}

function choice({ algorithm }: ReplayEntry): string[] {
  const { implementation, tactic, inputs, outputs } = algorithm;
  return [
    implementationName(implementation),
    ...(isMyelin(algorithm) ? [] : [`Tactic ${tacticHex(tactic)}`]),
    ...inputs.map((format, i) => `Input ${i}: ${inFull(format)}`),
    ...outputs.map((format, i) => `Output ${i}: ${inFull(format)}`),
  ];
}

const inFull = (format: TensorFormat): string =>
  `${formatWords(format)}${format.strides ? ` (strides ${format.strides.join(', ')})` : ''}`;
