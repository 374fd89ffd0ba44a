import type { Fate, FusionReport, LayerKind, ReportLayer } from '../../fusion/fusionReport.ts';
import { fateOrder, fateWordsOf } from '../../report/fates.ts';
import { layerKindLabel } from '../../report/layers.ts';
import type { PanelSelection } from '../panel/fusionPanel.ts';
import type { LayerRange } from './fusionTimeline.ts';
import { layerTitle } from './kernelFamilies.ts';
import { addTo } from '../../text/addTo.ts';

/** What a width stands for: milliseconds, or nodes of the model. */
export type Weight = 'time' | 'nodes';

/**
 * The smallest fact of the flow: one layer's work on one node. Its weights are shares: a layer's time is divided
 * equally among its nodes (nothing says more), and a node computed by several layers counts a part in each, so that
 * sums are always the engine's time and the model's nodes.
 */
export interface FusionUnit {
  /** Position in the report's nodes; null: no node asked for this layer. */
  node: number | null;
  /** Position in the report's layers; null: no layer computes it, or none is named. */
  layer: number | null;
  group: string;
  ms: number;
  count: number;
  /** false: that the node is part of the group is derived from the graph. */
  exact: boolean;
}

/** ForeignNodes one by one, TensorRT's own layers by kind, nodes without a layer by fate. */
export interface UnitGroup {
  /** `foreign-0`, `fused`, `fate-folded`, … */
  id: string;
  kind: LayerKind | Fate;
  foreignNode: number | null;
  label: string;
  exact: boolean;
  selection: PanelSelection;
}

export interface FusionUnits {
  units: FusionUnit[];
  /** In order of execution, groups that are not computed last. */
  groups: UnitGroup[];
  /** What each layer does, in few words, by position. */
  titles: string[];
  /** false: no layer was measured, `time` would show nothing. */
  timed: boolean;
}

/** A report taken apart into units, with the groups that they fall into. Linear in nodes and layers. */
export function toFusionUnits(report: FusionReport): FusionUnits {
  const positions = new Map(report.nodes.map(({ id }, index) => [id, index]));
  const units: FusionUnit[] = [];
  const groups = new Map<string, UnitGroup>();
  const group = (id: string, make: () => Omit<UnitGroup, 'id'>): string => {
    if (!groups.has(id)) groups.set(id, { id, ...make() });
    return id;
  };
  const computed = report.nodes.map(() => 0);
  const layerNodes = report.layers.map((layer) => [...new Set(layer.nodes.flatMap((id) => positions.get(id) ?? []))]);
  for (const nodes of layerNodes) for (const node of nodes) computed[node] = (computed[node] ?? 0) + 1;

  const measured = new Set<number>();
  report.layers.forEach((layer, index) => {
    const own = groupOfLayer(report, layer, group);
    const nodes = layerNodes[index] ?? [];
    const ms = layer.averageMs ?? 0;
    if (layer.averageMs !== null && layer.foreignNode !== null) measured.add(layer.foreignNode);
    if (nodes.length === 0) units.push({ node: null, layer: index, group: own, ms, count: 0, exact: true });
    for (const node of nodes) {
      units.push({
        node,
        layer: index,
        group: own,
        ms: ms / nodes.length,
        count: 1 / (computed[node] ?? 1),
        exact: isExact(report, node),
      });
    }
  });
  addForeignWholes(report, positions, measured, units, group);
  addWithoutLayer(report, computed, units, group);
  const timed = units.some(({ ms }) => ms > 0);
  const ops = new Map(report.nodes.map(({ id, op }) => [id, op]));
  const titles = report.layers.map((layer) => layerTitle(layer, ops));
  return { units, groups: inOrder([...groups.values()]), titles, timed };
}

const isExact = (report: FusionReport, node: number): boolean => report.nodes[node]?.exact ?? true;

type GroupMaker = (id: string, make: () => Omit<UnitGroup, 'id'>) => string;

function foreignGroup(report: FusionReport, id: number, group: GroupMaker): string {
  return group(`foreign-${id}`, () => ({
    kind: 'foreign',
    foreignNode: id,
    label: `ForeignNode ${id}`,
    exact: report.foreignNodes.find((foreign) => foreign.id === id)?.exact ?? false,
    selection: { kind: 'foreignNode', id },
  }));
}

