// Tables of changes.
import { timeText } from '../../kernel/base/text.ts';
import {
  type BuildComparison,
  type Change,
  type ChangeState,
  changeStates,
  stateOfChange,
} from '../../kernel/report/buildDiff.ts';
import { alikeChanges } from './diffReports.ts';
import type { FusionReport } from '../../kernel/fusion/fusionReport.ts';
import { fateSentence, layerLabel, layerOf } from '../../kernel/report/words.ts';
import { indexGraph } from '../../kernel/picture/graph/graphIndex.ts';
import type { GraphData, GraphNode } from '../../kernel/picture/graph/viewData.ts';
import { layerMs } from '../../kernel/picture/page/fusionTimeline.ts';
import type { Cell, TableColumn } from '../../kernel/picture/page/layerRows.ts';

/** Alike changes as a line of the table with both sides. */
export interface ChangeRow {
  /** The first of them speaks for all. */
  change: Change;
  changes: readonly Change[];
  state: ChangeState;
  deltaMs: number | null;
  /** Milliseconds of the layers of each side; null: not timed. */
  msA: number | null;
  msB: number | null;
}

/** The changes with the times of both sides: alike ones together, what changes most of the time first. */
export const toChangeRows = (after: FusionReport, comparison: BuildComparison): ChangeRow[] =>
  toChangeGroups(comparison).map(({ first, changes, state, deltaMs }) => {
    const layers = (side: 'layersA' | 'layersB') => [...new Set(changes.flatMap((change) => change[side]))];
    return {
      change: first,
      changes,
      state,
      deltaMs,
      msA: msOf(comparison.before, layers('layersA')),
      msB: msOf(after, layers('layersB')),
    };
  });

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
  optional(
    'delta',
    'Delta',
    'delta',
    ({ deltaMs }) => deltaMs,
    'Time that B takes more than A; each layer counts once',
  ),
  optional('msA', 'Time A', 'ms', ({ msA }) => msA, 'Time of the layers concerned in A'),
  optional('msB', 'Time B', 'ms', ({ msB }) => msB, 'Time of the layers concerned in B'),
  optional(
    'alike',
    'Alike',
    'number',
    ({ changes }) => (changes.length > 1 ? changes.length : null),
    'Changes that say the same of repeated modules; a selection has all of them',
  ),
  column(
    'state',
    'State',
    'text',
    ({ state }) => `${changeStates[state].sign} ${changeStates[state].label}`,
    'What happened',
  ),
  column('kind', 'Kind', 'text', ({ change }) => change.kind, 'Kind of change, as in trtlens diff --json'),
  optional('a', 'A', 'text', ({ change }) => change.a || null, 'What was there in A'),
  optional('b', 'B', 'text', ({ change }) => change.b || null, 'What is there in B'),
  column(
    'nodes',
    'Nodes',
    'number',
    ({ changes }) => changes.reduce((sum, { nodesA, nodesB }) => sum + Math.max(nodesA.length, nodesB.length), 0),
    'Nodes concerned',
  ),
  column(
    'known',
    'Known',
    'text',
    ({ changes }) => (changes.every(({ exact }) => exact) ? 'exact' : 'derived'),
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

/** A column that is shown only where some change has a value. */
function optional(...args: Parameters<typeof column>): TableColumn<ChangeRow> {
  return { ...column(...args), optional: true };
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

/** One of two models that are compared, with what became of its nodes. */
export interface OlderModel {
  graph: GraphData;
  report: FusionReport;
}

/** In front of the ids and tensors that only the older model has: no tensor of the newer one may be taken for them. */
const mark = 'A: ';

/**
 * The graph of the newer of two models with the nodes that only the older one has, each where it was: connected with
 * what the newer model has of its neighbors, and inside the same subgraphs. Linear in nodes and edges.
 * @param toB position in the newer graph of each node of the older one; -1: it has none
 */
export function withOlderNodes(newer: GraphData, { graph, report }: OlderModel, toB: Int32Array): GraphData {
  const { nodes } = graph;
  if (!toB.includes(-1)) return newer;
  const ids = new Map<string, string>();
  nodes.forEach(({ id }, at) => ids.set(id, toB[at] === -1 ? olderId(id, ids) : newer.nodes[toB[at]!]!.id));
  const index = indexGraph(graph);
  const inputNames = new Set(newer.inputs.map(({ name }) => name));
  /** Where each tensor that a node reads comes from, by its name. */
  const makers = nodes.map(() => new Map<string, number>());
  index.to.forEach((to, edge) => makers[to]?.set(index.tensorNames[index.tensor[edge]!]!, index.from[edge]!));
  const read = new Set<string>();
  const nameInNewer = (at: number, tensor: string): string => {
    const maker = makers[at]!.get(tensor);
    if (tensor === '' || (maker !== undefined && maker >= nodes.length && inputNames.has(tensor))) return tensor;
    const other = maker === undefined || maker >= nodes.length ? -1 : toB[maker]!;
    const slot = other === -1 ? -1 : nodes[maker!]!.outputs.indexOf(tensor);
    const name = other === -1 ? undefined : newer.nodes[other]!.outputs[slot];
    if (name !== undefined && name !== '') return name;
    read.add(tensor);
    return mark + tensor;
  };
  const added = nodes.flatMap((node, at): GraphNode[] =>
    toB[at] === -1
      ? [
          {
            ...node,
            id: ids.get(node.id)!,
            inputs: node.inputs.map((tensor) => nameInNewer(at, tensor)),
            outputs: node.outputs.map((tensor) => (tensor === '' ? '' : (read.add(tensor), mark + tensor))),
            older: { id: node.id, note: noteOf(report, at) },
          },
        ]
      : [],
  );
  const extra = new Map<number, string[]>();
  index.to.forEach((to, edge) => {
    const reader = toB[to] ?? -1;
    if (reader === -1 || toB[index.from[edge]!] !== -1) return;
    const name = mark + index.tensorNames[index.tensor[edge]!]!;
    const list = extra.get(reader);
    if (list === undefined) extra.set(reader, [name]);
    else if (!list.includes(name)) list.push(name);
  });
  const known = newer.nodes.map((node, at) =>
    extra.has(at) ? { ...node, inputs: [...node.inputs, ...extra.get(at)!] } : node,
  );
  return {
    ...newer,
    nodes: [...known, ...added],
    tensors: [
      ...newer.tensors,
      ...graph.tensors.flatMap((tensor) => (read.has(tensor.name) ? [{ ...tensor, name: mark + tensor.name }] : [])),
    ],
  };
}

/** `20/then_branch/3` stays inside its subgraph, by the id that its owner has in the newer graph. */
function olderId(id: string, ids: ReadonlyMap<string, string>): string {
  const last = id.lastIndexOf('/');
  const branch = id.lastIndexOf('/', last - 1);
  if (branch < 0) return mark + id;
  const owner = ids.get(id.slice(0, branch)) ?? mark + id.slice(0, branch);
  return `${owner}${id.slice(branch, last + 1)}${mark}${id.slice(last + 1)}`;
}

function noteOf(report: FusionReport, at: number): string {
  const node = report.nodes[at];
  return node === undefined ? 'Only in A.' : `Only in A: ${fateSentence(report, node)}`;
}
