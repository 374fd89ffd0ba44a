// Timeline; exports to Chrome and Model Explorer.
import { type BuildManifest, stageWords } from '../../build/buildManifest.ts';
import type { FusionReport, LayerKind, ReportLayer, ReportNode } from '../../fusion/fusionReport.ts';
import { fateWordsOf, foreignTitle, layerLabel, layerOf } from '../../report/words.ts';
import { fusionGroups } from '../graph/fusionGroups.ts';
import { indexGraph } from '../graph/graphIndex.ts';
import { builtPrecision, pointTimes } from '../graph/overlay.ts';
import type { GraphData, GraphNode } from '../graph/viewData.ts';
import { hues } from './fusionPanel.ts';

/** A layer's place on the time axis. */
export interface TimelineSlot {
  /** Position in the report's layers. */
  position: number;
  layer: number;
  name: string;
  kind: LayerKind;
  foreignNode: number | null;
  /** CUDA stream that TensorRT put it on; 0 where the engine has only one, or does not say. */
  stream: number;
  /** Where it begins and ends: milliseconds, or positions where nothing was measured. */
  from: number;
  to: number;
  /** Average time, where it is not the length. */
  ms?: number;
}

/**
 * The layers one after the other in the order of execution: profiles give average times, not when a kernel began, so
 * that kernels of several streams are not shown to overlap.
 */
export interface Timeline {
  slots: TimelineSlot[];
  /** Streams in use, ascending. */
  streams: number[];
  /** Where the last layer ends. */
  end: number;
  /** false: nothing was measured; each layer is one unit wide. */
  timed: boolean;
  /** true: when the layers ran in the median pass of a trace, on its streams and with its gaps. */
  recorded?: true;
}

/** A run of layers by position in the report, both ends included. */
export interface LayerRange {
  first: number;
  last: number;
}

/** One bar: a layer, or a run of layers of one stream that are too narrow to be hit one by one. */
export interface TimelineBar {
  /** Ids of the layers, in order of execution. */
  layers: number[];
  first: number;
  last: number;
  stream: number;
  /** Of the layer that takes most of the bar's time. */
  name: string;
  kind: LayerKind;
  foreignNode: number | null;
  /** Sum of the layers, of a recorded timeline of their average times; 0 if nothing was measured. */
  ms: number;
  from: number;
  to: number;
}

/** The timeline of a report. Layers without a time of their own take no room where others have one. */
export function toTimeline(report: FusionReport): Timeline {
  const times = report.layers.map((layer) => layerMs(report, layer));
  const timed = times.some((ms) => ms !== null && ms > 0);
  let at = 0;
  const slots = report.layers.map((layer, position): TimelineSlot => {
    const from = at;
    at += timed ? (times[position] ?? 0) : 1;
    const { id, name, kind, foreignNode, stream = 0 } = layer;
    return { position, layer: id, name, kind, foreignNode, stream, from, to: at };
  });
  const streams = [...new Set(slots.map(({ stream }) => stream))].toSorted((a, b) => a - b);
  return { slots, streams: streams.length === 0 ? [0] : streams, end: at, timed };
}

/** The median pass of a trace, as it was recorded; null without one. What launched no kernel there takes no room. */
export function toRecordedTimeline(report: FusionReport): Timeline | null {
  if (!report.layers.some(({ ran }) => ran)) return null;
  let at = 0;
  const slots = report.layers.map((layer, position): TimelineSlot => {
    const { id, name, kind, foreignNode, ran, averageMs } = layer;
    const { startMs: from, endMs: to, stream } = ran ?? { startMs: at, endMs: at, stream: -1 };
    at = to;
    return { position, layer: id, name, kind, foreignNode, stream, from, to, ms: averageMs ?? 0 };
  });
  const streams = [...new Set(slots.map(({ stream }) => stream))].filter((one) => one >= 0).toSorted((a, b) => a - b);
  for (const slot of slots) if (slot.stream < 0) slot.stream = streams[0]!;
  const end = slots.reduce((latest, { to }) => Math.max(latest, to), 0);
  return { slots, streams, end, timed: true, recorded: true };
}

/**
 * The bars between two points of the axis, in order of execution. Neighbors of one stream that are narrower than
 * `narrowest` are joined until they are as wide.
 * @param perUnit pixels of one unit of the axis
 */
