import type { EngineLayer, EngineTensor } from '../../engine/engineLayer.ts';
import type { EngineReport } from '../../fusion/engineReport.ts';
import type { Fate, FusionReport, ReportLayer, ReportNode } from '../../fusion/fusionReport.ts';
import type { GraphData, GraphNode, GraphTensor } from '../panel/viewData.ts';
import { layerOrigin } from './layerOrigin.ts';

/** Longest value of a layer's parameter that is shown. */
const longestValue = 120;

/** Names of nodes that an attribute lists. */
const mostNodes = 12;

/**
 * An engine in the form that the views draw models in: each layer is a node of the graph, each tensor of the engine an
 * edge. In the report for the views, `nodes` and `accounting` are therefore those layers, not ONNX nodes; everything
 * else, `subject` too, is the engine's report. Modules come from the names that TensorRT gives for each layer.
 */
export function engineGraph({ report, layers, bindings }: EngineReport): { graph: GraphData; report: FusionReport } {
  const tensors = new Map<string, GraphTensor>();
  const written = new Set<string>();
  for (const layer of layers) {
    for (const tensor of [...layer.outputs, ...layer.inputs])
      if (!tensors.has(tensor.name)) tensors.set(tensor.name, graphTensor(tensor));
    for (const { name } of layer.outputs) written.add(name);
  }
  const ports = (names: readonly string[]) =>
    names.map((name): GraphTensor => tensors.get(name) ?? { name, type: null, shape: null, initializer: false });
  const graph: GraphData = {
    name: report.model.file,
    nodes: layers.map((layer, index) => graphNode(layer, report.layers[index]!)),
    inputs: ports(bindings.filter((name) => !written.has(name) && tensors.has(name))),
    outputs: ports(bindings.filter((name) => written.has(name))),
    tensors: [...tensors.values()],
    inExecutionOrder: true,
  };
  const nodes = report.layers.map((layer, index) => reportNode(layer, graph.nodes[index]!));
  return { graph, report: withNodes(report, nodes) };
}

function withNodes(report: FusionReport, nodes: ReportNode[]): FusionReport {
  const count = (fate: Fate) => nodes.filter((node) => node.fate === fate).length;
  return {
    ...report,
    model: { ...report.model, nodes: nodes.length },
    layers: report.layers.map((layer) => ({
      ...layer,
      kind: layer.kind === 'other' ? 'single' : layer.kind,
      nodes: [String(layer.id)],
    })),
    foreignNodes: report.foreignNodes.map((foreign) => ({
      ...foreign,
      nodes: foreign.layers.map(String),
      exact: true,
    })),
    nodes,
    accounting: { ...report.accounting, total: nodes.length, foreign: count('foreign'), single: count('single') },
  };
}

function reportNode({ id, name, foreignNode, metadata }: ReportLayer, { op }: GraphNode): ReportNode {
  return {
    id: String(id),
    name,
    op,
    fate: foreignNode === null ? 'single' : 'foreign',
    layers: [id],
    foreignNode,
    exact: true,
    reason:
      metadata === undefined
        ? 'TensorRT does not say which ONNX nodes it computes.'
        : `TensorRT names the ONNX nodes that it computes: ${listed(layerOrigin({ name, metadata }).nodes)}.`,
  };
}

const listed = (names: readonly string[]): string =>
  names.length <= mostNodes
    ? names.join(', ')
    : `${names.slice(0, mostNodes).join(', ')} and ${names.length - mostNodes} more`;

function graphNode(layer: EngineLayer, { id, kind }: ReportLayer): GraphNode {
  const { scope, label } = layerOrigin(layer);
  const attributes = [
    ...formatsOf('Input', layer.inputs),
    ...formatsOf('Output', layer.outputs),
    ...(layer.streamId === null ? [] : [{ name: 'Stream', value: String(layer.streamId) }]),
    ...Object.entries(layer.extra).map(([name, value]) => ({ name, value: valueText(value) })),
  ];
  return {
    id: String(id),
    name: layer.name,
    op: layer.type !== '' ? layer.type : typeNames[kind],
    domain: '',
    inputs: [...new Set(layer.inputs.map(({ name }) => name))],
    outputs: [...new Set(layer.outputs.map(({ name }) => name))],
    attributes,
    scope,
    label,
  };
}

/** For layers of which only the name was recorded. */
const typeNames: Readonly<Record<ReportLayer['kind'], string>> = {
  single: 'Layer',
  fused: 'Layer',
  foreign: 'ForeignNode',
  kernel: 'Kernel',
  reformat: 'Reformat',
  shape: 'Shape',
  constant: 'Constant',
  other: 'Layer',
};

/** `Input 0 format: Row major linear FP16 format`, where a format says more than the type. */
const formatsOf = (side: string, tensors: readonly EngineTensor[]): { name: string; value: string }[] =>
  tensors.flatMap(({ format, type }, index) =>
    format === null || format === type ? [] : [{ name: `${side} ${index} format`, value: format }],
  );

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length <= longestValue ? text : `${text.slice(0, longestValue - 1)}…`;
}

const graphTensor = ({ name, dims, type, format }: EngineTensor): GraphTensor => ({
  name,
  type: type ?? format,
  shape: dims === null ? null : dims.map((size) => (size < 0 ? null : size)),
  initializer: false,
  ...(format !== null && format !== type && { format }),
});
