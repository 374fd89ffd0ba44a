import type { OnnxAttribute, OnnxModel, OnnxNode, OnnxTensor, OnnxValue } from '../onnx/onnxModel.ts';
import type { Problem, Read } from '../text/problem.ts';

/** Keys of what the hook recorded, in the metadata of nodes. */
export const torchKeys = { source: 'trtlens.source', layers: 'trtlens.layers' } as const;

/** An FX node as `trtlens_torch.py` writes it. */
interface FxNode {
  name: string;
  op: string;
  module: string;
  source: string | null;
  inputs: string[];
  args?: unknown;
  type: string | null;
  shape: (number | string)[] | null;
  layers: number;
}

interface FxGraph {
  inputs: FxNode[];
  constants: FxNode[];
  nodes: FxNode[];
  outputs: string[];
}

/** Element types of PyTorch in ONNX's words. */
const types: Readonly<Record<string, string>> = { float32: 'float', float64: 'double' };

/** Whether a file begins as JSON does, which no ONNX file does. */
export const isJson = (head: Uint8Array): boolean => /^\s*\{/.test(String.fromCharCode(...head.slice(0, 64)));

/**
 * Reads the graph that the hook for Torch-TensorRT wrote, as the model of a report: the FX nodes with their modules. Of
 * several engines the one with most nodes counts. Never throws.
 */
export function readTorchGraph(text: string): Read<OnnxModel> {
  const problems: Problem[] = [];
  let graphs: FxGraph[] = [];
  try {
    const value = JSON.parse(text) as { kind?: unknown; graphs?: unknown };
    if (value.kind === 'torch-fx' && Array.isArray(value.graphs)) graphs = value.graphs.filter(isGraph);
  } catch {
    // Not JSON, or cut off: the same as JSON of another kind.
  }
  const [graph] = graphs.toSorted((a, b) => b.nodes.length - a.nodes.length);
  if (graph === undefined) {
    const message = 'The file is not ONNX and not a graph by trtlens_torch.py. Export it again';
    return { value: undefined, problems: [{ severity: 'error', code: 'no-model', message }] };
  }
  if (graphs.length > 1) {
    const message = `The file has ${graphs.length} graphs, one for each engine. This is the largest; the nodes of the others are not in the report.`;
    problems.push({ severity: 'warning', code: 'several-graphs', message });
  }
  const nodes = graph.nodes.map(nodeOf);
  const initializers = graph.constants.map(({ name, type, shape }): OnnxTensor => ({
    name,
    type: typeOf(type) ?? 'float',
    shape: (shape ?? []).map((size) => (typeof size === 'number' ? size : 0)),
    data: null,
  }));
  const value = ({ name, type, shape }: FxNode): OnnxValue => ({ name, type: typeOf(type), shape });
  const byName = new Map([...graph.inputs, ...graph.nodes].map((node) => [node.name, node]));
  const model: OnnxModel = {
    irVersion: 0,
    producer: 'Torch-TensorRT',
    producerVersion: '',
    domain: '',
    opsets: [],
    metadata: [],
    graph: {
      name: 'torch',
      path: '',
      nodes,
      inputs: graph.inputs.map(value),
      outputs: graph.outputs.flatMap((name) => (byName.has(name) ? [value(byName.get(name)!)] : [])),
      values: graph.nodes.map(value),
      initializers,
    },
    functions: [],
    nodes,
  };
  return { value: model, problems };
}

function nodeOf({ name, op, module, source, inputs, args, layers }: FxNode, at: number): OnnxNode {
  const attributes: OnnxAttribute[] = [];
  if (source !== null) attributes.push({ name: 'source', kind: 'string', value: source });
  if (Array.isArray(args) && args.length > 0)
    attributes.push({ name: 'args', kind: 'string', value: JSON.stringify(args) });
  const scopes = module.split('.').map((_, depth, parts) => parts.slice(0, depth + 1).join('.'));
  return {
    id: String(at),
    name,
    op,
    domain: 'torch',
    inputs,
    outputs: [name],
    attributes,
    subgraphs: [],
    metadata: [
      // As torch.onnx writes it: the module's parents, the module, the node.
      ...(module === '' ? [] : [{ key: 'pkg.torch.onnx.name_scopes', value: listText(['', ...scopes, name]) }]),
      ...(source === null ? [] : [{ key: torchKeys.source, value: source }]),
      { key: torchKeys.layers, value: String(layers) },
    ],
  };
}

const listText = (names: string[]): string =>
  `[${names.map((name) => `'${name.replaceAll(/['\\]/g, '\\$&')}'`).join(', ')}]`;

const typeOf = (type: string | null): string | null => (type === null ? null : (types[type] ?? type));

function isGraph(value: unknown): value is FxGraph {
  const graph = value as Partial<FxGraph> | null;
  const lists = [graph?.inputs, graph?.constants, graph?.nodes];
  return (
    lists.every((list) => Array.isArray(list) && list.every(isNode)) &&
    Array.isArray(graph?.outputs) &&
    graph.outputs.every((name) => typeof name === 'string')
  );
}

function isNode(value: unknown): value is FxNode {
  const node = value as Partial<FxNode> | null;
  return (
    typeof node?.name === 'string' &&
    typeof node.op === 'string' &&
    typeof node.module === 'string' &&
    (node.source === null || typeof node.source === 'string') &&
    Array.isArray(node.inputs) &&
    node.inputs.every((name) => typeof name === 'string') &&
    (node.type === null || typeof node.type === 'string') &&
    (node.shape === null || Array.isArray(node.shape)) &&
    typeof node.layers === 'number'
  );
}
