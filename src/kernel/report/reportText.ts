// A report and its nodes as text; where the memory of its engine goes.
import { addTo } from '../base/addTo.ts';
import {
  counted,
  oneLine,
  percentText,
  releaseName,
  shapeRange,
  shapeText,
  shorten,
  sizeText,
  thousands,
  timeText,
} from '../base/text.ts';
import type { MemoryOperations } from '../read/tensorrt/buildOutput.ts';
import {
  foreignNumber,
  type Fate,
  type FusionReport,
  type HeldBack,
  type LayerKind,
  type ReportForeignNode,
  type ReportLayer,
  type ReportNode,
  type ReportTensor,
  totalMs,
} from '../fusion/fusionReport.ts';
import { shortSource, sourceRanges } from '../network/sourceLines.ts';
import { parseMetadata } from '../network/layerName.ts';
import { width, wrap } from './internal/textLines.ts';

export { memoryDocument } from './internal/memoryDocument.ts';
import {
  countedLayers,
  type FusionGroup,
  reportGroups,
  fateSentence,
  fateWords,
  findingHead,
  heldBackHead,
  numberOf,
  regionNoun,
  isStep,
  layerOf,
  leastSaving,
  longestName,
  nodeLabel,
  oneOf,
  shareOf,
  summarySentence,
} from './words.ts';

/** More inputs than these are counted. */
const mostInputs = 6;

/**
 * What was built: model, TensorRT, and the inputs with their shapes, those of the engine where the model leaves a size open:
 * `vit_tiny.onnx · TensorRT 10.6.0`, `Inputs: input float 1×3×224×224`.
 */
export function headerLines(report: FusionReport): string[] {
  const { product, version } = report.tensorrt;
  const facts = [
    oneLine(report.model.file),
    product === null && version === null ? '' : releaseName(report.tensorrt),
    report.build === undefined ? '' : `build ${report.build.number} of ${report.build.of} in the log`,
  ].filter((fact) => fact !== '');
  const inputs = graphInputs(report).map((input) => inputText(report, input));
  const more = inputs.length > mostInputs ? [counted(inputs.length - mostInputs, 'other input')] : [];
  return [
    shorten(facts.join(' · '), width),
    ...(inputs.length === 0 ? [] : wrap(`Inputs: ${[...inputs.slice(0, mostInputs), ...more].join(', ')}`, '', '  ')),
  ];
}

/** The inputs of the main graph: they come first, and nothing produces them. */
function graphInputs({ tensors }: FusionReport): ReportTensor[] {
  const end = tensors.findIndex(({ producer }) => producer !== null);
  return tensors.slice(0, end < 0 ? tensors.length : end);
}

function inputText(report: FusionReport, tensor: ReportTensor): string {
  const isStatic = tensor.shape?.every((size) => typeof size === 'number') === true;
  return `${tensorText(tensor)}${isStatic ? '' : (builtText(report, tensor.name) ?? engineText(report, tensor.name))}`;
}

/** ` (built for 1×8 to 8×256, optimum 4×64)`; null if nothing says for which shapes. */
function builtText({ builtShapes = [] }: FusionReport, name: string): string | null {
  const own = builtShapes.filter(({ input }) => input === name);
  if (own.length === 0) return null;
  const texts = own.map(shapeRange);
  const isOne = own.length === 1 && own[0]!.min.join() === own[0]!.max.join();
  return ` (built ${isOne ? 'as' : 'for'} ${texts.join('; ')})`;
}

/** What the layers have: TensorRT 8 writes the shapes of the run there, not those of the engine. */
function engineText(report: FusionReport, name: string): string {
  const dims = engineDims(report, name);
  if (dims === null) return '';
  return dims.includes(-1) ? ' (dynamic in the engine)' : ` (${shapeText(dims)} in the layer info)`;
}

/** Dimensions of a tensor as the engine layers have it; -1: dynamic. null if no layer has it by this name. */
function engineDims({ layers }: FusionReport, name: string): readonly number[] | null {
  for (const { inputs, outputs } of layers)
    for (const tensor of [...inputs, ...outputs]) if (tensor.name === name && tensor.dims !== null) return tensor.dims;
  return null;
}

