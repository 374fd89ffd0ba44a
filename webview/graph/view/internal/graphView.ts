import { searchGraph } from '../../../../src/kernel/picture/graph/graphIndex.ts';
import type { OverlayKind } from '../../../../src/kernel/picture/graph/overlay.ts';
import type { ViewData } from '../../../../src/kernel/picture/graph/viewData.ts';
import type { Scene } from '../../../../src/kernel/picture/graph/scene.ts';
import type { LayoutResult } from '../../../../src/kernel/picture/layout/layoutTypes.ts';
import type { GraphAction } from '../../../../src/kernel/protocol/graphActions.ts';
import type { Building, ViewHost } from '../../../../src/kernel/protocol/views.ts';
import { viewState } from '../../../shared/connect.ts';
import { onThemeChange, readTheme } from '../../../shared/theme.ts';
import type { FitText, Frame } from '../../draw/drawView.ts';
import { exportAs } from '../../draw/exportPicture.ts';
import { makeFit } from '../../draw/fitLabels.ts';
import type { Highlights } from '../../draw/highlights.ts';
import { isEmpty, Painter } from '../../draw/painter.ts';
import { makePalette, type Palette } from '../../draw/palette.ts';
import { Stage } from '../../draw/stage.ts';
import { emptyState } from '../../panels/emptyState.ts';
import { buildParts, type GraphCommands, type GraphParts } from '../../panels/graphParts.ts';
import { graphStrings } from '../../panels/graphStrings.ts';
import type { HoverCard } from '../../panels/hoverCard.ts';
import type { Inspector, Subject } from '../../panels/inspector.ts';
import type { PlaceBar } from '../../panels/placeBar.ts';
import { CarryOver } from '../carryOver.ts';
import { firstFault } from '../faultyPoints.ts';
import { type Drawn, GraphModel, noColumns, type Picture } from '../graphModel.ts';
import type { GraphTree } from '../graphTree.ts';
import { crumbsOf } from './crumbs.ts';
import { describeModel, showLegend } from './describeModel.ts';
import { firstOpen, modulesAround, toOpen } from './firstOpen.ts';
import { listenTo } from './graphEvents.ts';
import { GraphPart, type PartedView } from './graphPart.ts';
import { GraphPointer, type PointedView } from './graphPointer.ts';
import { GraphSelection, type SelectingView } from './graphSelection.ts';
import { isOf, type KeptState, leftAt, overlayFor, stateOf } from './keptState.ts';
import { LayoutClient } from './layoutClient.ts';
import { keepInPlace, keepInSight, pullIntoSight, showAll, showFirst, showItem } from './navigate.ts';
import { performAction } from './performAction.ts';
import { pointsOfSubject, subjectOf } from './subjectOf.ts';

const bodyFont = (): string => getComputedStyle(document.body).fontFamily;

/** The page's colors and font, and texts fitted in it, as they are now. */
export class Appearance {
  palette: Palette = makePalette(readTheme());
  family = bodyFont();
  fit: FitText = makeFit(this.family);

  /** `changed` is called after each change of theme. */
  constructor(changed: () => void) {
    onThemeChange((theme) => {
      this.palette = makePalette(theme);
      this.family = bodyFont();
      this.fit = makeFit(this.family);
      changed();
    });
  }
}

/**
 * Marks the nodes of the layer that a running build times; null: none runs.
 * @returns whether the graph must be drawn again
 */
export function showBuilding(building: Building | null, model: GraphModel | null, marks: Highlights): boolean {
  if (model === null) return false;
  const points = building === null ? [] : model.pointsOfSelection({ kind: 'nodes', ids: building.nodes });
  if (points.join() === marks.lit.join()) return false;
  marks.lit = points;
  marks.refresh(model);
  return true;
}

/** The graph view: holds what is shown and passes between its parts. */
export class GraphView implements GraphCommands, PointedView, SelectingView, PartedView {
  readonly #host: ViewHost;
  readonly #kept = viewState<KeptState>('graph');
  readonly #worker = new LayoutClient();
  readonly #parts: GraphParts;
  readonly stage: Stage;
  readonly painter: Painter;
  readonly #appearance: Appearance;
  #model: GraphModel | null = null;
  /** The last model that had a picture: what is on the screen while the next one is laid out. */
  #drawn: GraphModel | null = null;
  /** What to do after the first drawing of new data, whichever layout was requested last. */
  #arrive: (() => void) | null = null;
  /** What is to be done with the layout that is on its way: of several things that were requested, the last. */
  #then = () => {};
  /** What arrived while the stage had no size: what fits is not known yet. */
  #unseen: [data: ViewData, message: string] | null = null;
  /** The last data, of which a part may be shown. */
  #shown: [data: ViewData, message: string] | null = null;
  /** What was requested before there was a picture. */
  #due: GraphAction | null = null;
  #building: Building | null = null;
  #open = new Set<string>();
  /** What began columns on the first picture: opening modules moves nothing to another column. */
  #columns = noColumns;
  /** The picture of new data, where it has been laid out already. */
  #first: Drawn | null = null;
  #overlay: OverlayKind = 'fusion';
  #sizes = { page: { width: 0, height: 0 }, stage: { width: 0, height: 0 } };
  readonly selecting: GraphSelection;
  readonly part: GraphPart;
  readonly pointer: GraphPointer;

