import { select, type Selection as D3Selection } from 'd3-selection';
import type { EngineTensor } from '../../src/kernel/read/tensorrt/buildOutput.ts';
import {
  foreignNumber,
  type Fate,
  type FusionReport,
  type ReportForeignNode,
  type ReportLayer,
  type ReportNode,
  type TimeFinding,
  totalMs,
} from '../../src/kernel/fusion/fusionReport.ts';
import { counted, shapeText, timeText } from '../../src/kernel/base/text.ts';
import { layerTitle } from '../../src/kernel/picture/page/layerRows.ts';
import type { Selection, ViewHost } from '../../src/kernel/protocol/views.ts';
import { strings } from '../shared/strings.ts';
import { type Fact, savedFact, timeFact, tracedFacts } from './facts.ts';
import { addTo } from '../../src/kernel/base/addTo.ts';
import {
  foreignTitle,
  fateTooltip,
  fateWordsOf,
  findingTitle,
  heldBackHead,
  layerLabel,
  nodeLabel,
  nounOf,
} from '../../src/kernel/report/words.ts';
import { passSection, restSection, type TraceSection } from '../../src/kernel/report/reportText.ts';

const texts = strings.fusion.details;
/** Lines of a list at first, and that each press on `more` adds. */
const page = 50;
/** Layers that are named while nothing is selected. */
const slowest = 10;

interface Line {
  text: string;
  small: string;
  selection: Selection;
}

interface Content {
  title: string;
  /** TensorRT's own name, where the title is not it. */
  name: string;
  exact: boolean | null;
  sentence: string;
  facts: Fact[];
  lists: { title: string; lines: Line[] }[];
  nodes: string[];
  line: number | null;
}

/** The pane that tells everything about what is selected; its lists select in turn. */
export function detailsPane(parent: HTMLElement, host: ViewHost, onSelect: (selection: Selection) => void) {
  const pane = select(parent).append('div').attr('class', 'details-inner').attr('aria-live', 'polite');

  const show = (report: FusionReport, selection: Selection) => {
    pane.selectChildren().remove();
    const content = contentOf(report, selection);
    if (content === null) {
      pane.append('h2').attr('class', 'spoken').text(texts.title);
      pane.append('p').attr('class', 'muted').text(texts.none);
      drawTrace(pane, passSection(report));
      for (const { title, lines } of overview(report)) drawList(pane, title, lines, onSelect);
      drawTrace(pane, restSection(report));
      return;
    }
    const head = pane.append('div').attr('class', 'details-head');
    head.append('h2').text(content.title);
    head
      .append('button')
      .attr('type', 'button')
      .attr('aria-label', texts.clear)
      .attr('title', texts.clear)
      .text('×')
      .on('click', () => onSelect({ kind: 'none' }));
    if (content.name !== '' && content.name !== content.title)
      pane.append('p').attr('class', 'mono name').text(content.name);
    if (content.sentence !== '') pane.append('p').text(content.sentence);
    if (content.exact !== null) {
      pane
        .append('p')
        .attr('class', content.exact ? 'evidence' : 'evidence derived')
        .text(content.exact ? texts.exact : texts.derived);
    }
    drawFacts(pane, content.facts);
    drawLinks(pane, content, host);
    for (const { title, lines } of content.lists) drawList(pane, title, lines, onSelect);
  };
  return { show };
}

type Pane = D3Selection<HTMLDivElement, unknown, null, undefined>;

function drawFacts(pane: Pane, facts: Fact[]): void {
  if (facts.length === 0) return;
  const list = pane.append('dl');
  for (const { name, value } of facts) {
    list.append('dt').text(name);
    list.append('dd').text(value);
  }
}

function drawTrace(pane: Pane, section: TraceSection | null): void {
  if (section === null) return;
  pane.append('h3').text(section.title);
  for (const { ms, text } of section.rows) {
    const row = pane.append('p');
    row.append('b').text(timeText(ms));
    row.append('span').text(` ${text}`);
  }
}