/** `input_ids int64 batch×seq` */
export function tensorText({ name, type, shape }: Pick<ReportTensor, 'name' | 'type' | 'shape'>): string {
  const sizes = shape === null ? '' : shapeText(shape);
  return [oneLine(name), type ?? '', oneLine(sizes)].filter((part) => part !== '').join(' ');
}

/** What a trace says of something: times in milliseconds, each with what took it. */
export interface TraceSection {
  title: string;
  rows: { ms: number; text: string }[];
}

const memoryNouns: Readonly<Record<MemoryOperations['kind'], readonly [one: string, many: string]>> = {
  'host-to-device': ['copy to the device', 'copies to the device'],
  'device-to-host': ['copy to the host', 'copies to the host'],
  'device-to-device': ['copy within the device', 'copies within the device'],
  'other-copy': ['other copy', 'other copies'],
  set: ['memset', 'memsets'],
};

/** Whole passes through the engine; null without a trace. */
export function passSection({ profile }: FusionReport): TraceSection | null {
  const { pass, launches, passes = 0 } = profile ?? {};
  if (pass === undefined) return null;
  const { averageMs, p50, p90, p99, gapMs } = pass;
  const gap = `no kernel runs for ${timeText(gapMs)} of the median pass (${percentText((100 * gapMs) / p50)})`;
  const rows = [
    {
      ms: averageMs,
      text: `on average on the GPU (p50 ${timeText(p50)}, p90 ${timeText(p90)}, p99 ${timeText(p99)}); ${gap}`,
    },
  ];
  if (launches !== undefined)
    rows.push({
      ms: launches.ms / launches.calls,
      text: `of the host for each of ${counted(launches.calls, 'launch', 'launches')}, ${timeText(launches.ms)} altogether`,
    });
  return { title: `A pass through the engine, of ${thousands(passes)} in the trace`, rows };
}

/** Kernels, copies and memsets of no layer, in all passes and outside them; null if there are none. */
export function restSection({ profile }: FusionReport): TraceSection | null {
  if (profile === undefined) return null;
  const others = profile.kernels - profile.attributed;
  const rows = [
    ...(others > 0 ? [{ ms: profile.otherMs, text: `${counted(others, 'kernel')} of no layer` }] : []),
    ...(profile.memory ?? []).map(({ kind, count, ms, bytes }) => ({
      ms,
      text: `${counted(count, ...memoryNouns[kind])}, ${sizeText(bytes)}`,
    })),
  ];
  return rows.length === 0 ? null : { title: 'In the whole trace, next to the layers', rows };
}

/** Groups, operators and unknown nodes beyond these are counted, not listed. */
const mostGroups = 40;
/** Letters of the column that says what a group is: `ForeignNode 12, 1,234 kernels, derived` and a little more. */
const widestWhat = 44;
const mostUnknown = 20;
const mostRemarks = 20;
const mostOutside = 20;

