import { fusionSentence } from '../../src/core/scene/fusionText.ts';
import type { OverlayKind } from '../../src/core/scene/overlay.ts';
import { searchGraph } from '../../src/core/scene/search.ts';
import type { ViewData } from '../../src/core/scene/viewData.ts';
import type { Selection, ViewHost } from '../../src/protocol/views.ts';
import { viewState } from '../shared/connect.ts';
import { onThemeChange, readTheme } from '../shared/theme.ts';
import { CanvasBrush } from './brush.ts';
import { drawFrame } from './drawFrame.ts';
import type { Camera, Frame, LabelBox } from './drawView.ts';
import { emptyState } from './emptyState.ts';
import { exportPng, exportSvg } from './exportPicture.ts';
import { makeFit } from './fitLabels.ts';
import { GraphModel } from './graphModel.ts';
import { buildParts } from './graphParts.ts';
import type { GraphCommands, GraphParts } from './graphParts.ts';
import { graphStrings } from './graphStrings.ts';
import { itemAt, labelAt } from './hitTest.ts';
import type { Subject } from './inspector.ts';
import { firstOpen } from './firstOpen.ts';
import { handleKey } from './keyboard.ts';
import { LayoutClient } from './layoutClient.ts';
import { markItems } from './marks.ts';
import { makePalette } from './palette.ts';
import { Stage } from './stage.ts';

/** What survives hiding and reloading. */
interface KeptState {
  structure: string;
  open: string[];
  flat: boolean;
  overlay: OverlayKind;
  camera: Camera;
}

/** The graph view: holds what is shown and passes between its parts. */
export class GraphView implements GraphCommands {
  readonly #host: ViewHost;
  readonly #kept = viewState<KeptState>('graph');
  readonly #worker = new LayoutClient();
  readonly #parts: GraphParts;
  readonly #stage: Stage;
  #palette = makePalette(readTheme());
  #family = getComputedStyle(document.body).fontFamily;
  #fit = makeFit(this.#family);
  #model: GraphModel | null = null;
  #open = new Set<string>();
  #overlay: OverlayKind = 'fusion';
  #selection: Selection = { kind: 'none' };
  #subject: Subject | null = null;
  #selected: Uint8Array | null = null;
  #hitPoints: number[] = [];
  #hits: Uint32Array | null = null;
  #dimmed: Uint8Array | null = null;
  #focusedKey = '';
  #focused = -1;
  #hovered = -1;
  #group = -1;
  #labels: LabelBox[] = [];
  #frame = 0;
  #settle: ReturnType<typeof setTimeout> | undefined;
  /** A new object whenever the picture looks different other than by its place. */
  #stamp = {};