function drawLinks(pane: Pane, { line, nodes }: Content, host: ViewHost): void {
  const links = pane.append('div').attr('class', 'links');
  if (nodes.length > 0) {
    links
      .append('button')
      .attr('type', 'button')
      .text(texts.graph)
      .on('click', () => host.run('openGraph', nodes));
  }
  if (line !== null) {
    links
      .append('button')
      .attr('type', 'button')
      .text(texts.logLine(line))
      .on('click', () => host.openLine('log', line));
  }
}

function drawList(pane: Pane, title: string, lines: Line[], onSelect: (selection: Selection) => void): void {
  if (lines.length === 0) return;
  pane.append('h3').text(title);
  const list = pane.append('ul');
  const more = pane.append('button').attr('type', 'button').attr('class', 'more');
  let shown = 0;
  const grow = () => {
    for (const { text, small, selection } of lines.slice(shown, shown + page)) {
      const button = list.append('li').append('button').attr('type', 'button');
      button.append('span').text(text);
      if (small !== '') button.append('small').text(small);
      button.attr('title', text).on('click', () => onSelect(selection));
    }
    shown = Math.min(lines.length, shown + page);
    more.property('hidden', shown === lines.length).text(texts.more(lines.length - shown));
  };
  more.on('click', grow);
  grow();
}

function contentOf(report: FusionReport, selection: Selection): Content | null {
  switch (selection.kind) {
    case 'none':
      return null;
    case 'foreignNode': {
      const foreign = report.foreignNodes.find(({ id }) => id === selection.id);
      return foreign === undefined ? null : foreignContent(report, foreign);
    }
    case 'layers': {
      const ids = new Set(selection.ids);
      const layers = report.layers.filter(({ id }) => ids.has(id));
      const [only] = layers;
      if (only === undefined) return null;
      return layers.length === 1 ? layerContent(report, only) : layersContent(report, layers);
    }
    case 'nodes': {
      const ids = new Set(selection.ids);
      const nodes = report.nodes.filter(({ id }) => ids.has(id));
      const [only] = nodes;
      if (only === undefined) return null;
      return nodes.length === 1
        ? nodeContent(report, only)
        : nodesContent(
            report,
            nodes,
            isEngine(report) ? texts.manyLayers(nodes.length) : texts.manyNodes(nodes.length),
          );
    }
    case 'fate': {
      const fate = selection.fate as Fate;
      const nodes = report.nodes.filter((node) => node.fate === fate);
      const content = nodesContent(
        report,
        nodes,
        `${fateWordsOf(report)[fate].label}: ${counted(nodes.length, nounOf(report))}`,
      );
      return { ...content, sentence: fateTooltip(fate, report) };
    }
  }
}

/** Where to look first. */
function overview(report: FusionReport): Content['lists'] {
  const timed = report.layers.filter(({ averageMs }) => averageMs !== null && averageMs > 0);
  return [
    findingList(report, () => true),
    heldBackList(report, () => true),
    remarkList(report, () => true),
    { title: texts.slowest, lines: layerLines(report, slowestFirst(timed).slice(0, slowest)) },
  ];
}

const empty: Content = { title: '', name: '', exact: null, sentence: '', facts: [], lists: [], nodes: [], line: null };

function foreignContent(report: FusionReport, foreign: ReportForeignNode): Content {
  const members = new Set(foreign.nodes);
  const own = new Set(foreign.layers);
  const layers = report.layers.filter(({ id, kind }) => own.has(id) && kind !== 'foreign');
  return {
    ...empty,
    title: foreignTitle(report, foreign.id),
    name: `${foreignNumber(foreign)}: ${foreign.name}`,
    exact: foreign.exact,
    sentence: [
      isEngine(report) ? '' : texts.nodes(foreign.nodes.length),
      layers.length > 0 ? texts.kernels(layers.length) : '',
    ]
      .filter((part) => part !== '')
      .join(', '),
    facts: [
      ...timeFact(report, foreign.averageMs),
      ...savedFact(report, { foreignNode: foreign.id }),
      { name: texts.inputs, value: foreign.inputs.join(', ') },
      { name: texts.outputs, value: foreign.outputs.join(', ') },
    ].filter(({ value }) => value !== ''),
    lists: [
      remarkList(
        report,
        (remark) => remark.layers.some((id) => own.has(id)) || remark.nodes.some((id) => members.has(id)),
      ),
      { title: texts.kernels(layers.length), lines: layerLines(report, slowestFirst(layers)) },
      ...nodeList(report, texts.nodes(foreign.nodes.length), members),
    ],
    nodes: foreign.nodes,
    line: foreign.line,
  };
}

