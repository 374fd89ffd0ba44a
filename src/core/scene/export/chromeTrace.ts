import type { BuildManifest } from '../../build/buildManifest.ts';
import { stageWords } from '../../build/buildProgress.ts';
import type { FusionReport } from '../../fusion/fusionReport.ts';
import { layerLabel } from '../../report/labels.ts';
import { layerOf } from '../../report/layers.ts';
import { type Timeline, type TimelineSlot, toRecordedTimeline, toTimeline } from '../page/fusionTimeline.ts';

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
      const name = foreignNode === null ? layerLabel(layerOf(report, layer)!) : `ForeignNode ${foreignNode}`;
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

/** Rounded to nanoseconds: sums of binary fractions would make neighbours overlap. */
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
