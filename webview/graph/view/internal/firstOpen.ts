import { defaultLayout, type LayoutInput, type LayoutResult } from '../../../../src/core/picture/layout/layoutTypes.ts';
import { nestedLayout } from '../../../../src/core/picture/layout/nestedLayout.ts';
import { openingOrder } from '../../../../src/core/picture/graph/hierarchy.ts';
import { type Columns, columnsIn } from '../../../../src/core/picture/graph/scene.ts';
import { type Drawn, type GraphModel, noColumns } from '../graphModel.ts';
import { leastScale, margin, type Stage } from '../../draw/stage.ts';
import { labelRoom } from './navigate.ts';

/** So many boxes are placed in a few milliseconds, sooner than a worker starts. */
export const few = 1000;

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
 * taller where even closed modules do not fit: then one goes on by scrolling down. Drafts tell what fits about; the
 * picture itself, where it has few boxes, is then laid out once.
 */
export function firstOpen(model: GraphModel, stage: Stage): Opening & { drawn: Drawn | null } {
  const { modules, byId } = model.hierarchy;
  const wide = (stage.size.width - 2 * margin) / leastScale;
  const high = (stage.size.height - 2 * margin) / leastScale - labelRoom;
  let room = high;
  /** null: the boxes alone fill more than the screen. */
  const draft = (open: readonly string[]): Draft | null => {
    const { scene, input } = model.request(new Set(open), noColumns, room);
    if (open.length > 0 && areaOf(input) > wide * high) return null;
    return { scene, input, layout: nestedLayout({ ...input, options: { ...input.options, draft: true } }) };
  };
  const fits = ({ totalWidth, totalHeight }: LayoutResult) =>
    stage.scaleFor(totalWidth, totalHeight + labelRoom, margin) >= leastScale;
  // Each has one open module more than the one before.
  const drafts = [draft([])!];
  for (let i = 0; i < 12 && drafts[0]!.layout.totalWidth > wide && drafts[0]!.layout.begins.includes(1); i++) {
    room *= taller;
    drafts[0] = draft([])!;
  }
  const open: string[] = [];
  let failed = 0;
  for (const id of openingOrder(model.hierarchy).slice(0, most)) {
    const { parent } = modules[byId.get(id)!]!;
    if (parent > 0 && !open.includes(modules[parent]!.id)) continue;
    const tried = draft([...open, id]);
    if (tried !== null && fits(tried.layout)) {
      open.push(id);
      drafts.push(tried);
      failed = 0;
    } else if (++failed === mostFailed) break;
  }
  const opening = (layout: LayoutResult, drawn: Drawn | null) => ({
    open: new Set(open),
    columns: columnsIn(model.graph, model.hierarchy, drafts.at(-1)!.scene, layout.begins),
    drawn,
  });
  for (;;) {
    const { scene, input, layout } = drafts.at(-1)!;
    if (scene.kind.length > few) return opening(layout, null);
    // As the picture will be laid out from now on, with these columns.
    const drawn = nestedLayout({ ...input, begins: layout.begins, options: defaultLayout });
    if (open.length === 0 || fits(drawn)) return opening(drawn, { scene, layout: drawn });
    open.pop();
    drafts.pop();
  }
}

interface Draft extends Drawn {
  input: LayoutInput;
}

/** What closed boxes take, with the space around them. */
function areaOf({ open, width, height, options: { gap, rowGap } }: LayoutInput): number {
  let sum = 0;
  for (let item = 0; item < width.length; item++)
    if (open[item] === 0) sum += (width[item]! + gap) * (height[item]! + rowGap);
  return sum;
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
