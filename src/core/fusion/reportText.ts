import type { FusionReport, ReportLayer, ReportNode } from './fusionReport.ts';
import { addTo } from '../text/addTo.ts';

/** No line of the text is longer. */
const width = 100;
/** Groups, operators and unknown nodes beyond these are counted, not listed. */
const mostGroups = 40;
const mostUnknown = 20;
const mostRemarks = 20;

/** A group of a report: a ForeignNode, a native layer, or all layers of one kind that compute no node. */
interface Group {
  nodes: number;
  averageMs: number | null;
  percent: number | null;
  what: string;
  name: string;
}

/** The report as text for a terminal: a sentence, the funnel, groups by time or size, what is not computed, unknowns, remarks. */
export function formatReport(report: FusionReport): string {
  const problems = problemLines(report);
  // What makes the rest void comes before it.
  const isVoid = report.problems.some(({ severity }) => severity === 'error');
  const sections = [
    [headline(report), '', ...wrap(summarySentence(report))],
    isVoid ? problems : [],
    funnelLines(report),
    groupLines(report),
    notComputedLines(report),
    unknownLines(report),
    remarkLines(report),
    isVoid ? [] : problems,
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/** "2 engine layers. 1 ForeignNode swallowed 453 of 636 nodes and takes 93 % of the time; 152 were folded away, 0 unknown." */
export function summarySentence(report: FusionReport): string {
  const { accounting, foreignNodes } = report;
  const native = nativeCount(report);
  const nodes = `${number(accounting.total)} nodes`;
  const share = foreignShare(report);
  const time =
    share === null ? '' : ` and ${foreignNodes.length === 1 ? 'takes' : 'take'} ${percent(share)} of the time`;
  const swallowed =
    foreignNodes.length === 0
      ? `No ForeignNode; ${number(accounting.fused)} of ${nodes} were fused with others, ${number(accounting.single)} ${accounting.single === 1 ? 'is a layer of its own' : 'are layers of their own'}`
      : `${count(foreignNodes.length, 'ForeignNode')} swallowed ${number(accounting.foreign)} of ${nodes}${time}`;
  const layers =
    report.layers.length === 0 && foreignNodes.length === 0 ? 'No engine layers known' : count(native, 'engine layer');
  const shape = accounting.shape > 0 ? `${number(accounting.shape)} compute shapes on the host, ` : '';
  const folded = `${number(accounting.folded)} ${accounting.folded === 1 ? 'was' : 'were'} folded away`;
  return `${layers}. ${swallowed}; ${folded}, ${shape}${number(accounting.unknown)} unknown.`;
}

/** Layers as the engine has them, each ForeignNode as one. */
function nativeCount({ layers, foreignNodes }: FusionReport): number {
  return layers.filter(({ foreignNode }) => foreignNode === null).length + foreignNodes.length;
}

function foreignShare({ layers }: FusionReport): number | null {
  const timed = layers.filter((layer) => layer.percent !== null);
  if (timed.length === 0) return null;
  return timed.reduce((sum, layer) => sum + (layer.foreignNode === null ? 0 : layer.percent!), 0);
}

function headline(report: FusionReport): string {
  const { product, version } = report.tensorrt;
  const name = product === 'tensorrt-rtx' ? 'TensorRT-RTX' : 'TensorRT';
  const by = product === null && version === null ? '' : ` · ${name}${version === null ? '' : ` ${version}`}`;
  return clip(`${plain(report.model.file)}${by}`, width);
}

function funnelLines({ funnel }: FusionReport): string[] {
  const [first] = funnel;
  const last = funnel.at(-1);
  if (!first || !last || funnel.length < 2) return [];
  const steps = funnel.filter(({ layers }, i) => i > 0 && layers !== funnel[i - 1]!.layers);
  const path = steps.map(({ stage, layers }) => `${number(layers)} ${stage[0]?.toLowerCase() ?? ''}${stage.slice(1)}`);
  return [
    `TensorRT layers: ${number(first.layers)} → ${number(last.layers)}`,
    ...wrap(path.length === 0 ? 'the same at every stage' : path.join(', '), '  '),
  ];
}

function groupLines(report: FusionReport): string[] {
  const groups = groupsOf(report);
  if (groups.length === 0) return [];
  const timed = groups.some(({ percent: share }) => share !== null);
  const sorted = groups.toSorted((a, b) =>
    timed
      ? (b.percent ?? -1) - (a.percent ?? -1) || (b.averageMs ?? -1) - (a.averageMs ?? -1) || b.nodes - a.nodes
      : b.nodes - a.nodes,
  );
  const shown = sorted.slice(0, mostGroups);
  const nodesWidth = Math.max(...shown.map(({ nodes }) => number(nodes).length));
  const whatWidth = Math.min(34, Math.max(...shown.map(({ what }) => what.length)));
  const lines = shown.map((group) => {
    const time = timed
      ? `${(group.percent === null ? '' : percent(group.percent)).padStart(7)}  ${ms(group.averageMs).padStart(11)}  `
      : '';
    const nodes = `${number(group.nodes).padStart(nodesWidth)} ${group.nodes === 1 ? 'node ' : 'nodes'}`;
    const head = `  ${time}${nodes}  ${clip(group.what, whatWidth).padEnd(whatWidth)}`;
    return `${head}  ${clip(group.name, width - head.length - 2)}`.trimEnd();
  });
  if (sorted.length > shown.length) lines.push(`  … and ${number(sorted.length - shown.length)} more`);
  return [`Groups, by ${timed ? 'time' : 'size'}`, ...lines];
}

function groupsOf(report: FusionReport): Group[] {
  const groups: Group[] = report.foreignNodes.map((foreign) => {
    const kernels = foreign.layers.filter((id) => report.layers[id]?.kind === 'kernel').length;
    const shares = foreign.layers.map((id) => report.layers[id]?.percent ?? null).filter((share) => share !== null);
    return {
      nodes: foreign.nodes.length,
      averageMs: foreign.averageMs,
      percent: shares.length === 0 ? null : shares.reduce((sum, share) => sum + share, 0),
      what: [
        `ForeignNode ${foreign.id}`,
        ...(kernels > 0 ? [count(kernels, 'kernel')] : []),
        ...(foreign.exact ? [] : ['derived']),
      ].join(', '),
      name: plain(foreign.name),
    };
  });
  const rest = new Map<string, ReportLayer[]>();
  for (const layer of report.layers) {
    if (layer.foreignNode !== null) continue;
    if (layer.nodes.length > 0) groups.push(nativeGroup(layer));
    else addTo(rest, layer.kind, layer);
  }
  for (const [kind, layers] of rest) {
    const timed = layers.filter((layer) => layer.percent !== null);
    groups.push({
      nodes: 0,
      averageMs: timed.length === 0 ? null : timed.reduce((sum, layer) => sum + layer.averageMs!, 0),
      percent: timed.length === 0 ? null : timed.reduce((sum, layer) => sum + layer.percent!, 0),
      what: `${kind}${layers.length === 1 ? '' : ` × ${layers.length}`}`,
      name: layers.length === 1 ? plain(layers[0]!.name) : '',
    });
  }
  return groups;
}

const nativeGroup = (layer: ReportLayer): Group => ({
  nodes: layer.nodes.length,
  averageMs: layer.averageMs,
  percent: layer.percent,
  what: layer.type === '' ? layer.kind : layer.type,
  name: plain(layer.name),
});

function notComputedLines({ nodes, accounting }: FusionReport): string[] {
  const texts = {
    folded: 'folded: constant, evaluated at build time',
    removed: 'removed: nothing left to do',
    shape: 'shape: computed on the host',
  };
  const lines = (['folded', 'removed', 'shape'] as const).flatMap((fate) => {
    if (accounting[fate] === 0) return [];
    const list = operators(nodes.filter((node) => node.fate === fate));
    return [`  ${number(accounting[fate])} ${texts[fate]}`, ...wrap(list, '    ')];
  });
  return lines.length === 0 ? [] : ['Not computed by the engine', ...lines];
}

/** "Constant 152, Shape 24, Slice 24" */
function operators(nodes: ReportNode[]): string {
  const counts = new Map<string, number>();
  for (const { op } of nodes) counts.set(op, (counts.get(op) ?? 0) + 1);
  const sorted = [...counts].toSorted((a, b) => b[1] - a[1]);
  const shown = sorted.slice(0, 12).map(([op, times]) => `${plain(op)} ${number(times)}`);
  const more = sorted.slice(12).reduce((sum, [, times]) => sum + times, 0);
  return [...shown, ...(more > 0 ? [`others ${number(more)}`] : [])].join(', ');
}

function unknownLines({ nodes }: FusionReport): string[] {
  const unknown = nodes.filter(({ fate }) => fate === 'unknown');
  if (unknown.length === 0) return [];
  const byReason = new Map<string, ReportNode[]>();
  for (const node of unknown) addTo(byReason, node.reason, node);
  return [
    'Unknown',
    ...[...byReason].flatMap(([reason, list]) => [
      ...wrap(`${number(list.length)}: ${reason}`, '  '),
      ...(list.length === nodes.length
        ? []
        : list
            .slice(0, mostUnknown)
            .map(({ op, name, id }) => clip(`    ${plain(op)} ${plain(name) || `#${id}`}`, width))),
      ...(list.length > mostUnknown && list.length < nodes.length
        ? [`    … and ${number(list.length - mostUnknown)} more`]
        : []),
    ]),
  ];
}

function remarkLines({ remarks }: FusionReport): string[] {
  if (remarks.length === 0) return [];
  const lines = remarks
    .slice(0, mostRemarks)
    .flatMap(({ kind, message }) => wrap(`${kind}: ${plain(message)}`, '  ', '    '));
  if (remarks.length > mostRemarks) lines.push(`  … and ${number(remarks.length - mostRemarks)} more`);
  return ['Why it is so', ...lines];
}

function problemLines({ problems }: FusionReport): string[] {
  if (problems.length === 0) return [];
  return [
    'Problems',
    ...problems
      .slice(0, mostRemarks)
      .flatMap(({ severity, message, line }) =>
        wrap(`${severity}: ${plain(message)}${line === undefined ? '' : ` (line ${line})`}`, '  ', '    '),
      ),
    ...(problems.length > mostRemarks ? [`  … and ${problems.length - mostRemarks} more`] : []),
  ];
}

/** Names are other people's text: without the control characters that a terminal would obey. */
const plain = (text: string): string =>
  text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '�');

/** At most so long; what distinguishes long names is most often their end. */
function clip(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.max(0, Math.ceil((most - 1) * 0.6));
  return `${text.slice(0, head)}…${text.slice(text.length - Math.max(0, most - 1 - head))}`;
}

function wrap(text: string, indent = '', later = indent): string[] {
  const lines: string[] = [];
  let line = indent;
  let room = false;
  for (const word of text.split(' ')) {
    const start = lines.length === 0 ? indent : later;
    const piece = clip(word, width - later.length);
    if (room && line.length + 1 + piece.length > width) {
      lines.push(line);
      line = later + piece;
    } else {
      line = room ? `${line} ${piece}` : start + piece;
    }
    room = true;
  }
  return [...lines, line];
}

const count = (value: number, what: string): string => `${number(value)} ${what}${value === 1 ? '' : 's'}`;
/** 22,753 */
const number = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');
const percent = (value: number): string => `${value >= 99.95 || value < 0.05 ? Math.round(value) : value.toFixed(1)} %`;
const ms = (value: number | null): string =>
  value === null ? '' : value === 0 ? '0 ms' : `${value.toPrecision(3)} ms`;
