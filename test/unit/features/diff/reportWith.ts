import type { Fate, FusionReport, ReportLayer, ReportNode } from '../../../../src/kernel/fusion/fusionReport.ts';

/** A layer in short: what it computes, and what differs from an FP32 layer that takes 1 ms. */
export type LayerSketch = { nodes: string[] } & Partial<ReportLayer>;

/**
 * A report on nodes `n0`, `n1`, … with these layers. Nodes in no layer are folded unless `fates` says otherwise.
 * @param names of the nodes, in order
 */
export function reportWith(
  names: readonly string[],
  layers: readonly LayerSketch[],
  fates: Readonly<Record<string, Fate>> = {},
): FusionReport {
  const id = (name: string) => String(names.indexOf(name));
  const reportLayers = layers.map(({ nodes, ...rest }, index): ReportLayer => ({
    id: index,
    name: nodes.join(' + ') || `Reformatting CopyNode ${index}`,
    type: 'kgen',
    kind: nodes.length === 0 ? 'reformat' : nodes.length > 1 ? 'fused' : 'single',
    foreignNode: null,
    evidence: ['metadata'],
    averageMs: 1,
    percent: null,
    tactic: `kernel_${nodes[0] ?? 'copy'}`,
    inputs: [],
    outputs: [{ name: 'y', dims: [1], type: 'Float', format: 'Row major linear FP32' }],
    line: null,
    ...rest,
    nodes: nodes.map(id),
  }));
  const foreignIds = [...new Set(reportLayers.map(({ foreignNode }) => foreignNode))].filter((one) => one !== null);
  const nodes = names.map((name, index): ReportNode => {
    const own = reportLayers.filter((layer) => layer.nodes.includes(String(index)));
    const foreign = own.find(({ foreignNode }) => foreignNode !== null)?.foreignNode ?? null;
    const computed: Fate =
      foreign === null ? (own.some((layer) => layer.nodes.length > 1) ? 'fused' : 'single') : 'foreign';
    return {
      id: String(index),
      name,
      op: name.replace(/\d+$/, ''),
      fate: fates[name] ?? (own.length === 0 ? 'folded' : computed),
      layers: own.map((layer) => layer.id),
      foreignNode: foreign,
      exact: true,
      reason: '',
    };
  });
  const accounting = {
    total: nodes.length,
    foreign: 0,
    fused: 0,
    single: 0,
    folded: 0,
    removed: 0,
    shape: 0,
    unaccounted: 0,
    unknown: 0,
  };
  for (const { fate } of nodes) accounting[fate] += 1;
  return {
    schema: 1,
    tensorrt: { product: 'tensorrt', version: '10.6.0' },
    model: { file: 'm.onnx', nodes: nodes.length },
    layers: reportLayers,
    foreignNodes: foreignIds.map((one) => {
      const own = reportLayers.filter(({ foreignNode }) => foreignNode === one);
      return {
        id: one,
        name: `{ForeignNode[${one}]}`,
        nodes: [...new Set(own.flatMap((layer) => layer.nodes))],
        exact: true,
        layers: own.map((layer) => layer.id),
        inputs: [],
        outputs: [],
        averageMs: null,
        line: null,
      };
    }),
    nodes,
    accounting,
    funnel: [],
    remarks: [],
    problems: [],
  } as unknown as FusionReport;
}
