// The tree in the side bar.
import { firstOf, percentText, thousands, timeText } from '../../base/text.ts';
import {
  foreignNumber,
  type Fate,
  type FusionReport,
  type LayerKind,
  type ReportLayer,
  type ReportNode,
  totalMs,
} from '../../fusion/fusionReport.ts';
import {
  foreignTitle,
  aboutTime,
  derivedText,
  type FusionGroup,
  reportGroups,
  fateTooltip,
  fateWordsOf,
  findingTitle,
  heldBackTitle,
  isStep,
  layerKindLabel,
  layerKinds,
  layerLabel,
  nodeLabel,
  nounOf,
  phrase,
  sharedText,
  shareOf,
} from '../../report/words.ts';
import { fusionGroups, selectedGroup } from '../graph/fusionGroups.ts';
import { indexGraph } from '../graph/graphIndex.ts';
import {
  moduleEntries,
  type ModuleEntry,
  type ModuleNode,
  modulePaths,
  nodesBelow,
  single,
  toModuleTree,
} from '../graph/hierarchy.ts';
import type { GraphData, PanelSelection } from '../graph/viewData.ts';
import { figuresOf, figuresText } from './headline.ts';

/** Time that may be avoidable: one line, and a line for each finding, which selects its layers; null: nowhere. */
export function findingDrafts(report: FusionReport): { whole: PanelDraft; lines: PanelDraft[] } | null {
  const { findings = [] } = report;
  if (findings.length === 0) return null;
  const lines = findings.map((finding): PanelDraft => ({
    id: `finding-${finding.code}`,
    kind: 'layers',
    label: findingTitle(finding),
    description: phrase([
      aboutTime(shareOf(report, finding.ms), finding.ms),
      [finding.layers.length, 'layer'],
      !finding.exact && 'derived',
    ]),
    tooltip: [finding.message, ...finding.evidence].join('\n'),
    share: null,
    exact: finding.exact,
    selection: { kind: 'layers', ids: finding.layers },
  }));
  const whole: PanelDraft = {
    id: 'findings',
    kind: 'layers',
    label: `Where time goes (${findings.length})`,
    description: '',
    tooltip: 'What takes time and need not, by the times of the profile or trace.',
    share: null,
    exact: true,
    selection: { kind: 'none' },
  };
  return { whole, lines };
}

/** What holds the build back: one line, and a line for each cause, which selects its layers; null: nothing is known to. */
export function heldBackDrafts({ heldBack = [] }: FusionReport): { whole: PanelDraft; lines: PanelDraft[] } | null {
  if (heldBack.length === 0) return null;
  const lines = heldBack.map((one, at): PanelDraft => ({
    id: `held-back-${at}`,
    kind: 'layers',
    label: heldBackTitle(one),
    description: phrase([one.ms !== null && timeText(one.ms), [one.layers.length, 'layer']]),
    tooltip: [one.message, ...one.evidence, ...(one.change === null ? [] : [one.change.command])].join('\n'),
    share: null,
    exact: true,
    selection: { kind: 'layers', ids: one.layers },
  }));
  const whole: PanelDraft = {
    id: 'held-back',
    kind: 'layers',
    label: `What holds it back (${heldBack.length})`,
    description: '',
    tooltip: 'Fusions that did not happen and why, and what quantization leaves in floating point.',
    share: null,
    exact: true,
    selection: { kind: 'none' },
  };
  return { whole, lines };
}

/** One line of the panel's tree. Plain data but for `children`, which are made when they are requested, once. */
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
  /** What TensorRT did with the model, in figures, as above every view. */
  figures: string;
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
  groups: FusionGroup[];
  /** The group of each layer outside ForeignNodes, by the layer's id. */
  natives: Map<number, FusionGroup>;
  sort: PanelSort;
  keepsNode: (index: number) => boolean;
  keepsLayer: (layer: ReportLayer) => boolean;
}

