import { totalMs } from '../../../src/kernel/fusion/fusionReport.ts';
import { graphStates } from '../../../src/kernel/picture/graph/graphStates.ts';
import {
  defaultLayout,
  type LayoutInput,
  type LayoutResult,
  pieceSize,
  rowsBy,
} from '../../../src/kernel/picture/layout/layoutTypes.ts';
import {
  type BarSegment,
  buildOverlay,
  composeItems,
  type Overlay,
  type OverlayKind,
  pointTimes,
  segmentsOf,
  type Stretch,
} from '../../../src/kernel/picture/graph/overlay.ts';
import { tensorPrecision } from '../../../src/kernel/read/tensorrt/buildOutput.ts';
import {
  findOutliers,
  type DrawnGroup,
  fusionGroups,
  type FusionGroups,
  kernelOfPoints,
  type Outliers,
} from '../../../src/kernel/picture/graph/fusionGroups.ts';
import {
  type GraphIndex,
  indexGraph,
  QuantizationIndex,
  TensorIndex,
} from '../../../src/kernel/picture/graph/graphIndex.ts';
import {
  buildHierarchy,
  type BuiltGroups,
  flatHierarchy,
  type Hierarchy,
} from '../../../src/kernel/picture/graph/hierarchy.ts';
import {
  buildRegions,
  buildScene,
  columnBegins,
  type Columns,
  type GroupOutline,
  idlePoints,
  itemKey,
  itemSizes,
  type OwnSize,
  type Scene,
} from '../../../src/kernel/picture/graph/scene.ts';
import type {
  RequestedPrecision,
  GraphData,
  NodeAccuracy,
  ViewData,
} from '../../../src/kernel/picture/graph/viewData.ts';
import type { ChangeState } from '../../../src/kernel/report/buildDiff.ts';
import type { NodeFault } from '../../../src/kernel/build/diagnosis.ts';
import type { Selection } from '../../../src/kernel/protocol/views.ts';
import { faultyPoints } from './faultyPoints.ts';
import { foreignTitle, layerOf, nounOf, titleOfLayer } from '../../../src/kernel/report/words.ts';
import { addTo } from '../../../src/kernel/base/addTo.ts';
import { isEpContext } from '../../../src/kernel/read/onnx/onnxModel.ts';

/** A model with so few nodes is shown with all modules open. */
export const allOpen = 100;

/** Nothing is known of columns. */
export const noColumns: Columns = new Map();

/** A scene and its layout. */
export interface Drawn {
  scene: Scene;
  layout: LayoutResult;
}

/** A scene with places: what can be drawn. Replaced as a whole, never changed. */
export interface Picture extends Drawn {
  /** First item after everything that is in item i. */
  subtreeEnd: Int32Array;
  /** Whether any module is open. */
  hasOpen: boolean;
  /** Around every `blockSize` items in a row: left, top, right, bottom. */
  blocks: Float32Array;
  /** Edges that leave and enter each item, in compressed rows. */
  outStart: Int32Array;
  outEdges: Int32Array;
  inStart: Int32Array;
  inEdges: Int32Array;
  /** 1 for a piece that ends at an edge's reader. */
  lastPiece: Uint8Array;
  /** Edges that are drawn as portals, by source and by reader. */
  portalsOut: Map<number, number[]>;
  portalsIn: Map<number, number[]>;
}

/** An outline with the group that it is of, and that one's position in its list. */
export interface NamedOutline {
  region: GroupOutline;
  group: DrawnGroup;
  index: number;
  isKernel: boolean;
}

/** Whether a group has a boundary of its own on this picture: one node alone shows its color itself. */
export const hasBoundary = (group: DrawnGroup, region: GroupOutline): boolean =>
  group.kind === 'foreign' || region.items > 1;

