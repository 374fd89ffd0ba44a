import type { BuildManifest } from '../build/buildManifest.ts';
import type { FusionReport } from '../fusion/fusionReport.ts';
import { timeText } from '../text/numbers.ts';
import { oneLine } from '../text/oneLine.ts';
import { countLayers } from '../report/layers.ts';
import { engineMs } from '../report/times.ts';

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
