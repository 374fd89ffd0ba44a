import {
  defaultLayout,
  type LayoutInput,
  type LayoutResult,
} from '../../../../src/kernel/picture/layout/layoutTypes.ts';
import { nestedLayout, sketch } from '../../../../src/kernel/picture/layout/nestedLayout.ts';
import { isGroupPart, openingOrder } from '../../../../src/kernel/picture/graph/hierarchy.ts';
import { type Columns, columnsIn, type OwnSize, type Scene } from '../../../../src/kernel/picture/graph/scene.ts';
import { allOpen, type Drawn, type GraphModel, noColumns } from '../graphModel.ts';
import { leastScale, margin, overviewMargin, overviewScale, type Stage } from '../../draw/stage.ts';
import { labelRoom } from './navigate.ts';

/** So many boxes are placed in a few milliseconds, sooner than a worker answers. */
export const few = 1000;

/** More modules than these are not tried, and none after so many in a row that do not fit. */
const [most, mostFailed] = [40, 5];

/** What is open at first, and what begins columns then. */
export interface Opening {
  open: Set<string>;
  columns: Columns;
}

/** Columns grow by this where the picture would be wider than the screen. */
const taller = 1.4;

/** What is open at first, and its picture, where it has been laid out already. */
type FirstOpening = Opening & { drawn: Drawn | null };

/** The modules to open at first: those that show where the boundaries of a build are, or those that can be read. */
export const firstOpen = (model: GraphModel, stage: Stage): FirstOpening =>
  openAlongBoundaries(model, stage) ?? openReadable(model, stage);

/** More boxes than these have no room for names of groups on any screen. */
const mostItems = 420;
/** Columns of so many heights are tried, each taller than the one before. */
const [heights, tallerBy] = [16, 1.11];

/**
 * The picture of a build: what contains several groups is open, what is within one is closed, and all of it is on the
 * screen. null: no build, no groups, or too many for this screen.
 */
function openAlongBoundaries(model: GraphModel, stage: Stage): FirstOpening | null {
  const open = new Set(modulesAtBoundaries(model));
  if (model.fusion.groups.length === 0 || open.size > mostItems) return null;
  const sizes = new Map<string, OwnSize>();
  let best: { scale: number; begins: Int8Array } | null = null;
  const { scene, input } = model.request(open, noColumns, undefined, sizes);
  if (scene.kind.length > mostItems) return null;
  let room = (stage.size.height - 2 * margin) / leastScale - labelRoom;
  for (let i = 0; i < heights; i++, room *= tallerBy) {
    const { begins, totalWidth, totalHeight } = sketch({ ...input, options: { ...defaultLayout, room } });
    const scale = stage.scaleFor(totalWidth, totalHeight + labelRoom, overviewMargin);
    if (best === null || scale > best.scale) best = { scale, begins };
    // Without columns, taller ones change nothing.
    if (!begins.includes(1)) break;
  }
  if (best === null || best.scale < overviewScale) return null;
  const layout = nestedLayout({ ...input, begins: best.begins });
  const { scale } = best;
  const outlines = model.outlineSizes({ scene, layout });
  const hasRoom = ({ width, height }: { width: number; height: number }) =>
    width * scale >= leastName.width && height * scale >= leastName.height;
  if (outlines.filter(hasRoom).length < mostNamed * outlines.length) return null;
  return { open, columns: columnsIn(model.graph, model.hierarchy, scene, layout.begins), drawn: { scene, layout } };
}

/** A short name in CSS pixels, and the share of groups for which there must be room. */
const leastName = { width: 36, height: 18 };
const mostNamed = 0.75;

/** Modules that hold several groups, or nodes without one next to a group. */
function modulesAtBoundaries(model: GraphModel): string[] {
  const { modules, sequence } = model.nested;
  const all = model.graph.nodes <= allOpen;
  return modules
    .filter(({ start, end }, index) => {
      if (all || index === 0) return true;
      let found = -2;
      for (let i = start; i < end; i++) {
        const point = sequence[i]!;
        if (model.idle[point] === 1) continue;
        const group = model.boundaryOf(point);
        if (found === -2) found = group;
        else if (found !== group) return true;
      }
      return false;
    })
    .map(({ id }) => id);
}

/**
 * As many modules as fit the screen with readable names. Columns are as tall as the screen, or
 * taller where even closed modules do not fit: then one goes on by scrolling down. Sketches say what fits about; the
 * picture itself, where it has few boxes, is then laid out, and once more with less open where it is larger than that.
 */