/** A line without its place in the tree. */
export type PanelDraft = Omit<PanelItem, 'parent' | 'children' | 'hasChildren'>;

/**
 * The side bar's tree: ForeignNodes with the modules below them, all other layers by kind, what is not computed, and what
 * is unknown (always there, so that zero can be seen). The numbers of nodes add up to the model's: a node that several
 * groups compute is counted in one of them. `search` keeps nodes and layers whose name, op or type contains it, in any
 * case; `graph` gives the modules of nodes without names. Counts and times are always those of whole groups.
 */
export function toFusionPanel(
  report: FusionReport,
  { sort = 'time', search = '', graph = null }: { sort?: PanelSort; search?: string; graph?: GraphData | null } = {},
): FusionPanel {
  const context = contextOf(report, graph, sort, search.trim().toLowerCase());
  const items = [
    ...foreignItems(context),
    ...layerKinds.flatMap((kind) => kindItem(context, kind)),
    ...(search.trim() === '' ? findingItems(report) : []),
    ...(report.subject === 'engine' ? [] : [...lostItems(context), ...notComputed(context), unknownItem(context)]),
  ];
  const hits =
    search.trim() === ''
      ? null
      : {
          nodes: report.nodes.filter((_, index) => context.keepsNode(index)).length,
          layers: report.layers.filter((layer) => context.keepsLayer(layer)).length,
        };
  return { figures: figuresText(figuresOf(report, null)), items, hits };
}

function contextOf(report: FusionReport, graph: GraphData | null, sort: PanelSort, search: string): Context {
  const groups = reportGroups(report);
  const contains = (...texts: string[]) => texts.some((text) => text.toLowerCase().includes(search));
  const found = report.nodes.map((node) => search === '' || contains(node.name, node.op, node.id));
  const positions = new Map(report.nodes.map((node, index) => [node.id, index]));
  return {
    report,
    paths: modulePaths(report, graph),
    positions,
    groups,
    natives: new Map(groups.flatMap((group) => (group.foreign === null ? [[group.layers[0]!.id, group]] : []))),
    sort,
    keepsNode: (index) => found[index] ?? false,
    keepsLayer: (layer) =>
      search === '' ||
      contains(layer.name, layer.type) ||
      layer.nodes.some((id) => found[positions.get(id) ?? -1] ?? false),
  };
}

/** A line for a narrow view, which cuts off its end: the share of time, then the name; the other numbers behind it. */
export function shareFirst({ label, description, share }: PanelItem): { label: string; description: string } {
  if (share === null) return { label, description };
  const text = percentText(share * 100);
  const others = description.split(' · ').filter((part, at) => at > 0 || part !== text);
  return { label: `${text}  ${label}`, description: others.join(' · ') };
}

function item(parent: PanelItem | null, draft: PanelDraft, make: ((self: PanelItem) => PanelItem[]) | null): PanelItem {
  let made: PanelItem[] | undefined;
  const self: PanelItem = {
    ...draft,
    parent,
    hasChildren: make !== null,
    children: () => (made ??= make?.(self) ?? []),
  };
  return self;
}

/** Largest first by time or by size; as they come for `order`, and if nothing was measured. */
function sorted<T>(values: T[], sort: PanelSort, ms: (value: T) => number | null, size: (value: T) => number): T[] {
  if (sort === 'order') return values;
  if (sort === 'size') return values.toSorted((a, b) => size(b) - size(a));
  return values.toSorted((a, b) => (ms(b) ?? -1) - (ms(a) ?? -1));
}

function foreignItems(context: Context): PanelItem[] {
  const order = sorted(
    context.groups.filter(({ foreign }) => foreign !== null),
    context.sort,
    ({ foreign }) => foreign?.averageMs ?? null,
    ({ counted: nodes }) => nodes.length,
  );
  return order.flatMap((group) => {
    const kept = keptNodes(context, [...group.counted, ...group.shared]);
    if (kept.length === 0 && !group.layers.some(context.keepsLayer)) return [];
    return foreignItem(context, group, kept);
  });
}

