import type { ChangeState } from '../../src/kernel/report/buildDiff.ts';

const paints: Readonly<Record<ChangeState, string>> = {
  lost: 'url(#lens-crossed)',
  unknown: 'url(#lens-hatched)',
  regrouped: 'var(--lens-c2)',
  added: 'var(--lens-c6)',
  removed: 'var(--lens-c1)',
  changed: 'var(--lens-c3)',
  time: 'var(--lens-gray)',
};

/** CSS paint of what happened to something; null: nothing. As in the graph's overlay of changes. */
export const statePaint = (state: ChangeState | null): string => (state === null ? 'var(--lens-gray)' : paints[state]);
