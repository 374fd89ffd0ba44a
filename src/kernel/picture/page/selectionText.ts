// What is selected, as text.
import { addTo } from '../../base/addTo.ts';
import { counted, exactRelease, shapeText, thousands, timeText } from '../../base/text.ts';
import type { OnnxModel } from '../../read/onnx/onnxModel.ts';
import {
  foreignNumber,
  type FusionReport,
  nodeTimes,
  type ReportLayer,
  type ReportNode,
} from '../../fusion/fusionReport.ts';
import { builtNetworkOf, type Network } from '../../network/network.ts';
import { parserName } from '../../network/nodeNames.ts';
import { quoteName, writeName } from '../../rules/overrideFile.ts';
import { readSource } from '../../network/sourceLines.ts';
import { fateSentence, fateWords, foreignName, foreignTitle, layerOf } from '../../report/words.ts';
import type { GraphData, GraphTensor, PanelSelection } from '../graph/viewData.ts';

/** What a menu or a command is about. */
export interface TextSubject {
  graph: GraphData | null;
  report: FusionReport | null;
  selection: PanelSelection;
  /** A tensor, which counts in place of the selection. */
  tensor?: string;
  /** The path of a module, whose nodes are the selection. */
  module?: string;
}

/** More nodes than these are counted in Markdown. */
const mostListed = 20;

/** Ids of the nodes that a selection means, in the report's order. */
export function selectedNodes({ graph, report, selection }: TextSubject): string[] {
  switch (selection.kind) {
    case 'nodes':
      return selection.ids;
    case 'layers': {
      const ids = new Set(selection.ids.flatMap((id) => (report === null ? [] : (layerOf(report, id)?.nodes ?? []))));
      return (graph?.nodes ?? []).map(({ id }) => id).filter((id) => ids.has(id));
    }
    case 'foreignNode':
      return report?.foreignNodes.find(({ id }) => id === selection.id)?.nodes ?? [];
    case 'fate':
      return (report?.nodes ?? []).filter(({ fate }) => fate === selection.fate).map(({ id }) => id);
    case 'none':
      return [];
  }
}

/** The names to copy, one per line: of a tensor, a module, layers or a ForeignNode their own, otherwise those of nodes as TensorRT knows them. */
export function namesOf(subject: TextSubject): string[] {
  const { graph, report, selection, tensor, module } = subject;
  if (tensor !== undefined) return [tensor];
  if (module !== undefined && module !== '') return [module];
  if (report !== null && selection.kind === 'layers')
    return selection.ids.flatMap((id) => layerOf(report, id)?.name ?? []);
  if (report !== null && selection.kind === 'foreignNode')
    return report.foreignNodes.filter(({ id }) => id === selection.id).map(({ name }) => name);
  const wanted = new Set(selectedNodes(subject));
  return (graph?.nodes ?? []).filter(({ id }) => wanted.has(id)).map((node) => parserName(node));
}

/**
 * Selectors for an override file: the ForeignNode, or each node by its name. Nodes without a name and output cannot be
 * selected.
 */
export function selectorsOf(subject: TextSubject): string[] {
  const { graph, report, selection } = subject;
  if (report !== null && selection.kind === 'foreignNode')
    return report.foreignNodes.filter(({ id }) => id === selection.id).map(({ name }) => `group:${quoteName(name)}`);
  const wanted = new Set(selectedNodes(subject));
  const names = (graph?.nodes ?? []).filter(({ id }) => wanted.has(id)).map((node) => parserName(node));
  return [...new Set(names)].filter((name) => name !== '').map(writeName);
}

/** The line of the build log that tells most of a selection, from 1; null: no log lists it. */
export function logLineOf({ report, selection, ...rest }: TextSubject): number | null {
  if (report === null) return null;
  const foreign = report.foreignNodes.find(({ id }) => selection.kind === 'foreignNode' && id === selection.id);
  if (foreign !== undefined && foreign.line !== null) return foreign.line;
  const ids =
    selection.kind === 'layers'
      ? selection.ids
      : selectedNodes({ report, selection, ...rest })
          .slice(0, 100)
          .flatMap((id) => report.nodes.find((node) => node.id === id)?.layers ?? []);
  for (const id of ids) {
    const line = layerOf(report, id)?.line ?? null;
    if (line !== null) return line;
  }
  return null;
}