function foreignItem(context: Context, group: FusionGroup, kept: number[]): PanelItem[] {
  const { report } = context;
  const { foreign, layers } = group;
  if (foreign === null) return [];
  const kernels = layers.filter(({ kind }) => kind === 'kernel');
  const share = shareOf(report, foreign.averageMs);
  const draft: PanelDraft = {
    id: `foreign-${foreign.id}`,
    kind: 'foreignNode',
    label: foreignTitle(report, foreign.id),
    description: phrase([
      aboutTime(share, foreign.averageMs),
      report.subject !== 'engine' && [group.counted.length, 'node'],
      sharedText(group),
      kernels.length > 0 && [kernels.length, 'kernel'],
      derivedText(report, group),
      foreign.title !== undefined && foreignNumber(foreign),
    ]),
    tooltip: [
      `${foreignNumber(foreign)}: ${foreign.name}`,
      foreign.exact
        ? 'Exact: TensorRT named every member.'
        : 'Derived: TensorRT named the borders; the members follow from the graph.',
      ...timeLine(foreign.averageMs),
      `Inputs: ${firstOf(foreign.inputs, 6)}`,
      `Outputs: ${firstOf(foreign.outputs, 6)}`,
    ].join('\n'),
    share,
    exact: foreign.exact,
    selection: { kind: 'foreignNode', id: foreign.id },
  };
  const make = (self: PanelItem): PanelItem[] => {
    const modules = moduleItems(context, self, toModuleTree(context.paths, kept));
    // Without a model, the modules already list the kernels.
    if (report.subject === 'engine') return modules;
    const lists = [kernels, layers.filter(isStep)].map((own) => own.filter(context.keepsLayer));
    const items = lists.map((own, i) =>
      i === 0
        ? layersItem(context, self, 'kernels', 'Kernels', own)
        : layersItem(context, self, 'steps', 'Other Steps', own),
    );
    return [...modules, ...items.filter((_, i) => lists[i]!.length > 0)];
  };
  return [item(null, draft, make)];
}

/** Layers that compute nodes get one line each while they are few. */
const fewLayers = 3;

function kindItem(context: Context, kind: LayerKind): PanelItem[] {
  const layers = context.report.layers.filter(
    (layer) => layer.foreignNode === null && layer.kind === kind && context.keepsLayer(layer),
  );
  if (layers.length === 0) return [];
  if (layers.length <= fewLayers && layers.every(({ nodes }) => nodes.length > 0))
    return byTime(context, layers).map((layer) => layerItem(context, null, layer));
  return [layersItem(context, null, kind, layerKindLabel(kind, context.report), layers)];
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
  const natives = layers.flatMap((layer) => context.natives.get(layer.id) ?? []);
  // The kernels of one ForeignNode share its nodes, so they are counted once.
  const nodes =
    parent === null
      ? natives.reduce((sum, group) => sum + group.counted.length, 0)
      : new Set(layers.flatMap((layer) => layer.nodes)).size;
  const draft: PanelDraft = {
    id: parent === null ? id : `${parent.id}/${id}`,
    kind: parent === null ? 'layers' : 'kernels',
    label: `${label} (${thousands(layers.length)})`,
    description: phrase([aboutTime(share, ms), nodes > 0 && context.report.subject !== 'engine' && [nodes, 'node']]),
    tooltip: `${label}: ${thousands(layers.length)}`,
    share,
    exact: true,
    selection: { kind: 'layers', ids: layers.map((layer) => layer.id) },
  };
  return item(parent, draft, (self) => byTime(context, layers).map((layer) => layerItem(context, self, layer)));
}

