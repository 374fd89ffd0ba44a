import { type ChangeState, changeStates } from '../../../report/buildDiff.ts';

/**
 * How each state is painted: what is gone or unknown in stripes, so that no two are told apart by color alone; the sign
 * in front of a node's operator says the same.
 * @param paints of core/picture/graph/overlay.ts
 */
export const comparisonPaints = (paints: {
  derived: number;
  unknown: number;
  plain: number;
  lost: number;
}): Record<ChangeState, number> => ({
  lost: paints.lost,
  unknown: paints.unknown,
  regrouped: 2,
  added: 6,
  removed: paints.derived + 1,
  changed: 3,
  time: paints.plain,
});

/** Key of a state's line in the legend: fates, which have lines of their own, have keys of the same name. */
export const changeKey = (state: ChangeState): string => `change:${state}`;

/** Keys of the legend's lines, in their order. */
export const comparisonKeys: readonly string[] = [
  ...(Object.keys(changeStates) as ChangeState[]).map(changeKey),
  'older',
  'same',
];
