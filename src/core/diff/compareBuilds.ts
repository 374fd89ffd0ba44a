// Compares what two builds recorded; the comparison that a view shows.
import { oneLine, timeText } from '../base/text.ts';
import type { BuildManifest } from '../build/buildManifest.ts';
import type { FusionReport } from '../fusion/fusionReport.ts';
import { countLayers, engineMs } from '../report/words.ts';
import type { BuildDiff, Change, ChangeKind } from './buildDiff.ts';

/** A build, and what its files say about fusion; null if they say nothing. */
export interface Compared {
  manifest: BuildManifest;
  report: FusionReport | null;
}

/** A field in which two builds differ; '' if one has no such field. */
export interface Difference {
  field: string;
  values: [string, string];
}

/** Nodes of which it is told one by one that their fate differs. */
const mostNodes = 500;

/** Where two builds differ: in what was requested, with what it was built, what came out, and node by node. */
export function compareBuilds(a: Compared, b: Compared): Difference[] {
  const options = Object.keys({ ...a.manifest.options, ...b.manifest.options }).toSorted();
  const [first, second] = [fieldsOf(a, options), fieldsOf(b, options)];
  const names = [...new Set([...first.keys(), ...second.keys()])];
  const fields = names.map((field): Difference => ({
    field,
    values: [first.get(field) ?? '', second.get(field) ?? ''],
  }));
  return [...fields, ...nodes(a.report, b.report)].filter(({ values: [one, other] }) => one !== other);
}

/** Both sides as texts with as many lines, for an editor that shows them next to each other. */
export function comparisonTexts(differences: Difference[]): [string, string] {
  const width = Math.max(0, ...differences.map(({ field }) => (field.length > 60 ? 0 : field.length)));
  const side = (index: 0 | 1) =>
    differences.map(({ field, values }) => `${field.padEnd(width)}  ${oneLine(values[index]) || '–'}\n`).join('');
  return [side(0), side(1)];
}

function fieldsOf({ manifest, report }: Compared, optionNames: string[]): Map<string, string> {
  const { model, backend, origin, tensorrt, gpu, driver, options, result, error, seconds } = manifest;
  const fields = new Map<string, string>([
    ['model', model.file],
    ['model.sha256', model.sha256 ?? ''],
    ['backend', backend],
    ['origin', origin],
    ['product', tensorrt.product ?? ''],
    ['version', tensorrt.version ?? ''],
    ['gpu', gpu ?? ''],
    ['driver', driver ?? ''],
  ]);
  for (const name of optionNames) {
    const value = options[name] ?? '';
    fields.set(`option ${name}`, Array.isArray(value) ? value.join(', ') : String(value));
  }
  fields.set('result', result).set('error', error ?? '');
  fields.set('build time', seconds === null ? '' : timeText(seconds * 1000));
  if (report !== null) for (const [name, value] of fusionOf(report)) fields.set(name, value);
  return fields;
}

function fusionOf(report: FusionReport): [string, string][] {
  const { accounting } = report;
  const { total, kinds, kernels } = countLayers(report);
  const ms = engineMs(report);
  const counts = Object.entries(accounting).map(([fate, count]): [string, string] => [`nodes ${fate}`, String(count)]);
  return [
    ['engine layers', String(total)],
    ['ForeignNodes', String(kinds.foreign)],
    ['kernels', String(kernels)],
    ...counts,
    ['time of all layers', ms === null ? '' : timeText(ms)],
  ];
}

/** Only nodes that both reports have: another model's have nothing to do with each other. */
function nodes(a: FusionReport | null, b: FusionReport | null): Difference[] {
  if (a === null || b === null) return [];
  const others = new Map(b.nodes.map((node) => [node.id, node]));
  const differing: Difference[] = [];
  for (const node of a.nodes) {
    const other = others.get(node.id);
    if (other === undefined || other.name !== node.name || other.op !== node.op) continue;
    const values: [string, string] = [fateOf(node), fateOf(other)];
    if (values[0] !== values[1]) differing.push({ field: `node ${node.name || node.id} (${node.op})`, values });
  }
  const left = differing.length - mostNodes;
  if (left <= 0) return differing;
  const more: Difference = { field: 'more nodes', values: [`${left} more differ`, `${left} more differ`] };
  return [...differing.slice(0, mostNodes), more];
}

const fateOf = ({ fate, foreignNode }: FusionReport['nodes'][number]): string =>
  fate === 'foreign' && foreignNode !== null ? `in ForeignNode ${foreignNode}` : fate;

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

/** The states, what outweighs others first, with the sign that stands for each where color cannot. */
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
