import type { GraphAction } from '../../../../src/kernel/protocol/graphActions.ts';
import type { SearchBox } from '../../panels/searchBox.ts';
import type { GraphModel } from '../graphModel.ts';
import type { GraphPart } from './graphPart.ts';
import type { GraphSelection } from './graphSelection.ts';

/** What actions act on. */
interface ActedOn {
  readonly selecting: GraphSelection;
  readonly part: GraphPart;
  readonly model: GraphModel | null;
  expand(modules: string[], then: () => void): void;
}

/** Does what a command of the editor, or a key on a plain page, requests. */
export function performAction(action: GraphAction, view: ActedOn, search: SearchBox): void {
  const actions: Record<GraphAction, () => void> = {
    find: () => search.open(),
    findNext: () => search.step(1),
    findPrevious: () => search.step(-1),
    back: () => view.selecting.step(-1),
    forward: () => view.selecting.step(1),
    selectAll: () => selectAll(view),
    selectGroup: () => selectGroup(view),
    isolate: () => view.part.isolate(),
    isolatePaths: () => view.part.isolatePaths(),
    showAll: () => view.part.showAll(),
    expandAll: () => expandAll(view),
  };
  actions[action]();
}

/** Selects all nodes of the graph, or of the part of it that is shown. In a field the key is for its text. */
function selectAll({ model, selecting }: ActedOn): void {
  const field = document.activeElement;
  if (field instanceof HTMLInputElement) field.select();
  else selecting.selectNodes([...model!.graph.data.nodes.keys()], false);
}

/** Selects the group of the selected node. */
function selectGroup({ model, selecting }: ActedOn): void {
  const { subject } = selecting.marks;
  const group = subject?.kind === 'point' ? model!.fusion.groupOf[subject.point]! : -1;
  if (group >= 0) selecting.selectGroup(group);
}

/** Opens the selected module with all in it, or everything. */
function expandAll(view: ActedOn): void {
  const { modules } = view.model!.nested;
  const { subject } = view.selecting.marks;
  const { start, end } = modules[subject?.kind === 'module' ? subject.module : 0]!;
  const inside = modules.filter((module) => module.start >= start && module.end <= end).map(({ id }) => id);
  view.expand(inside, () => {});
}
