import type { TensorOrigin } from '../../../../src/kernel/picture/graph/graphIndex.ts';
import type { Selection, ViewHost } from '../../../../src/kernel/protocol/views.ts';
import { Highlights } from '../../draw/highlights.ts';
import type { Stage } from '../../draw/stage.ts';
import { pointName } from '../../panels/details.ts';
import { graphStrings } from '../../panels/graphStrings.ts';
import type { Inspector, Subject } from '../../panels/inspector.ts';
import type { SearchEntry } from '../../panels/searchBox.ts';
import type { GraphModel } from '../graphModel.ts';
import { hidingGroup, modulesAround } from './firstOpen.ts';
import { findSubject, keepSubject, type KeptSubject } from './keptSubject.ts';
import { bringIntoSight, centerGroup, centerItem, pullIntoSight } from './navigate.ts';
import {
  choiceOfGroup,
  choiceOfItem,
  choiceOfModule,
  choiceOfPoints,
  choiceOfTensors,
  pointsOfSubject,
  subjectOf,
  toggled,
} from './subjectOf.ts';

/** The way back and forward through what was selected, as in a browser: a new selection forgets what was ahead. */
export class SelectionHistory<T> {
  readonly #entries: T[] = [];
  readonly #same: (a: T, b: T) => boolean;
  #at = -1;

  constructor(same: (a: T, b: T) => boolean) {
    this.#same = same;
  }

  /** Adds what is selected now, unless it is the same as before. The oldest of more than 200 are forgotten. */
  push(entry: T): void {
    const now = this.#entries[this.#at];
    if (now !== undefined && this.#same(now, entry)) return;
    this.#entries.splice(this.#at + 1, this.#entries.length, entry);
    if (this.#entries.length > most) this.#entries.shift();
    this.#at = this.#entries.length - 1;
  }

  /** One step back (-1) or forward (1); undefined at the end. */
  step(by: -1 | 1): T | undefined {
    const entry = this.#entries[this.#at + by];
    if (entry !== undefined) this.#at += by;
    return entry;
  }

  clear(): void {
    this.#entries.length = 0;
    this.#at = -1;
  }
}

const most = 200;

/** What the selection needs of the view. */
export interface SelectingView {
  readonly model: GraphModel | null;
  readonly stage: Stage;
  readonly inspector: Inspector;
  /** Opens modules by their ids, then goes on. */
  expand(modules: string[], then: () => void): void;
  /** Says where in the graph a selection is. */
  showPlace(subject: Subject | null): void;
  readonly pointer: {
    /** `take`: the keyboard goes there. */
    focusItem(item: number, take: boolean): void;
  };
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
        centerItem(model, stage, model.picture!.scene.itemOfPoint[subject.point]!);
    });
  }

  /** The same for what is selected here, but not on the picture. */
  pick(selection: Selection): void {
    if (selection.kind === 'none') return this.close();
    this.follow(selection);
    this.#host.selected(selection);
  }

  /** Shows a selection here, without a word to the host. */
  show(selection: Selection, subject: Subject | null): void {
    const model = this.#view.model!;
    this.marks.set(model, selection, subject);
    this.#view.inspector.show(model, subject);
    this.#view.showPlace(subject);
    if (subject !== null) this.#history.push(keepSubject(model, selection, subject));
    this.#view.redraw();
  }

  /** Selects here and tells the host. */
  choose({ selection, subject }: { selection: Selection; subject: Subject | null }): void {
    const { model, stage, inspector } = this.#view;
    const opens = inspector.root.hidden && subject !== null;
    this.show(selection, subject);
    this.#host.selected(selection);
    // A module stays under the pointer, since a second click opens it.
    if (opens && subject.kind !== 'module' && model?.picture != null)
      pullIntoSight(model, stage, pointsOfSubject(model, subject));
  }

  close(): void {
    this.choose({ selection: { kind: 'none' }, subject: null });
  }

  /** Selects a point and brings it into sight; the keyboard's focus goes there unless `search` keeps it. */
  go(point: number, search = false): void {
    this.#reveal(point, () => {
      const model = this.#view.model!;
      const item = model.picture!.scene.itemOfPoint[point]!;
      this.#view.pointer.focusItem(item, !search);
      this.selectItem(item);
      centerItem(model, this.#view.stage, item);
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
      if (this.marks.selection === selection) centerGroup(model, this.#view.stage, group);
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

  /** Selects nodes; `add` keeps what is selected. */
  selectNodes(nodes: readonly number[], add: boolean): void {
    const model = this.#view.model!;
    const { subject } = this.marks;
    const points = [...new Set([...(add && subject !== null ? pointsOfSubject(model, subject) : []), ...nodes])];
    this.choose(choiceOfPoints(model, points));
  }

  /** Adds a box to the selection, or takes it out. */
  toggleItem(item: number): void {
    const model = this.#view.model!;
    const { scene } = model.picture!;
    const kind = scene.kind[item]!;
    if (kind === 'open' || kind === 'closed') this.selectItem(item);
    else this.choose(toggled(model, this.marks.subject, scene.ref[item]!));
  }

  /** Selects a module and opens those around it. */
  goToModule(module: number): void {
    const { model } = this.#view;
    if (model === null) return;
    const { modules } = model.nested;
    const around: string[] = [];
    for (let at = modules[module]!.parent; at > 0; at = modules[at]!.parent) around.push(modules[at]!.id);
    this.#view.expand(around, () => {
      this.choose(choiceOfModule(model, module));
      const item = model.hierarchy === model.nested ? model.picture!.scene.itemOfModule[module]! : -1;
      if (item >= 0) centerItem(model, this.#view.stage, item);
    });
  }

  /** Brings what is selected into sight. */
  bringBack(): void {
    const { model, stage } = this.#view;
    const { subject } = this.marks;
    if (model?.picture == null || subject === null) return;
    if (subject.kind === 'group') return this.#showGroup(subject.group, this.marks.selection);
    const points = pointsOfSubject(model, subject);
    const [point] = points;
    if (point === undefined) return;
    if (subject.kind === 'point' || subject.kind === 'tensors')
      this.#reveal(point, () => bringIntoSight(model, stage, [point]));
    else bringIntoSight(model, stage, points);
  }

  /** Back (-1) or forward (1) to what was selected before, as far as this picture has it. */
  step(by: -1 | 1): void {
    const model = this.#view.model;
    if (model?.picture == null) return;
    for (let kept = this.#history.step(by); kept !== undefined; kept = this.#history.step(by)) {
      const subject = findSubject(model, kept);
      if (subject === null) continue;
      this.choose({ selection: kept.selection, subject });
      this.bringBack();
      return;
    }
  }

  forget(): void {
    this.#history.clear();
  }
}