/** Everything about one model that does not depend on where the user looks. */
export class GraphModel {
  readonly data: ViewData;
  /** What the nodes are: `layer` where there is no model. */
  readonly noun: 'node' | 'layer';
  readonly graph: GraphIndex;
  readonly nested: Hierarchy;
  readonly fusion: FusionGroups;
  readonly tensors: TensorIndex;
  readonly quantization: QuantizationIndex;
  readonly idle: Uint8Array;
  readonly times: Float64Array | null;
  readonly kernelOf: Int32Array;
  #flat: Hierarchy | null = null;
  #found: Outliers | null = null;
  #bySize: number[] | null = null;
  /** What override rules asked of nodes, by the node's id. */
  readonly asked: ReadonlyMap<string, RequestedPrecision>;
  readonly judged: ReadonlyMap<string, NodeAccuracy>;
  /** What happened to nodes since the build that this one is compared with, by the node's id. */
  readonly changed: ReadonlyMap<string, ChangeState>;
  /** What the last build, if it did not pass, says about nodes, by their points. */
  readonly faults: ReadonlyMap<number, NodeFault[]>;
  readonly #moduleTimes = new Map<number, number | null>();
  /** That of the picture; the next layout that is requested has `#next`. */
  hierarchy: Hierarchy;
  #next: Hierarchy;
  overlay: Overlay;
  picture: Picture | null = null;
  regions: GroupOutline[] = [];
  kernelRegions: GroupOutline[] = [];
  /** The outlines that have names, the largest groups first: those of groups, or of kernels where these are the groups. */
  named: NamedOutline[] = [];
  /** Per item: 1 within one of these. */
  within = new Uint8Array();
  stretches = new Map<number, Stretch[]>();
  /** Where each group is in the bars of closed modules. */
  segments = new Map<number, BarSegment[]>();
  /** The model's structure as text: the same text needs no new layout. */
  readonly structure: string;

  constructor(data: ViewData & { graph: GraphData }, overlay: OverlayKind) {
    this.data = data;
    this.noun = nounOf(data.report ?? {});
    this.graph = indexGraph(data.graph);
    this.fusion = fusionGroups(this.graph, data.report);
    this.tensors = new TensorIndex(this.graph, data.report);
    this.quantization = new QuantizationIndex(data.graph, data.quantization);
    this.idle = idlePoints(this.graph, this.fusion);
    this.nested = buildHierarchy(this.graph, this.#builtGroups());
    this.hierarchy = this.#next = this.nested;
    this.times = data.report === null ? null : pointTimes(this.graph, data.report, this.fusion);
    this.asked = new Map((data.asked ?? []).map((one) => [one.node, one]));
    this.judged = new Map((data.accuracy ?? []).map((one) => [one.id, one]));
    this.changed = data.comparison === undefined ? new Map() : graphStates(data.graph, data.comparison.diff);
    this.faults = faultyPoints(this.graph, data.state?.faults);
    this.overlay = buildOverlay(overlay, this.graph, data.report, this.fusion, this.asked, this.judged, this.changed);
    this.kernelOf = kernelOfPoints(this.graph, this.fusion.kernels);
    this.structure = `${data.title}\n${data.graph.nodes.length}\n${this.graph.from.length}`;
  }

  /** Of a model that is larger than what can be shown node by node, and of a build with several groups. */
  #builtGroups(): BuiltGroups | undefined {
    const { data, fusion, idle } = this;
    const { report } = data;
    if (report === null || this.graph.nodes <= allOpen || fusion.kernelGroups !== null) return undefined;
    const labelOf = (group: number): string => {
      const { kind, ref } = fusion.groups[group]!;
      return kind === 'foreign' ? foreignTitle(report, ref) : titleOfLayer(report, ref);
    };
    return { groupOf: fusion.groupOf, idle, labelOf };
  }

  /** Whether a point can be kept in a type: it is a node, and no engine, whose types are those of its build. */
  takesType(point: number): boolean {
    const node = this.graph.data.nodes[point];
    return this.noun === 'node' && node !== undefined && !isEpContext(node);
  }

  /** Shows every node on its own from the next layout on. */
  setFlat(flat: boolean): void {
    this.#next = flat ? (this.#flat ??= flatHierarchy(this.graph)) : this.nested;
  }

  get flat(): boolean {
    return this.#next !== this.nested;
  }