function layerContent(report: FusionReport, layer: ReportLayer): Content {
  const ids = new Set(layer.nodes);
  const ops = new Map(report.nodes.map(({ id, op }) => [id, op]));
  return {
    ...empty,
    title: layerTitle(layer, ops),
    name: layer.name,
    exact: layer.evidence.length === 0 ? null : layer.evidence.some((evidence) => evidence !== 'reach'),
    facts: [
      { name: texts.type, value: layer.type },
      ...timeFact(report, layer.averageMs),
      ...tracedFacts(layer),
      ...savedFact(report, { layer: layer.id }),
      { name: texts.tactic, value: layer.tactic ?? '' },
      { name: texts.evidence, value: layer.evidence.map((evidence) => strings.fusion.evidence[evidence]).join(', ') },
      { name: texts.inputs, value: layer.inputs.map(graphTensorText).join('\n') },
      { name: texts.outputs, value: layer.outputs.map(graphTensorText).join('\n') },
    ].filter(({ value }) => value !== ''),
    lists: [
      groupList(report, [layer]),
      findingList(report, (finding) => finding.layers.includes(layer.id)),
      heldBackList(report, (layers) => layers.includes(layer.id)),
      remarkList(report, (remark) => remark.layers.includes(layer.id)),
      ...nodeList(report, `${texts.computes} ${texts.nodes(ids.size)}`, ids),
    ],
    nodes: layer.nodes,
    line: layer.line,
  };
}

function layersContent(report: FusionReport, layers: ReportLayer[]): Content {
  const nodes = [...new Set(layers.flatMap((layer) => layer.nodes))];
  return {
    ...empty,
    title: texts.manyLayers(layers.length),
    sentence: isEngine(report) ? '' : `${texts.computes} ${texts.nodes(nodes.length)}.`,
    facts: timeFact(report, totalMs(layers)),
    lists: [
      groupList(report, layers),
      { title: texts.layers(layers.length), lines: layerLines(report, slowestFirst(layers)) },
    ],
    nodes,
  };
}

function nodeContent(report: FusionReport, node: ReportNode): Content {
  const own = new Set(node.layers);
  const layers = report.layers.filter(({ id }) => own.has(id));
  const [layer] = layers;
  if (isEngine(report) && layer !== undefined) return { ...layerContent(report, layer), sentence: node.reason };
  return {
    ...empty,
    title: node.name === '' ? texts.unnamed(node.op, node.id) : nodeLabel(node),
    name: node.name,
    exact: node.fate === 'unknown' ? null : node.exact,
    sentence: node.reason,
    facts: [
      { name: texts.op, value: node.op },
      { name: texts.becomes, value: fateTooltip(node.fate, report) },
    ],
    lists: [
      groupList(report, layers),
      { title: `${texts.computedBy} ${texts.layers(layers.length)}`, lines: layerLines(report, layers) },
      remarkList(report, (remark) => remark.nodes.includes(node.id)),
    ],
    nodes: [node.id],
  };
}

