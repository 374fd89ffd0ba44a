// Colors of nodes.
import { addTo } from '../../base/addTo.ts';
import { type ChangeState, changeStates } from '../../report/buildDiff.ts';
import { tensorPrecision } from '../../read/tensorrt/buildOutput.ts';
import { type Evidence, type Fate, type FusionReport, nodeTimes, type ReportNode } from '../../fusion/fusionReport.ts';
import { engineMs, fateOrder, fateTooltip, fateWords, fateWordsOf, foreignTitle, layerOf } from '../../report/words.ts';
import { type FusionGroups, kernelOfPoints } from './fusionGroups.ts';
import type { GraphIndex } from './graphIndex.ts';
import type { Hierarchy } from './hierarchy.ts';
import { changeKey, comparisonKeys, comparisonPaints } from './internal/comparisonOverlay.ts';
import type { Scene } from './scene.ts';
import type { RequestedPrecision, NodeAccuracy } from './viewData.ts';

/**
 * In which type the engine's layers write what a node computes: `fp32`, `fp16`, `bf16`, `fp8`, `int8`, `integer`, … or
 * `mixed`; null if the layer information does not say. What happens inside a fused kernel is unknown.
 */
export function builtPrecision(report: FusionReport, node: ReportNode): string | null {
  const found = new Set<string>();
  for (const id of node.layers) {
    for (const tensor of layerOf(report, id)?.outputs ?? []) {
      const precision = tensorPrecision(tensor);
      if (precision !== null) found.add(precision);
    }
  }
  if (found.size > 1) found.delete('integer');
  if (found.size === 0) return null;
  return found.size === 1 ? [...found][0]! : 'mixed';
}

/** Takes what one point is: key and label of its line in the legend, paint, meaning. */
type PaintNode = (point: number, key: string, label: string, paint: number, meaning: string) => void;

/** The paints of core/picture/graph/overlay.ts that are used here. */
interface Paints {
  time: number;
  derived: number;
  gray: number;
  unknown: number;
}

/** Upper ends of the steps of errors; above the last one, or not finite, is the seventh step. */
const errorBounds = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 1e-1];

/** The step of an error on the time scale; null: not finite. */
export function errorStep(error: number | null): number {
  const found = errorBounds.findIndex((bound) => (error ?? Infinity) <= bound);
  return found < 0 ? errorBounds.length : found;
}

const exact = ['exact', 'Not in low precision'] as const;

/**
 * Local errors in low precision on the time scale's steps; culprits and what they spoiled have colors of their own.
 * @param judged by point; undefined: not in low precision
 * @returns keys of the legend's lines, in their order
 */
export function paintErrors(put: PaintNode, judged: readonly (NodeAccuracy | undefined)[], paints: Paints): string[] {
  for (const [point, node] of judged.entries()) {
    if (node === undefined) put(point, ...exact, paints.gray, 'stays as it is');
    else if (node.role === 'root')
      put(point, 'root', 'To blame', 1, 'its loss alone makes an output miss the tolerance');
    else if (node.role === 'victim')
      put(point, 'victim', 'Spoiled', paints.derived + 1, 'reads a value that overflowed or was spoiled before');
    else {
      const step = errorStep(node.localError);
      const label = step === errorBounds.length ? `over ${errorBounds.at(-1)!}` : `up to ${errorBounds[step]!}`;
      put(point, `error:${step}`, label, paints.time + step, 'local error: what the node alone loses');
    }
  }
  const steps = errorBounds.map((_, i) => `error:${i}`);
  return ['root', 'victim', `error:${errorBounds.length}`, ...steps.toReversed(), ...exact.slice(0, 1)];
}

/** What the colors say. */
export const overlayKinds = [
  'fusion',
  'precision',
  'overrides',
  'time',
  'evidence',
  'accuracy',
  'comparison',
  'none',
] as const;
export type OverlayKind = (typeof overlayKinds)[number];

/**
 * 0 … 15: a color of its own, in two shades; then steps of the time scale; the first eight colors again for what is
 * derived or only probable; not computed; unknown; nothing to say; switched off in the legend; lost or moved.
 */
export const paints = {
  time: 16,
  timeSteps: 7,
  derived: 24,
  gray: 32,
  unknown: 33,
  plain: 34,
  off: 35,
  lost: 36,
} as const;

/** One line of the legend, which is also a switch. */
export interface Category {
  key: string;
  label: string;
  /** Paints of its nodes, as they were met: several where groups have colors of their own. */
  paints: number[];
  nodes: number;
  /** A word on what it means, for the tooltip; '' if the label says it all. */
  meaning: string;
  /** Stands in front of each node's operator, where colors are not enough. */
  sign?: string;
}

