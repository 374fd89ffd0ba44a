import type { FusionReport, ReportLayer } from '../fusion/fusionReport.ts';
import type { NodeMatch } from './matchNodes.ts';

/** What is computed together: one engine layer, or a whole ForeignNode where its kernels cannot be compared. */
export interface Group {
  /** Positions in `report.nodes`. */
  nodes: number[];
  layers: ReportLayer[];
  /** Inside a ForeignNode, or one as a whole. */
  foreign: boolean;
  /** A ForeignNode as a whole. */
  whole: boolean;
}

/** A report's groups, and what belongs to none. */
export interface Groups {
  groups: Group[];
  /** Layers that compute no node: reformats, memory moves, constants. */
  empty: ReportLayer[];
}

/**
 * The groups of both reports at a level that both know: kernel by kernel, but ForeignNodes as a whole where one side
 * lists no kernels for any of the nodes concerned (TensorRT 8, layer names only).
 */
export function comparableGroups(a: FusionReport, b: FusionReport, { toB }: NodeMatch): [Groups, Groups] {
  const [left, right] = [foreignNodeOf(a), foreignNodeOf(b)];
  const opaqueA = opaqueForeignNodes(a);
  const opaqueB = opaqueForeignNodes(b);
  // ForeignNodes that share nodes are compared at one level: one that is opaque makes all of them so.
  for (let grown = true; grown;) {
    grown = false;
    toB.forEach((other, index) => {
      const [x, y] = [left[index], other === -1 ? undefined : right[other]];
      if (x === undefined || y === undefined || opaqueA.has(x) === opaqueB.has(y)) return;
      opaqueA.add(x);
      opaqueB.add(y);
      grown = true;
    });
  }
  return [groupsOf(a, opaqueA), groupsOf(b, opaqueB)];
}

function foreignNodeOf({ nodes }: FusionReport): (number | undefined)[] {
  return nodes.map(({ foreignNode }) => foreignNode ?? undefined);
}

/**
 * ForeignNodes whose kernels are not listed, or do not say what they compute. A kernel's name has one of its nodes at
 * most: with names alone (`--profilingVerbosity=layer_names_only`) the others seem to be in no kernel.
 */
export function opaqueForeignNodes({ foreignNodes, layers }: FusionReport): Set<number> {
  const says = (id: number) =>
    layers[id]?.kind === 'kernel' && layers[id].nodes.length > 0 && layers[id].evidence.some((by) => by !== 'name');
  return new Set(foreignNodes.filter(({ layers: ids }) => !ids.some(says)).map(({ id }) => id));
}

function groupsOf({ nodes, layers, foreignNodes }: FusionReport, whole: ReadonlySet<number>): Groups {
  const position = new Map(nodes.map(({ id }, index) => [id, index]));
  const at = (ids: readonly string[]) => ids.map((id) => position.get(id)).filter((index) => index !== undefined);
  const result: Groups = { groups: [], empty: [] };
  for (const { id, nodes: members, layers: own } of foreignNodes) {
    if (!whole.has(id)) continue;
    const ofIt = own.map((layer) => layers[layer]).filter((layer) => layer !== undefined);
    result.groups.push({ nodes: at(members), layers: ofIt, foreign: true, whole: true });
  }
  for (const layer of layers) {
    const inside = layer.foreignNode !== null;
    if (inside && whole.has(layer.foreignNode!)) continue;
    if (layer.nodes.length === 0) result.empty.push(layer);
    else result.groups.push({ nodes: at(layer.nodes), layers: [layer], foreign: inside, whole: false });
  }
  return result;
}

/** Milliseconds of layers; null if none of them was timed. */
export function timeOf(layers: readonly ReportLayer[]): number | null {
  const timed = layers.filter(({ averageMs }) => averageMs !== null);
  return timed.length === 0 ? null : timed.reduce((sum, { averageMs }) => sum + averageMs!, 0);
}

/** The kernel's name; null where none is said. TensorRT-RTX without a GPU writes a stub for kernels that its JIT chooses. */
export const tacticOf = ({ tactic }: Pick<ReportLayer, 'tactic'>): string | null =>
  tactic === null || tactic === '' || tactic === '__myelin_CASK_STUB' ? null : tactic;
