import type { TensorOrigin } from '../../../src/core/scene/graph/tensorIndex.ts';
import type { Selection, ViewHost } from '../../../src/protocol/views.ts';
import { Highlights } from '../draw/highlights.ts';
import type { Stage } from '../draw/stage.ts';
import { pointName } from '../panels/details.ts';
import { graphStrings } from '../panels/graphStrings.ts';
import type { Inspector, Subject } from '../panels/inspector.ts';
import type { SearchEntry } from '../panels/searchBox.ts';
import type { GraphModel } from './graphModel.ts';
import { findSubject, keepSubject } from './keptSubject.ts';
import type { KeptSubject } from './keptSubject.ts';
import { hidingGroup, modulesAround } from './firstOpen.ts';
import { bringIntoSight, centreGroup, centreItem } from './navigate.ts';
import { SelectionHistory } from './selectionHistory.ts';
import { choiceOfGroup, choiceOfItem, choiceOfTensors, subjectOf } from './subjectOf.ts';

/** What the selection needs of the view. */
export interface SelectingView {
  readonly model: GraphModel | null;
  readonly stage: Stage;
  readonly inspector: Inspector;
  /** Opens modules by their ids, then goes on. */
  expand(modules: string[], then: () => void): void;
  /** `take`: the keyboard goes there. */
  focusItem(item: number, take: boolean): void;
  redraw(): void;
}

/** What is selected, found and marked, who learns of it, and the way back to what was selected before. */
export class GraphSelection {
  readonly marks = new Highlights();
  readonly #view: SelectingView;
  readonly #host: ViewHost;
  readonly #history = new SelectionHistory<KeptSubject>((a, b) => a.text === b.text);
  /** Something was selected elsewhere while there was no picture. */
  missed = false;

  constructor(view: SelectingView, host: ViewHost) {
    this.#view = view;
    this.#host = host;
  }

  /** From the host: something was selected elsewhere. Shown and brought into sight, not told back. */
  follow(selection: Selection): void {
    const { model, stage } = this.#view;
    this.marks.selection = selection;
    this.missed = model?.picture == null;
    if (model?.picture == null) return;
    const points = model.pointsOfSelection(selection);
    const subject = subjectOf(model, selection, points);
    this.show(selection, subject);
    if (subject?.kind === 'group') return this.#showGroup(subject.group, selection);
    if (subject?.kind !== 'point') return bringIntoSight(model, stage, points);
    this.#reveal(subject.point, () => {
      // Something else may be selected by now.
      if (this.marks.selection === selection)
        centreItem(model, stage, model.picture!.scene.itemOfPoint[subject.point]!);
    });
  }

  /** Shows a selection here, without a word to the host. */
  show(selection: Selection, subject: Subject | null): void {
    const model = this.#view.model!;
    this.marks.set(model, selection, subject);
    this.#view.inspector.show(model, subject);
    if (subject !== null) this.#history.push(keepSubject(model, selection, subject));
    this.#view.redraw();
  }

  /** Selects here and tells the host. */
  choose({ selection, subject }: { selection: Selection; subject: Subject | null }): void {
    this.show(selection, subject);
    this.#host.selected(selection);
  }

  close(): void {
    this.choose({ selection: { kind: 'none' }, subject: null });
  }

  /** Selects a point and brings it into sight; the keyboard's focus goes there unless `search` keeps it. */
  go(point: number, search = false): void {
    this.#reveal(point, () => {
      const model = this.#view.model!;
      const item = model.picture!.scene.itemOfPoint[point]!;
      this.#view.focusItem(item, !search);
      this.selectItem(item);
      centreItem(model, this.#view.stage, item);
    });
  }

  goToHit(at: number): void {
    const point = this.marks.found[at];
    if (point !== undefined) this.go(point, true);
  }

  /** The n-th of what was found, in words. */
  hitEntry(at: number): SearchEntry {
    const model = this.#view.model!;
    const point = this.marks.found[at]!;
    const { nodes, data } = model.graph;
    const type =
      data.nodes[point]?.op ?? (point < nodes + data.inputs.length ? graphStrings.input : graphStrings.output);
    return { type, path: pointName(model, point) };
  }

  selectGroup(group: number): void {
    const choice = choiceOfGroup(this.#view.model!, group);
    this.choose(choice);
    this.#showGroup(group, choice.selection);
  }

  /** Opens what hides a group and brings it to the middle. */
  #showGroup(group: number, selection: Selection): void {
    const model = this.#view.model!;
    this.#view.expand(hidingGroup(model, group), () => {
      if (this.marks.selection === selection) centreGroup(model, this.#view.stage, group);
    });
  }

  /** Opens the modules around a point, then goes on. */
  #reveal(point: number, then: () => void): void {
    this.#view.expand(modulesAround(this.#view.model!, point), then);
  }

  selectItem(item: number): void {
    this.choose(choiceOfItem(this.#view.model!, item));
  }

  selectTensors(origins: TensorOrigin[]): void {
    this.choose(choiceOfTensors(origins));
  }

  /** Back (-1) or forward (1) to what was selected before, as far as this picture has it. */
  step(by: -1 | 1): void {
    const model = this.#view.model;
    if (model?.picture == null) return;
    for (let kept = this.#history.step(by); kept !== undefined; kept = this.#history.step(by)) {
      const subject = findSubject(model, kept);
      if (subject === null) continue;
      this.choose({ selection: kept.selection, subject });
      if (subject.kind === 'group') return this.#showGroup(subject.group, kept.selection);
      const point = firstPoint(model, subject);
      if (point === undefined) return;
      const sight = () => bringIntoSight(model, this.#view.stage, [point]);
      if (subject.kind === 'point' || subject.kind === 'tensors') this.#reveal(point, sight);
      else sight();
      return;
    }
  }

  forget(): void {
    this.#history.clear();
  }
}

function firstPoint(model: GraphModel, subject: Subject): number | undefined {
  switch (subject.kind) {
    case 'point':
      return subject.point;
    case 'tensors':
      return subject.origins[0]?.producer;
    case 'many':
      return subject.points[0];
    case 'group':
      return model.fusion.groups[subject.group]!.points[0];
    case 'module':
      return model.nested.sequence[model.nested.modules[subject.module]!.start];
  }
}