export function timelineBars(
  { slots, timed, recorded }: Timeline,
  [from, to]: readonly [number, number],
  perUnit: number,
  narrowest: number,
): TimelineBar[] {
  const bars: TimelineBar[] = [];
  const runs = new Map<number, TimelineSlot[]>();
  const flush = (stream: number) => {
    const run = runs.get(stream);
    if (run !== undefined) bars.push(barOf(run, timed));
    runs.delete(stream);
  };
  // Recorded kernels need not run in the order of the engine.
  for (const slot of recorded ? slots.toSorted((a, b) => a.from - b.from) : slots) {
    if (slot.to < from || slot.from > to || (slot.to === from && from > 0)) continue;
    const run = runs.get(slot.stream);
    // What another stream does in between separates a run, once it can be seen.
    if (run !== undefined && (slot.from - run.at(-1)!.to) * perUnit > narrowest) flush(slot.stream);
    if ((slot.to - slot.from) * perUnit >= narrowest) {
      flush(slot.stream);
      bars.push(barOf([slot], timed));
      continue;
    }
    const open = runs.get(slot.stream) ?? [];
    open.push(slot);
    runs.set(slot.stream, open);
    if ((slot.to - open[0]!.from) * perUnit >= narrowest) flush(slot.stream);
  }
  for (const stream of runs.keys()) flush(stream);
  return bars.toSorted((a, b) => a.first - b.first);
}

function barOf(run: readonly TimelineSlot[], timed: boolean): TimelineBar {
  const length = ({ from, to, ms }: TimelineSlot) => ms ?? to - from;
  const [first] = run;
  const positions = run.map(({ position }) => position);
  const largest = run.reduce((best, slot) => (length(slot) > length(best) ? slot : best), first!);
  return {
    layers: run.map(({ layer }) => layer),
    first: Math.min(...positions),
    last: Math.max(...positions),
    stream: first!.stream,
    name: largest.name,
    kind: largest.kind,
    foreignNode: largest.foreignNode,
    ms: timed ? run.reduce((sum, slot) => sum + length(slot), 0) : 0,
    from: first!.from,
    to: Math.max(...run.map(({ to }) => to)),
  };
}

/** The layers that run between two points of the axis, completely or in part; null: none. */
export function rangeBetween({ slots }: Timeline, a: number, b: number): LayerRange | null {
  const [from, to] = a < b ? [a, b] : [b, a];
  const inside = slots.filter((slot) => slot.to > from && slot.from < to);
  return inside.length === 0 ? null : { first: inside[0]!.position, last: inside.at(-1)!.position };
}

/** Where a range begins and ends on the axis. */
export function rangeEnds({ slots }: Timeline, { first, last }: LayerRange): [number, number] {
  let [from, to] = [slots[first]?.from ?? 0, slots[last]?.to ?? 0];
  for (const slot of slots.slice(first, last + 1)) {
    from = Math.min(from, slot.from);
    to = Math.max(to, slot.to);
  }
  return [from, to];
}

/**
 * Milliseconds of a layer; null: not timed. A layer that stands for a whole ForeignNode without a time of its own has the
 * ForeignNode's.
 */
export function layerMs(
  report: FusionReport,
  { averageMs, kind, foreignNode }: Pick<ReportLayer, 'averageMs' | 'kind' | 'foreignNode'>,
): number | null {
  if (averageMs !== null || kind !== 'foreign' || foreignNode === null) return averageMs;
  return report.foreignNodes.find(({ id }) => id === foreignNode)?.averageMs ?? null;
}

/** The part of an axis that is in view. */
export type AxisView = readonly [from: number, to: number];

/** How far in a view can zoom: this part of the whole. */
const deepest = 1e-5;

/**
 * Zooms about a point that stays where it is.
 * @param factor below 1: closer
 */
export function zoomed([from, to]: AxisView, end: number, at: number, factor: number): AxisView {
  const width = Math.min(end, Math.max(end * deepest, (to - from) * factor));
  const share = to > from ? (at - from) / (to - from) : 0.5;
  return moved([at - share * width, at - share * width + width], end, 0);
}

/** Moves a view along the axis, never past its ends. */
export function moved([from, to]: AxisView, end: number, by: number): AxisView {
  const width = Math.min(end, to - from);
  const start = Math.min(Math.max(0, from + by), end - width);
  return [start, start + width];
}

/** A view that has a part of the axis in it: as it is if it has, otherwise moved, and widened where it must be. */
export function including(view: AxisView, end: number, [from, to]: AxisView): AxisView {
  if (view[0] <= from && to <= view[1]) return view;
  const width = Math.max(view[1] - view[0], to - from);
  return moved([(from + to - width) / 2, (from + to + width) / 2], end, 0);
}

/** One event of the Trace Event Format, which Perfetto and chrome://tracing read: a slice, or the name of a track. Times in µs. */
export type TraceEvent =
  | {
      ph: 'X';
      name: string;
      cat: string;
      pid: number;
      tid: number;
      ts: number;
      dur: number;
      args: Record<string, unknown>;
    }
  | { ph: 'M'; name: 'process_name' | 'thread_name'; pid: number; tid: number; args: { name: string } };