function layerItem(context: Context, parent: PanelItem | null, layer: ReportLayer): PanelItem {
  const share = shareOf(context.report, layer.averageMs);
  const group = context.natives.get(layer.id);
  const own = group?.counted.length ?? layer.nodes.length;
  const derived = layer.evidence.length > 0 && layer.evidence.every((evidence) => evidence === 'reach');
  const draft: PanelDraft = {
    id: `layer-${layer.id}`,
    kind: 'layer',
    label: layerLabel(layer),
    description: phrase([
      aboutTime(share, layer.averageMs),
      own > 0 && context.report.subject !== 'engine' && [own, 'node'],
      group !== undefined && sharedText(group),
      derived && 'derived',
    ]),
    tooltip: [
      layer.name,
      `Type: ${layer.type === '' ? 'not recorded' : layer.type}`,
      ...timeLine(layer.averageMs),
      ...(layer.tactic === null ? [] : [`Tactic: ${layer.tactic}`]),
      ...(layer.evidence.length === 0 ? [] : [`Evidence: ${layer.evidence.join(', ')}`]),
    ].join('\n'),
    share,
    exact: !derived,
    selection: { kind: 'layers', ids: [layer.id] },
  };
  const kept = context.report.subject === 'engine' ? [] : keptNodes(context, layer.nodes);
  const shared = new Set(group?.shared);
  const make = (self: PanelItem) =>
    kept.flatMap((index) => nodeItem(context, self, index, shared.has(context.report.nodes[index]?.id ?? '')));
  return item(parent, draft, kept.length === 0 ? null : make);
}

function findingItems(report: FusionReport): PanelItem[] {
  return [findingDrafts(report), heldBackDrafts(report)].flatMap((drafts) =>
    drafts === null ? [] : [item(null, drafts.whole, (self) => drafts.lines.map((line) => item(self, line, null)))],
  );
}

function notComputed(context: Context): PanelItem[] {
  const fates: Fate[] = ['folded', 'removed', 'shape'];
  const { report } = context;
  const kept = fates.map((fate) => ({ fate, nodes: nodesOfFate(context, fate) }));
  const sum = kept.reduce((total, { nodes }) => total + nodes.length, 0);
  if (sum === 0) return [];
  const { folded, removed, shape } = report.accounting;
  const draft: PanelDraft = {
    id: 'not-computed',
    kind: 'fate',
    label: 'Not computed',
    description: phrase([[folded + removed + shape, 'node']]),
    tooltip: 'The engine does not compute these: they were folded or removed, or the host computes them.',
    share: null,
    exact: true,
    selection: { kind: 'nodes', ids: kept.flatMap(({ nodes }) => idsOf(report, nodes)) },
  };
  const make = (self: PanelItem) =>
    kept.filter(({ nodes }) => nodes.length > 0).map(({ fate, nodes }) => fateItem(context, self, fate, nodes));
  return [item(null, draft, make)];
}

/** Nodes that may be lost; nothing where there are none. */
function lostItems(context: Context): PanelItem[] {
  const nodes = nodesOfFate(context, 'unaccounted');
  return nodes.length === 0 ? [] : [fateItem(context, null, 'unaccounted', nodes)];
}

function unknownItem(context: Context): PanelItem {
  return fateItem(context, null, 'unknown', nodesOfFate(context, 'unknown'));
}