/** Several nodes: which groups they went into (each a part that can be selected on its own), then all of them. */
function nodesContent(report: FusionReport, nodes: ReportNode[], title: string): Content {
  const parts = new Map<string, ReportNode[]>();
  for (const node of nodes) {
    const name =
      node.fate === 'foreign' && node.foreignNode !== null
        ? foreignTitle(report, node.foreignNode)
        : fateWordsOf(report)[node.fate].label;
    addTo(parts, name, node);
  }
  const lines = [...parts].map(([text, own]): Line => ({
    text,
    small: counted(own.length, nounOf(report)),
    selection: { kind: 'nodes', ids: own.map(({ id }) => id) },
  }));
  return {
    ...empty,
    title,
    lists: [
      { title: texts.becomes, lines },
      { title: counted(nodes.length, nounOf(report)), lines: nodeLines(nodes) },
    ],
    nodes: nodes.map(({ id }) => id),
  };
}

function groupList(report: FusionReport, layers: ReportLayer[]): Content['lists'][number] {
  const ids = new Set(layers.flatMap(({ foreignNode }) => foreignNode ?? []));
  const lines = report.foreignNodes
    .filter(({ id }) => ids.has(id))
    .map(({ id, name, nodes }): Line => ({
      text: `${foreignTitle(report, id)} ${name}`,
      small: counted(nodes.length, nounOf(report)),
      selection: { kind: 'foreignNode', id },
    }));
  return { title: 'ForeignNode', lines };
}

function remarkList(
  report: FusionReport,
  fits: (remark: FusionReport['remarks'][number]) => boolean,
): Content['lists'][number] {
  const lines = report.remarks.filter(fits).map(({ message, nodes, layers }): Line => ({
    text: message,
    small: '',
    selection: nodes.length > 0 ? { kind: 'nodes', ids: nodes } : { kind: 'layers', ids: layers },
  }));
  return { title: texts.remarks, lines };
}

function findingList(report: FusionReport, fits: (finding: TimeFinding) => boolean): Content['lists'][number] {
  const lines = (report.findings ?? []).filter(fits).map((finding): Line => ({
    text: `${findingTitle(finding)}: ${finding.message}`,
    small: `${timeText(finding.ms)}${finding.exact ? '' : ` · ${strings.common.derived}`}`,
    selection: { kind: 'layers', ids: finding.layers },
  }));
  return { title: texts.findings, lines };
}

function heldBackList(report: FusionReport, fits: (layers: readonly number[]) => boolean): Content['lists'][number] {
  const lines = (report.heldBack ?? [])
    .filter(({ layers }) => fits(layers))
    .map((one): Line => ({
      text: `${heldBackHead(one)}: ${one.message}`,
      small: one.change?.command ?? '',
      selection: { kind: 'layers', ids: one.layers },
    }));
  return { title: texts.heldBack, lines };
}

const slowestFirst = (layers: ReportLayer[]): ReportLayer[] =>
  layers.toSorted((a, b) => (b.averageMs ?? -1) - (a.averageMs ?? -1));

const layerLines = (report: FusionReport, layers: ReportLayer[]): Line[] => {
  const ops = new Map(report.nodes.map(({ id, op }) => [id, op]));
  return layers.map((layer) => ({
    text: [...new Set([layerTitle(layer, ops), layerLabel(layer).replace(/^Reformat: /, '')])].join(': '),
    small: layer.averageMs === null ? '' : timeText(layer.averageMs),
    selection: { kind: 'layers', ids: [layer.id] },
  }));
};

/** Without a model, the nodes of a layer are the layer itself. */
const isEngine = ({ subject }: FusionReport): boolean => subject === 'engine';

const nodeList = (report: FusionReport, title: string, ids: ReadonlySet<string>): Content['lists'] =>
  isEngine(report) ? [] : [{ title, lines: nodeLines(report.nodes.filter(({ id }) => ids.has(id))) }];

const nodeLines = (nodes: ReportNode[]): Line[] =>
  nodes.map((node) => ({
    text: node.name === '' ? texts.unnamed(node.op, node.id) : node.name,
    small: node.exact || node.fate === 'unknown' ? node.op : `${node.op} · ${strings.common.derived}`,
    selection: { kind: 'nodes', ids: [node.id] },
  }));

const graphTensorText = ({ name, type, dims, format }: EngineTensor): string =>
  [name, dims === null ? '' : shapeText(dims), format ?? type ?? ''].filter((part) => part !== '').join(' ');