/** One line of the table of groups. */
interface Row {
  nodes: number;
  ms: number | null;
  what: string;
  name: string;
  /** Where the code of its nodes is; '' where that is not recorded. */
  code: string;
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
    heldBackLines(report.heldBack),
    savingLines(report),
    layerSavingLines(report),
    traceLines(restSection(report)),
    placementLines(report),
    notComputedLines(report),
    lostLines(report),
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
  const whatWidth = Math.min(widestWhat, Math.max(...shown.map(({ what }) => what.length)));
  const lines = shown.flatMap(({ nodes, ms, what, name, code }) => {
    const share = shareOf(report, ms);
    const time = timed
      ? `${(share === null ? '' : percentText(share * 100)).padStart(7)}  ${(ms === null ? '' : timeText(ms)).padStart(8)}  `
      : '';
    const count = engine ? '' : `${thousands(nodes).padStart(nodesWidth)} ${nodes === 1 ? 'node ' : 'nodes'}`;
    const head = `  ${time}${count}${engine ? '' : '  '}${shorten(what, whatWidth).padEnd(whatWidth)}`;
    // What does not fit behind the figures gets a line of its own: the name tells groups apart.
    const fits = head.length + 2 + oneLine(name).length <= width;
    const rows = fits
      ? [`${head}  ${oneLine(name)}`.trimEnd()]
      : [head.trimEnd(), shorten(`      ${oneLine(name)}`, width)];
    return code === '' ? rows : [...rows, shorten(`${' '.repeat(fits ? head.length + 2 : 6)}${code}`, width)];
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
  const rest = new Map<LayerKind, FusionGroup[]>();
  const sources = new Map(report.nodes.map(({ id, source }) => [id, source]));
  const codeOf = (nodes: readonly string[]): string => sourceRanges(nodes.map((id) => sources.get(id)));
  for (const group of reportGroups(report)) {
    const { foreign, layers, counted: nodes, shared } = group;
    const notes = shared.length === 0 ? [] : [`${counted(shared.length, 'node')} shared`];
    if (foreign !== null) {
      const kernels = layers.filter(({ kind }) => kind === 'kernel').length;
      if (kernels > 0) notes.unshift(counted(kernels, 'kernel'));
      if (!foreign.exact && report.subject !== 'engine') notes.push('derived');
      const what = [foreignNumber(foreign), ...notes].join(', ');
      rows.push({
        nodes: nodes.length,
        ms: foreign.averageMs,
        what,
        name: foreign.title ?? foreign.name,
        code: codeOf(nodes),
      });
      continue;
    }
    const [layer] = layers;
    if (layer === undefined || (layer.nodes.length === 0 && report.subject !== 'engine')) {
      addTo(rest, group.kind, group);
      continue;
    }
    const what = [layer.type !== '' ? layer.type : layer.kind === 'other' ? 'layer' : layer.kind, ...notes].join(', ');
    rows.push({ nodes: nodes.length, ms: layer.averageMs, what, name: layer.name, code: codeOf(nodes) });
  }
  for (const [kind, groups] of rest) {
    const layers = groups.flatMap((group) => group.layers);
    const name = layers.length === 1 ? layers[0]!.name : '';
    rows.push({ nodes: 0, ms: totalMs(layers), what: countedLayers(layers.length, kind, report), name, code: '' });
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

/** What holds the build back, with what to run next. */
export function heldBackLines(heldBack: readonly HeldBack[] = []): string[] {
  if (heldBack.length === 0) return [];
  return [
    'What holds it back',
    ...heldBack.flatMap((one) => [
      `  ${heldBackHead(one)}`,
      ...wrap(oneLine(one.message), '    '),
      ...one.evidence.map((line) => shorten(`    - ${oneLine(line)}`, width)),
      ...(one.change === null ? [] : [`    > ${one.change.command}`]),
    ]),
  ];
}

/** What the fusion in each layer saved against another build, the most time first. */
function layerSavingLines({ layers }: FusionReport): string[] {
  const rows = layers.flatMap(({ saved, name, nodes }) =>
    saved && saved.ms !== null ? [{ ...saved, ms: saved.ms, name, nodes: nodes.length }] : [],
  );
  if (rows.length === 0) return [];
  const sorted = rows.toSorted((a, b) => b.ms - a.ms || b.nodes - a.nodes);
  const cells = sorted
    .slice(0, mostGroups)
    .map(({ ms, launches, bytes }) => [
      timeText(ms),
      launches === null ? '' : thousands(launches),
      bytes === null ? '' : sizeText(bytes),
    ]);
  const head = ['time', 'launches', 'bytes'];
  const widths = head.map((title, at) => Math.max(title.length, ...cells.map((row) => row[at]!.length)));
  const line = (row: readonly string[], rest: string): string =>
    shorten(`  ${row.map((cell, at) => cell.padStart(widths[at]!)).join('  ')}  ${rest}`, width);
  const total = rows.reduce((sum, { ms }) => sum + ms, 0);
  const apart = rows.filter(({ ms }) => ms < 0).length;
  return [
    'Saved by fusion, against the other build (derived)',
    line(head, 'layer'),
    ...sorted
      .slice(0, mostGroups)
      .map(({ nodes, name }, at) => line(cells[at]!, `${counted(nodes, 'node')}  ${oneLine(name)}`)),
    ...(sorted.length > mostGroups ? [`  … and ${thousands(sorted.length - mostGroups)} more`] : []),
    ...wrap(
      `${timeText(total)} in all${apart === 0 ? '' : `; ${counted(apart, 'layer was', 'layers were')} faster apart`}.`,
      '  ',
    ),
  ];
}

/** What fusion saved altogether. */
function savingLines({ savings = [] }: FusionReport): string[] {
  const launches = savings.reduce((sum, one) => sum + (one.launches ?? 0), 0);
  const bytes = savings.reduce((sum, one) => sum + (one.bytes ?? 0), 0);
  const saved = [
    ...(launches > 0 ? [counted(launches, 'launch', 'launches')] : []),
    ...(bytes >= leastSaving ? [`${sizeText(bytes)} that stay in kernels`] : []),
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

/** Nodes that may be lost, with the evidence for the first; why it is not known, where the layers are. */
function lostLines({ nodes, lostNodes, layers }: FusionReport): string[] {
  const lost = nodes.filter(({ fate }) => fate === 'unaccounted');
  if (lost.length === 0)
    return lostNodes?.reason === undefined || layers.length === 0
      ? []
      : wrap(`Lost nodes: not checked. ${lostNodes.reason}`);
  return [
    'Lost?',
    ...lost
      .slice(0, mostUnknown)
      .flatMap(({ op, name, id, reason }, place) => [
        shorten(`  ${oneLine(op)} ${oneLine(name) || `#${id}`}`, width),
        ...(place === 0 ? wrap(oneLine(reason), '    ') : []),
      ]),
    ...(lost.length > mostUnknown ? [`  … and ${thousands(lost.length - mostUnknown)} more`] : []),
  ];
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

/** Neighbors and layers beyond these are counted. */
const mostListed = 8;

/** All that a report has on one node. */
export interface NodeDetails {
  node: ReportNode;
  layers: ReportLayer[];
  /** Tensors that it reads and writes, without initializers. */
  inputs: ReportTensor[];
  outputs: ReportTensor[];
}

/** The nodes of a name, or the node of an id; none where the model has neither. */
export function findNodes({ nodes }: FusionReport, nameOrId: string): ReportNode[] {
  const named = nodes.filter(({ name }) => name === nameOrId);
  return named.length > 0 ? named : nodes.filter(({ id }) => id === nameOrId);
}

export function nodeFacts(report: FusionReport, node: ReportNode): NodeDetails {
  return {
    node,
    layers: node.layers.flatMap((id) => layerOf(report, id) ?? []),
    inputs: report.tensors.filter(({ consumers }) => consumers.includes(node.id)),
    outputs: report.tensors.filter(({ producer }) => producer === node.id),
  };
}

/** A node for a terminal: its fate and how that is known, its layers, and what its neighbors became. */
export function formatNode(report: FusionReport, node: ReportNode): string {
  const { layers, inputs, outputs } = nodeFacts(report, node);
  const byId = new Map(report.nodes.map((one) => [one.id, one]));
  const line = lineOf(report, node, layers);
  const neighbors = (title: string, tensors: readonly ReportTensor[], nodesOf: (tensor: ReportTensor) => string[]) =>
    tensors.length === 0
      ? []
      : [
          title,
          ...limited(tensors, 'tensor', (tensor) => [
            ...wrap(tensorText(tensor), '  ', '    '),
            ...limited(nodesOf(tensor), 'node', (id) => {
              const other = byId.get(id);
              return other === undefined
                ? []
                : wrap(`${describeNode(other)}: ${placeBeside(report, node, other)}`, '    ', '      ');
            }),
          ]),
        ];
  return `${[
    shorten(describeNode(node), 100),
    ...(node.source === undefined ? [] : wrap(`Source: ${oneLine(node.source)}`, '  ', '    ')),
    ...wrap(fateSentence(report, node), '  '),
    ...wrap(
      `${node.fate === 'unknown' ? 'Reason' : node.exact ? 'Exact' : 'Evidence'}: ${oneLine(node.reason)}`,
      '  ',
      '    ',
    ),
    ...(node.placement === undefined
      ? []
      : wrap(
          `ONNX Runtime: ${node.placement.provider ?? 'not known'}. ${oneLine(node.placement.reason)}`,
          '  ',
          '    ',
        )),
    ...(line === null ? [] : [`  Log: line ${line}`]),
    ...heldBackLines(report.heldBack?.filter(({ nodes }) => nodes.includes(node.id))),
    ...(layers.length === 0 ? [] : ['Layers', ...limited(layers, 'layer', (layer) => layerLines(report, layer))]),
    ...neighbors('Inputs', inputs, ({ producer }) => (producer === null ? [] : [producer])),
    ...neighbors('Outputs', outputs, ({ consumers }) => consumers),
  ].join('\n')}\n`;
}

/** `/attn/Softmax (Softmax, node 63)` */
export const describeNode = (node: ReportNode): string =>
  node.name === '' ? nodeLabel(node) : `${oneLine(node.name)} (${node.op}, node ${node.id})`;

/** Where the log says it: the line of the layer, or that of the ForeignNode. */
function lineOf(report: FusionReport, node: ReportNode, layers: readonly ReportLayer[]): number | null {
  const foreign = report.foreignNodes.find(({ id }) => id === node.foreignNode);
  return layers.find(({ line }) => line !== null)?.line ?? foreign?.line ?? null;
}

function layerLines(report: FusionReport, layer: ReportLayer): string[] {
  const share = shareOf(report, layer.averageMs);
  const kind = layer.foreignNode === null ? layer.type : `${layer.kind} of ${numberOf(report, layer.foreignNode)}`;
  const facts = [
    kind,
    layer.averageMs === null ? '' : timeText(layer.averageMs),
    share === null ? '' : `${percentText(share * 100)} of the time`,
    counted(layer.nodes.length, 'node'),
    layer.tactic === null ? '' : `tactic ${layer.tactic}`,
    layer.evidence.length === 0 ? '' : `evidence: ${layer.evidence.join(', ')}`,
  ].filter((fact) => fact !== '');
  return [
    ...wrap(`layer ${layer.id}: ${shorten(layer.name, longestName)}`, '  ', '    '),
    ...wrap(oneLine(facts.join(', ')), '    '),
  ];
}

/** What another node became, seen from this one. */
export function placeBeside(report: FusionReport, node: ReportNode, other: ReportNode): string {
  if (other.layers.some((id) => node.layers.includes(id) && layerOf(report, id)?.kind !== 'foreign'))
    return other.foreignNode === null ? 'same layer' : 'same kernel';
  if (other.foreignNode !== null)
    return other.foreignNode === node.foreignNode
      ? `same ${regionNoun(report, other.foreignNode)}`
      : numberOf(report, other.foreignNode);
  if (other.layers.length > 0) return `layer ${other.layers.slice(0, 3).join(', ')}`;
  return other.fate === 'shape' ? 'shape on the host' : other.fate;
}

function limited<T>(all: readonly T[], noun: string, lines: (one: T) => string[]): string[] {
  const shown = all.slice(0, mostListed).flatMap(lines);
  return all.length > mostListed ? [...shown, `  … and ${counted(all.length - mostListed, `more ${noun}`)}`] : shown;
}

/**
 * The members of a ForeignNode for a terminal: its kernels in order with the nodes that each computes (a node in several
 * kernels is listed in each), then the members that no kernel names. A kernel for which the inputs name no node says so.
 */
export function formatMembers(report: FusionReport, foreign: ReportForeignNode): string {
  const byId = new Map(report.nodes.map((node) => [node.id, node]));
  const kernels = foreign.layers.flatMap((id) => layerOf(report, id) ?? []).filter(({ kind }) => kind === 'kernel');
  const inKernels = new Set(kernels.flatMap(({ nodes }) => nodes));
  const rest = foreign.nodes.filter((id) => !inKernels.has(id)).flatMap((id) => byId.get(id) ?? []);
  const members = (ids: readonly string[]) => ids.flatMap((id) => byId.get(id) ?? []).map((node) => memberLine(node));
  const sections = [
    headLines(report, foreign, kernels),
    heldBackLines(report.heldBack?.filter(({ layers: of }) => of.some((id) => foreign.layers.includes(id)))),
    ...kernels.map((kernel) => [
      ...wrap(kernelTitle(report, kernel), '', '  '),
      ...(report.subject === 'engine' ? namedNodes(kernel) : members(kernel.nodes)),
    ]),
    rest.length === 0
      ? []
      : [
          kernels.length === 0
            ? 'Members (the inputs do not list the kernels)'
            : `Members that no kernel names: ${counted(rest.length, 'node')}`,
          ...rest.map((node) => memberLine(node, candidateNote(node))),
        ],
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function headLines(report: FusionReport, foreign: ReportForeignNode, kernels: readonly ReportLayer[]): string[] {
  const share = shareOf(report, foreign.averageMs);
  const empty = kernels.filter(({ nodes }) => nodes.length === 0).length;
  const engine = report.subject === 'engine';
  const facts = [
    engine ? '' : counted(foreign.nodes.length, 'node'),
    kernels.length === 0 ? '' : counted(kernels.length, 'kernel'),
    stepsText(report, foreign),
    engine || empty === 0 ? '' : `${counted(empty, 'kernel')} without a known node`,
    foreign.averageMs === null ? '' : timeText(foreign.averageMs),
    share === null ? '' : `${percentText(share * 100)} of the time`,
    engine ? '' : foreign.exact ? 'exact' : 'derived',
    foreign.line === null ? '' : `log line ${foreign.line}`,
  ].filter((fact) => fact !== '');
  return [
    ...(foreign.title === undefined ? [] : [foreign.title]),
    ...wrap(`${foreignNumber(foreign)}: ${oneLine(foreign.name)}`, '', '  '),
    ...wrap(facts.join(', '), '  '),
    ...wrap(`Inputs: ${foreign.inputs.map(oneLine).join(', ') || 'none'}`, '  ', '    '),
    ...wrap(`Outputs: ${foreign.outputs.map(oneLine).join(', ') || 'none'}`, '  ', '    '),
  ];
}

/** `14 other steps (9 memset, 3 copy, 2 jmp)`: what a ForeignNode has next to its kernels; '' for nothing. */
function stepsText(report: FusionReport, foreign: ReportForeignNode): string {
  const types = foreign.layers
    .flatMap((id) => layerOf(report, id) ?? [])
    .filter(isStep)
    .map(({ type }) => type);
  if (types.length === 0) return '';
  const counts = new Map<string, number>();
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
  const parts = [...counts].toSorted((a, b) => b[1] - a[1]).map(([type, count]) => `${count} ${type}`);
  return `${counted(types.length, 'other step')} (${parts.join(', ')})`;
}

function kernelTitle(report: FusionReport, kernel: ReportLayer): string {
  const share = shareOf(report, kernel.averageMs);
  const time = kernel.averageMs === null ? '' : `, ${timeText(kernel.averageMs)}`;
  const part = share === null ? '' : ` (${percentText(share * 100)})`;
  const nodes = kernel.nodes.length === 0 ? ', no known node' : `, ${counted(kernel.nodes.length, 'node')}`;
  return `layer ${kernel.id}: ${shorten(kernel.name, longestName)}${time}${part}${report.subject === 'engine' ? '' : nodes}`;
}

/** Without a model: the names of ONNX nodes in TensorRT's metadata of a kernel. */
const namedNodes = ({ metadata }: ReportLayer): string[] =>
  [...new Set(parseMetadata(metadata ?? '').tokens.map(({ text }) => text))].map((name) =>
    shorten(`  ${oneLine(name)}`, width),
  );

const memberLine = ({ id, op, name, exact, source }: ReportNode, note = ''): string =>
  shorten(
    `  ${op} ${oneLine(name) || `(node ${id})`}${source === undefined ? '' : ` @ ${shortSource(source)}`}${exact ? '' : ', derived'}${note}`,
    width,
  );

/** `, in layer 4 or 7`, `, changes no data` */
function candidateNote({ within = [], view }: ReportNode): string {
  if (view) return ', changes no data';
  return within.length === 0 ? '' : `, in layer ${oneOf(within.map(String))}`;
}