/** A selection as Markdown for an issue or a chat: what it is, what TensorRT did with it, and how that is known. */
export function markdownOf(subject: TextSubject): string {
  const { tensor, module } = subject;
  const where = module === undefined || module === '' ? [] : [`Module ${code(module)}\n`];
  const lines =
    tensor === undefined ? [...where, ...foreignLines(subject), ...nodeLines(subject)] : tensorLines(subject);
  return `${[`${headline(subject)}\n`, ...lines].join('\n')}\n`;
}

function tensorLines({ report, tensor }: TextSubject): string[] {
  const known = report?.tensors.find(({ name }) => name === tensor);
  if (known === undefined) return [];
  const shape = known.shape ? shapeText(known.shape) : 'unknown';
  return [`- type ${known.type ?? 'unknown'}, shape ${shape}`];
}

function foreignLines({ report, selection }: TextSubject): string[] {
  const foreign = report?.foreignNodes.find(({ id }) => selection.kind === 'foreignNode' && id === selection.id);
  if (foreign === undefined) return [];
  const { id, name, nodes, layers, averageMs, exact } = foreign;
  const facts = [
    counted(nodes.length, 'node'),
    counted(layers.length, 'layer'),
    ...(averageMs === null ? [] : [timeText(averageMs)]),
    exact ? 'exact' : 'derived',
  ];
  return [`${foreignName(report!, id)}, ${code(name)}: ${facts.join(', ')}\n`];
}

function nodeLines(subject: TextSubject): string[] {
  const { graph, report } = subject;
  const ids = selectedNodes(subject);
  const wanted = new Set(ids.slice(0, mostListed));
  const said = new Map((report?.nodes ?? []).map((node) => [node.id, node]));
  const lines = (graph?.nodes ?? [])
    .filter(({ id }) => wanted.has(id))
    .map(({ id, name, op }) => {
      const node = said.get(id);
      const evidence = node?.fate === 'unknown' ? 'unknown' : node?.exact === true ? 'exact' : 'derived';
      const fate = report === null || node === undefined ? 'no build' : `${fateSentence(report, node)} (${evidence})`;
      return `- ${code(op)} ${code(name === '' ? `node ${id}` : name)}: ${fate}`;
    });
  return ids.length > mostListed ? [...lines, `- … ${thousands(ids.length - mostListed)} more`] : lines;
}

/** `**3 nodes** of vit_tiny.onnx, TensorRT 10.6.0` */
function headline(subject: TextSubject): string {
  const { report, tensor } = subject;
  const what = tensor === undefined ? counted(selectedNodes(subject).length, 'node') : `Tensor ${code(tensor)}`;
  const build = report === null ? '' : ` of ${code(report.model.file)}, ${exactRelease(report.tensorrt)}`;
  return `**${what}**${build}`;
}

/** A name as code in Markdown, whatever backticks it has. */
function code(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  const space = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${fence}${space}${text.replaceAll(/\s+/g, ' ')}${space}${fence}`;
}

/**
 * The graph of a model with the types and shapes that follow from its operators, for a view without a report, which has
 * them too. Never fails; what an unknown operator makes stays unknown.
 */
export function typedGraph(data: GraphData, model: OnnxModel): GraphData {
  const tensors = knownTensors(builtNetworkOf(model));
  const byName = new Map(tensors.flatMap((tensor) => (tensor.producer === undefined ? [[tensor.name, tensor]] : [])));
  const typed = (port: GraphTensor): GraphTensor => {
    const known = byName.get(port.name);
    return { ...port, type: known?.type ?? port.type, shape: known?.shape ?? port.shape };
  };
  return { ...data, outputs: data.outputs.map(typed), tensors };
}

/** The main graph comes first. A tensor whose name another one has already has its producer with it. */
function knownTensors(graph: Network): GraphTensor[] {
  const { types, shapes } = graph.inferred;
  const names = new Set<string>();
  return graph.tensors.flatMap(({ name, kind, producer }, index): GraphTensor[] => {
    const [type, shape] = [types[index] ?? null, shapes[index] ?? null];
    const initializer = kind === 'initializer';
    if (name === '' || (type === null && shape === null && !initializer)) return [];
    const isFirst = !names.has(name);
    names.add(name);
    if (isFirst) return [{ name, type, shape, initializer }];
    return producer < 0 ? [] : [{ name, type, shape, initializer, producer: graph.nodes[producer]!.id }];
  });
}

/** A name in a log ends where TensorRT's separators between names begin. */
const nameInLog = /[^\s,;"'`()[\]{}+|]+/g;

