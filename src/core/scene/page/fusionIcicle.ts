import type { Fate, FusionReport, LayerKind } from '../../fusion/fusionReport.ts';
import type { PanelSelection } from '../panel/fusionPanel.ts';
import { layerIdsOf, sumOf, unitsBy, weightOf } from './fusionUnits.ts';
import type { UnitGroup, FusionUnit, FusionUnits, Weight } from './fusionUnits.ts';
import { kernelFamilies } from './kernelFamilies.ts';
import { mergedModule, moduleEntries, nodesBelow, single, toModuleTree } from '../graph/moduleTree.ts';
import type { ModuleEntry, ModuleNode } from '../graph/moduleTree.ts';
import { layerLabel } from '../../report/labels.ts';

/** A cell of the icicle: modules above, then the group, then its kernels. Children's weights sum to the parent's. */
export interface IcicleCell {
  id: string;
  label: string;
  detail: string;
  kind: LayerKind | Fate | 'module' | 'model';
  foreignNode: number | null;
  exact: boolean;
  weight: number;
  selection: PanelSelection;
  units: FusionUnit[];
  children: IcicleCell[];
}

/** Levels of modules above the group, families counted as one. */
const moduleLevels = 3;
/** Larger families are shown as what their members have in common: hundreds of equal slivers say nothing. */
const mostMembers = 16;

interface Context {
  report: FusionReport;
  groups: Map<string, UnitGroup>;
  byNode: Map<number, FusionUnit[]>;
  titles: string[];
  weight: Weight;
}

/** The whole engine by module → group → kernel. Cells without weight are omitted. */
export function toFusionIcicle(
  report: FusionReport,
  found: FusionUnits,
  paths: readonly string[][],
  weight: Weight,
): IcicleCell {
  const units = found.units.filter((unit) => weightOf(unit, weight) > 0);
  const byNode = unitsBy(units, ({ node }) => node ?? -1);
  const added = byNode.get(-1) ?? [];
  byNode.delete(-1);
  const context: Context = {
    report,
    groups: new Map(found.groups.map((group) => [group.id, group])),
    byNode,
    titles: found.titles,
    weight,
  };
  const tree = toModuleTree(
    paths,
    [...byNode.keys()].toSorted((a, b) => a - b),
  );
  const children = insideOf(context, tree, 1);
  if (added.length > 0) {
    const selection: PanelSelection = { kind: 'layers', ids: layerIdsOf(report, added) };
    children.push({
      ...cell(context, 'added', 'Added by TensorRT', added),
      detail: 'computes no node',
      selection,
      children: groupCells(context, 'added', added),
    });
  }
  return { ...cell(context, 'model', report.model.file, units), kind: 'model', selection: { kind: 'none' }, children };
}

function cell({ report, weight }: Context, id: string, label: string, units: FusionUnit[]): IcicleCell {
  const nodes = new Set(units.flatMap(({ node }) => node ?? []));
  return {
    id,
    label,
    detail: '',
    kind: 'module',
    foreignNode: null,
    exact: true,
    weight: sumOf(units, weight),
    selection: { kind: 'nodes', ids: [...nodes].flatMap((node) => report.nodes[node]?.id ?? []) },
    units,
    children: [],
  };
}

const unitsOf = ({ byNode }: Context, nodes: readonly number[]): FusionUnit[] =>
  nodes.flatMap((node) => byNode.get(node) ?? []);

function insideOf(context: Context, module: ModuleNode, level: number): IcicleCell[] {
  const entries = moduleEntries(module, context.report.nodes);
  const cells = entries.map((entry) => entryCell(context, entry, level));
  if (module.own.length > 0) {
    const units = unitsOf(context, module.own);
    const id = `${module.path}//`;
    if (module.path === '') {
      cells.push({ ...cell(context, id, 'top level', units), children: groupCells(context, id, units) });
    } else cells.push(...groupCells(context, id, units));
  }
  return cells;
}

function entryCell(context: Context, entry: ModuleEntry, level: number): IcicleCell {
  const units = unitsOf(context, entry.members.flatMap(nodesBelow));
  const family = entry.members.length > 1;
  const [only] = entry.members;
  const own = cell(context, entry.id, entry.short, units);
  if (family) {
    own.detail = `×${entry.members.length}${entry.alike === true ? ', all alike' : ', fused differently'}`;
    own.children =
      entry.members.length <= mostMembers
        ? entry.members.map((member) => entryCell(context, single(member), level + 1))
        : insideOf(context, mergedModule(entry.id, entry.members), level + 1);
  } else if (only !== undefined && level < moduleLevels && only.children.length > 0) {
    own.children = insideOf(context, only, level + 1);
  } else own.children = groupCells(context, entry.id, units);
  return own;
}

function groupCells(context: Context, within: string, units: FusionUnit[]): IcicleCell[] {
  const byGroup = unitsBy(units, ({ group }) => group);
  return [...context.groups.values()].flatMap((group) => {
    const own = byGroup.get(group.id);
    if (own === undefined) return [];
    const id = `${within}>${group.id}`;
    const colours = { kind: group.kind, foreignNode: group.foreignNode, exact: own.every(({ exact }) => exact) };
    return [{ ...cell(context, id, group.label, own), ...colours, children: kernelCells(context, id, group, own) }];
  });
}

function kernelCells(context: Context, within: string, group: UnitGroup, units: FusionUnit[]): IcicleCell[] {
  const { report, titles } = context;
  const byLayer = unitsBy(units, ({ layer }) => layer ?? -1);
  const layers = [...byLayer.keys()].filter((layer) => layer >= 0).toSorted((a, b) => a - b);
  return kernelFamilies(report, within, layers, titles).map((family): IcicleCell => {
    const own = family.layers.flatMap((layer) => byLayer.get(layer) ?? []);
    const [first = -1] = family.layers;
    const layer = report.layers[first];
    const alone = family.layers.length === 1 && layer !== undefined;
    return {
      ...cell(context, `${within}>${first}`, family.label, own),
      kind: layer?.kind ?? group.kind,
      foreignNode: group.foreignNode,
      exact: own.every((unit) => unit.exact),
      detail: alone ? layerLabel(layer) : `×${family.layers.length}${family.name === '' ? '' : ` ${family.name}`}`,
      selection: { kind: 'layers', ids: family.layers.flatMap((index) => report.layers[index]?.id ?? []) },
    };
  });
}
