import type { Fate, FusionReport, ReportForeignNode, ReportLayer, ReportNode } from '../../fusion/fusionReport.ts';
import { moduleEntries, modulePaths, nodesBelow, single, toModuleTree } from '../graph/moduleTree.ts';
import type { ModuleEntry, ModuleNode } from '../graph/moduleTree.ts';
import {
  aboutTime,
  derivedText,
  ellipsis,
  fusionSentence,
  layerLabel,
  nodeLabel,
  phrase,
  reformatsOf,
  shareOf,
  timeText,
  totalMs,
} from './fusionText.ts';
import type { GraphData } from './viewData.ts';

/** What an item stands for: what a person selects by it. Ids as in the report. */
export type PanelSelection =
  | { kind: 'nodes'; ids: string[] }
  | { kind: 'layers'; ids: number[] }
  | { kind: 'foreignNode'; id: number }
  | { kind: 'fate'; fate: string }
  | { kind: 'none' };

/** One line of the panel's tree. Plain data but for `children`, which are made when they are asked for, once. */
export interface PanelItem {
  /** Unique in the tree, the same for the same report. */
  id: string;
  kind: 'foreignNode' | 'layers' | 'layer' | 'kernels' | 'module' | 'node' | 'fate' | 'none';
  label: string;
  /** The numbers: `93.5 % · 453 nodes · 209 kernels`. */
  description: string;
  /** Whole names and how it is known; several lines of plain text. */
  tooltip: string;
  /** Share of all measured time, 0…1; null without a profile, and where time has no meaning. */
  share: number | null;
  /** false: derived from the graph, and to be drawn differently. */
  exact: boolean;
  selection: PanelSelection;
  parent: PanelItem | null;
  hasChildren: boolean;
  children(): PanelItem[];
}

export interface FusionPanel {
  /** What TensorRT did with the model, in one sentence. */
  sentence: string;
  items: PanelItem[];
  /** Nodes and layers that match the search; null without one. */
  hits: { nodes: number; layers: number } | null;
}

export type PanelSort = 'time' | 'size' | 'order';

interface Context {
  report: FusionReport;
  paths: string[][];
  /** Position of each node by id. */
  positions: Map<string, number>;
  layers: Map<number, ReportLayer>;
  sort: PanelSort;
  keepsNode: (index: number) => boolean;
  keepsLayer: (layer: ReportLayer) => boolean;
}

type Draft = Omit<PanelItem, 'parent' | 'children' | 'hasChildren'>;

/**
 * The side bar's tree: ForeignNodes with the modules below them, fused and single layers, reformats, what is not
 * computed, and what is unknown (always there, so that zero can be seen). `search` keeps nodes and layers whose name,
 * op or type contains it, in any case; `graph` tells the modules of nodes without names. What it says about counts and time is still about whole groups.
 */
export function toFusionPanel(
  report: FusionReport,
  { sort = 'time', search = '', graph = null }: { sort?: PanelSort; search?: string; graph?: GraphData | null } = {},
): FusionPanel {
  const context = contextOf(report, graph, sort, search.trim().toLowerCase());
  const items = [
    ...foreignItems(context),
    ...nativeItems(context),
    ...kindItem(context, 'reformats', 'Reformat', reformatsOf(report)),
    ...kindItem(context, 'others', 'Shape, constant and other layers', report.layers.filter(isOther)),
    ...notComputed(context),
    unknownItem(context),
  ];
  const hits =
    search.trim() === ''
      ? null
      : {
          nodes: report.nodes.filter((_, index) => context.keepsNode(index)).length,
          layers: report.layers.filter((layer) => context.keepsLayer(layer)).length,
        };
  return { sentence: fusionSentence(report), items, hits };
}