  constructor(root: HTMLElement, host: ViewHost) {
    this.#host = host;
    this.#parts = buildParts(root, host, this);
    this.#stage = new Stage(this.#parts.stage, () => this.#redraw());
    this.#listen();
    onThemeChange((theme) => {
      this.#palette = makePalette(theme);
      this.#family = getComputedStyle(document.body).fontFamily;
      this.#fit = makeFit(this.#family);
      if (this.#model !== null) this.#parts.legend.show(this.#model.overlay, this.#palette);
      this.#restamp();
    });
    this.show(null, '');
  }

  show(data: ViewData | null, message: string): void {
    const { main, header, empty, sentence, hints, legend, search } = this.#parts;
    const graph = data?.graph ?? null;
    main.hidden = header.hidden = graph === null;
    empty.hidden = graph !== null;
    if (data === null || graph === null) {
      this.#model = null;
      empty.replaceChildren(
        ...emptyState(data !== null && message === '' ? graphStrings.empty.noModel : message, this.#host),
      );
      return;
    }
    const before = this.#model;
    const kept = this.#kept.get();
    const overlay = before === null ? (kept?.overlay ?? this.#overlay) : this.#overlay;
    this.#overlay =
      data.report === null ? 'none' : overlay === 'none' && before?.data.report === null ? 'fusion' : overlay;
    const model = new GraphModel({ ...data, graph }, this.#overlay);
    this.#model = model;
    sentence.textContent =
      data.report === null ? graphStrings.noReport(graph.nodes.length) : fusionSentence(data.report);
    hints.textContent = data.hints.join(' ');
    hints.hidden = data.hints.length === 0;
    legend.show(model.overlay, this.#palette);
    let camera: Camera | null = null;
    if (before !== null && before.structure === model.structure) {
      camera = this.#stage.camera;
      model.setFlat(before.flat);
    } else if (kept !== null && kept.structure === model.structure) {
      camera = kept.camera;
      this.#open = new Set(kept.open);
      model.setFlat(kept.flat);
    } else {
      this.#open = firstOpen(model, this.#stage);
      this.#focusedKey = '';
    }
    this.#parts.flat.setAttribute('aria-pressed', String(model.flat));
    this.#relayout(() => {
      if (camera === null) this.#showFirst();
      else this.#stage.set(camera);
      search.refresh();
      this.#filterPoints();
      this.#apply(this.#selection);
    });
  }

  /** From the host: something was selected elsewhere. Shown and brought into sight, not told back. */
  select(selection: Selection): void {
    const model = this.#model;
    this.#selection = selection;
    if (model?.picture == null) return;
    const points = model.pointsOfSelection(selection);
    const [only] = points;
    if (selection.kind === 'nodes' && points.length === 1 && only !== undefined) {
      this.#reveal([only], () => {
        this.#setSubject(selection, { kind: 'point', point: only });
        this.#centreItem(model.picture!.scene.itemOfPoint[only]!);
      });
      return;
    }
    this.#setSubject(selection, this.#subjectOf(selection, points));
    this.#bringIntoSight(points);
  }

  /** Selects here and tells the host. */
  choose(selection: Selection, subject: Subject | null): void {
    this.#setSubject(selection, subject);
    this.#host.selected(selection);
  }

  close(): void {
    this.choose({ kind: 'none' }, null);
  }

  go(point: number): void {
    this.#reveal([point], () => {
      const item = this.#model!.picture!.scene.itemOfPoint[point]!;
      this.#focusItem(item);
      this.selectItem(item);
      this.#centreItem(item);
    });
  }

  goToHit(at: number): void {
    const point = this.#hitPoints[at];
    if (point !== undefined) this.go(point);
  }

  selectGroup(group: number): void {
    const { kind, ref } = this.#model!.fusion.groups[group]!;
    this.choose(kind === 'foreign' ? { kind: 'foreignNode', id: ref } : { kind: 'layers', ids: [ref] }, {
      kind: 'group',
      group,
    });
  }

  selectItem(item: number): void {
    const model = this.#model!;
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
    this.choose({ kind: 'nodes', ids }, subject);
  }

  /** Opens or closes the module with that number, if it is on the picture. */
  toggle(module: number): void {
    const item = this.#model!.picture!.scene.itemOfModule[module] ?? -1;
    if (item >= 0) this.#toggleItem(item);
  }

  setOverlay(kind: OverlayKind): void {
    this.#overlay = kind;
    this.#model!.setOverlay(kind);
    this.#parts.legend.show(this.#model!.overlay, this.#palette);
    this.filter();
    this.#keep();
  }

  filter(): void {
    this.#filterPoints();
    this.#restamp();
  }

  find(text: string): { hits: number; problem: string } {
    const model = this.#model!;
    const { points, problem } = searchGraph(model.graph, model.data.report, text);
    this.#hitPoints = points;
    this.#markHits();
    this.#redraw();
    return { hits: points.length, problem };
  }

  centre(x: number, y: number): void {
    const { width, height } = this.#stage.size;
    const { k } = this.#stage.camera;
    this.#stage.set({ k, x: width / 2 - x * k, y: height / 2 - y * k });
  }

  fit(): void {
    const { totalWidth, totalHeight } = this.#model!.picture!.layout;
    this.#stage.show(0, 0, totalWidth, totalHeight);
  }

  zoomBy(factor: number): void {
    this.#stage.zoomBy(factor);
  }

  collapseAll(): void {
    this.#open = new Set();
    this.#relayout(() => this.#showFirst());
  }

  setFlat(flat: boolean): void {
    this.#model!.setFlat(flat);
    this.#parts.flat.setAttribute('aria-pressed', String(flat));
    this.#relayout(() => this.#showFirst());
  }

  exportPicture(kind: 'svg' | 'png'): void {
    const frame = this.#currentFrame();
    if (frame === null) return;
    const content = kind === 'svg' ? exportSvg(frame, this.#family) : exportPng(frame, this.#family);
    this.#host.exportPicture(kind, content, `${frame.model.data.title.replace(/\.\w+$/, '')}.${kind}`);
  }

  #setSubject(selection: Selection, subject: Subject | null): void {
    this.#subject = subject;
    this.#apply(selection);
    this.#parts.inspector.show(this.#model!, subject);
  }

  #apply(selection: Selection): void {
    this.#selection = selection;
    const model = this.#model!;
    const points = model.pointsOfSelection(selection);
    const terminal =
      this.#subject?.kind === 'point' && this.#subject.point >= model.graph.nodes ? [this.#subject.point] : [];
    this.#selected = markItems(model, points.length > 0 ? points : terminal);
    this.#group = this.#subject?.kind === 'group' ? this.#subject.group : -1;
    this.#redraw();
  }

  #subjectOf(selection: Selection, points: number[]): Subject | null {
    const { fusion } = this.#model!;
    if (points.length === 0) return null;
    const wanted =
      selection.kind === 'foreignNode'
        ? `foreign:${selection.id}`
        : selection.kind === 'layers' && selection.ids.length === 1
          ? `layer:${selection.ids[0]}`
          : '';
    const group = fusion.groups.findIndex(({ id }) => id === wanted);
    return group >= 0
      ? { kind: 'group', group }
      : { kind: 'many', points, title: graphStrings.selectedNodes(points.length) };
  }

  /** Opens the modules around points, then goes on. */
  #reveal(points: readonly number[], then: () => void): void {
    const { hierarchy } = this.#model!;
    const before = this.#open.size;
    for (const point of points) {
      for (let at = hierarchy.moduleOf[point]!; at > 0; at = hierarchy.modules[at]!.parent)
        this.#open.add(hierarchy.modules[at]!.id);
    }
    if (this.#open.size === before) then();
    else this.#relayout(then);
  }

  #toggleItem(item: number): void {
    const model = this.#model!;
    const { scene, layout } = model.picture!;
    const kind = scene.kind[item]!;
    if (kind !== 'open' && kind !== 'closed') return;
    const index = scene.ref[item]!;
    const module = model.hierarchy.modules[index]!;
    if (kind === 'open') this.#open.delete(module.id);
    else {
      this.#open.add(module.id);
      // A repetition says most when one of its blocks is seen from the inside.
      const [first] = module.modules;
      if (module.kind === 'repeat' && !module.id.endsWith('~') && first !== undefined)
        this.#open.add(model.hierarchy.modules[first]!.id);
    }
    const { k, x, y } = this.#stage.camera;
    const centre = (layout.x[item]! + layout.width[item]! / 2) * k + x;
    const top = layout.y[item]! * k + y;
    this.#relayout(() => {
      // What was clicked stays under the pointer.
      const after = model.picture!;
      const now = after.scene.itemOfModule[index]!;
      if (now < 0) return;
      this.#stage.set({
        k,
        x: centre - (after.layout.x[now]! + after.layout.width[now]! / 2) * k,
        y: top - after.layout.y[now]! * k,
      });
      if (this.#subject?.kind === 'module' && this.#subject.module === index) {
        this.#setSubject(this.#selection, { kind: 'module', module: index, open: kind === 'closed' });
      }
    });
  }

  #relayout(then: () => void): void {
    const model = this.#model!;
    const { scene, input } = model.request(this.#open);
    this.#worker.layout(input, (layout) => {
      if (this.#model !== model) return;
      model.setPicture(scene, layout);
      this.#stage.limit(layout.totalWidth, layout.totalHeight);
      this.#focused = this.#itemOfKey(this.#focusedKey);
      this.#hovered = -1;
      this.#markHits();
      this.#apply(this.#selection);
      then();
      this.#restamp();
      performance.mark('graph-painted');
    });
  }

  #showFirst(): void {
    const { totalWidth, totalHeight } = this.#model!.picture!.layout;
    this.#stage.show(0, 0, totalWidth, totalHeight, { animate: false, readable: true });
  }

  #centreItem(item: number): void {
    const { layout } = this.#model!.picture!;
    const { k, x, y } = this.#stage.camera;
    const { width, height } = this.#stage.size;
    const scale = Math.max(k, 0.7);
    const cx = layout.x[item]! + layout.width[item]! / 2;
    const cy = layout.y[item]! + Math.min(layout.height[item]! / 2, 200);
    const inside =
      k >= 0.5 && cx * k + x > 80 && cx * k + x < width - 80 && cy * k + y > 60 && cy * k + y < height - 60;
    if (!inside) this.#stage.set({ k: scale, x: width / 2 - cx * scale, y: height / 2 - cy * scale }, true);
  }

  #bringIntoSight(points: number[]): void {
    const { scene, layout } = this.#model!.picture!;
    const items = new Set(points.map((point) => scene.itemOfPoint[point]!));
    if (items.size === 0) return;
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const item of items) {
      left = Math.min(left, layout.x[item]!);
      top = Math.min(top, layout.y[item]!);
      right = Math.max(right, layout.x[item]! + layout.width[item]!);
      bottom = Math.max(bottom, layout.y[item]! + layout.height[item]!);
    }
    const { k, x, y } = this.#stage.camera;
    const { width, height } = this.#stage.size;
    const seen = right * k + x > 40 && left * k + x < width - 40 && bottom * k + y > 40 && top * k + y < height - 40;
    if (!seen) this.#stage.show(left, top, right, bottom, { readable: true });
  }

  #filterPoints(): void {
    const model = this.#model!;
    const { off } = this.#parts.legend;
    if (off.size === 0) {
      this.#dimmed = null;
      return;
    }
    const hidden = model.overlay.categories.map(({ key }) => off.has(key));
    this.#dimmed = Uint8Array.from(model.overlay.categoryOf, (category) =>
      category >= 0 && hidden[category] === true ? 1 : 0,
    );
  }

  #markHits(): void {
    const scene = this.#model?.picture?.scene;
    this.#hits = null;
    if (scene === undefined || this.#hitPoints.length === 0) return;
    this.#hits = new Uint32Array(scene.kind.length);
    for (const point of this.#hitPoints) this.#hits[scene.itemOfPoint[point]!]! += 1;
  }

  #itemOfKey(key: string): number {
    const model = this.#model!;
    const { scene } = model.picture!;
    if (key === '') return scene.kind.length > 0 ? 0 : -1;
    const at = key.indexOf(':');
    const id = key.slice(at + 1);
    if (key.startsWith('module:')) return scene.itemOfModule[model.hierarchy.byId.get(id) ?? -1] ?? 0;
    const point = model.graph.byId.get(key.startsWith('node:') ? id : key);
    return point === undefined ? 0 : scene.itemOfPoint[point]!;
  }

  #focusItem(item: number): void {
    this.#focused = item;
    this.#focusedKey = this.#model!.key(item);
    this.#centreItem(item);
    const frame = this.#currentFrame();
    if (frame !== null) this.#parts.tree.update(frame);
    this.#parts.tree.focus();
    this.#redraw();
  }

  #currentFrame(): Frame | null {
    const model = this.#model;
    if (model?.picture == null) return null;
    return {
      model,
      picture: model.picture,
      camera: this.#stage.camera,
      ...this.#stage.size,
      palette: this.#palette,
      fit: this.#fit,
      selected: this.#selected,
      hits: this.#hits,
      dimmed: this.#dimmed,
      focused: this.#parts.tree.hasFocus ? this.#focused : -1,
      hovered: this.#hovered,
      group: this.#group,
    };
  }

  #restamp(): void {
    this.#stamp = {};
    this.#redraw();
  }

  #redraw(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    this.#frame = 0;
    const frame = this.#currentFrame();
    if (frame === null || frame.width === 0) return;
    const { canvas, minimap } = this.#parts;
    const ratio = globalThis.devicePixelRatio || 1;
    const [width, height] = [Math.round(frame.width * ratio), Math.round(frame.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const context = canvas.getContext('2d', { alpha: false })!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.#palette.theme.background;
    context.fillRect(0, 0, frame.width, frame.height);
    this.#labels = drawFrame(new CanvasBrush(context, this.#family), frame);
    minimap.draw(frame, this.#stamp);
    clearTimeout(this.#settle);
    this.#settle = setTimeout(() => this.#settled(), 120);
  }

  #settled(): void {
    const frame = this.#currentFrame();
    if (frame === null) return;
    this.#parts.tree.update({ ...frame, focused: this.#focused });
    this.#keep();
  }

  #keep(): void {
    const model = this.#model;
    if (model === null) return;
    this.#kept.set({
      structure: model.structure,
      open: [...this.#open],
      flat: model.flat,
      overlay: this.#overlay,
      camera: this.#stage.camera,
    });
  }

  #listen(): void {
    const { canvas, stage, tree, search, help } = this.#parts;
    const at = (event: MouseEvent): [x: number, y: number] => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    stage.addEventListener('click', (event) => this.#click(...at(event)));
    stage.addEventListener('dblclick', (event) => {
      const item = this.#itemUnder(...at(event));
      if (item >= 0) this.#toggleItem(item);
    });
    stage.addEventListener('pointermove', (event) => {
      if (event.buttons === 0) this.#hover(...at(event));
    });
    stage.addEventListener('pointerleave', () => this.#hover(-1, -1));
    tree.root.addEventListener('focusin', (event) => {
      this.#focusedKey = (event.target as HTMLElement).dataset['key'] ?? this.#focusedKey;
      if (this.#model?.picture != null) this.#focused = this.#itemOfKey(this.#focusedKey);
      this.#redraw();
    });
    tree.root.addEventListener('focusout', () => this.#redraw());
    document.addEventListener('keydown', (event) => {
      const picture = this.#model?.picture;
      if (picture == null) return;
      const used = handleKey(event, {
        picture,
        focused: this.#focused,
        onGraph: tree.hasFocus || document.activeElement === document.body,
        focusItem: (item) => this.#focusItem(item),
        activate: (item) => {
          const kind = picture.scene.kind[item];
          if (kind === 'open' || kind === 'closed') this.#toggleItem(item);
          else this.selectItem(item);
        },
        selectItem: (item) => this.selectItem(item),
        selectGroupOf: (item) => {
          const [point] = Array.from(this.#model!.pointsOf(item));
          const group = point === undefined ? -1 : this.#model!.fusion.groupOf[point]!;
          if (group >= 0) this.selectGroup(group);
        },
        clear: () => this.close(),
        search: () => search.input.focus(),
        stepHit: (by) => search.step(by),
        fit: () => this.fit(),
        zoomBy: (factor) => this.zoomBy(factor),
        help: () => help.open(),
      });
      if (used) event.preventDefault();
    });
    new ResizeObserver(() => this.#redraw()).observe(stage);
  }

  #itemUnder(x: number, y: number): number {
    const picture = this.#model?.picture;
    return picture == null ? -1 : itemAt(picture, this.#stage.camera, x, y);
  }

  #click(x: number, y: number): void {
    if (this.#model?.picture == null) return;
    const label = labelAt(this.#labels, x, y);
    if (label?.target.kind === 'group') {
      this.selectGroup(label.target.group);
      return;
    }
    const item = label?.target.kind === 'item' ? label.target.item : this.#itemUnder(x, y);
    if (item < 0) {
      this.close();
      return;
    }
    this.#focused = item;
    this.#focusedKey = this.#model.key(item);
    const { scene, layout } = this.#model.picture;
    const { k, x: cx } = this.#stage.camera;
    const kind = scene.kind[item]!;
    // The triangle at the left of a module's label opens and closes it at once.
    const onTriangle =
      (kind === 'open' || kind === 'closed') && x - (layout.x[item]! * k + cx) < 24 * Math.max(0.6, Math.min(1, k));
    if (onTriangle && k > 0.3) this.#toggleItem(item);
    else this.selectItem(item);
    if (label !== undefined) this.#centreItem(item);
  }

  #hover(x: number, y: number): void {
    const label = x < 0 ? undefined : labelAt(this.#labels, x, y);
    const item = x < 0 ? -1 : label?.target.kind === 'item' ? label.target.item : this.#itemUnder(x, y);
    const leaf = item >= 0 && this.#model!.picture!.scene.kind[item] !== 'open' ? item : -1;
    this.#parts.stage.classList.toggle('over', item >= 0 || label !== undefined);
    if (leaf === this.#hovered) return;
    this.#hovered = leaf;
    this.#redraw();
  }
}