function openReadable(model: GraphModel, stage: Stage): FirstOpening {
  const wide = (stage.size.width - 2 * margin) / leastScale;
  const high = (stage.size.height - 2 * margin) / leastScale - labelRoom;
  const fits = (width: number, height: number) => stage.scaleFor(width, height + labelRoom, margin) >= leastScale;
  let room = high;
  const sizes = new Map<string, OwnSize>();
  const sketched = (open: readonly string[]): Sketched => {
    const { scene, input } = model.request(new Set(withParts(model, open)), noColumns, room, sizes);
    return { open, scene, input, size: sketch(input) };
  };
  let closed = sketched([]);
  for (let i = 0; i < 12 && closed.size.totalWidth > wide && closed.size.begins.includes(1); i++) {
    room *= taller;
    closed = sketched([]);
  }
  const known = new Map<string, Sketched>();
  const opened = (open: readonly string[]): Sketched => {
    const key = open.join('\n');
    const found = known.get(key) ?? sketched(open);
    known.set(key, found);
    return found;
  };
  /** How much wider and taller than its sketch a layout is. */
  let [across, down] = [usuallyWider, 1];
  for (;;) {
    const { open, scene, input, size } = openMost(model, closed, opened, ({ totalWidth, totalHeight }) =>
      fits(across * totalWidth, down * totalHeight),
    );
    const opening = ({ begins }: Pick<LayoutResult, 'begins'>, drawn: Drawn | null) => ({
      open: new Set(withParts(model, open)),
      columns: columnsIn(model.graph, model.hierarchy, scene, begins),
      drawn,
    });
    if (scene.kind.length > few) return opening(size, null);
    // As the picture will be laid out from now on, with these columns.
    const layout = nestedLayout({ ...input, begins: size.begins, options: defaultLayout });
    if (open.length === 0 || fits(layout.totalWidth, layout.totalHeight)) return opening(layout, { scene, layout });
    across = Math.max(across, layout.totalWidth / size.totalWidth);
    down = Math.max(down, layout.totalHeight / size.totalHeight);
  }
}

/** A layout is usually so much wider than its sketch, in which boxes are packed. */
const usuallyWider = 1.05;

/** Opens one module after the other, those that do not fit left out. */
function openMost(
  { graph, hierarchy }: GraphModel,
  closed: Sketched,
  opened: (open: readonly string[]) => Sketched,
  fits: (size: Sketched['size']) => boolean,
): Sketched {
  let last = closed;
  let failed = 0;
  const tooLarge = new Set<string>();
  for (const id of openingOrder(hierarchy).slice(0, most)) {
    const { parent, modules, own, start, end } = hierarchy.modules[hierarchy.byId.get(id)!]!;
    if (parent > 0 && !last.open.includes(hierarchy.modules[parent]!.id)) continue;
    // Of alike modules side by side, one that does not fit stands for the others.
    const look = [parent, modules.length, end - start, ...own.map((point) => graph.data.nodes[point]?.op)].join(' ');
    const tried = tooLarge.has(look) ? null : opened([...last.open, id]);
    if (tried !== null && fits(tried.size)) {
      last = tried;
      failed = 0;
      continue;
    }
    tooLarge.add(look);
    if (++failed === mostFailed) break;
  }
  return last;
}

interface Sketched {
  /** Modules by their ids. */
  open: readonly string[];
  scene: Scene;
  input: LayoutInput;
  size: ReturnType<typeof sketch>;
}

/** Modules with what they have of groups, which opens with them. */
const withParts = ({ nested: { modules, byId } }: GraphModel, open: readonly string[]): string[] =>
  open.flatMap((id) => [
    id,
    ...modules[byId.get(id)!]!.modules.map((child) => modules[child]!).flatMap((child) =>
      isGroupPart(child) ? child.id : [],
    ),
  ]);

/** The modules that open with one: of a repetition also its first block, since that says most when seen from the inside. */
export function toOpen(model: GraphModel, index: number): string[] {
  const { hierarchy } = model;
  const { id, kind, modules } = hierarchy.modules[index]!;
  const [first] = modules;
  const own = kind === 'repeat' && !id.endsWith('~') && first !== undefined ? [id, hierarchy.modules[first]!.id] : [id];
  return withParts(model, own);
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
