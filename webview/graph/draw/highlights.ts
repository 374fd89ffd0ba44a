import type { Selection } from '../../../src/kernel/protocol/views.ts';
import type { Subject } from '../panels/inspector.ts';
import type { CarryOver } from '../view/carryOver.ts';
import type { GraphModel } from '../view/graphModel.ts';
import { edgesOf } from './edgeHit.ts';

/** Per item of the picture: 2 where all of it is selected, 1 where some of it is. null: nothing is selected. */
export function markItems(model: GraphModel, points: readonly number[]): Uint8Array | null {
  if (points.length === 0 || model.picture === null) return null;
  const { scene } = model.picture;
  const counts = new Uint32Array(scene.kind.length);
  for (const point of points) {
    for (let item = scene.itemOfPoint[point]!; item >= 0; item = scene.parent[item]!) counts[item]! += 1;
  }
  return Uint8Array.from(counts, (count, item) => (count === 0 ? 0 : count >= model.pointsOf(item).length ? 2 : 1));
}

/** What is selected, found and filtered out, as marks on the items of the picture. Call `refresh` when that changes. */
export class Highlights {
  selection: Selection = { kind: 'none' };
  subject: Subject | null = null;
  /** Per item, see Frame. */
  selected: Uint8Array | null = null;
  hits: Uint32Array | null = null;
  /** Per point, see Frame. */
  dimmed: Uint8Array | null = null;
  /** The group whose boundary is marked, -1 for none. */
  group = -1;
  /** Edges of the picture that carry the selected tensors. */
  edges: readonly number[] = [];
  /** What the search found, in the graph's order. */
  found: number[] = [];
  /** The layer that a running build is timing; marked as found while nothing is searched for. */
  lit: number[] = [];

  set(model: GraphModel, selection: Selection, subject: Subject | null): void {
    this.selection = selection;
    this.subject = subject;
    this.refresh(model);
  }

  /** To another reading of the same model. What was found is to be searched for again. */
  carry(carry: CarryOver): void {
    const { subject } = this;
    this.selection = carry.selection(this.selection);
    this.subject = carry.subject(subject, this.selection);
    this.found = [];
    this.lit = [];
  }

  clear(): void {
    this.selection = { kind: 'none' };
    this.subject = null;
    this.selected = this.hits = this.dimmed = null;
    this.group = -1;
    this.edges = [];
    this.found = [];
  }

  refresh(model: GraphModel): void {
    const { subject } = this;
    const points = model.pointsOfSelection(this.selection);
    // Inputs and outputs have no id that others know: the selection is empty, what the panel shows says it.
    if (points.length === 0 && subject?.kind === 'point' && subject.point >= model.graph.nodes)
      points.push(subject.point);
    this.selected = markItems(model, points);
    this.group = subject?.kind === 'group' ? subject.group : -1;
    this.edges = subject?.kind === 'tensors' && model.picture !== null ? edgesOf(model, subject.origins) : [];
    this.find(model, this.found);
  }

  find(model: GraphModel, points: number[]): void {
    this.found = points;
    this.hits = null;
    const scene = model.picture?.scene;
    const marked = points.length > 0 ? points : this.lit;
    if (scene === undefined || marked.length === 0) return;
    this.hits = new Uint32Array(scene.kind.length);
    for (const point of marked) this.hits[scene.itemOfPoint[point]!]! += 1;
  }

  filter({ overlay }: GraphModel, off: ReadonlySet<string>): void {
    if (off.size === 0) {
      this.dimmed = null;
      return;
    }
    const hidden = overlay.categories.map(({ key }) => off.has(key));
    this.dimmed = Uint8Array.from(overlay.categoryOf, (category) =>
      category >= 0 && hidden[category] === true ? 1 : 0,
    );
  }
}
