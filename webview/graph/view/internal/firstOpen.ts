import { nestedLayout } from '../../../../src/core/picture/layout/nestedLayout.ts';
import { openingSteps } from '../../../../src/core/picture/graph/hierarchy.ts';
import type { GraphModel } from '../graphModel.ts';
import type { Stage } from '../../draw/stage.ts';

/** Names are still read easily at this scale. */
const readable = 0.66;
/** More steps than this are not worth trying out. */
const most = 40;

/** The modules to open at first: as many as fit the screen with readable names. */
export function firstOpen(model: GraphModel, stage: Stage): Set<string> {
  const [none, ...more] = openingSteps(model.hierarchy).slice(0, most);
  let best = none ?? new Set<string>();
  for (const step of more) {
    const { totalWidth, totalHeight } = nestedLayout(model.request(step).input);
    // A later, smaller module may still fit where this one does not; but steps build on each other.
    if (stage.scaleFor(totalWidth, totalHeight, 40) < readable) break;
    best = step;
  }
  return best;
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
