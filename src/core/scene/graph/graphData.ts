import type { OnnxAttribute, OnnxGraph, OnnxModel, OnnxTensor } from '../../onnx/onnxModel.ts';
import { expandFunctions } from '../../model/expandFunctions.ts';
import type { GraphData, GraphTensor } from '../panel/viewData.ts';

/** Longest attribute text that is kept: enough for kernel shapes and short lists, not for tables. */
const longestAttribute = 120;

/**
 * The part of a model that views draw: its nodes in the report's order (each subgraph's nodes after their owner), the
 * main graph's inputs and outputs, and every tensor of any graph whose type, shape or being an initializer is known.
 * Never fails: a model with nothing in it gives empty lists.
 */
export function toGraphData(given: OnnxModel): GraphData {
  const model = expandFunctions(given);
  const tensors = new Map<string, GraphTensor>();
  collectTensors(model.graph, tensors, new Set());
  const ports = (values: OnnxGraph['inputs']): GraphTensor[] =>
    values.map(({ name, type, shape }) => ({
      name,
      type,
      shape,
      initializer: tensors.get(name)?.initializer ?? false,
    }));
  return {
    name: model.graph.name,
    nodes: model.nodes.map(({ id, name, op, domain, inputs, outputs, attributes, metadata }) => ({
      id,
      name,
      op,
      domain,
      inputs,
      outputs,
      attributes: attributes
        .filter(({ kind }) => kind !== 'graph' && kind !== 'graphs')
        .map((attribute) => ({ name: attribute.name, value: attributeText(attribute) })),
      ...scopeFrom(metadata),
    })),
    // Old exporters list every initializer among the inputs; what the user feeds is the rest.
    inputs: ports(model.graph.inputs).filter(({ initializer }) => !initializer),
    outputs: ports(model.graph.outputs),
    tensors: [...tensors.values()],
  };
}

/** The main graph comes first and wins: a name in a subgraph that hides an outer one is not worth a wrong type outside. */
function collectTensors(graph: OnnxGraph, into: Map<string, GraphTensor>, seen: Set<OnnxGraph>): void {
  if (seen.has(graph)) return;
  seen.add(graph);
  for (const { name, type, shape } of graph.initializers) {
    if (name !== '' && !into.has(name)) into.set(name, { name, type, shape, initializer: true });
  }
  for (const { name, type, shape } of [...graph.inputs, ...graph.outputs, ...graph.values]) {
    if (name !== '' && !into.has(name)) into.set(name, { name, type, shape, initializer: false });
  }
  for (const node of graph.nodes) {
    for (const { graph: inner } of node.subgraphs) collectTensors(inner, into, seen);
  }
}

function attributeText({ kind, value, count }: OnnxAttribute): string {
  if (value === null) return kind === 'other' ? '(not shown)' : '(empty)';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return shortened(value);
  if (!Array.isArray(value)) return tensorText(value);
  const parts = value.map((part) => (typeof part === 'object' ? tensorText(part) : String(part)));
  const more = count !== undefined && count > parts.length ? `, … ${count - parts.length} more` : '';
  const text = `[${parts.join(', ')}${more}]`;
  return text.length <= longestAttribute ? text : `${text.slice(0, longestAttribute - 1)}…`;
}

function tensorText({ type, shape, ints }: OnnxTensor): string {
  const head = `${type}[${shape.join('×')}]`;
  return shortened(ints === undefined ? head : `${head} = ${ints.join(', ')}`);
}

const shortened = (text: string): string =>
  text.length <= longestAttribute ? text : `${text.slice(0, longestAttribute - 1)}…`;

/** torch.onnx (dynamo) writes a Python list of nested scopes, each with its parents in it: `['', 'encoder', 'encoder.0', 'linear']`. */
function scopeFrom(metadata: { key: string; value: string }[]): { scope?: string } {
  const list = metadata.find(({ key }) => key === 'pkg.torch.onnx.name_scopes')?.value;
  if (list === undefined) return {};
  const scopes = [...list.matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/g)].map(
    (found) => found[1] ?? found[2] ?? '',
  );
  // The last entry is the node itself; each scope repeats its parent's text.
  const parts: string[] = [];
  let parent = '';
  for (const scope of scopes.slice(0, -1)) {
    if (scope === '') continue;
    parts.push(parent !== '' && scope.startsWith(`${parent}.`) ? scope.slice(parent.length + 1) : scope);
    parent = scope;
  }
  return parts.length === 0 ? {} : { scope: parts.map((part) => part.replaceAll('/', '.')).join('/') };
}