export interface ChromeTrace {
  traceEvents: TraceEvent[];
  displayTimeUnit: 'ms';
  otherData: Record<string, string>;
}

const engine = 1;
const build = 2;
const mostNodes = 100;
/** Tracks of layers come before and, where there are several, after those of streams. */
const layerTrack = (index: number): number => (index === 0 ? 0 : 1_000_000 + index);

/**
 * One run of the engine, and what its build spent its time on, as a trace. Profiles give average times, so layers follow
 * each other in engine order; of a trace of Nsight Systems it is the median pass, as it was recorded.
 * @returns null where neither is known
 */
export function chromeTrace(report: FusionReport, manifest: BuildManifest | null): ChromeTrace | null {
  const timeline = toRecordedTimeline(report) ?? toTimeline(report);
  const traceEvents = [...engineEvents(report, timeline), ...buildEvents(manifest)];
  if (traceEvents.length === 0) return null;
  const { product, version } = report.tensorrt;
  return {
    traceEvents,
    displayTimeUnit: 'ms',
    otherData: {
      model: report.model.file,
      ...(product !== null && { tensorrt: `${product} ${version ?? ''}`.trim() }),
      times: timeline.recorded
        ? 'the median pass of the trace'
        : 'averages of each layer, one after the other in engine order',
    },
  };
}

function engineEvents(report: FusionReport, { slots, streams, timed, recorded }: Timeline): TraceEvent[] {
  if (!timed) return [];
  const names = new Map(report.nodes.map(({ id, name, op }) => [id, name || `${op} (node ${id})`]));
  // Recorded kernels need not run in the order of the engine, and those of several streams overlap.
  const shown = recorded ? slots.filter(({ from, to }) => to > from).toSorted((a, b) => a.from - b.from) : slots;
  const lanes = recorded ? streams : [null];
  const layers = lanes.flatMap((lane, index) =>
    runsOf(shown.filter(({ stream }) => lane === null || stream === lane)).map((run): TraceEvent => {
      const [{ foreignNode, from, layer }] = run as [TimelineSlot];
      const name = foreignNode === null ? layerLabel(layerOf(report, layer)!) : foreignTitle(report, foreignNode);
      const whole = foreignNode === null ? undefined : report.foreignNodes.find(({ id }) => id === foreignNode);
      const args = whole === undefined ? {} : { name: whole.name, nodes: whole.nodes.length, kernels: run.length };
      return { ...slice(name, 'layer', from, run.at(-1)!.to, args), pid: engine, tid: layerTrack(index) };
    }),
  );
  const kernels = shown.map(({ layer: id, from, to, stream, ms }): TraceEvent => {
    const layer = layerOf(report, id)!;
    const nodes = layer.nodes.slice(0, mostNodes).map((node) => names.get(node) ?? node);
    return {
      ...slice(layerLabel(layer), layer.kind, from, to, {
        layer: id,
        name: layer.name,
        type: layer.type,
        ...(ms !== undefined && { averageMs: ms }),
        ...(layer.tactic !== null && { tactic: layer.tactic }),
        ...(nodes.length > 0 && { nodes, nodeCount: layer.nodes.length, exact: !layer.evidence.includes('reach') }),
      }),
      pid: engine,
      tid: 1 + stream,
    };
  });
  return [
    nameOf('process_name', engine, 0, `Engine of ${report.model.file}`),
    ...lanes.map((lane, index) =>
      nameOf('thread_name', engine, layerTrack(index), lanes.length === 1 ? 'Layers' : `Layers, stream ${lane}`),
    ),
    ...streams.map((stream) => nameOf('thread_name', engine, 1 + stream, `Kernels, stream ${stream}`)),
    ...layers,
    ...kernels,
  ];
}

/** The kernels of a ForeignNode that follow each other, and every other layer alone. */
function runsOf(slots: readonly TimelineSlot[]): TimelineSlot[][] {
  const runs: TimelineSlot[][] = [];
  for (const slot of slots) {
    const run = runs.at(-1);
    if (slot.foreignNode !== null && run?.[0]?.foreignNode === slot.foreignNode) run.push(slot);
    else runs.push([slot]);
  }
  return runs;
}

