import type { FusionReport, LayerKind, ReportLayer } from '../../fusion/fusionReport.ts';

/** One bar under the flow: a layer, or a run of layers where there are more than bars. */
export interface TimelineBar {
  /** Ids of the layers, in order of execution. */
  layers: number[];
  name: string;
  /** Of the layer that takes most of the bar's time. */
  kind: LayerKind;
  foreignNode: number | null;
  /** Sum of the run; 0 if nothing was measured. */
  ms: number;
}

/**
 * Time in order of execution, in at most `most` bars of equally many layers (the last may have fewer). Layers that
 * stand for a whole ForeignNode without a time of their own get the ForeignNode's.
 */
export function toTimeline(report: FusionReport, most: number): TimelineBar[] {
  const step = Math.max(1, Math.ceil(report.layers.length / Math.max(1, most)));
  const timeOf = (layer: ReportLayer) => layerMs(report, layer) ?? 0;
  const bars: TimelineBar[] = [];
  for (let start = 0; start < report.layers.length; start += step) {
    const run = report.layers.slice(start, start + step);
    const [first] = run;
    if (first === undefined) continue;
    const largest = run.reduce((best, layer) => (timeOf(layer) > timeOf(best) ? layer : best), first);
    bars.push({
      layers: run.map(({ id }) => id),
      name: run.length === 1 ? first.name : largest.name,
      kind: largest.kind,
      foreignNode: largest.foreignNode,
      ms: run.reduce((sum, layer) => sum + timeOf(layer), 0),
    });
  }
  return bars;
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
