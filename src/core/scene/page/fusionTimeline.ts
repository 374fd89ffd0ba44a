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
  const bars: TimelineBar[] = [];
  for (let start = 0; start < report.layers.length; start += step) {
    const run = report.layers.slice(start, start + step);
    const [first] = run;
    if (first === undefined) continue;
    const largest = run.reduce((best, layer) => (timeOf(report, layer) > timeOf(report, best) ? layer : best), first);
    bars.push({
      layers: run.map(({ id }) => id),
      name: run.length === 1 ? first.name : largest.name,
      kind: largest.kind,
      foreignNode: largest.foreignNode,
      ms: run.reduce((sum, layer) => sum + timeOf(report, layer), 0),
    });
  }
  return bars;
}

function timeOf(report: FusionReport, { averageMs, kind, foreignNode }: ReportLayer): number {
  if (averageMs !== null) return averageMs;
  if (kind !== 'foreign' || foreignNode === null) return 0;
  return report.foreignNodes.find(({ id }) => id === foreignNode)?.averageMs ?? 0;
}