  constructor(root: HTMLElement, host: ViewHost) {
    this.#host = host;
    this.selecting = new GraphSelection(this, host);
    this.part = new GraphPart(this);
    this.#parts = buildParts(root, host, this);
    this.#appearance = new Appearance(() => {
      this.painter.family = this.#appearance.family;
      if (this.#model !== null) showLegend(this.#parts.legend, this.#model, this.#appearance.palette);
      this.painter.restamp();
    });
    this.stage = new Stage(this.#parts.stage, () => {
      this.#parts.card.hide();
      this.redraw();
    });
    this.painter = new Painter(
      this.#parts,
      () => this.frame(),
      (frame) => this.#settled(frame),
    );
    this.pointer = new GraphPointer(this);
    listenTo(this.#parts, this.pointer, () => {
      if (this.#unseen !== null) this.show(...this.#unseen);
      this.#resized(root);
      this.painter.resize(this.stage.size);
    });
    this.show(null, '');
  }

  /** The page has another size: all fits again until it was moved, then what one looks at stays in sight. Where a panel of the page took room, it moves nothing. */
  #resized({ clientWidth: width, clientHeight: height }: HTMLElement): void {
    const last = this.#sizes;
    this.#sizes = { page: { width, height }, stage: this.stage.size };
    if (last.page.width === width && last.page.height === height) return;
    if (this.#model?.picture == null || isEmpty(last.stage)) return;
    const { subject } = this.#marks;
    const points = subject === null ? [] : pointsOfSubject(this.#model, subject);
    if (this.stage.isFitted) {
      showFirst(this.#model, this.stage);
      pullIntoSight(this.#model, this.stage, points);
    } else keepInSight(this.#model, this.stage, last.stage, points);
  }

  show(data: ViewData | null, message: string): void {
    const { main, header, empty, legend, search, inspector, state, stage } = this.#parts;
    this.#unseen = null;
    const graph = data?.graph ?? null;
    main.hidden = header.hidden = graph === null;
    empty.hidden = graph !== null;
    if (data === null || graph === null) {
      this.#model = this.#drawn = null;
      state.show(null);
      const why = data !== null && message === '' ? graphStrings.empty.noModel : message;
      empty.replaceChildren(...emptyState(why, this.#host));
      return;
    }
    this.#shown = [data, message];
    const onScreen = this.#drawn;
    const last = this.#model;
    const kept = onScreen === null ? this.#kept.get() : null;
    if (kept !== null) this.#worker.start();
    this.#overlay = overlayFor(data, kept?.overlay ?? this.#overlay, last);
    const model = new GraphModel({ ...data, graph: this.part.of(graph) }, this.#overlay);
    describeModel(this.#parts, model, this.#appearance.palette);
    // With all that is written above it: measured before, the page would be laid out twice.
    if (stage.clientWidth === 0 || stage.clientHeight === 0) {
      this.#unseen = [data, message];
      return;
    }
    this.#model = model;
    const look = this.#changePart(model) ?? this.#continue(model, onScreen, last, kept);
    showBuilding(this.#building, model, this.#marks);
    this.#arrive = () => {
      look();
      search.refresh();
      this.#marks.filter(model, legend.off);
      inspector.show(model, this.#marks.subject);
      this.showPlace(this.#marks.subject);
      // What was selected elsewhere while there was no picture; what was selected when one left moves nothing.
      const { selection } = this.#marks;
      if (leftAt(kept, model, selection))
        this.selecting.show(selection, subjectOf(model, selection, model.pointsOfSelection(selection)));
      else if (onScreen === null || this.selecting.missed) this.selecting.follow(selection);
      this.selecting.missed = false;
      const due = this.#due;
      this.#due = null;
      if (due !== null) this.perform(due);
    };
    // Where one looked before is settled by what is selected, which arrives while the worker makes the layout.
    this.#relayout(() => {}, { atOnce: kept === null });
  }

  /** Into a part of the graph or back: what moves the picture there; undefined: the part is the same. */
  #changePart(model: GraphModel): (() => void) | undefined {
    const change = this.part.takeChange(model);
    if (change === undefined) return undefined;
    const { camera } = change;
    model.setFlat(this.#model!.flat);
    this.#open = change.open;
    return () => (camera === null ? showFirst(model, this.stage) : this.stage.set(camera));
  }

  showAgain(): void {
    if (this.#shown !== null) this.show(...this.#shown);
  }

  showPlace(subject: Subject | null): void {
    this.#parts.figures.mark(this.#marks.selection);
    this.place.showCrumbs(this.#model === null ? [] : crumbsOf(this.#model, subject, this.selecting));
  }

  /** From the host, or from a key on a plain page. */
  perform(action: GraphAction): void {
    // A page that has just been opened has no picture yet.
    if (this.picture === null) this.#due = action;
    else performAction(action, this, this.#parts.search);
  }

  /**
   * Takes over what is open and selected and where one looks, from what is on the screen (`onScreen`) or from the last
   * time (`kept`); gives what moves the picture there. `last`: the newest data, which may have no picture yet.
   */
  #continue(
    model: GraphModel,
    onScreen: GraphModel | null,
    last: GraphModel | null,
    kept: KeptState | null,
  ): () => void {
    const carryFrom = (from: GraphModel) => new CarryOver(from, model, this.stage.camera, this.stage.size);
    const carry = onScreen !== null && onScreen.data.title === model.data.title ? carryFrom(onScreen) : null;
    let look = () => showFirst(model, this.stage);
    if (carry?.isSame === true) {
      // Ids are those of the newest data already.
      const own = last === null || last === onScreen ? carry : carryFrom(last);
      model.setFlat((last ?? onScreen)!.flat);
      this.pointer.focusedKey = own.key(this.pointer.focusedKey);
      this.#marks.carry(own);
      look = () => this.stage.set(carry.camera());
    } else if (kept !== null && isOf(kept, model)) {
      this.#open = new Set(kept.open);
      this.#columns = new Map(kept.columns?.map(([id, keys]) => [id, new Set(keys)]));
      model.setFlat(kept.flat);
      look = () => this.stage.set(kept.camera);
    } else {
      if (onScreen !== null) this.#marks.clear();
      this.selecting.forget();
      ({ open: this.#open, columns: this.#columns, drawn: this.#first } = firstOpen(model, this.stage));
      this.pointer.focusedKey = '';
      const fault = firstFault(model.faults);
      if (fault !== undefined) {
        const fitting = this.#open.size;
        for (const id of modulesAround(model, fault)) this.#open.add(id);
        if (this.#open.size > fitting) this.#first = null;
        look = () => {
          showFirst(model, this.stage);
          showItem(model, this.stage, model.picture!.scene.itemOfPoint[fault]!);
        };
      }
    }
    this.#parts.flat.setAttribute('aria-pressed', String(model.flat));
    return look;
  }

  /** From the host: what a running build does now, with the nodes of the layer that is being timed. */
  building(building: Building | null): void {
    this.#building = building;
    this.#parts.state.building(building);
    this.#parts.figures.building(building !== null);
    if (showBuilding(building, this.#model, this.#marks)) this.redraw();
  }

  /** Opens or closes the module with that number, if it is on the picture. */
  toggle(module: number): void {
    const item = this.picture?.scene.itemOfModule[module] ?? -1;
    if (item >= 0) this.toggleItem(item);
  }

  setOverlay(kind: OverlayKind): void {
    this.#overlay = kind;
    this.#model!.setOverlay(kind);
    showLegend(this.#parts.legend, this.#model!, this.#appearance.palette);
    this.#parts.state.show(this.#model);
    this.filter();
    this.#keep();
  }

  filter(): void {
    this.#marks.filter(this.#model!, this.#parts.legend.off);
    this.painter.restamp();
  }

  find(text: string): { hits: number; problem: string } {
    const model = this.#model!;
    const { points, problem } = searchGraph(model.graph, model.data.report, text);
    this.#marks.find(model, points);
    this.redraw();
    return { hits: points.length, problem };
  }

  fit(): void {
    if (this.picture !== null) showAll(this.#model!, this.stage);
  }

  readonly zoomBy = (factor: number): void => this.stage.zoomBy(factor);

  collapseAll(): void {
    this.#open = new Set();
    this.#columns = noColumns;
    this.#relayout(() => showFirst(this.#model!, this.stage));
  }

  setFlat(flat: boolean): void {
    this.#model!.setFlat(flat);
    this.#parts.flat.setAttribute('aria-pressed', String(flat));
    this.#relayout(() => showFirst(this.#model!, this.stage));
  }

  exportPicture(kind: 'svg' | 'png'): void {
    const frame = this.frame();
    if (frame === null) return;
    this.#host.exportPicture(
      kind,
      exportAs(kind, frame, this.#appearance.family),
      `${frame.model.data.title.replace(/\.\w+$/, '')}.${kind}`,
    );
  }

  /** Opens modules by their ids, then goes on. */
  expand(modules: string[], then: () => void): void {
    const before = this.#open.size;
    for (const id of modules) this.#open.add(id);
    if (this.#open.size !== before) this.#relayout(then);
    else if (this.#worker.busy) this.#then = then;
    else then();
  }

  toggleItem(item: number): void {
    const model = this.#model!;
    const { scene } = model.picture!;
    const kind = scene.kind[item]!;
    if (kind !== 'open' && kind !== 'closed') return;
    const index = scene.ref[item]!;
    if (kind === 'open') this.#open.delete(model.hierarchy.modules[index]!.id);
    else for (const id of toOpen(model, index)) this.#open.add(id);
    const put = keepInPlace(model, this.stage, item);
    this.#relayout(() => {
      const now = model.picture!.scene.itemOfModule[index] ?? -1;
      // Everything was closed, or made flat, just before.
      if (now < 0) return showFirst(model, this.stage);
      put(now);
      const { subject, selection } = this.#marks;
      if (subject?.kind === 'module' && subject.module === index) {
        this.selecting.show(selection, { kind: 'module', module: index, open: kind === 'closed' });
      }
    });
  }

  #relayout(then: () => void, { atOnce = true } = {}): void {
    const model = this.#model!;
    this.#then = then;
    const place = (scene: Scene, layout: LayoutResult) => {
      if (this.#model !== model) return;
      model.setPicture(scene, layout);
      this.stage.limit(layout.totalWidth, layout.totalHeight);
      this.pointer.refresh(model);
      this.#drawn = model;
      this.#marks.refresh(model);
      const last = this.#then;
      this.#arrive?.();
      this.#arrive = null;
      last();
      this.painter.restamp();
      performance.mark('graph-painted');
    };
    const first = this.#first;
    this.#first = null;
    if (first !== null) return place(first.scene, first.layout);
    const { scene, input } = model.request(this.#open, this.part.isActive ? noColumns : this.#columns);
    this.#worker.layout(input, (layout) => place(scene, layout), atOnce);
  }

  frame(): Frame | null {
    const model = this.#model;
    if (model?.picture == null) return null;
    return {
      model,
      picture: model.picture,
      camera: this.stage.camera,
      ...this.stage.size,
      palette: this.#appearance.palette,
      fit: this.#appearance.fit,
      selected: this.#marks.selected,
      hits: this.#marks.hits,
      dimmed: this.#marks.dimmed,
      focused: this.#parts.tree.hasFocus ? this.pointer.focused : -1,
      hovered: this.pointer.hovered,
      litEdges: new Set([...this.#marks.edges, ...this.pointer.edges]),
      group: this.#marks.group,
      pointed: this.pointer.pointed,
    };
  }

  redraw(): void {
    this.painter.request();
  }

  #settled(frame: Frame): void {
    this.#parts.tree.update({ ...frame, focused: this.pointer.focused });
    this.pointer.settled();
    this.#keep();
  }

  #keep(): void {
    // Without a picture one looks nowhere yet; a part of the graph is left with the page.
    if (this.#model?.picture == null || this.part.isActive) return;
    const opening = { open: this.#open, columns: this.#columns };
    this.#kept.set(stateOf(this.#model, opening, this.#overlay, this.stage.camera, this.#marks.selection));
  }

  get #marks(): Highlights {
    return this.selecting.marks;
  }

  get open(): ReadonlySet<string> {
    return this.#open;
  }

  get place(): PlaceBar {
    return this.#parts.place;
  }

  get inspector(): Inspector {
    return this.#parts.inspector;
  }

  get model(): GraphModel | null {
    return this.#model;
  }

  get tree(): GraphTree {
    return this.#parts.tree;
  }

  get card(): HoverCard {
    return this.#parts.card;
  }

  get floor(): HTMLElement {
    return this.#parts.stage;
  }

  get picture(): Picture | null {
    return this.#model?.picture ?? null;
  }
}