/** What a place of a log names. */
export interface LogName {
  /** Where the name is in its line. */
  start: number;
  end: number;
  selection: PanelSelection;
}

/** The node or layer of a model whose name is at a place of a line; null: there is no such name. */
export function nameAt(
  graph: GraphData | null,
  report: FusionReport | null,
  line: string,
  character: number,
): LogName | null {
  for (const { 0: word, index: start } of line.matchAll(nameInLog)) {
    if (character < start || character > start + word.length) continue;
    // A sentence may go on right after a name.
    for (const name of [word, word.replace(/[.:]+$/, '')]) {
      const end = start + name.length;
      const node = graph?.nodes.find((one) => one.name !== '' && one.name === name);
      if (node !== undefined) return { start, end, selection: { kind: 'nodes', ids: [node.id] } };
      const layer = report?.layers.find((one) => one.name !== '' && one.name === name);
      if (layer !== undefined) return { start, end, selection: { kind: 'layers', ids: [layer.id] } };
    }
  }
  return null;
}

/** The layers that compute nodes and that the log lists, each with its line, from 1. */
export const listedLayers = ({ layers }: FusionReport): (ReportLayer & { line: number })[] =>
  layers.filter((layer): layer is ReportLayer & { line: number } => layer.line !== null && layer.nodes.length > 0);

/** A line of a program, and what the engine does for it. */
export interface CodeLine {
  /** From 1. */
  line: number;
  /** Ids of the nodes that it became. */
  nodes: string[];
  /** What computes them: a ForeignNode by its content and number, a layer by its type; "folded" for what nothing computes. */
  groups: string[];
  /** How many kernels of ForeignNodes are known to compute them. */
  kernels: number;
  /** Milliseconds of its nodes; null: not measured. */
  ms: number | null;
}

/** Groups of a line beyond these are counted. */
const mostGroups = 2;

/** The lines of a file that nodes of a report come from, in order. @param path as the exporter wrote it */
export function codeLines(report: FusionReport, path: string): CodeLine[] {
  const lines = new Map<number, number[]>();
  report.nodes.forEach(({ source }, position) => {
    const read = source === undefined ? null : readSource(source);
    if (read?.path === path) addTo(lines, read.line, position);
  });
  if (lines.size === 0) return [];
  const times = nodeTimes(report);
  return [...lines]
    .toSorted(([a], [b]) => a - b)
    .map(([line, positions]) => {
      const groups = new Set(positions.map((position) => homeOf(report, report.nodes[position]!)));
      const measured = positions.flatMap((position) => times[position] ?? []);
      const more = groups.size - mostGroups;
      return {
        line,
        nodes: positions.map((position) => report.nodes[position]!.id),
        groups: [...[...groups].slice(0, mostGroups), ...(more > 0 ? [`${more} more`] : [])],
        kernels: kernelsOf(report, positions),
        ms: measured.length === 0 ? null : measured.reduce((sum, ms) => sum + ms, 0),
      };
    });
}

const kernelsOf = (report: FusionReport, positions: readonly number[]): number =>
  new Set(
    positions
      .map((position) => report.nodes[position]!)
      .flatMap(({ foreignNode, layers }) => (foreignNode === null ? [] : layers)),
  ).size;

/** What computes a node, in a few words. */
function homeOf(report: FusionReport, { foreignNode, layers, fate }: ReportNode): string {
  if (foreignNode !== null) {
    const title = foreignTitle(report, foreignNode);
    const number = foreignNumber(report.foreignNodes.find(({ id }) => id === foreignNode) ?? { id: foreignNode });
    return title === number ? number : `${title} (${number})`;
  }
  const layer = layers[0] === undefined ? undefined : layerOf(report, layers[0]);
  if (layer === undefined) return fateWords[fate].label.toLowerCase();
  return `layer ${layer.id}${layer.type === '' ? '' : ` (${layer.type})`}`;
}
