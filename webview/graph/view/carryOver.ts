import type { Camera } from '../draw/brush.ts';
import type { Selection } from '../../../src/kernel/protocol/views.ts';
import type { GraphModel } from './graphModel.ts';
import type { Subject } from '../panels/inspector.ts';
import { subjectOf } from './internal/subjectOf.ts';

/** A box and where its upper left corner is on the screen. */
interface Place {
  key: string;
  x: number;
  y: number;
}

/** More boxes than these would not say better where one looks. */
const most = 40;

/**
 * From one reading of a model to the next, edited or built again: ids are positions in the file and numbers of groups
 * positions in the report, so what is carried over is carried by name.
 */
export class CarryOver {
  readonly #before: GraphModel;
  readonly #after: GraphModel;
  readonly #camera: Camera;
  readonly #places: Place[];
  readonly #pointOfName = new Map<string, number>();

  constructor(before: GraphModel, after: GraphModel, camera: Camera, size: { width: number; height: number }) {
    this.#before = before;
    this.#after = after;
    this.#camera = camera;
    after.graph.data.nodes.forEach(({ name }, point) => {
      if (name !== '') this.#pointOfName.set(name, point);
    });
    this.#places = this.#placesOf(camera, size);
  }

  /** false: nothing of what was on the screen is left, so that this is another model under the same name. */
  get isSame(): boolean {
    const { graph, nested } = this.#after;
    if (this.#before.structure === this.#after.structure) return true;
    return this.#places.some(({ key }) =>
      key.startsWith('module:')
        ? nested.byId.has(key.slice('module:'.length))
        : graph.byId.has(key.replace('node:', '')),
    );
  }

  /** Where to look once the new picture is there, so that what was in the middle of the screen stays there. */
  camera(): Camera {
    const { picture } = this.#after;
    const { k } = this.#camera;
    if (picture === null || this.#before.structure === this.#after.structure) return this.#camera;
    const { layout } = picture;
    for (const { key, x, y } of this.#places) {
      const item = this.#after.itemOfKey(key);
      if (item < 0 || this.#after.key(item) !== key) continue;
      return { k, x: x - layout.x[item]! * k, y: y - layout.y[item]! * k };
    }
    return this.#camera;
  }

  /** The key of the same box; '' if it is gone. */
  key(key: string): string {
    if (!key.startsWith('node:')) return key;
    const point = this.#point(this.#before.graph.byId.get(key.slice('node:'.length)) ?? -1);
    return point < 0 ? '' : `node:${this.#after.graph.data.nodes[point]!.id}`;
  }

  selection(selection: Selection): Selection {
    if (selection.kind !== 'nodes') return selection;
    const ids = selection.ids.map((id) => this.key(`node:${id}`).replace('node:', '')).filter((id) => id !== '');
    return ids.length === 0 ? { kind: 'none' } : { kind: 'nodes', ids };
  }

  /** `selection`: as it is after the change. */
  subject(subject: Subject | null, selection: Selection): Subject | null {
    switch (subject?.kind) {
      case undefined:
        return null;
      case 'point': {
        const point = this.#point(subject.point);
        return point < 0 ? null : { kind: 'point', point };
      }
      case 'module': {
        const module = this.#after.nested.byId.get(this.#before.nested.modules[subject.module]?.id ?? '');
        return module === undefined ? null : { ...subject, module };
      }
      case 'tensors': {
        const origins = subject.origins
          .map(({ producer, name }) => ({ producer: this.#point(producer), name }))
          .filter(({ producer }) => producer >= 0);
        return origins.length === 0 ? null : { kind: 'tensors', origins };
      }
      case 'group':
      case 'many':
        return subjectOf(this.#after, selection, this.#after.pointsOfSelection(selection));
    }
  }

  /** A point's number in the new model; -1 when it is gone. */
  #point(point: number): number {
    const { graph } = this.#before;
    const { data } = graph;
    const node = data.nodes[point];
    // Without names, the position in the file is all there is.
    if (node !== undefined)
      return (node.name === '' ? this.#after.graph.byId.get(node.id) : this.#pointOfName.get(node.name)) ?? -1;
    const input = data.inputs[point - graph.nodes];
    const key =
      input === undefined
        ? `output:${data.outputs[point - graph.nodes - data.inputs.length]?.name ?? ''}`
        : `input:${input.name}`;
    return this.#after.graph.byId.get(key) ?? -1;
  }

  /** Boxes on the screen with their new keys, the one nearest to the middle first. */
  #placesOf({ k, x, y }: Camera, { width, height }: { width: number; height: number }): Place[] {
    const { picture } = this.#before;
    if (picture === null) return [];
    const { scene, layout } = picture;
    const found: (Place & { distance: number })[] = [];
    for (let item = 0; item < scene.kind.length; item++) {
      const at = { x: layout.x[item]! * k + x, y: layout.y[item]! * k + y };
      const [right, bottom] = [at.x + layout.width[item]! * k, at.y + layout.height[item]! * k];
      if (at.x > width || at.y > height || right < 0 || bottom < 0 || scene.kind[item] === 'open') continue;
      const distance = Math.hypot((at.x + right - width) / 2, (at.y + bottom - height) / 2);
      found.push({ key: this.key(this.#before.key(item)), ...at, distance });
    }
    return found
      .filter(({ key }) => key !== '')
      .sort((a, b) => a.distance - b.distance)
      .slice(0, most);
  }
}
