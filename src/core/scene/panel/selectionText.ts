import type { FusionReport } from '../../fusion/fusionReport.ts';
import { parserName } from '../../model/parserName.ts';
import { quoteName, writeName } from '../../precision/language/quoteName.ts';
import type { PanelSelection } from './fusionPanel.ts';
import type { GraphData } from './viewData.ts';
import { counted, thousands, timeText } from '../../text/numbers.ts';
import { fateSentence } from '../../report/fateSentence.ts';
import { layerOf } from '../../report/layers.ts';

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
  const shape = known.shape?.map((size) => size ?? '?').join('×') ?? 'unknown';
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
  return [`ForeignNode ${id}, ${code(name)}: ${facts.join(', ')}\n`];
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
  const product = report?.tensorrt.product === 'tensorrt-rtx' ? 'TensorRT-RTX' : 'TensorRT';
  const build =
    report === null
      ? ''
      : ` of ${code(report.model.file)}, ${product} ${report.tensorrt.version ?? '(unknown version)'}`;
  return `**${what}**${build}`;
}

/** A name as code in Markdown, whatever backticks it has. */
function code(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  const space = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${fence}${space}${text.replaceAll(/\s+/g, ' ')}${space}${fence}`;
}
