import { nestedLayout } from '../../../../src/core/picture/layout/nestedLayout.ts';
import { openingOrder } from '../../../../src/core/picture/graph/hierarchy.ts';
import { type Columns, columnsIn } from '../../../../src/core/picture/graph/scene.ts';
import { type GraphModel, noColumns } from '../graphModel.ts';
import { leastScale, margin, type Stage } from '../../draw/stage.ts';
import { labelRoom } from './navigate.ts';

/** More modules than these are not tried, and after so many in a row that do not fit no more. */
const [most, mostFailed] = [40, 5];

/** What is open at first, and what begins columns then. */
export interface Opening {
  open: Set<string>;
  columns: Columns;
}

/** Columns grow by this where the picture would be wider than the screen. */
const taller = 1.4;

/**
 * The modules to open at first: as many as fit the screen with readable names. Columns are as tall as the screen, or
 * taller where even closed modules do not fit: then one goes on by scrolling down.
 */
export function firstOpen(model: GraphModel, stage: Stage): Opening {
  const { modules, byId } = model.hierarchy;
  let room = (stage.size.height - 2 * margin - labelRoom) / leastScale;
  const wide = (stage.size.width - 2 * margin) / leastScale;
  const picture = (open: ReadonlySet<string>) => {
    const { scene, input } = model.request(open, noColumns, room);
    return { scene, layout: nestedLayout(input) };
  };
  let open = new Set<string>();
  let best = picture(open);
  for (let i = 0; i < 12 && best.layout.totalWidth > wide && best.layout.begins.includes(1); i++) {
    room *= taller;
    best = picture(open);
  }
  let failed = 0;
  for (const id of openingOrder(model.hierarchy).slice(0, most)) {
    const { parent } = modules[byId.get(id)!]!;
    if (parent > 0 && !open.has(modules[parent]!.id)) continue;
    const more = new Set([...open, id]);
    const tried = picture(more);
    if (stage.scaleFor(tried.layout.totalWidth, tried.layout.totalHeight + labelRoom, margin) >= leastScale) {
      [open, best, failed] = [more, tried, 0];
    } else if (++failed === mostFailed) break;
  }
  return { open, columns: columnsIn(model.graph, model.hierarchy, best.scene, best.layout.begins) };
}

/** The modules that open with one: of a repetition also its first block, since that says most when seen from the inside. */
export function toOpen({ hierarchy }: GraphModel, index: number): string[] {
  const { id, kind, modules } = hierarchy.modules[index]!;
  const [first] = modules;
  return kind === 'repeat' && !id.endsWith('~') && first !== undefined ? [id, hierarchy.modules[first]!.id] : [id];
}

/** The modules around a point from the inside out, by their ids. */
export function modulesAround({ hierarchy }: GraphModel, point: number): string[] {
  const around: string[] = [];
  for (let at = hierarchy.moduleOf[point]!; at > 0; at = hierarchy.modules[at]!.parent)
    around.push(hierarchy.modules[at]!.id);
  return around;
}

/** A group may open so many modules, the outer ones first; more would be a picture of the whole network. */
const mostOpened = 48;

/** The modules that hide which of their nodes are in a group: those that hold nodes of it and of others, by their ids. */
export function hidingGroup({ hierarchy, fusion, idle }: GraphModel, group: number): string[] {
  const { modules, sequence } = hierarchy;
  const around = new Map<number, number>();
  for (const point of fusion.groups[group]!.points) {
    if (idle[point] === 1) continue;
    for (let at = hierarchy.moduleOf[point]!; at > 0; at = modules[at]!.parent)
      around.set(at, (around.get(at) ?? 0) + 1);
  }
  return [...around]
    .filter(([index, own]) => {
      const { start, end } = modules[index]!;
      return sequence.subarray(start, end).reduce((sum, point) => sum + 1 - idle[point]!, 0) > own;
    })
    .map(([index]) => index)
    .sort((a, b) => a - b)
    .slice(0, mostOpened)
    .map((index) => modules[index]!.id);
}