  setOverlay(kind: OverlayKind): void {
    this.overlay = buildOverlay(kind, this.graph, this.data.report, this.fusion, this.asked, this.judged, this.changed);
    this.#derive();
  }

  /**
   * What the layout has to place for a set of open modules.
   * @param columns what begins columns already
   * @param room the height that new columns are to fit; without it only tall piles are broken
   * @param sizes of what was requested before, for several requests in a row
   */
  request(
    open: ReadonlySet<string>,
    columns = noColumns,
    room?: number,
    sizes?: Map<string, OwnSize>,
  ): { scene: Scene; input: LayoutInput } {
    const { graph } = this;
    const scene = buildScene(graph, this.#next, open);
    const isConstant = (item: number) =>
      scene.kind[item] === 'node' && graph.data.nodes[scene.ref[item]!]!.op === 'Constant';
    const input: LayoutInput = {
      parent: scene.parent,
      open: Uint8Array.from(scene.kind, (kind) => (kind === 'open' ? 1 : 0)),
      ...itemSizes(graph, this.#next, scene, sizes),
      from: scene.from,
      to: scene.to,
      constant: Uint8Array.from(scene.kind, (_, item) => (isConstant(item) ? 1 : 0)),
      options: room === undefined ? defaultLayout : { ...defaultLayout, room },
    };
    if (columns.size > 0 && !this.flat) input.begins = columnBegins(graph, this.#next, scene, columns);
    return { scene, input };
  }

  /** Takes the places of what was requested last. */
  setPicture(scene: Scene, layout: LayoutResult): void {
    this.hierarchy = this.#next;
    const count = scene.kind.length;
    const subtreeEnd = new Int32Array(count);
    for (let item = count - 1; item >= 0; item--) {
      subtreeEnd[item] = Math.max(subtreeEnd[item]!, item + 1);
      const parent = scene.parent[item]!;
      if (parent >= 0) subtreeEnd[parent] = Math.max(subtreeEnd[parent]!, subtreeEnd[item]!);
    }
    const { start: outStart, list: outEdges } = rowsBy(count, scene.from);
    const { start: inStart, list: inEdges } = rowsBy(count, scene.to);
    const lastPiece = new Uint8Array(layout.pieces.length / pieceSize);
    const portalsOut = new Map<number, number[]>();
    const portalsIn = new Map<number, number[]>();
    for (let edge = 0; edge < scene.from.length; edge++) {
      if (layout.portal[edge] === 1) {
        addTo(portalsOut, scene.from[edge]!, edge);
        addTo(portalsIn, scene.to[edge]!, edge);
      } else if (layout.edgeStart[edge + 1]! > layout.edgeStart[edge]!) {
        lastPiece[layout.edgePieces[layout.edgeStart[edge + 1]! - 1]!] = 1;
      }
    }
    this.picture = {
      scene,
      layout,
      subtreeEnd,
      hasOpen: scene.kind.includes('open'),
      blocks: blocksOf(layout, count),
      outStart,
      outEdges,
      inStart,
      inEdges,
      lastPiece,
      portalsOut,
      portalsIn,
    };
    this.#derive();
  }

  #derive(): void {
    if (this.picture === null) return;
    const { scene, layout } = this.picture;
    const { graph, hierarchy, fusion, idle } = this;
    this.stretches = composeItems(graph, hierarchy, scene, this.overlay, fusion);
    this.segments = segmentsOf(scene, this.stretches);
    this.regions = buildRegions(graph, hierarchy, scene, layout, { groupOf: fusion.groupOf, idle, inModules: true });
    this.kernelRegions = this.#kernelRegionsOf(hierarchy, scene, layout);
    const isKernel = fusion.kernelGroups !== null;
    const groups = fusion.kernelGroups ?? fusion.groups;
    const rank = new Map((isKernel ? [...groups.keys()] : this.groupsBySize).map((group, i) => [group, i]));
    this.named = (isKernel ? this.kernelRegions : this.regions)
      .map((region) => ({
        region,
        group: groups[region.group]!,
        index: region.group,
        isKernel,
      }))
      .filter(({ region, group }) => hasBoundary(group, region))
      .sort((a, b) => rank.get(a.index)! - rank.get(b.index)!);
    this.#markWithin();
  }

  #kernelRegionsOf(hierarchy: Hierarchy, scene: Scene, layout: LayoutResult): GroupOutline[] {
    const { graph, fusion, idle } = this;
    const members = { groupOf: this.kernelOf, idle, inModules: fusion.kernelGroups !== null };
    return fusion.kernels.length === 0 ? [] : buildRegions(graph, hierarchy, scene, layout, members);
  }

  /** The sizes of the outlines that would have names on a picture. */
  outlineSizes({ scene, layout }: Drawn): { width: number; height: number }[] {
    const { graph, nested, fusion, idle } = this;
    const regions =
      fusion.kernelGroups === null
        ? buildRegions(graph, nested, scene, layout, { groupOf: fusion.groupOf, idle, inModules: true })
        : this.#kernelRegionsOf(nested, scene, layout);
    return regions
      .filter((region) => hasBoundary((fusion.kernelGroups ?? fusion.groups)[region.group]!, region))
      .map(({ left, top, right, bottom }) => ({ width: right - left, height: bottom - top }));
  }

  /** The group that a point belongs to where boundaries are drawn: its kernel, where kernels are the groups; -1 for none. */
  boundaryOf(point: number): number {
    return (this.fusion.kernelGroups === null ? this.fusion.groupOf : this.kernelOf)[point]!;
  }

  #markWithin(): void {
    const { scene } = this.picture!;
    const outlined = new Set(this.named.map(({ index }) => index));
    this.within = Uint8Array.from(scene.kind, (kind, item) => {
      if (kind === 'open' || kind === 'input' || kind === 'output') return 0;
      const points = Array.from(this.pointsOf(item)).filter((point) => this.idle[point] === 0);
      const [first] = points;
      if (first === undefined || !outlined.has(this.boundaryOf(first))) return 0;
      return points.every((point) => this.boundaryOf(point) === this.boundaryOf(first)) ? 1 : 0;
    });
  }