function groupOfLayer(report: FusionReport, { kind, foreignNode }: ReportLayer, group: GroupMaker): string {
  if (foreignNode !== null) return foreignGroup(report, foreignNode, group);
  return group(kind, () => ({
    kind,
    foreignNode: null,
    label: layerKindLabel(kind, report),
    exact: true,
    selection: {
      kind: 'layers',
      ids: report.layers.filter((other) => other.foreignNode === null && other.kind === kind).map(({ id }) => id),
    },
  }));
}

/** ForeignNodes that were measured only as a whole: their time belongs to their nodes, but to none of their kernels. */
function addForeignWholes(
  report: FusionReport,
  positions: Map<string, number>,
  measured: Set<number>,
  units: FusionUnit[],
  group: GroupMaker,
): void {
  for (const { id, averageMs, nodes } of report.foreignNodes) {
    if (averageMs === null || measured.has(id)) continue;
    const own = foreignGroup(report, id, group);
    const members = nodes.flatMap((node) => positions.get(node) ?? []);
    if (members.length === 0) units.push({ node: null, layer: null, group: own, ms: averageMs, count: 0, exact: true });
    for (const node of members) {
      units.push({
        node,
        layer: null,
        group: own,
        ms: averageMs / members.length,
        count: 0,
        exact: isExact(report, node),
      });
    }
  }
}

/** Nodes that no layer names: members of a ForeignNode that no kernel mentions, and those that are not computed. */
function addWithoutLayer(report: FusionReport, computed: number[], units: FusionUnit[], group: GroupMaker): void {
  report.nodes.forEach(({ fate, foreignNode, exact }, node) => {
    if ((computed[node] ?? 0) > 0) return;
    const own =
      fate === 'foreign' && foreignNode !== null
        ? foreignGroup(report, foreignNode, group)
        : group(`fate-${fate}`, () => ({
            kind: fate,
            foreignNode: null,
            label: fateWordsOf(report)[fate].label,
            exact: true,
            selection: { kind: 'fate', fate },
          }));
    units.push({ node, layer: null, group: own, ms: 0, count: 1, exact });
  });
}

/** Computed groups as they came; those without layers after them, the unknown last. */
function inOrder(groups: UnitGroup[]): UnitGroup[] {
  const rank = ({ id }: UnitGroup): number =>
    id.startsWith('fate-') ? 1 + fateOrder.indexOf(id.slice('fate-'.length) as Fate) : 0;
  return groups.toSorted((a, b) => rank(a) - rank(b));
}

/** The units of the layers in a range; null: all units. */
export function unitsInRange(found: FusionUnits, range: LayerRange | null): FusionUnits {
  if (range === null) return found;
  const inside = ({ layer }: FusionUnit) => layer !== null && layer >= range.first && layer <= range.last;
  return { ...found, units: found.units.filter(inside) };
}

/** Weight of a unit in milliseconds or nodes. */
export const weightOf = (unit: FusionUnit, weight: Weight): number => (weight === 'time' ? unit.ms : unit.count);

/** Whether a unit belongs to what is selected: exactly it, not everything that shares a kernel with it. */
export function unitMatcher(report: FusionReport, selection: PanelSelection): (unit: FusionUnit) => boolean {
  switch (selection.kind) {
    case 'none':
      return () => false;
    case 'nodes': {
      const ids = new Set(selection.ids);
      return ({ node }) => node !== null && ids.has(report.nodes[node]?.id ?? '');
    }
    case 'layers': {
      const ids = new Set(selection.ids);
      return ({ layer }) => layer !== null && ids.has(report.layers[layer]?.id ?? -1);
    }
    case 'foreignNode':
      return ({ group }) => group === `foreign-${selection.id}`;
    case 'fate':
      return ({ node }) => node !== null && report.nodes[node]?.fate === selection.fate;
  }
}

/** Units sorted into lists by what `key` gives, in order of first sight. */
export function unitsBy<K>(units: readonly FusionUnit[], key: (unit: FusionUnit) => K): Map<K, FusionUnit[]> {
  const lists = new Map<K, FusionUnit[]>();
  for (const unit of units) {
    const own = key(unit);
    addTo(lists, own, unit);
  }
  return lists;
}

export const sumOf = (units: readonly FusionUnit[], weight: Weight): number =>
  units.reduce((sum, unit) => sum + weightOf(unit, weight), 0);

/** Ids of the layers that units belong to. */
export const layerIdsOf = (report: FusionReport, units: readonly FusionUnit[]): number[] => [
  ...new Set(units.flatMap(({ layer }) => (layer === null ? [] : (report.layers[layer]?.id ?? [])))),
];
