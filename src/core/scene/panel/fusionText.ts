import type { FusionReport, ReportForeignNode, ReportLayer, ReportNode } from '../../fusion/fusionReport.ts';

const grouped = new Intl.NumberFormat('en-US');

/** `1 node`, `14,163 nodes` */
export const counted = (value: number, noun: string): string =>
  `${grouped.format(value)} ${noun}${value === 1 ? '' : 's'}`;

/** Facts in a row: `93.5 % · 453 nodes · 209 kernels`. A pair is a number with its noun; what is false or empty is left out. */
export function phrase(parts: (string | false | [number, string])[]): string {
  return parts
    .map((part) => (Array.isArray(part) ? counted(part[0], part[1]) : part))
    .filter((part): part is string => part !== false && part !== '')
    .join(' · ');
}

/** `93.46` → `93.5 %`; what is there but rounds to nothing is `< 0.1 %`. */
export function percentText(percent: number): string {
  if (percent > 0 && percent < 0.05) return '< 0.1 %';
  return `${Number(percent.toFixed(1))} %`;
}

/** `0.352 ms`, `12.4 µs` */
export function timeText(ms: number): string {
  if (ms > 0 && ms < 0.1) return `${Number((ms * 1000).toPrecision(3))} µs`;
  return `${Number(ms.toPrecision(3))} ms`;
}

/** Share of time of a group, or its time where there is no whole; false where it was not measured. */
export const aboutTime = (share: number | null, ms: number | null): string | false =>
  ms === null ? false : share === null ? timeText(ms) : percentText(share * 100);

/** How many members of a ForeignNode follow from the graph only: `120 derived`, `derived` for all, false for none. */
export function derivedText({ exact, nodes }: ReportForeignNode, report: FusionReport): string | false {
  if (exact) return false;
  const members = new Set(nodes);
  const derived = report.nodes.filter((node) => !node.exact && members.has(node.id)).length;
  return derived === 0 || derived === nodes.length ? 'derived' : `${grouped.format(derived)} derived`;
}

/** Milliseconds of all that were measured; null where none was. */
export function totalMs(layers: readonly ReportLayer[]): number | null {
  let sum: number | null = null;
  for (const { averageMs } of layers) if (averageMs !== null) sum = (sum ?? 0) + averageMs;
  return sum;
}

/** Every share asks for the whole; a report never changes. */
const engineTimes = new WeakMap<FusionReport, number | null>();

/**
 * Milliseconds of the whole engine, the base of every share: its layers, and ForeignNodes that were measured only as
 * a whole. null without a profile.
 */
export function engineMs(report: FusionReport): number | null {
  const known = engineTimes.get(report);
  if (known !== undefined) return known;
  let sum = totalMs(report.layers);
  const measured = new Set<number>();
  for (const { foreignNode, averageMs } of report.layers) {
    if (foreignNode !== null && averageMs !== null) measured.add(foreignNode);
  }
  for (const { id, averageMs } of report.foreignNodes) {
    if (averageMs !== null && !measured.has(id)) sum = (sum ?? 0) + averageMs;
  }
  engineTimes.set(report, sum);
  return sum;
}

/** 0…1 of the engine's time; null where nothing was measured. */
export function shareOf(report: FusionReport, ms: number | null): number | null {
  const whole = engineMs(report);
  return ms === null || whole === null || whole <= 0 ? null : ms / whole;
}

/** Layers that only change a tensor's format or type, which no node asked for. */
export const reformatsOf = (report: FusionReport): ReportLayer[] =>
  report.layers.filter(({ kind, foreignNode }) => kind === 'reformat' && foreignNode === null);

/** A layer in few words: its own name where that is short, else its type and the end that tells it apart. */
export function layerLabel(layer: ReportLayer): string {
  const name = layer.name.replace(/^Reformatting CopyNode for /, '').replaceAll(/[\u001e\u001f]/g, ' ');
  if (name === '') return layer.type === '' ? `layer ${layer.id}` : layer.type;
  return layer.kind === 'reformat' ? `Reformat: ${name}` : name;
}

/** A node in few words: the last part of its name, or its op and id. */
export function nodeLabel(node: ReportNode): string {
  if (node.name === '') return `${node.op} (node ${node.id})`;
  const last = node.name.slice(node.name.lastIndexOf('/') + 1);
  return last === '' ? node.name : last;
}

/** The first few of a list in words. */
export function ellipsis(names: readonly string[], most = 6): string {
  if (names.length === 0) return 'none';
  const more = names.length > most ? `, and ${names.length - most} more` : '';
  return names.slice(0, most).join(', ') + more;
}

/**
 * What TensorRT did with the model: `1 of 2 layers is a ForeignNode; it swallowed 453 of 636 nodes, 93.5 % of the
 * time.` Layers count as people count them: a ForeignNode is one, however many kernels it has, and reformats are none.
 */
export function fusionSentence(report: FusionReport): string {
  const { accounting, foreignNodes } = report;
  const total = counted(accounting.total, 'node');
  if (report.layers.length === 0 && foreignNodes.length === 0) {
    return `Nothing in the inputs says which layers the engine has: all that is known is the model with its ${total}.`;
  }
  const own = report.layers.filter(({ foreignNode, kind }) => foreignNode === null && kind !== 'reformat').length;
  const layers = own + foreignNodes.length;
  const parts: string[] = [];
  if (foreignNodes.length === 0) {
    const computed = accounting.fused + accounting.single;
    parts.push(
      `No ForeignNode: ${counted(layers, 'layer')} of TensorRT's own compute ${grouped.format(computed)} of ${total}`,
    );
    if (accounting.fused > 0) parts.push(`${grouped.format(accounting.fused)} of them fused with others`);
  } else {
    const many = foreignNodes.length !== 1;
    const ms = foreignNodes.reduce<number | null>(
      (sum, { averageMs }) => (averageMs === null ? sum : (sum ?? 0) + averageMs),
      null,
    );
    const share = shareOf(report, ms);
    const time = share === null ? '' : `, ${percentText(share * 100)} of the time`;
    const guessed = report.nodes.filter(({ fate, exact }) => fate === 'foreign' && !exact).length;
    const derived =
      guessed === 0
        ? ''
        : ` (${guessed === accounting.foreign ? 'all' : grouped.format(guessed)} derived from the graph)`;
    parts.push(
      layers === 1
        ? 'The whole engine is one ForeignNode'
        : `${foreignNodes.length} of ${counted(layers, 'layer')} ${many ? 'are ForeignNodes' : 'is a ForeignNode'}`,
      `${many ? 'they' : 'it'} swallowed ${grouped.format(accounting.foreign)} of ${total}${time}${derived}`,
    );
  }
  if (accounting.unknown > 0)
    parts.push(`${counted(accounting.unknown, 'node')} ${accounting.unknown === 1 ? 'is' : 'are'} unknown`);
  return `${parts.join('; ')}.`;
}
