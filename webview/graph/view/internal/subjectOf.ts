import { pointKind } from '../../../../src/kernel/picture/graph/scene.ts';
import type { TensorOrigin } from '../../../../src/kernel/picture/graph/graphIndex.ts';
import type { GraphMenuContext } from '../../../../src/kernel/protocol/graphMenu.ts';
import type { Selection } from '../../../../src/kernel/protocol/views.ts';
import type { GraphModel } from '../graphModel.ts';
import { graphStrings } from '../../panels/graphStrings.ts';
import type { Subject } from '../../panels/inspector.ts';
import { shorten } from '../../../../src/kernel/base/text.ts';
import type { FusionReport } from '../../../../src/kernel/fusion/fusionReport.ts';
import { layerOf, longestName, titleOfLayer } from '../../../../src/kernel/report/words.ts';
import { selectedGroup } from '../../../../src/kernel/picture/graph/fusionGroups.ts';

/** What the panel shows for something that was selected in another view. */
export function subjectOf(model: GraphModel, selection: Selection, points: number[]): Subject | null {
  const { fusion, noun } = model;
  const [only] = points;
  if (only === undefined) return null;
  if (selection.kind === 'nodes' && points.length === 1) return { kind: 'point', point: only };
  const module = selection.kind === 'nodes' ? wholeModule(model, points) : -1;
  if (module >= 0) {
    const item = model.picture?.scene.itemOfModule[module] ?? -1;
    return { kind: 'module', module, open: item >= 0 && model.picture!.scene.kind[item] === 'open' };
  }
  const wanted = selectedGroup(selection);
  const group = fusion.groups.findIndex(({ id }) => id === wanted);
  if (group >= 0) return { kind: 'group', group };
  const layers = selection.kind === 'layers' ? selection.ids : [];
  const [layer] = layers;
  const { report } = model.data;
  const title =
    layer !== undefined && layers.length === 1 && report !== null
      ? nameOfLayer(report, layer)
      : graphStrings.selectedNodes(points.length, noun);
  return { kind: 'many', points, title, layers };
}

/** What a layer is called; a kernel of a ForeignNode has the name that TensorRT gave it. */
function nameOfLayer(report: FusionReport, id: number): string {
  const layer = layerOf(report, id);
  return layer?.foreignNode == null ? titleOfLayer(report, id) : shorten(layer.name, longestName);
}

/**
 * The innermost module that has exactly these points, or these and only nodes that the engine does not compute, which
 * the side bar lists elsewhere; -1: none has.
 */
function wholeModule({ nested, fusion: { groupOf } }: GraphModel, points: readonly number[]): number {
  const wanted = new Set(points);
  const computed = points.every((point) => groupOf[point]! >= 0);
  for (let at = nested.moduleOf[points[0]!] ?? -1; at > 0; at = nested.modules[at]!.parent) {
    const { start, end } = nested.modules[at]!;
    const others = nested.sequence.subarray(start, end).filter((point) => !wanted.has(point));
    if (end - start - others.length < wanted.size) continue;
    return others.length === 0 || (computed && others.every((point) => groupOf[point]! < 0)) ? at : -1;
  }
  return -1;
}

/** What the user selects with a box. */
export function choiceOfItem(model: GraphModel, item: number): { selection: Selection; subject: Subject } {
  const { scene } = model.picture!;
  const ref = scene.ref[item]!;
  const kind = scene.kind[item]!;
  const ids = Array.from(model.pointsOf(item), (point) => model.graph.data.nodes[point]?.id).filter(
    (id) => id !== undefined,
  );
  const subject: Subject =
    kind === 'open' || kind === 'closed'
      ? { kind: 'module', module: ref, open: kind === 'open' }
      : { kind: 'point', point: ref };
  return { selection: { kind: 'nodes', ids }, subject };
}

/** What the user selects with a boundary. */
export function choiceOfGroup({ fusion }: GraphModel, group: number): { selection: Selection; subject: Subject } {
  const { kind, ref } = fusion.groups[group]!;
  const selection: Selection = kind === 'foreign' ? { kind: 'foreignNode', id: ref } : { kind: 'layers', ids: [ref] };
  return { selection, subject: { kind: 'group', group } };
}

/** What the user selects with an edge: other views have no edges, so there nothing is selected. */
export const choiceOfTensors = (origins: TensorOrigin[]): { selection: Selection; subject: Subject } => ({
  selection: { kind: 'none' },
  subject: { kind: 'tensors', origins },
});