function buildEvents(manifest: BuildManifest | null): TraceEvent[] {
  if (manifest?.timeLine === undefined) return [];
  const { stages, slowest } = manifest.timeLine;
  let at = 0;
  const slices = stages.map(({ stage, ms }): TraceEvent => {
    const from = at;
    at += ms;
    const args = stage === 'tactics' && slowest.length > 0 ? { slowest } : {};
    return { ...slice(stageWords[stage], 'build', from, at, args), pid: build, tid: 0 };
  });
  return [
    nameOf('process_name', build, 0, `Build ${manifest.name ?? manifest.id}`),
    nameOf('thread_name', build, 0, 'Stages'),
    ...slices,
  ];
}

/** Rounded to nanoseconds: sums of binary fractions would make neighbors overlap. */
const micros = (ms: number): number => Math.round(ms * 1e6) / 1e3;

const slice = (name: string, cat: string, from: number, to: number, args: Record<string, unknown>) => ({
  ph: 'X' as const,
  name,
  cat,
  ts: micros(from),
  dur: Math.round((micros(to) - micros(from)) * 1e3) / 1e3,
  args,
});

const nameOf = (name: 'process_name' | 'thread_name', pid: number, tid: number, text: string): TraceEvent => ({
  ph: 'M',
  name,
  pid,
  tid,
  args: { name: text },
});

/**
 * Custom node data of Model Explorer (`NodeDataProviderData` of google-ai-edge/model-explorer): by the graph's id, values by
 * a node's id or one of its output tensors. A file holds one set of values.
 */
export type ModelExplorerData = Record<
  string,
  {
    name: string;
    results: Record<string, { value: string | number; bgColor?: string }>;
    gradient?: { stop: number; bgColor: string }[];
  }
>;

/** The sets of values, as their files are called. */
export const modelExplorerSets = ['fate', 'kernel', 'precision', 'time'] as const;

/** The sets of values: what became of a node, what computes it, in which type and how long it takes, where that is known. */
export function modelExplorerData(
  graph: GraphData,
  report: FusionReport,
): { name: (typeof modelExplorerSets)[number]; data: ModelExplorerData }[] {
  const index = indexGraph(graph);
  const keys = keysOf(graph.nodes);
  const nodes = report.nodes.flatMap((node) => {
    const point = index.byId.get(node.id);
    const key = point === undefined ? undefined : keys[point];
    return key === undefined ? [] : [{ node, point: point!, key }];
  });
  const words = (name: string, value: (node: ReportNode) => string | null): ModelExplorerData => {
    const colors = new Map<string, string>();
    const results = nodes.flatMap(({ node, key }) => {
      const text = value(node);
      if (text === null) return [];
      if (!colors.has(text)) colors.set(text, hues[colors.size % hues.length]!.dark);
      return [[key, { value: text, bgColor: colors.get(text)! }] as const];
    });
    // Unlike an assignment, this keeps a node that is called __proto__.
    return { [graph.name]: { name, results: Object.fromEntries(results) } };
  };
  const times = pointTimes(index, report, fusionGroups(index, report));
  const timed = nodes.flatMap(({ point, key }) =>
    Number.isNaN(times[point]!) ? [] : [[key, { value: times[point]! }] as const],
  );
  const sets: ReturnType<typeof modelExplorerData> = [
    { name: 'fate', data: words('Fate in the TensorRT engine', ({ fate }) => fateWordsOf(report)[fate].label) },
    { name: 'kernel', data: words('Kernel or layer', (node) => kernelOf(report, node)) },
    { name: 'precision', data: words('Output type', (node) => builtPrecision(report, node)) },
    {
      name: 'time',
      data: {
        [graph.name]: {
          name: 'Time in ms, of a kernel divided equally among its nodes',
          results: Object.fromEntries(timed),
          gradient: [
            { stop: 0, bgColor: '#ffffff' },
            { stop: 1, bgColor: hues[1]!.dark },
          ],
        },
      },
    },
  ];
  return sets.filter(({ data }) => Object.keys(data[graph.name]!.results).length > 0);
}

/** A node's id in Model Explorer is its name, or what it writes, if nothing else is called so. */
function keysOf(nodes: readonly GraphNode[]): (string | undefined)[] {
  const uses = new Map<string, number>();
  for (const { name, outputs } of nodes)
    for (const word of new Set([name, ...outputs])) uses.set(word, (uses.get(word) ?? 0) + 1);
  return nodes.map(({ name, outputs }) => [name, ...outputs].find((word) => word !== '' && uses.get(word) === 1));
}

function kernelOf(report: FusionReport, { layers, foreignNode }: ReportNode): string | null {
  const [first, ...others] = layers.map((id) => layerOf(report, id)).filter((layer) => layer !== undefined);
  if (first === undefined) return foreignNode === null ? null : foreignTitle(report, foreignNode);
  return others.length === 0 ? layerLabel(first) : `${layerLabel(first)} and ${others.length} more`;
}