export interface Overlay {
  kind: OverlayKind;
  categories: Category[];
  /** Per point: its category, -1 for graph inputs and outputs; and how it is painted. */
  categoryOf: Int16Array;
  paintOf: Uint8Array;
}

/** More ForeignNodes than this share one line in the legend. */
const namedForeignNodes = 6;

/**
 * What an overlay says about every node; `asked` is what override rules asked for, by the node's id. Categories without
 * nodes are omitted, their order is that of the legend.
 */
export function buildOverlay(
  kind: OverlayKind,
  graph: GraphIndex,
  report: FusionReport | null,
  fusion: FusionGroups,
  asked: ReadonlyMap<string, RequestedPrecision>,
  judged: ReadonlyMap<string, NodeAccuracy> = new Map(),
  changed: ReadonlyMap<string, ChangeState> = new Map(),
): Overlay {
  const draft = new OverlayDraft(kind, graph);
  if (kind === 'accuracy') {
    const nodes = Array.from({ length: graph.nodes }, (_, point) => judged.get(graph.data.nodes[point]!.id));
    return draft.finish(paintErrors((...painting) => draft.put(...painting), nodes, paints));
  }
  if (report === null || kind === 'none') {
    for (let point = 0; point < graph.nodes; point++) draft.put(point, 'plain', 'ONNX nodes', paints.plain, '');
    return draft.finish([]);
  }
  switch (kind) {
    case 'fusion':
      return fusionOverlay(draft, graph, report, fusion);
    case 'precision':
      return precisionOverlay(draft, graph, report, fusion);
    case 'overrides':
      return overridesOverlay(draft, graph, fusion, asked);
    case 'time':
      return timeOverlay(draft, graph, report, fusion);
    case 'comparison':
      return comparisonOverlay(draft, graph, fusion, changed);
    case 'evidence':
      return evidenceOverlay(draft, graph, report, fusion);
  }
}

/** What a point is: key of its category, label, paint, meaning, sign. */
type Painting = readonly [key: string, label: string, paint: number, meaning: string, sign?: string | undefined];

const onlyOlder: Painting = [
  'older',
  `${changeStates.removed.sign} Only in A`,
  paints.derived + 1,
  'the model of B does not have it',
  changeStates.removed.sign,
];

class OverlayDraft {
  readonly #kind: OverlayKind;
  readonly #graph: GraphIndex;
  readonly #categories = new Map<string, { index: number; category: Category }>();
  readonly #categoryOf: Int16Array;
  readonly #paintOf: Uint8Array;

  constructor(kind: OverlayKind, graph: GraphIndex) {
    this.#kind = kind;
    this.#graph = graph;
    this.#categoryOf = new Int16Array(graph.points).fill(-1);
    this.#paintOf = new Uint8Array(graph.points).fill(paints.plain);
  }

  put(point: number, ...painting: Painting): void {
    // The report of this build says nothing about a node that only an older one has; a change with its sign does.
    const gone = this.#graph.data.nodes[point]!.older !== undefined && painting[4] === undefined;
    const [key, label, paint, meaning, sign] = gone ? onlyOlder : painting;
    let entry = this.#categories.get(key);
    if (entry === undefined) {
      entry = {
        index: this.#categories.size,
        category: { key, label, paints: [], nodes: 0, meaning, ...(sign && { sign }) },
      };
      this.#categories.set(key, entry);
    }
    if (!entry.category.paints.includes(paint)) entry.category.paints.push(paint);
    entry.category.nodes += 1;
    this.#categoryOf[point] = entry.index;
    this.#paintOf[point] = paint;
  }

