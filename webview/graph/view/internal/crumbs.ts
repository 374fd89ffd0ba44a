import { counted } from '../../../../src/kernel/base/text.ts';
import { groupName, pointName } from '../../panels/details.ts';
import type { Subject } from '../../panels/inspector.ts';
import type { Crumb } from '../../panels/placeBar.ts';
import type { GraphModel } from '../graphModel.ts';
import type { GraphSelection } from './graphSelection.ts';

/** The way from the model through its modules to what is selected. */
export function crumbsOf(model: GraphModel, subject: Subject | null, selecting: GraphSelection): Crumb[] {
  const title = { text: model.data.title, go: () => selecting.close() };
  if (subject === null) return [title];
  const last = { text: lastText(model, subject), go: () => selecting.bringBack() };
  return [title, ...modulesOf(model, subject, selecting), last];
}

function modulesOf({ nested }: GraphModel, subject: Subject, selecting: GraphSelection): Crumb[] {
  const inner =
    subject.kind === 'point'
      ? nested.moduleOf[subject.point]!
      : subject.kind === 'module'
        ? nested.modules[subject.module]!.parent
        : subject.kind === 'tensors'
          ? nested.moduleOf[subject.origins[0]!.producer]!
          : 0;
  const crumbs: Crumb[] = [];
  for (let at = inner; at > 0; at = nested.modules[at]!.parent)
    crumbs.unshift({ text: nested.modules[at]!.label, go: () => selecting.goToModule(at) });
  return crumbs;
}

function lastText(model: GraphModel, subject: Subject): string {
  switch (subject.kind) {
    case 'point': {
      const node = model.graph.data.nodes[subject.point];
      return node === undefined ? pointName(model, subject.point) : node.op;
    }
    case 'module':
      return model.nested.modules[subject.module]!.label;
    case 'group':
      return groupName(model, model.fusion.groups[subject.group]!);
    case 'many':
      return subject.title;
    case 'tensors':
      return subject.origins.length === 1 ? subject.origins[0]!.name : counted(subject.origins.length, 'tensor');
  }
}