function fateItem(context: Context, parent: PanelItem | null, fate: Fate, nodes: number[]): PanelItem {
  const draft: PanelDraft = {
    id: `fate-${fate}`,
    kind: 'fate',
    label: fateWordsOf(context.report)[fate].label,
    description: phrase([[context.report.accounting[fate], 'node']]),
    tooltip: fateTooltip(fate, context.report),
    share: null,
    exact: true,
    selection: { kind: 'fate', fate },
  };
  const make = (self: PanelItem) => moduleItems(context, self, toModuleTree(context.paths, nodes));
  return item(parent, draft, nodes.length === 0 ? null : make);
}

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
  const draft: PanelDraft = {
    id: `${parent.id}/${entry.id}`,
    kind: 'module',
    label: entry.label,
    description: !family
      ? phrase([[entry.size, nounOf(report)]])
      : same
        ? phrase([`${each} each`, entry.alike === true ? 'all alike' : 'fused differently'])
        : phrase([[entry.size, nounOf(report)], 'fused differently']),
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

function nodeItem(context: Context, parent: PanelItem, index: number, shared = false): PanelItem[] {
  const node = context.report.nodes[index];
  if (node === undefined) return [];
  // Without a model, the nodes are the layers.
  const layer = context.report.subject === 'engine' ? context.report.layers[index] : undefined;
  if (layer !== undefined) return [layerItem(context, parent, layer)];
  const draft: PanelDraft = {
    id: `${parent.id}/node-${node.id}`,
    kind: 'node',
    label: nodeLabel(node),
    description: phrase([node.name === '' ? '' : node.op, !node.exact && 'derived', shared && 'shared']),
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

/** The colors of `--lens-c0` to `--lens-c7` (webview/shared/base.css), which mean the same wherever they appear. */
export const hues: readonly { light: string; dark: string }[] = [
  { light: '#0072b2', dark: '#4db0ee' },
  { light: '#c65200', dark: '#f28a4a' },
  { light: '#a63a8b', dark: '#e08bc4' },
  { light: '#5b4bb5', dark: '#a79bf2' },
  { light: '#2c7f9e', dark: '#83cfe0' },
  { light: '#a07800', dark: '#e3c13a' },
  { light: '#00805e', dark: '#2fc79a' },
  { light: '#7d5640', dark: '#c9a48c' },
];

/** A group's color in the graph: one of the hues, or its other shade. */
export interface Swatch {
  hue: number;
  shade: boolean;
}

/** Finds the color that the graph gives to the group of a panel's line; null: it stands for no single group. */
export function groupColors(graph: GraphData, report: FusionReport): (item: PanelItem) => Swatch | null {
  const colors = new Map(fusionGroups(indexGraph(graph), report).groups.map(({ id, color }) => [id, color]));
  return ({ selection }) => {
    const color = colors.get(selectedGroup(selection));
    return color === undefined ? null : { hue: color % hues.length, shade: color >= hues.length };
  };
}

/**
 * The items from the root down to the one that shows best what is selected: the very thing, otherwise what has most in
 * common with it (as little besides as can be). [] where nothing has anything to do with it.
 */
export function locate(panel: FusionPanel, selection: PanelSelection): PanelItem[] {
  const ids: ReadonlySet<string | number> = new Set(membersOf(selection));
  let best: PanelItem[] = [];
  let most = 0;
  const visit = (items: PanelItem[], path: PanelItem[]): boolean => {
    for (const item of items) {
      const here = [...path, item];
      const { common, likeness } = compare(item.selection, selection, ids);
      if (likeness > most) {
        most = likeness;
        best = here;
      }
      if (most === 1) return true;
      // No part of a module can have more in common with what is wanted than the module has.
      const worthwhile =
        item.kind === 'layer' ? selection.kind === 'nodes' : item.kind !== 'module' || common / ids.size > most;
      if (item.hasChildren && worthwhile && visit(item.children(), here)) return true;
    }
    return false;
  };
  if (selection.kind !== 'none') visit(panel.items, []);
  return best;
}

/** `likeness` is 1 for the same thing, 0 for nothing in common. */
function compare(
  own: PanelSelection,
  wanted: PanelSelection,
  ids: ReadonlySet<string | number>,
): { common: number; likeness: number } {
  if (own.kind !== wanted.kind) return { common: 0, likeness: 0 };
  if (own.kind === 'foreignNode' || own.kind === 'fate') {
    return { common: 0, likeness: JSON.stringify(own) === JSON.stringify(wanted) ? 1 : 0 };
  }
  const members = membersOf(own);
  const common = members.reduce((sum: number, id) => sum + (ids.has(id) ? 1 : 0), 0);
  return { common, likeness: common / (members.length + ids.size - common || 1) };
}

function membersOf(selection: PanelSelection): readonly (string | number)[] {
  return selection.kind === 'nodes' || selection.kind === 'layers' ? selection.ids : [];
}