  /** Categories in the order of `keys`; those not named follow as they were met. */
  finish(keys: string[]): Overlay {
    const rank = new Map(keys.map((key, i) => [key, i]));
    const sorted = [...this.#categories.values()].sort(
      (a, b) =>
        (rank.get(a.category.key) ?? keys.length) - (rank.get(b.category.key) ?? keys.length) || a.index - b.index,
    );
    const moved = new Int16Array(sorted.length);
    sorted.forEach(({ index }, i) => (moved[index] = i));
    for (let point = 0; point < this.#categoryOf.length; point++) {
      if (this.#categoryOf[point]! >= 0) this.#categoryOf[point] = moved[this.#categoryOf[point]!]!;
    }
    return {
      kind: this.#kind,
      categories: sorted.map(({ category }) => category),
      categoryOf: this.#categoryOf,
      paintOf: this.#paintOf,
    };
  }
}

type Subject = Pick<FusionReport, 'subject'>;

/** A tooltip next to a label: the predicate that a sentence would have. */
const putFateOf = (draft: OverlayDraft, point: number, fate: Fate, paint: number, report: Subject = {}): void =>
  draft.put(point, fate, fateWordsOf(report)[fate].label, paint, fateTooltip(fate, report));

/** true: the node is not computed or its fate is not known, and that is shown. `sign`: of one that may be lost. */
function putFate(draft: OverlayDraft, point: number, fate: Fate | null, sign?: string): boolean {
  if (fate === 'foreign' || fate === 'fused' || fate === 'single') return false;
  const shown = fate ?? 'unknown';
  const paint = shown === 'unknown' ? paints.unknown : shown === 'unaccounted' ? paints.lost : paints.gray;
  const own = shown === 'unaccounted' ? sign : undefined;
  draft.put(point, shown, fateWords[shown].label, paint, fateTooltip(shown), own);
  return true;
}

/** Categories by fate, so that the legend has the numbers of the summary; colors by group. */
function fusionOverlay(draft: OverlayDraft, graph: GraphIndex, report: FusionReport, fusion: FusionGroups): Overlay {
  const foreign = fusion.groups.filter(({ kind }) => kind === 'foreign');
  const named = foreign.length <= namedForeignNodes;
  const kernelOf = fusion.kernelGroups === null ? null : kernelOfPoints(graph, fusion.kernels);
  for (let point = 0; point < graph.nodes; point++) {
    const fate = fusion.fateOf[point]!;
    if (putFate(draft, point, fate, changeStates.lost.sign)) continue;
    const group = fusion.groups[fusion.groupOf[point]!];
    const paint = (fusion.kernelGroups?.[kernelOf![point]!] ?? group)?.color ?? paints.plain;
    if (fate !== 'foreign' || group === undefined) {
      putFateOf(draft, point, fate ?? 'unknown', paint, report);
      continue;
    }
    // How many there are is in the header, and next to the legend's list of groups.
    if (named) draft.put(point, group.id, foreignTitle(report, group.ref), paint, fateTooltip('foreign', report));
    else putFateOf(draft, point, fate, paint, report);
  }
  const foreignKeys = named ? foreign.map(({ id }) => id) : ['foreign'];
  return draft.finish([...foreignKeys, ...fateOrder]);
}

/** The color of each precision, from the widest type to the narrowest. */
const precisionColors: Record<string, number> = {
  fp32: 1,
  tf32: 5,
  fp16: 0,
  bf16: 4,
  fp8: 3,
  int8: 2,
  fp4: 3,
  int4: 2,
  integer: 7,
  mixed: 6,
};

/** The floating-point types that a strongly typed network declares, by tensor; null: TensorRT chose the types, or may have. */
function typedTensors({ tensorrt }: FusionReport, { data }: GraphIndex): ReadonlyMap<string, string> | null {
  const isTyped = tensorrt.product === 'tensorrt-rtx' || Number.parseInt(tensorrt.version ?? '', 10) >= 11;
  if (!isTyped || data.inExecutionOrder) return null;
  const words: Readonly<Record<string, string>> = { float: 'fp32', float16: 'fp16', bfloat16: 'bf16' };
  return new Map(data.tensors.flatMap(({ name, type }) => (type && words[type] ? [[name, words[type]]] : [])));
}

/** Whether what a node's layers write is what the node gives: it is alone in them, or they write tensors of its name. */
function isOutputOfLayer(report: FusionReport, node: ReportNode, outputs: readonly string[]): boolean {
  const layers = node.layers.flatMap((id) => layerOf(report, id) ?? []);
  return (
    layers.every(({ nodes }) => nodes.length <= 1) ||
    layers.some((layer) => layer.outputs.some(({ name }) => outputs.includes(name)))
  );
}

function precisionOverlay(draft: OverlayDraft, graph: GraphIndex, report: FusionReport, fusion: FusionGroups): Overlay {
  const typed = typedTensors(report, graph);
  for (let point = 0; point < graph.nodes; point++) {
    if (putFate(draft, point, fusion.fateOf[point]!)) continue;
    const node = report.nodes[fusion.reportOf[point]!]!;
    const declared = typed?.get(graph.data.nodes[point]!.outputs[0] ?? '');
    const built = declared ?? builtPrecision(report, node);
    if (built === null) {
      draft.put(point, 'hidden', 'Not known', paints.unknown, 'the layer info does not contain the types of this node');
      continue;
    }
    const label = built === 'integer' ? 'Integer' : built === 'mixed' ? 'Mixed' : built.toUpperCase();
    const color = precisionColors[built] ?? 6;
    if (declared !== undefined)
      draft.put(point, built, label, color, 'its type in the model of a strongly typed build');
    else if (isOutputOfLayer(report, node, graph.data.nodes[point]!.outputs))
      draft.put(point, built, label, color, 'output type of its layers');
    else
      draft.put(
        point,
        `inside:${built}`,
        `Not known, in a kernel that writes ${label}`,
        paints.derived + color,
        'the layer info does not contain the types inside a kernel',
      );
  }
  return draft.finish([
    ...Object.keys(precisionColors),
    ...Object.keys(precisionColors).map((type) => `inside:${type}`),
    'hidden',
    'folded',
    'removed',
    'shape',
    'unaccounted',
    'unknown',
  ]);
}

type Verdict = RequestedPrecision['verdict'] | 'probable';

const verdicts: Record<Verdict, [label: string, paint: number, meaning: string]> = {
  disobeyed: ['Disobeyed', 1, 'computed in a type other than the one an override rule requests'],
  unseen: [
    'Unverifiable',
    paints.unknown,
    'an override rule requests a type; the build does not show which type it has',
  ],
  probable: [
    'Probably obeyed',
    paints.derived + 6,
    'what the build shows of its type is what an override rule requests',
  ],
  obeyed: ['Obeyed', 6, 'computed in the type that an override rule requests'],
};

function overridesOverlay(
  draft: OverlayDraft,
  graph: GraphIndex,
  fusion: FusionGroups,
  asked: ReadonlyMap<string, RequestedPrecision>,
): Overlay {
  for (let point = 0; point < graph.nodes; point++) {
    const request = asked.get(graph.data.nodes[point]!.id);
    const fate = fusion.fateOf[point]!;
    // What is not computed has no type to obey with.
    if ((request === undefined || fate !== 'unknown') && putFate(draft, point, fate)) continue;
    if (request === undefined) {
      draft.put(point, 'unasked', 'No rule', paints.plain, 'no override rule applies to it');
      continue;
    }
    const verdict = request.verdict === 'obeyed' && !request.certain ? 'probable' : request.verdict;
    draft.put(point, verdict, ...verdicts[verdict]);
  }
  return draft.finish([...Object.keys(verdicts), 'unasked', 'folded', 'removed', 'shape', 'unaccounted', 'unknown']);
}

/** Upper ends of the steps of the time scale, in percent of the engine's time that one node takes. */
export const timeBounds = [0.02, 0.1, 0.3, 1, 3, 10, 100] as const;

function timeOverlay(draft: OverlayDraft, graph: GraphIndex, report: FusionReport, fusion: FusionGroups): Overlay {
  const times = pointTimes(graph, report, fusion);
  const whole = engineMs(report) ?? 0;
  for (let point = 0; point < graph.nodes; point++) {
    if (putFate(draft, point, fusion.fateOf[point]!)) continue;
    const ms = times[point]!;
    if (Number.isNaN(ms) || whole <= 0) {
      draft.put(point, 'unmeasured', 'Not measured', paints.unknown, 'no profile, or its layers are not in it');
      continue;
    }
    const share = (100 * ms) / whole;
    const step = Math.min(
      paints.timeSteps - 1,
      timeBounds.findIndex((bound) => share <= bound + 1e-9),
    );
    const at = step < 0 ? paints.timeSteps - 1 : step;
    const label =
      at === 0
        ? `up to ${timeBounds[0]} %`
        : at === paints.timeSteps - 1
          ? `over ${timeBounds[at - 1]} %`
          : `${timeBounds[at - 1]} – ${timeBounds[at]} %`;
    draft.put(
      point,
      `time:${at}`,
      label,
      paints.time + at,
      'of the engine’s time; the time of a kernel is divided equally among its nodes',
    );
  }
  const steps = Array.from({ length: paints.timeSteps }, (_, i) => `time:${paints.timeSteps - 1 - i}`);
  return draft.finish([...steps, 'unmeasured', 'folded', 'removed', 'shape', 'unaccounted', 'unknown']);
}

/** Milliseconds of each point, as `nodeTimes` divides them; NaN: not measured. */
export function pointTimes(graph: GraphIndex, report: FusionReport, { reportOf }: FusionGroups): Float64Array {
  const times = nodeTimes(report);
  return Float64Array.from({ length: graph.points }, (_, point) => times[reportOf[point] ?? -1] ?? Number.NaN);
}

/** What changed since another build; what is the same in both is as pale as what neither computes is gray. */
function comparisonOverlay(
  draft: OverlayDraft,
  graph: GraphIndex,
  fusion: FusionGroups,
  changed: ReadonlyMap<string, ChangeState>,
): Overlay {
  const own = comparisonPaints(paints);
  for (let point = 0; point < graph.nodes; point++) {
    const state = changed.get(graph.data.nodes[point]!.id);
    if (state === undefined) {
      if (!putFate(draft, point, fusion.fateOf[point]!))
        draft.put(point, 'same', 'Same', paints.plain, 'computed in the same way in both builds');
      continue;
    }
    const { sign, label, meaning } = changeStates[state];
    draft.put(point, changeKey(state), `${sign} ${label}`, own[state], meaning, sign);
  }
  return draft.finish([...comparisonKeys, 'folded', 'removed', 'shape', 'unaccounted', 'unknown']);
}

const evidenceLabels: Record<Evidence, [label: string, color: number, meaning: string]> = {
  metadata: ['Layer metadata', 2, 'TensorRT named the node in the layer info'],
  log: ['Build log', 0, 'TensorRT named the node in the log'],
  name: ['Layer name', 5, 'the name of the fused layer contains the node'],
  reach: ['Derived', paints.derived + 3, 'derived from the graph: between the borders of a ForeignNode'],
};

function evidenceOverlay(draft: OverlayDraft, graph: GraphIndex, report: FusionReport, fusion: FusionGroups): Overlay {
  for (let point = 0; point < graph.nodes; point++) {
    if (putFate(draft, point, fusion.fateOf[point]!)) continue;
    const node = report.nodes[fusion.reportOf[point]!]!;
    const kinds = new Set(node.layers.flatMap((layer) => layerOf(report, layer)?.evidence ?? []));
    const best: Evidence = node.exact
      ? ((['metadata', 'log', 'name'] as const).find((kind) => kinds.has(kind)) ?? 'log')
      : 'reach';
    draft.put(point, best, ...evidenceLabels[best]);
  }
  return draft.finish(['metadata', 'log', 'name', 'reach', 'folded', 'removed', 'shape', 'unaccounted', 'unknown']);
}

/** What the nodes of a module are painted with: stretches from left to right, as fractions of its nodes. */
export interface Stretch {
  paint: number;
  share: number;
  nodes: number;
  /** The group of these nodes; -1 where the overlay does not paint by group, or they are in none. */
  group: number;
}

/** Where a group is in a closed module: a part of its bar, from left to right as fractions of its width. */
export interface BarSegment {
  item: number;
  from: number;
  to: number;
}

/**
 * For every module on the scene its stretches. By fusion: its groups in the order in which the graph comes to them,
 * then what is not computed, then what is unknown. By anything else: in the order of the paints.
 */
export function composeItems(
  graph: GraphIndex,
  hierarchy: Hierarchy,
  scene: Scene,
  overlay: Overlay,
  { groupOf }: FusionGroups,
): Map<number, Stretch[]> {
  const result = new Map<number, Stretch[]>();
  const byGroup = overlay.kind === 'fusion';
  scene.kind.forEach((kind, item) => {
    if (kind !== 'closed' && kind !== 'open') return;
    const found = new Map<number, { paint: number; group: number; nodes: number; first: number }>();
    const { start, end } = hierarchy.modules[scene.ref[item]!]!;
    for (let i = start; i < end; i++) {
      const point = hierarchy.sequence[i]!;
      const paint = overlay.paintOf[point]!;
      const group = byGroup && paint < paints.gray ? groupOf[point]! : -1;
      // A group's kernels may have colors of their own.
      const key = group >= 0 ? group * (paints.lost + 1) + paint : -1 - paint;
      const known = found.get(key);
      const rank = group >= 0 ? graph.rank[point]! : graph.points + paint;
      if (known === undefined) found.set(key, { paint, group, nodes: 1, first: rank });
      else {
        known.nodes += 1;
        known.first = Math.min(known.first, rank);
      }
    }
    const stretches = [...found.values()].sort((a, b) => a.first - b.first);
    result.set(
      item,
      stretches.map(({ paint, group, nodes }) => ({ paint, group, nodes, share: nodes / (end - start) })),
    );
  });
  return result;
}

/** Where each group is in the bars of closed modules. */
export function segmentsOf(scene: Scene, composed: Map<number, Stretch[]>): Map<number, BarSegment[]> {
  const result = new Map<number, BarSegment[]>();
  for (const [item, stretches] of composed) {
    if (scene.kind[item] !== 'closed') continue;
    let at = 0;
    for (const { group, share } of stretches) {
      const segment = { item, from: at, to: at + share };
      at += share;
      if (group < 0) continue;
      addTo(result, group, segment);
    }
  }
  return result;
}
