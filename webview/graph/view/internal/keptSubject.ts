import type { Selection } from '../../../../src/kernel/protocol/views.ts';
import type { Subject } from '../../panels/inspector.ts';
import type { GraphModel } from '../graphModel.ts';

/** What was selected, by ids, so that it can be found again in another reading of the model, or in a part of it. */
export interface KeptSubject {
  selection: Selection;
  /** Subject by kind and ids as text; equal for equal subjects. */
  text: string;
}

type Ids =
  | { kind: 'point'; id: string }
  | { kind: 'module'; id: string }
  | { kind: 'group'; id: string }
  | { kind: 'many'; ids: string[]; title: string }
  | { kind: 'tensors'; origins: { id: string; name: string }[] };

export function keepSubject(model: GraphModel, selection: Selection, subject: Subject): KeptSubject {
  return { selection, text: JSON.stringify(idsOf(model, subject)) };
}

/** null: the model has nothing of it. */
export function findSubject(model: GraphModel, { text }: KeptSubject): Subject | null {
  const ids = JSON.parse(text) as Ids;
  const { byId } = model.graph;
  switch (ids.kind) {
    case 'point': {
      const point = byId.get(ids.id);
      return point === undefined ? null : { kind: 'point', point };
    }
    case 'module': {
      const module = model.nested.byId.get(ids.id);
      if (module === undefined) return null;
      const item = model.hierarchy === model.nested ? model.picture?.scene.itemOfModule[module] : undefined;
      return { kind: 'module', module, open: item !== undefined && model.picture?.scene.kind[item] === 'open' };
    }
    case 'group': {
      const group = model.fusion.groups.findIndex(({ id }) => id === ids.id);
      return group < 0 ? null : { kind: 'group', group };
    }
    case 'many': {
      const points = ids.ids.map((id) => byId.get(id)).filter((point) => point !== undefined);
      return points.length === 0 ? null : { kind: 'many', points, title: ids.title };
    }
    case 'tensors': {
      const origins = ids.origins.flatMap(({ id, name }) => {
        const producer = byId.get(id);
        return producer === undefined ? [] : [{ producer, name }];
      });
      return origins.length === 0 ? null : { kind: 'tensors', origins };
    }
  }
}

function idsOf(model: GraphModel, subject: Subject): Ids {
  switch (subject.kind) {
    case 'point':
      return { kind: 'point', id: pointId(model, subject.point) };
    case 'module':
      return { kind: 'module', id: model.nested.modules[subject.module]!.id };
    case 'group':
      return { kind: 'group', id: model.fusion.groups[subject.group]!.id };
    case 'many':
      return { kind: 'many', ids: subject.points.map((point) => pointId(model, point)), title: subject.title };
    case 'tensors':
      return {
        kind: 'tensors',
        origins: subject.origins.map(({ producer, name }) => ({ id: pointId(model, producer), name })),
      };
  }
}

/** As in `graph.byId`: a node's id, `input:x` or `output:y`. */
export function pointId({ graph: { data, nodes } }: GraphModel, point: number): string {
  const node = data.nodes[point];
  if (node !== undefined) return node.id;
  const input = data.inputs[point - nodes];
  return input === undefined
    ? `output:${data.outputs[point - nodes - data.inputs.length]?.name ?? ''}`
    : `input:${input.name}`;
}
