import type { FusionReport, FusionSaving, TimeFinding } from '../fusion/fusionReport.ts';
import { counted, sizeText, timeText } from '../text/numbers.ts';

const titles: Readonly<Record<TimeFinding['code'], string>> = {
  'launch-bound': 'Launch-bound',
  'host-gaps': 'Waits for the host',
  'memory-bound': 'Memory-bound',
  'no-tensor-cores': 'No tensor cores',
  'misaligned-channels': 'Misaligned channels',
  'reformat-cost': 'Reformats',
};

/** `Launch-bound` */
export const findingTitle = ({ code }: TimeFinding): string => titles[code];

/** `Reformats, 12.0 µs`, with a mark where it is derived. */
export const findingHead = (finding: TimeFinding): string =>
  `${findingTitle(finding)}, ${timeText(finding.ms)}${finding.exact ? '' : ' (derived)'}`;

/** What fusion saved in a group; undefined: nothing is known of it. */
export function savingOf(
  { savings = [] }: FusionReport,
  group: { foreignNode: number } | { layer: number },
): FusionSaving | undefined {
  return savings.find(({ of }) =>
    'foreignNode' in group
      ? 'foreignNode' in of && of.foreignNode === group.foreignNode
      : 'layer' in of && of.layer === group.layer,
  );
}

/** `3 launches and 1.5 MiB of 4 tensors, derived`; '' where nothing was saved or is known. */
export function savingText({ launches, bytes, tensors, unknownTensors }: FusionSaving): string {
  const parts = [
    launches !== null && launches > 0 ? counted(launches, 'launch', 'launches') : '',
    bytes !== null && tensors > 0 ? `${sizeText(bytes)} of ${counted(tensors, 'tensor')} that stay in kernels` : '',
    unknownTensors > 0 ? `${counted(unknownTensors, 'tensor')} of unknown size` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? '' : `${parts.join(', ')} (derived)`;
}
