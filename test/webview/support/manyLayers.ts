import type { FusionReport, ReportLayer } from '../../../src/kernel/fusion/fusionReport.ts';
import { accountingOf } from '../../../src/kernel/fusion/internal/nodeFates.ts';
import type { ViewData } from '../../../src/kernel/picture/graph/viewData.ts';

const ops = ['MatMul', 'Add', 'Softmax', 'Conv', 'Relu'];

/** A build with a kernel a node, each with a time of its own; names, kernels and times repeat as those of deep models do. */
export function manyLayers(count: number): ViewData {
  const tensor = (name: string) => ({ name, dims: [1, 64, 64], type: 'Half', format: 'Row major linear FP16 format' });
  const layers = Array.from({ length: count }, (_, id): ReportLayer => ({
    id,
    name: `__myl_${ops[id % 5]!}_layers.${Math.floor(id / 50)}_myl0_${id}`,
    type: 'kgen',
    kind: 'single',
    foreignNode: null,
    nodes: [String(id)],
    evidence: ['metadata'],
    averageMs: ((id * 7919) % 1009) / 10_000,
    percent: null,
    tactic: `__myl_${ops[id % 5]!}_0x${((id * 2654435761) % 2 ** 32).toString(16)}`,
    inputs: [tensor(`t${id}`)],
    outputs: [tensor(`t${id + 1}`)],
    line: id + 1,
  }));
  const nodes = layers.map(({ id }): FusionReport['nodes'][number] => ({
    id: String(id),
    name: `/layers.${Math.floor(id / 50)}/${ops[id % 5]!}_${id % 50}`,
    op: ops[id % 5]!,
    fate: 'single',
    layers: [id],
    foreignNode: null,
    exact: true,
    reason: 'A layer of its own computes it.',
  }));
  return {
    title: 'many.onnx',
    graph: null,
    report: {
      schema: 1,
      tensorrt: { product: 'tensorrt', version: '10.6.0' },
      model: { file: 'many.onnx', nodes: count },
      layers,
      foreignNodes: [],
      nodes,
      tensors: [],
      accounting: accountingOf(nodes),
      funnel: [],
      remarks: [],
      problems: [],
    },
    build: null,
    hints: [],
  };
}
