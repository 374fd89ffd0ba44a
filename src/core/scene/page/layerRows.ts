import type { EngineTensor } from '../../engine/engineLayer.ts';
import { tensorPrecision } from '../../engine/tensorPrecision.ts';
import { tensorBytes } from '../../engine/tensorBytes.ts';
import type { FusionReport, LayerCounters, ReportLayer } from '../../fusion/fusionReport.ts';
import { layerLabel } from '../../report/labels.ts';
import { engineMs } from '../../report/times.ts';
import type { Cell, TableColumn } from './tableRows.ts';
import { layerMs } from './fusionTimeline.ts';

/** One engine layer or kernel as a line of a table. */
export interface LayerRow {
  /** Position in the order of execution. */
  position: number;
  layer: ReportLayer;
  name: string;
  /** Nodes that it computes, completely or in part. */
  nodes: number;
  /** Types of what it writes, widest use first: `fp16`, `fp16, fp32`; '' where the layer info does not say. */
  precision: string;
  /** Memory layouts of what it writes; '' where the layer info does not say. */
  formats: string;
  ms: number | null;
  /** Percent of the engine's time; null without a profile. */
  share: number | null;
  /** Bytes of the tensors that it reads and writes, weights excluded; null where a size or type is not known. */
  bytes: number | null;
  /** Bytes of the largest of them; null where the size or type of one is not known. */
  largest: number | null;
}

/** Every layer and kernel of a report, in the order of execution. The times add up to those of the layers. */
export function toLayerRows(report: FusionReport): LayerRow[] {
  const whole = engineMs(report);
  return report.layers.map((layer, position): LayerRow => {
    const ms = layerMs(report, layer);
    return {
      position,
      layer,
      name: layerLabel(layer),
      nodes: layer.nodes.length,
      precision: distinct(layer.outputs.map(tensorPrecision)),
      // Inside ForeignNodes TensorRT writes the type in the place of a format.
      formats: distinct(layer.outputs.map(({ format, type }) => (format === type ? null : format))),
      ms,
      share: ms === null || whole === null || whole <= 0 ? null : (100 * ms) / whole,
      bytes: tensorBytes([...layer.inputs, ...layer.outputs]),
      largest: largestOf([...layer.inputs, ...layer.outputs]),
    };
  });
}

/** The columns of the table of layers. */
export const layerColumns: readonly TableColumn<LayerRow>[] = [
  column('position', 'Order', 'number', ({ position }) => position, 'Position in the order of execution, from 0'),
  { ...column('name', 'Name', 'text', ({ name }) => name, 'Layer or kernel, as TensorRT names it'), keepsEnd: true },
  column('ms', 'Time', 'ms', ({ ms }) => ms, 'Average time; without a profile not known'),
  traced('p50', 'p50', 'ms', ({ layer }) => layer.p50, 'Median time of a pass'),
  traced('p90', 'p90', 'ms', ({ layer }) => layer.p90, 'Time that 90 % of the passes do not exceed'),
  traced('p99', 'p99', 'ms', ({ layer }) => layer.p99, 'Time that 99 % of the passes do not exceed'),
  column('share', 'Share', 'percent', ({ share }) => share, 'Share of the time of the whole engine'),
  traced(
    'launches',
    'Launches',
    'number',
    ({ layer }) => layer.launches,
    'Kernels that it launched in the whole trace',
  ),
  traced(
    'launchMs',
    'Launch',
    'ms',
    ({ layer }) => layer.launchMs,
    'Time of the host in a call that launched a kernel of it',
  ),
  traced(
    'gap',
    'Gap Before',
    'ms',
    ({ layer }) => layer.gapMs,
    'Time in the median pass in which no kernel ran, before those of the layer',
  ),
  column('nodes', 'Nodes', 'number', ({ nodes }) => nodes, 'ONNX nodes that it computes, completely or in part'),
  column('type', 'Type', 'text', ({ layer }) => layer.type || null, 'Type of the layer, as TensorRT names it'),
  column('precision', 'Precision', 'text', ({ precision }) => precision || null, 'Types of the tensors that it writes'),
  column('tactic', 'Tactic', 'text', ({ layer }) => layer.tactic, 'Name or number of the kernel that runs it'),
  column('formats', 'Formats', 'text', ({ formats }) => formats || null, 'Memory layouts of the tensors it writes'),
  counter('sm', 'SM', 'Throughput of the multiprocessors, of what the GPU can do'),
  counter('dram', 'Memory', 'Throughput of the GPU’s memory, of what it can do'),
  counter('tensor', 'Tensor Cores', 'Use of the tensor cores'),
  counter('occupancy', 'Occupancy', 'Warps that are active, of those that fit'),
  column('bytes', 'Bytes', 'bytes', ({ bytes }) => bytes, 'Size of the tensors that it reads and writes, no weights'),
  column(
    'largest',
    'Largest Tensor',
    'bytes',
    ({ largest }) => largest,
    'Size of the largest tensor that it reads or writes',
  ),
];

/** A column of what only Nsight Compute says. */
function counter(id: keyof LayerCounters, title: string, meaning: string): TableColumn<LayerRow> {
  return {
    ...column(
      id,
      title,
      'percent',
      ({ layer }) => layer.counters?.[id] ?? null,
      `${meaning}; only from Nsight Compute`,
    ),
    optional: true,
  };
}

/** A column of what only a trace says. */
function traced(
  id: string,
  title: string,
  kind: TableColumn<LayerRow>['kind'],
  value: (row: LayerRow) => number | undefined,
  meaning: string,
): TableColumn<LayerRow> {
  return { ...column(id, title, kind, (row) => value(row) ?? null, `${meaning}; only from a trace`), optional: true };
}

function column(
  id: string,
  title: string,
  kind: TableColumn<LayerRow>['kind'],
  value: (row: LayerRow) => Cell,
  meaning: string,
): TableColumn<LayerRow> {
  return { id, title, kind, value, meaning };
}

const distinct = (values: (string | null)[]): string =>
  [...new Set(values.filter((value) => value !== null))].join(', ');

function largestOf(tensors: readonly EngineTensor[]): number | null {
  const sizes = tensors.map((tensor) => tensorBytes([tensor]));
  return sizes.length === 0 || sizes.includes(null) ? null : Math.max(...sizes.map(Number));
}
