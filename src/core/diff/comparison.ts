import type { FusionReport } from '../fusion/fusionReport.ts';
import type { BuildDiff, Change, ChangeKind } from './buildDiff.ts';
import type { Difference } from './compareBuilds.ts';

/** Two builds side by side, as a view shows them: its own graph and report are those of B. */
export interface BuildComparison {
  diff: BuildDiff;
  /** The report of A. */
  before: FusionReport;
  /** What each side is called: when it was built, or its file. */
  names: { a: string; b: string };
  /** In what was requested and with what it was built the two differ. */
  facts: Difference[];
}

/** What happened to a node or a layer between two builds, in as many words as a picture has signs. */
export type ChangeState = 'unknown' | 'regrouped' | 'added' | 'removed' | 'changed' | 'time';

/** The states, what outweighs others first, with the sign that stands for each where colour cannot. */
export const changeStates: Readonly<Record<ChangeState, { sign: string; label: string; meaning: string }>> = {
  unknown: { sign: '?', label: 'No longer known', meaning: 'known in A; the inputs of B do not say' },
  regrouped: { sign: '±', label: 'Fused differently', meaning: 'computed together with fewer, more or other nodes' },
  added: { sign: '+', label: 'Computed in B only', meaning: 'new in the model, or folded or removed in A' },
  removed: { sign: '−', label: 'Computed in A only', meaning: 'folded, removed, or gone from the model' },
  changed: {
    sign: '~',
    label: 'Computed differently',
    meaning: 'the same nodes together, by another kernel, type or format',
  },
  time: { sign: '≈', label: 'Other time only', meaning: 'nothing but the time is known to differ' },
};

const stateOf: Readonly<Record<ChangeKind, ChangeState>> = {
  unknown: 'unknown',
  split: 'regrouped',
  merged: 'regrouped',
  moved: 'regrouped',
  computed: 'added',
  folded: 'removed',
  precision: 'changed',
  kernel: 'changed',
  format: 'changed',
  time: 'time',
};

/** What a change means for its nodes and layers. A layer without nodes that is only on one side is added or removed. */
export function stateOfChange({ kind, nodesA, nodesB, layersA, layersB }: Change): ChangeState {
  if (nodesA.length + nodesB.length === 0 && layersA.length === 0) return 'added';
  if (nodesA.length + nodesB.length === 0 && layersB.length === 0) return 'removed';
  return stateOf[kind];
}

const rank = Object.keys(changeStates) as ChangeState[];

/** What happened to each node and each layer of both sides; what is missing is the same. */
export function statesOf({ changes }: BuildDiff): {
  nodesA: Map<string, ChangeState>;
  nodesB: Map<string, ChangeState>;
  layersA: Map<number, ChangeState>;
  layersB: Map<number, ChangeState>;
} {
  const found = {
    nodesA: new Map<string, ChangeState>(),
    nodesB: new Map<string, ChangeState>(),
    layersA: new Map<number, ChangeState>(),
    layersB: new Map<number, ChangeState>(),
  };
  for (const change of changes) {
    const state = stateOfChange(change);
    mark(found.nodesA, change.nodesA, state);
    mark(found.nodesB, change.nodesB, state);
    mark(found.layersA, change.layersA, state);
    mark(found.layersB, change.layersB, state);
  }
  return found;
}

function mark<K>(states: Map<K, ChangeState>, keys: readonly K[], state: ChangeState): void {
  for (const key of keys) {
    const known = states.get(key);
    if (known === undefined || rank.indexOf(state) < rank.indexOf(known)) states.set(key, state);
  }
}