function contextOf(report: FusionReport, graph: GraphData | null, sort: PanelSort, search: string): Context {
  const layers = new Map(report.layers.map((layer) => [layer.id, layer]));
  const contains = (...texts: string[]) => texts.some((text) => text.toLowerCase().includes(search));
  const found = report.nodes.map((node) => search === '' || contains(node.name, node.op, node.id));
  const positions = new Map(report.nodes.map((node, index) => [node.id, index]));
  return {
    report,
    paths: modulePaths(report, graph),
    positions,
    layers,
    sort,
    keepsNode: (index) => found[index] ?? false,
    keepsLayer: (layer) =>
      search === '' ||
      contains(layer.name, layer.type) ||
      layer.nodes.some((id) => found[positions.get(id) ?? -1] ?? false),
  };
}

function item(parent: PanelItem | null, draft: Draft, make: ((self: PanelItem) => PanelItem[]) | null): PanelItem {
  let made: PanelItem[] | undefined;
  const self: PanelItem = {
    ...draft,
    parent,
    hasChildren: make !== null,
    children: () => (made ??= make?.(self) ?? []),
  };
  return self;
}

const isOther = ({ kind, foreignNode }: ReportLayer): boolean =>
  foreignNode === null && (kind === 'shape' || kind === 'constant' || kind === 'other');

/** Largest first by time or by size; as they come for `order`, and where nothing was measured. */
function sorted<T>(values: T[], sort: PanelSort, ms: (value: T) => number | null, size: (value: T) => number): T[] {
  if (sort === 'order') return values;
  if (sort === 'size') return values.toSorted((a, b) => size(b) - size(a));
  return values.toSorted((a, b) => (ms(b) ?? -1) - (ms(a) ?? -1));
}

function foreignItems(context: Context): PanelItem[] {
  const { report, sort } = context;
  const order = sorted(
    report.foreignNodes,
    sort,
    ({ averageMs }) => averageMs,
    ({ nodes }) => nodes.length,
  );
  return order.flatMap((foreign) => {
    const layers = foreign.layers.flatMap((id) => context.layers.get(id) ?? []);
    const kept = keptNodes(context, foreign.nodes);
    if (kept.length === 0 && !layers.some(context.keepsLayer)) return [];
    return [foreignItem(context, foreign, layers, kept)];
  });
}

function foreignItem(context: Context, foreign: ReportForeignNode, layers: ReportLayer[], kept: number[]): PanelItem {
  const { report } = context;
  const kernels = layers.filter(({ kind }) => kind !== 'foreign');
  const share = shareOf(report, foreign.averageMs);
  const draft: Draft = {
    id: `foreign-${foreign.id}`,
    kind: 'foreignNode',
    label: `ForeignNode ${foreign.id}`,
    description: phrase([
      aboutTime(share, foreign.averageMs),
      [foreign.nodes.length, 'node'],
      kernels.length > 0 && [kernels.length, 'kernel'],
      derivedText(foreign, report),
    ]),
    tooltip: [
      foreign.name,
      foreign.exact
        ? 'Exact: TensorRT itself named every member.'
        : 'Derived: TensorRT named the borders; the members follow from the graph.',
      ...timeLine(foreign.averageMs),
      `Inputs: ${ellipsis(foreign.inputs)}`,
      `Outputs: ${ellipsis(foreign.outputs)}`,
    ].join('\n'),
    share,
    exact: foreign.exact,
    selection: { kind: 'foreignNode', id: foreign.id },
  };
  return item(null, draft, (self) => {
    const modules = moduleItems(context, self, toModuleTree(context.paths, kept));
    const shown = kernels.filter(context.keepsLayer);
    if (shown.length === 0) return modules;
    return [...modules, layersItem(context, self, 'kernels', 'Kernels', shown)];
  });
}

/** Fused and single layers: each on its own while they are few, else below one line. */
function nativeItems(context: Context): PanelItem[] {
  const native = (kind: ReportLayer['kind']) =>
    context.report.layers.filter((layer) => layer.foreignNode === null && layer.kind === kind);
  return [
    ...kindItem(context, 'fused', 'Fused layers', native('fused'), 3),
    ...kindItem(context, 'single', 'Single layers', native('single'), 3),
    ...kindItem(context, 'kernels', 'Kernels', native('kernel'), 3),
    ...kindItem(context, 'foreign', 'Opaque layers', native('foreign'), 3),
  ];
}

