import type { Fate, FusionReport, LayerKind, ReportNode } from '../fusion/fusionReport.ts';
import { addTo } from '../text/addTo.ts';
import { counted, percentText, sizeText, thousands, timeText } from '../text/numbers.ts';
import { oneLine, shorten } from '../text/oneLine.ts';
import { fateWords } from './fates.ts';
import { findingHead } from './findingText.ts';
import { engineGroups, type EngineGroup } from './groups.ts';
import { countedLayers } from './layers.ts';
import { headerLines } from './headerLines.ts';
import { summarySentence } from './summary.ts';
import { width, wrap } from './textLines.ts';
import { shareOf, totalMs } from './times.ts';
import { passSection, restSection, type TraceSection } from './traceText.ts';

/** Groups, operators and unknown nodes beyond these are counted, not listed. */
const mostGroups = 40;
const mostUnknown = 20;
const mostRemarks = 20;
const mostOutside = 20;

/** One line of the table of groups. */
interface Row {
  nodes: number;
  ms: number | null;
  what: string;
  name: string;
}

/** The report as text for a terminal: summary, funnel, groups by time or size, what is not computed, unknowns, remarks. */
export function formatReport(report: FusionReport): string {
  const problems = problemLines(report);
  // What makes the rest void comes before it.
  const isVoid = report.problems.some(({ severity }) => severity === 'error');
  const sections = [
    [...headerLines(report), '', ...wrap(summarySentence(report))],
    isVoid ? problems : [],
    funnelLines(report),
    groupLines(report),
    traceLines(passSection(report)),
    findingLines(report),
    savingLines(report),
    traceLines(restSection(report)),
    placementLines(report),
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

function funnelLines({ funnel }: FusionReport): string[] {
  const [first] = funnel;
  const last = funnel.at(-1);
  if (!first || !last || funnel.length < 2) return [];
  const steps = funnel.filter(({ layers }, i) => i > 0 && layers !== funnel[i - 1]!.layers);
  const path = steps.map(
    ({ stage, layers }) => `${thousands(layers)} ${stage[0]?.toLowerCase() ?? ''}${stage.slice(1)}`,
  );
  return [
    `TensorRT layers: ${thousands(first.layers)} → ${thousands(last.layers)}`,
    ...wrap(path.length === 0 ? 'the same at every stage' : path.join(', '), '  '),
  ];
}

function groupLines(report: FusionReport): string[] {
  const rows = rowsOf(report);
  if (rows.length === 0) return [];
  const timed = rows.some(({ ms }) => ms !== null);
  const engine = report.subject === 'engine';
  const sorted = rows.toSorted((a, b) => (timed ? (b.ms ?? -1) - (a.ms ?? -1) : 0) || b.nodes - a.nodes);
  const shown = sorted.slice(0, mostGroups);
  const nodesWidth = Math.max(...shown.map(({ nodes }) => thousands(nodes).length));
  const whatWidth = Math.min(34, Math.max(...shown.map(({ what }) => what.length)));
  const lines = shown.map(({ nodes, ms, what, name }) => {
    const share = shareOf(report, ms);
    const time = timed
      ? `${(share === null ? '' : percentText(share * 100)).padStart(7)}  ${(ms === null ? '' : timeText(ms)).padStart(8)}  `
      : '';
    const count = engine ? '' : `${thousands(nodes).padStart(nodesWidth)} ${nodes === 1 ? 'node ' : 'nodes'}`;
    const head = `  ${time}${count}${engine ? '' : '  '}${shorten(what, whatWidth).padEnd(whatWidth)}`;
    return `${head}  ${shorten(name, width - head.length - 2)}`.trimEnd();
  });
  if (sorted.length > shown.length) {
    const rest = sorted.slice(shown.length);
    const nodes = rest.reduce((sum, row) => sum + row.nodes, 0);
    lines.push(`  … and ${thousands(rest.length)} more${engine ? '' : ` with ${counted(nodes, 'node')}`}`);
  }
  const title = engine ? `Layers${timed ? ', by time' : ''}` : `Groups, by ${timed ? 'time' : 'size'}`;
  return [title, ...lines];
}

/** A row for each ForeignNode and each layer that computes nodes; one for all other layers of a kind. */
function rowsOf(report: FusionReport): Row[] {
  const rows: Row[] = [];
  const rest = new Map<LayerKind, EngineGroup[]>();
  for (const group of engineGroups(report)) {
    const { foreign, layers, counted: nodes, shared } = group;
    const notes = shared.length === 0 ? [] : [`${counted(shared.length, 'node')} shared`];
    if (foreign !== null) {
      const kernels = layers.filter(({ kind }) => kind === 'kernel').length;
      if (kernels > 0) notes.unshift(counted(kernels, 'kernel'));
      if (!foreign.exact && report.subject !== 'engine') notes.push('derived');
      const what = [`ForeignNode ${foreign.id}`, ...notes].join(', ');
      rows.push({ nodes: nodes.length, ms: foreign.averageMs, what, name: foreign.name });
      continue;
    }
    const [layer] = layers;
    if (layer === undefined || (layer.nodes.length === 0 && report.subject !== 'engine')) {
      addTo(rest, group.kind, group);
      continue;
    }
    const what = [layer.type !== '' ? layer.type : layer.kind === 'other' ? 'layer' : layer.kind, ...notes].join(', ');
    rows.push({ nodes: nodes.length, ms: layer.averageMs, what, name: layer.name });
  }
  for (const [kind, groups] of rest) {
    const layers = groups.flatMap((group) => group.layers);
    const name = layers.length === 1 ? layers[0]!.name : '';
    rows.push({ nodes: 0, ms: totalMs(layers), what: countedLayers(layers.length, kind, report), name });
  }
  return rows;
}

const traceLines = (section: TraceSection | null): string[] =>
  section === null
    ? []
    : [section.title, ...section.rows.map(({ ms, text }) => `  ${timeText(ms).padStart(8)}  ${text}`)];

/** Time that may be avoidable. */
function findingLines({ findings = [] }: FusionReport): string[] {
  if (findings.length === 0) return [];
  return [
    'Where time goes',
    ...findings.flatMap((finding) => [
      `  ${findingHead(finding)}`,
      ...wrap(finding.message, '    '),
      ...finding.evidence.map((line) => shorten(`    - ${oneLine(line)}`, width)),
    ]),
  ];
}

/** What fusion saved altogether. */
function savingLines({ savings = [] }: FusionReport): string[] {
  const launches = savings.reduce((sum, one) => sum + (one.launches ?? 0), 0);
  const bytes = savings.reduce((sum, one) => sum + (one.bytes ?? 0), 0);
  const saved = [
    ...(launches > 0 ? [counted(launches, 'launch', 'launches')] : []),
    ...(bytes > 0 ? [`${sizeText(bytes)} that stay in kernels`] : []),
  ];
  if (saved.length === 0) return [];
  const unknown = savings.filter((one) => one.bytes === null || one.unknownTensors > 0).length;
  const rest = unknown === 0 ? '' : `; ${counted(unknown, 'group')} ${unknown === 1 ? 'is' : 'are'} only partly known`;
  return wrap(
    `Fusion saves ${saved.join(' and ')}, against a kernel for each node (derived from the members and static shapes${rest}).`,
  );
}

/** Where ONNX Runtime runs the nodes, and why those outside of TensorRT are there. */
function placementLines({ placement, nodes }: FusionReport): string[] {
  if (placement === undefined) return [];
  const shares = placement.map(({ provider, nodes: count, engines, copies }) => {
    const notes = [engines > 0 && counted(engines, 'engine'), copies > 0 && counted(copies, 'copy', 'copies')];
    const note = notes.filter((text) => text !== false).join(', ');
    return `  ${provider}: ${counted(count, 'node')}${note === '' ? '' : ` (${note})`}`;
  });
  const unknown = nodes.filter((node) => node.placement?.provider === null && node.op !== 'Constant').length;
  const outside = placement.some(({ engines }) => engines > 0)
    ? nodes.filter((node) =>
        placement.some(({ provider, engines }) => engines === 0 && node.placement?.provider === provider),
      )
    : [];
  return [
    'Execution providers of ONNX Runtime',
    ...shares,
    ...(unknown > 0 ? [`  not listed: ${counted(unknown, 'node')}`] : []),
    ...outside
      .slice(0, mostOutside)
      .flatMap(({ name, op, placement: at }) =>
        wrap(`${oneLine(name) || op} (${op}): ${at!.provider}. ${oneLine(at!.reason)}`, '    ', '      '),
      ),
    ...(outside.length > mostOutside ? [`    … and ${counted(outside.length - mostOutside, 'more node')}`] : []),
  ];
}

function notComputedLines({ nodes, accounting }: FusionReport): string[] {
  const fates: Fate[] = ['folded', 'removed', 'shape'];
  const lines = fates.flatMap((fate) => {
    if (accounting[fate] === 0) return [];
    const list = operators(nodes.filter((node) => node.fate === fate));
    return [`  ${thousands(accounting[fate])} ${fateWords[fate].label.toLowerCase()}`, ...wrap(list, '    ')];
  });
  return lines.length === 0 ? [] : ['Not computed by the engine', ...lines];
}

/** "Constant 152, Shape 24, Slice 24" */
function operators(nodes: ReportNode[]): string {
  const counts = new Map<string, number>();
  for (const { op } of nodes) counts.set(op, (counts.get(op) ?? 0) + 1);
  const sorted = [...counts].toSorted((a, b) => b[1] - a[1]);
  const shown = sorted.slice(0, 12).map(([op, times]) => `${oneLine(op)} ${thousands(times)}`);
  const more = sorted.slice(12).reduce((sum, [, times]) => sum + times, 0);
  return [...shown, ...(more > 0 ? [`others ${thousands(more)}`] : [])].join(', ');
}

function unknownLines({ nodes }: FusionReport): string[] {
  const unknown = nodes.filter(({ fate }) => fate === 'unknown');
  if (unknown.length === 0) return [];
  const byReason = new Map<string, ReportNode[]>();
  for (const node of unknown) addTo(byReason, node.reason, node);
  return [
    'Unknown',
    ...[...byReason].flatMap(([reason, list]) => [
      ...wrap(`${thousands(list.length)}: ${reason}`, '  '),
      ...(list.length === nodes.length
        ? []
        : list
            .slice(0, mostUnknown)
            .map(({ op, name, id }) => shorten(`    ${oneLine(op)} ${oneLine(name) || `#${id}`}`, width))),
      ...(list.length > mostUnknown && list.length < nodes.length
        ? [`    … and ${thousands(list.length - mostUnknown)} more`]
        : []),
    ]),
  ];
}

function remarkLines({ remarks }: FusionReport): string[] {
  if (remarks.length === 0) return [];
  const lines = remarks
    .slice(0, mostRemarks)
    .flatMap(({ kind, message }) => wrap(`${kind}: ${oneLine(message)}`, '  ', '    '));
  if (remarks.length > mostRemarks) lines.push(`  … and ${thousands(remarks.length - mostRemarks)} more`);
  return ['Remarks', ...lines];
}

function problemLines({ problems }: FusionReport): string[] {
  if (problems.length === 0) return [];
  return [
    'Problems',
    ...problems
      .slice(0, mostRemarks)
      .flatMap(({ severity, message, line }) =>
        wrap(`${severity}: ${oneLine(message)}${line === undefined ? '' : ` (line ${line})`}`, '  ', '    '),
      ),
    ...(problems.length > mostRemarks ? [`  … and ${thousands(problems.length - mostRemarks)} more`] : []),
  ];
}