  /** How many blocks of a repetition are fused differently from the rest; null if nothing is known about fusion. */
  differing(module: number): number | null {
    return this.data.report === null ? null : (this.#outliers().counts.get(module) ?? null);
  }

  /** Whether a module is a block that is fused differently from its siblings. */
  isOutlier(module: number): boolean {
    return this.data.report !== null && this.#outliers().blocks.has(module);
  }

  #outliers(): Outliers {
    this.#found ??= findOutliers(
      this.nested,
      (point) => this.graph.data.nodes[point]?.op ?? '',
      this.fusion,
      this.kernelOf,
    );
    return this.#found;
  }

  /** What is in a module by the legend's lines, in their order; several lines may share a paint. */
  categoriesIn(module: number): { label: string; nodes: number }[] {
    const counts = this.overlay.categories.map(({ label }) => ({ label, nodes: 0 }));
    const { start, end } = this.nested.modules[module]!;
    for (let i = start; i < end; i++) {
      const count = counts[this.overlay.categoryOf[this.nested.sequence[i]!]!];
      if (count !== undefined) count.nodes += 1;
    }
    return counts.filter(({ nodes }) => nodes > 0);
  }

  /** Milliseconds that fall to a module's nodes; null if none was measured. */
  moduleTime(module: number): number | null {
    if (this.times === null) return null;
    const known = this.#moduleTimes.get(module);
    if (known !== undefined) return known;
    let sum = 0;
    let measured = false;
    const { start, end } = this.nested.modules[module]!;
    for (let i = start; i < end; i++) {
      const ms = this.times[this.nested.sequence[i]!]!;
      if (Number.isNaN(ms)) continue;
      sum += ms;
      measured = true;
    }
    const time = measured ? sum : null;
    this.#moduleTimes.set(module, time);
    return time;
  }

  /**
   * Milliseconds of a group: what the report says, otherwise the sum of its measured layers; null without a profile.
   */
  groupTime({ averageMs, layers }: DrawnGroup): number | null {
    const { report } = this.data;
    if (averageMs !== null || report === null) return averageMs;
    return totalMs(layers.flatMap((id) => layerOf(report, id) ?? []));
  }

  /** All groups, those that take longest first, then those with most nodes. */
  get groupsBySize(): readonly number[] {
    this.#bySize ??= this.fusion.groups
      .map((group, index) => ({ index, time: this.groupTime(group) ?? -1, nodes: group.points.length }))
      .sort((a, b) => b.time - a.time || b.nodes - a.nodes || a.index - b.index)
      .map(({ index }) => index);
    return this.#bySize;
  }

  /** The types in which a group's layers write, most frequent first: `fp16, fp32`; '' if nothing says. */
  groupPrecision({ layers }: DrawnGroup): string {
    const { report } = this.data;
    if (report === null) return '';
    const counts = new Map<string, number>();
    for (const id of layers) {
      for (const tensor of layerOf(report, id)?.outputs ?? []) {
        const precision = tensorPrecision(tensor);
        if (precision !== null && precision !== 'integer') counts.set(precision, (counts.get(precision) ?? 0) + 1);
      }
    }
    return [...counts]
      .sort((a, b) => b[1] - a[1])
      .slice(0, 2)
      .map(([name]) => name)
      .join(', ');
  }

  key(item: number): string {
    return itemKey(this.graph, this.hierarchy, this.picture!.scene, item);
  }

  /** The item with a key, or the one that hides it; the first one for '' and for what is no longer there; -1 without any. */
  itemOfKey(key: string): number {
    const { scene } = this.picture!;
    const first = scene.kind.length > 0 ? 0 : -1;
    if (key.startsWith('module:')) {
      const module = this.hierarchy.byId.get(key.slice('module:'.length));
      const item = module === undefined ? -1 : scene.itemOfModule[module]!;
      return item >= 0 ? item : first;
    }
    const point = this.graph.byId.get(key.replace(/^node:/, ''));
    return point === undefined ? first : scene.itemOfPoint[point]!;
  }

  /** The points that an item stands for. */
  pointsOf(item: number): ArrayLike<number> {
    const { scene } = this.picture!;
    const ref = scene.ref[item]!;
    if (scene.kind[item] !== 'closed' && scene.kind[item] !== 'open') return [ref];
    const { start, end } = this.hierarchy.modules[ref]!;
    return this.hierarchy.sequence.subarray(start, end);
  }

  /** The points that a selection means; [] for none. */
  pointsOfSelection(selection: Selection): number[] {
    const { graph, fusion, data } = this;
    const known = (ids: readonly string[]) =>
      ids.map((id) => graph.byId.get(id)).filter((point) => point !== undefined);
    switch (selection.kind) {
      case 'nodes':
        return known(selection.ids);
      case 'layers': {
        const wanted = new Set(selection.ids);
        const ids = (data.report?.layers ?? []).filter(({ id }) => wanted.has(id)).flatMap(({ nodes }) => nodes);
        return known([...new Set(ids)]);
      }
      case 'foreignNode':
        return fusion.groups.find(({ kind, ref }) => kind === 'foreign' && ref === selection.id)?.points ?? [];
      case 'fate':
        return fusion.fateOf.flatMap((fate, point) => (fate === selection.fate ? [point] : []));
      case 'none':
        return [];
    }
  }
}

/** Items of which one look says whether any of them is on the screen. */
export const blockSize = 64;

function blocksOf({ x, y, width, height }: LayoutResult, count: number): Float32Array {
  const blocks = new Float32Array(Math.ceil(count / blockSize) * 4);
  for (let first = 0; first < count; first += blockSize) {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let item = first; item < Math.min(first + blockSize, count); item++) {
      left = Math.min(left, x[item]!);
      top = Math.min(top, y[item]!);
      right = Math.max(right, x[item]! + width[item]!);
      bottom = Math.max(bottom, y[item]! + height[item]!);
    }
    blocks.set([left, top, right, bottom], (first / blockSize) * 4);
  }
  return blocks;
}
