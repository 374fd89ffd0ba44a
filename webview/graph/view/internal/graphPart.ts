import type { Camera } from '../../draw/brush.ts';
import {
  type GraphIndex,
  indexGraph,
  neighborhood,
  partOfGraph,
  pathsBetween,
} from '../../../../src/kernel/picture/graph/graphIndex.ts';
import type { GraphData } from '../../../../src/kernel/picture/graph/viewData.ts';
import type { Isolated, PlaceBar } from '../../panels/placeBar.ts';
import type { Stage } from '../../draw/stage.ts';
import { graphStrings } from '../../panels/graphStrings.ts';
import type { GraphModel } from '../graphModel.ts';
import type { GraphSelection } from './graphSelection.ts';
import { findSubject, keepSubject, type KeptSubject, pointId } from './keptSubject.ts';
import { pointsOfSubject } from './subjectOf.ts';

/** What a part of the graph needs of the view. */
export interface PartedView {
  readonly model: GraphModel | null;
  readonly stage: Stage;
  readonly selecting: GraphSelection;
  readonly place: PlaceBar;
  /** Ids of the open modules. */
  readonly open: ReadonlySet<string>;
  /** Shows the last data again, or as much of them as there is now. */
  showAgain(): void;
}

/** In a part of at most so many nodes, all modules are open. */
const fewNodes = 300;

/** The part of the graph that is shown, and the way into it and back. */
export class GraphPart {
  readonly #view: PartedView;
  #isolation: Isolation | null = null;
  /** What was open and where one looked before the first isolation. */
  #before: { open: Set<string>; camera: Camera } | null = null;
  /** What is to stay selected through the change that is under way; undefined: none is. */
  #changing: { kept: KeptSubject | null } | undefined;

  constructor(view: PartedView) {
    this.#view = view;
  }

  /** Whether less than the whole graph is shown. */
  get isActive(): boolean {
    return this.#isolation !== null;
  }

  /** Shows the selection and its direct neighbors only. */
  isolate(): void {
    const ids = this.#selected();
    if (ids.length === 0) this.#view.place.say(graphStrings.selectFirst);
    else this.#set({ ids, steps: 1 });
  }

  /** Shows the paths between two selected nodes only. */
  isolatePaths(): void {
    const [a, b, ...more] = this.#selected();
    if (a === undefined || b === undefined || more.length > 0) this.#view.place.say(graphStrings.selectTwo);
    else if (isolate(this.#view.model!.graph.data, { ids: [a, b], steps: null }) === null)
      this.#view.place.say(graphStrings.noPath);
    else this.#set({ ids: [a, b], steps: null });
  }

  showAll(): void {
    if (this.#isolation !== null) this.#set(null);
  }

  /** More (1) or fewer (-1) steps around what was isolated. */
  step(by: number): void {
    const now = this.#isolation;
    if (now !== null && now.steps !== null) this.#set({ ids: now.ids, steps: Math.max(0, now.steps + by) });
  }

  /** What is to be drawn of a graph. A part of which a new version of the model has nothing is left. */
  of(graph: GraphData): GraphData {
    const part = this.#isolation === null ? null : isolate(graph, this.#isolation);
    if (part === null) this.#isolation = null;
    this.#view.place.showPart(part?.shown ?? null);
    return part?.graph ?? graph;
  }

  /**
   * After a change of the part: what is open in the new model, and where to look (null: at all of it). Keeps the
   * selection. undefined: nothing changed.
   */
  takeChange(model: GraphModel): { open: Set<string>; camera: Camera | null } | undefined {
    const changing = this.#changing;
    this.#changing = undefined;
    if (changing === undefined) return undefined;
    const { marks } = this.#view.selecting;
    const subject = changing.kept === null ? null : findSubject(model, changing.kept);
    marks.clear();
    if (subject !== null) {
      marks.selection = changing.kept!.selection;
      marks.subject = subject;
    }
    const before = this.#before;
    if (this.#isolation === null && before !== null) {
      this.#before = null;
      return before;
    }
    const all = model.graph.nodes > fewNodes ? [] : model.nested.modules.map(({ id }) => id);
    return { open: new Set([...this.#view.open, ...all]), camera: null };
  }

  #selected(): string[] {
    const { model, selecting } = this.#view;
    const { subject } = selecting.marks;
    if (model === null || subject === null) return [];
    return pointsOfSubject(model, subject).map((point) => pointId(model, point));
  }

  #set(isolation: Isolation | null): void {
    const { model, stage, selecting } = this.#view;
    if (model === null) return;
    const { selection, subject } = selecting.marks;
    this.#before ??= { open: new Set(this.#view.open), camera: stage.camera };
    this.#changing = { kept: subject === null ? null : keepSubject(model, selection, subject) };
    this.#isolation = isolation;
    this.#view.showAgain();
  }
}

/** The part of a model's graph that is shown: around some points, or between two of them. Points by their ids. */
type Isolation = { ids: string[]; steps: number } | { ids: [string, string]; steps: null };

/** A part of a graph, and what it is in words; null: nothing of it is there. */
function isolate(data: GraphData, isolation: Isolation): { graph: GraphData; shown: Isolated } | null {
  const index = indexGraph(data);
  const points = pointsOf(index, isolation);
  if (points.length === 0) return null;
  const graph = partOfGraph(index, points);
  return { graph, shown: { nodes: graph.nodes.length, of: data.nodes.length, steps: isolation.steps } };
}

function pointsOf(index: GraphIndex, { ids, steps }: Isolation): number[] {
  const points = ids.map((id) => index.byId.get(id)).filter((point) => point !== undefined);
  if (steps !== null) return neighborhood(index, points, steps);
  const [a, b] = points;
  return a === undefined || b === undefined ? [] : pathsBetween(index, a, b);
}
