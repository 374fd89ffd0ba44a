import type { FusionReport, LayerKind, ReportLayer } from '../../fusion/fusionReport.ts';

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
 * The bars between two points of the axis, in order of execution. Neighbours of one stream that are narrower than
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