/** What the user selects with a module, be it on the picture or not. */
export function choiceOfModule(model: GraphModel, module: number): { selection: Selection; subject: Subject } {
  const { nested, graph, hierarchy, picture } = model;
  const { start, end } = nested.modules[module]!;
  const ids = Array.from(nested.sequence.subarray(start, end), (point) => graph.data.nodes[point]?.id).filter(
    (id) => id !== undefined,
  );
  const item = hierarchy === nested ? (picture?.scene.itemOfModule[module] ?? -1) : -1;
  const open = picture?.scene.kind[item] === 'open';
  return { selection: { kind: 'nodes', ids }, subject: { kind: 'module', module, open } };
}

/** The points that a subject is about: of tensors their producers and consumers. */
export function pointsOfSubject({ nested, fusion, tensors }: GraphModel, subject: Subject): number[] {
  switch (subject.kind) {
    case 'point':
      return [subject.point];
    case 'module': {
      const { start, end } = nested.modules[subject.module]!;
      return [...nested.sequence.subarray(start, end)];
    }
    case 'group':
      return fusion.groups[subject.group]!.points;
    case 'many':
      return subject.points;
    case 'tensors':
      return [...new Set(subject.origins.flatMap((origin) => [origin.producer, ...tensors.consumers(origin)]))];
  }
}

/** The selection with a point added or, if it is in it, taken out. */
export function toggled(
  model: GraphModel,
  subject: Subject | null,
  point: number,
): { selection: Selection; subject: Subject | null } {
  const before = subject === null ? [] : pointsOfSubject(model, subject);
  const points = before.includes(point) ? before.filter((other) => other !== point) : [...before, point];
  return choiceOfPoints(model, points);
}

/** What the user selects with several boxes. */
export function choiceOfPoints(model: GraphModel, points: number[]): { selection: Selection; subject: Subject | null } {
  const ids = points.map((one) => model.graph.data.nodes[one]?.id).filter((id) => id !== undefined);
  const [only] = points;
  if (only === undefined) return { selection: { kind: 'none' }, subject: null };
  return {
    selection: ids.length === 0 ? { kind: 'none' } : { kind: 'nodes', ids },
    subject:
      points.length === 1
        ? { kind: 'point', point: only }
        : { kind: 'many', points, title: graphStrings.selectedNodes(points.length, model.noun) },
  };
}

/** What the commands of a context menu get: the selection, and what is known of it only here. */
export function menuContext(
  model: GraphModel | null,
  { selection, subject }: { selection: Selection; subject: Subject | null },
): GraphMenuContext {
  const takesType =
    model !== null && subject !== null && pointsOfSubject(model, subject).some((point) => model.takesType(point));
  const context = { preventDefaultContextMenuItems: true, selection, takesType } as const;
  switch (model === null ? undefined : subject?.kind) {
    case undefined:
      return { ...context, webviewSection: 'canvas' };
    case 'point': {
      const tensor = subject?.kind === 'point' ? outputTensor(model!, subject.point) : undefined;
      return tensor ? { ...context, webviewSection: 'output', tensor } : { ...context, webviewSection: 'node' };
    }
    case 'many':
      return { ...context, webviewSection: 'node' };
    case 'group':
      return { ...context, webviewSection: 'group' };
    case 'module':
      return {
        ...context,
        webviewSection: 'module',
        ...(subject?.kind === 'module' && moduleOf(model!, subject.module)),
      };
    case 'tensors': {
      const [origin] = subject?.kind === 'tensors' ? subject.origins : [];
      if (origin === undefined) return { ...context, webviewSection: 'canvas' };
      return { ...context, webviewSection: 'tensor', tensor: named(model!, origin) };
    }
  }
}

const named = ({ graph }: GraphModel, { name, producer }: TensorOrigin): { name: string; producer: string } => ({
  name,
  producer: graph.data.nodes[producer]?.id ?? '',
});

/** What a graph output is; undefined: the point is none, or nothing computes it. */
function outputTensor(model: GraphModel, point: number): { name: string; producer: string } | undefined {
  const { graph, tensors } = model;
  if (pointKind(graph, point) !== 'output' || graph.inStart[point] === graph.inStart[point + 1]) return undefined;
  return named(model, tensors.ofEdge(graph.inEdges[graph.inStart[point]!]!));
}

const moduleOf = (model: GraphModel, module: number): { module: string } => ({
  module: model.nested.modules[module]!.id,
});
