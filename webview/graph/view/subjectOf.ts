import type { TensorOrigin } from '../../../src/core/scene/graph/tensorIndex.ts';
import type { Selection } from '../../../src/protocol/views.ts';
import type { GraphModel } from './graphModel.ts';
import { graphStrings } from '../panels/graphStrings.ts';
import type { Subject } from '../panels/inspector.ts';

/** What the panel shows for something that was selected in another view. */
export function subjectOf({ fusion, noun }: GraphModel, selection: Selection, points: number[]): Subject | null {
  const [only] = points;
  if (only === undefined) return null;
  if (selection.kind === 'nodes' && points.length === 1) return { kind: 'point', point: only };
  const wanted =
    selection.kind === 'foreignNode'
      ? `foreign:${selection.id}`
      : selection.kind === 'layers' && selection.ids.length === 1
        ? `layer:${selection.ids[0]}`
        : '';
  const group = fusion.groups.findIndex(({ id }) => id === wanted);
  return group >= 0
    ? { kind: 'group', group }
    : { kind: 'many', points, title: graphStrings.selectedNodes(points.length, noun) };
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
