import type { Change } from '../../diff/buildDiff.ts';
import { changeStates, stateOfChange } from '../../diff/comparison.ts';
import type { ChangeState, BuildComparison } from '../../diff/comparison.ts';
import { alikeChanges } from '../../diff/output/diffText.ts';
import type { FusionReport } from '../../fusion/fusionReport.ts';
import { layerLabel } from '../../report/labels.ts';
import { layerOf } from '../../report/layers.ts';
import { timeText } from '../../text/numbers.ts';
import { layerMs } from './fusionTimeline.ts';
import type { Cell, TableColumn } from './tableRows.ts';

/** One change as a line of the table with both sides. */
export interface ChangeRow {
  change: Change;
  state: ChangeState;
  /** Milliseconds of the layers of each side; null: not timed. */
  msA: number | null;
  msB: number | null;
}

/** Every change with the times of both sides, in the order of the diff: the largest change of time first. */
export const toChangeRows = (after: FusionReport, { diff, before }: BuildComparison): ChangeRow[] =>
  diff.changes.map((change) => ({
    change,
    state: stateOfChange(change),
    msA: msOf(before, change.layersA),
    msB: msOf(after, change.layersB),
  }));

function msOf(report: FusionReport, ids: readonly number[]): number | null {
  let sum: number | null = null;
  for (const id of ids) {
    const layer = layerOf(report, id);
    const ms = layer === undefined ? null : layerMs(report, layer);
    if (ms !== null) sum = (sum ?? 0) + ms;
  }
  return sum;
}

/** Without the change of time, which has columns of its own. */
const sentence = ({ message }: Change): string => message.replace(/: [+−][^:]*\.$/, '.');

/** The columns of the table of changes. */
export const changeColumns: readonly TableColumn<ChangeRow>[] = [
  column('name', 'Change', 'text', ({ change }) => sentence(change), 'What changed, in a sentence'),
  column(
    'delta',
    'Delta',
    'delta',
    ({ change }) => change.deltaMs,
    'Time that B takes more than A; each layer counts once',
  ),
  column('msA', 'Time A', 'ms', ({ msA }) => msA, 'Time of the layers concerned in A'),
  column('msB', 'Time B', 'ms', ({ msB }) => msB, 'Time of the layers concerned in B'),
  column(
    'state',
    'State',
    'text',
    ({ state }) => `${changeStates[state].sign} ${changeStates[state].label}`,
    'What happened',
  ),
  column('kind', 'Kind', 'text', ({ change }) => change.kind, 'Kind of change, as in trtlens diff --json'),
  column('a', 'A', 'text', ({ change }) => change.a || null, 'What was there in A'),
  column('b', 'B', 'text', ({ change }) => change.b || null, 'What is there in B'),
  column(
    'nodes',
    'Nodes',
    'number',
    ({ change }) => Math.max(change.nodesA.length, change.nodesB.length),
    'Nodes concerned',
  ),
  column(
    'known',
    'Known',
    'text',
    ({ change }) => (change.exact ? 'exact' : 'derived'),
    'Whether TensorRT named every node',
  ),
];

function column(
  id: string,
  title: string,
  kind: TableColumn<ChangeRow>['kind'],
  value: (row: ChangeRow) => Cell,
  meaning: string,
): TableColumn<ChangeRow> {
  return { id, title, kind, value, meaning };
}

/** Changes that say the same of repeated modules, as one entry of the list. */
export interface ChangeGroup {
  /** The first of them speaks for all. */
  first: Change;
  changes: Change[];
  state: ChangeState;
  deltaMs: number | null;
  sentence: string;
}

/** The list of changes: alike ones together, what changes most of the time first. */
export const toChangeGroups = ({ diff }: BuildComparison): ChangeGroup[] =>
  alikeChanges(diff.changes).map(({ changes, deltaMs }) => ({
    first: changes[0]!,
    changes,
    state: stateOfChange(changes[0]!),
    deltaMs,
    sentence: sentence(changes[0]!),
  }));

/** What says so: a layer with its type, tactic and time, and where the log lists it. */
export interface ChangeEvidence {
  side: 'a' | 'b';
  layer: number;
  text: string;
  /** Line of that side's log, from 1; null: no log lists it. */
  line: number | null;
}

/** The layers of both sides that a change is about. */
export function evidenceOf(change: Change, before: FusionReport, after: FusionReport): ChangeEvidence[] {
  const of = (side: 'a' | 'b', report: FusionReport, ids: readonly number[]) =>
    ids.flatMap((id): ChangeEvidence[] => {
      const layer = layerOf(report, id);
      if (layer === undefined) return [];
      const ms = layerMs(report, layer);
      const parts = [layerLabel(layer), layer.type, layer.tactic ?? '', ms === null ? '' : timeText(ms)];
      return [
        { side, layer: id, text: [...new Set(parts.filter((part) => part !== ''))].join(' · '), line: layer.line },
      ];
    });
  return [...of('a', before, change.layersA), ...of('b', after, change.layersB)];
}