function kindItem(context: Context, id: string, label: string, all: ReportLayer[], direct = 0): PanelItem[] {
  const layers = all.filter(context.keepsLayer);
  if (layers.length === 0) return [];
  if (layers.length <= direct) return byTime(context, layers).map((layer) => layerItem(context, null, layer));
  return [layersItem(context, null, id, label, layers)];
}

const byTime = (context: Context, layers: ReportLayer[]): ReportLayer[] =>
  sorted(
    layers,
    context.sort,
    ({ averageMs }) => averageMs,
    ({ nodes }) => nodes.length,
  );

const timeLine = (ms: number | null): string[] => (ms === null ? [] : [`Time: ${timeText(ms)}`]);

function layersItem(
  context: Context,
  parent: PanelItem | null,
  id: string,
  label: string,
  layers: ReportLayer[],
): PanelItem {
  const ms = totalMs(layers);
  const share = shareOf(context.report, ms);
  const nodes = new Set(layers.flatMap((layer) => layer.nodes));
  const draft: Draft = {
    id: parent === null ? id : `${parent.id}/${id}`,
    kind: parent === null ? 'layers' : 'kernels',
    label: `${label} (${layers.length})`,
    description: phrase([aboutTime(share, ms), nodes.size > 0 && [nodes.size, 'node']]),
    tooltip: `${label}: ${layers.length}`,
    share,
    exact: true,
    selection: { kind: 'layers', ids: layers.map((layer) => layer.id) },
  };
  return item(parent, draft, (self) => byTime(context, layers).map((layer) => layerItem(context, self, layer)));
}

function layerItem(context: Context, parent: PanelItem | null, layer: ReportLayer): PanelItem {
  const share = shareOf(context.report, layer.averageMs);
  const derived = layer.evidence.length > 0 && layer.evidence.every((evidence) => evidence === 'reach');
  const draft: Draft = {
    id: `layer-${layer.id}`,
    kind: 'layer',
    label: layerLabel(layer),
    description: phrase([
      aboutTime(share, layer.averageMs),
      layer.nodes.length > 0 && [layer.nodes.length, 'node'],
      derived && 'derived',
    ]),
    tooltip: [
      layer.name,
      `Type: ${layer.type === '' ? 'not recorded' : layer.type}`,
      ...timeLine(layer.averageMs),
      ...(layer.tactic === null ? [] : [`Tactic: ${layer.tactic}`]),
      ...(layer.evidence.length === 0 ? [] : [`Known from: ${layer.evidence.join(', ')}`]),
    ].join('\n'),
    share,
    exact: !derived,
    selection: { kind: 'layers', ids: [layer.id] },
  };
  const kept = keptNodes(context, layer.nodes);
  const make = (self: PanelItem) => kept.map((index) => nodeItem(context, self, index)).flat();
  return item(parent, draft, kept.length === 0 ? null : make);
}

function notComputed(context: Context): PanelItem[] {
  const fates: [Fate, string][] = [
    ['folded', 'Folded'],
    ['removed', 'Removed'],
    ['shape', 'Shape on the host'],
  ];
  const { report } = context;
  const kept = fates.map(([fate, label]) => ({ fate, label, nodes: nodesOfFate(context, fate) }));
  const sum = kept.reduce((total, { nodes }) => total + nodes.length, 0);
  if (sum === 0) return [];
  const { folded, removed, shape } = report.accounting;
  const draft: Draft = {
    id: 'not-computed',
    kind: 'fate',
    label: 'Folded and removed',
    description: phrase([[folded + removed + shape, 'node']]),
    tooltip: 'Not computed when the engine runs: evaluated at build time, needless, or shapes on the host.',
    share: null,
    exact: true,
    selection: { kind: 'nodes', ids: kept.flatMap(({ nodes }) => idsOf(report, nodes)) },
  };
  const make = (self: PanelItem) =>
    kept
      .filter(({ nodes }) => nodes.length > 0)
      .map(({ fate, label, nodes }) => fateItem(context, self, fate, label, nodes));
  return [item(null, draft, make)];
}

function unknownItem(context: Context): PanelItem {
  return fateItem(context, null, 'unknown', 'Unknown', nodesOfFate(context, 'unknown'));
}

function fateItem(context: Context, parent: PanelItem | null, fate: Fate, label: string, nodes: number[]): PanelItem {
  const draft: Draft = {
    id: `fate-${fate}`,
    kind: 'fate',
    label,
    description: phrase([[context.report.accounting[fate], 'node']]),
    tooltip: fateTooltips[fate],
    share: null,
    exact: true,
    selection: { kind: 'fate', fate },
  };
  const make = (self: PanelItem) => moduleItems(context, self, toModuleTree(context.paths, nodes));
  return item(parent, draft, nodes.length === 0 ? null : make);
}

const fateTooltips: Record<Fate, string> = {
  foreign: 'Swallowed by a ForeignNode (Myelin).',
  fused: 'Computed by an engine layer together with other nodes.',
  single: 'An engine layer of its own.',
  folded: 'Evaluated at build time: a constant, or everything that it depends on is constant.',
  removed: 'Needs no work in this engine: identity, dead, or a cast or reshape that changes nothing.',
  shape: 'Computes shapes on the host.',
  unknown: 'Nothing in the inputs says what became of these.',
};

function moduleItems(context: Context, parent: PanelItem, module: ModuleNode): PanelItem[] {
  const { nodes } = context.report;
  return [
    ...moduleEntries(module, nodes).map((entry) => moduleItem(context, parent, entry)),
    ...module.own.flatMap((index) => nodeItem(context, parent, index)),
  ];
}

function moduleItem(context: Context, parent: PanelItem, entry: ModuleEntry): PanelItem {
  const { report } = context;
  const family = entry.members.length > 1;
  const each = entry.members[0]?.size ?? 0;
  const same = entry.members.every(({ size }) => size === each);
  const draft: Draft = {
    id: `${parent.id}/${entry.id}`,
    kind: 'module',
    label: entry.label,
    description: !family
      ? phrase([[entry.size, 'node']])
      : same
        ? phrase([`${each} each`, entry.alike === true ? 'all alike' : 'fused differently'])
        : phrase([[entry.size, 'node'], 'fused differently']),
    tooltip: entry.members
      .slice(0, 20)
      .map(({ path }) => path)
      .join('\n'),
    share: null,
    exact: parent.exact,
    selection: { kind: 'nodes', ids: idsOf(report, entry.members.flatMap(nodesBelow)) },
  };
  return item(parent, draft, (self) => {
    const [only] = entry.members;
    if (!family && only !== undefined) return moduleItems(context, self, only);
    return entry.members.map((member) => moduleItem(context, self, single(member)));
  });
}

function nodeItem(context: Context, parent: PanelItem, index: number): PanelItem[] {
  const node = context.report.nodes[index];
  if (node === undefined) return [];
  const draft: Draft = {
    id: `${parent.id}/node-${node.id}`,
    kind: 'node',
    label: nodeLabel(node),
    description: phrase([node.name === '' ? '' : node.op, !node.exact && 'derived']),
    tooltip: [node.name === '' ? `Node ${node.id} (no name)` : node.name, `Op: ${node.op}`, node.reason].join('\n'),
    share: null,
    exact: node.exact,
    selection: { kind: 'nodes', ids: [node.id] },
  };
  return [item(parent, draft, null)];
}

const keptNodes = ({ positions, keepsNode }: Context, ids: readonly string[]): number[] =>
  ids
    .flatMap((id) => positions.get(id) ?? [])
    .filter(keepsNode)
    .toSorted((a, b) => a - b);

const nodesOfFate = ({ report, keepsNode }: Context, fate: Fate): number[] =>
  report.nodes.flatMap((node, index) => (node.fate === fate && keepsNode(index) ? [index] : []));

const idsOf = (report: FusionReport, indices: number[]): string[] =>
  indices.flatMap((index): ReportNode['id'][] => {
    const node = report.nodes[index];
    return node === undefined ? [] : [node.id];
  });
