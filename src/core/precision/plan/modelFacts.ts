import { standardOpset } from '../../model/opset.ts';
import type { DataType, OnnxGraph, OnnxModel, OnnxNode } from '../../onnx/onnxModel.ts';

import { nodeRoles } from '../../model/nodeRoles.ts';
import type { NodeRole } from '../../model/nodeRoles.ts';
import { inferTypes } from '../../model/tensorTypes.ts';
import { elementType, isContainer } from '../../model/outputTypes.ts';
import type { TensorTypes } from '../../model/tensorTypes.ts';
import { isFloatType } from '../../onnx/tensorTypes.ts';

/** What precision overrides need to know of a model, as plain JSON: it also travels to the language server. */
export interface ModelFacts {
  /** File name for messages. */
  file: string;
  /** Version of the standard operator set. */
  opset: number;
  /** Every node in the report's order, subgraphs after their owner. */
  nodes: NodeFacts[];
  /** The model's inputs and weights, which are no nodes, with the nodes (positions, the first ones) that read them. */
  sources?: { name: string; kind: 'input' | 'weight'; nodes: number[] }[];
}

export interface NodeFacts {
  id: string;
  /** The model's name, '' if it has none. */
  name: string;
  op: string;
  domain: string;
  /** Names of its output tensors; '' for one that is not used. */
  outputs: string[];
  /** ONNX element type of each output; null: cannot be told. */
  types: (string | null)[];
  /** Why no precision can be chosen for it; null: it takes one. */
  exempt: Exemption | null;
  /**
   * Type to which the only reader of each output casts it; null: no Cast, or others read it too. Absent if there is
   * none.
   */
  casts?: (string | null)[];
  /** Of a product of data and a weight: the weight's number of elements. Absent for all others. */
  weight?: number;
}

/**
 * Why a node accepts no precision: `integer` only makes integers or booleans; `convert` (Cast, Q/DQ) makes the type
 * that the model names; `shape` and `constant` are its role in the graph; `control` (If, Loop, Scan) is not a layer
 * itself.
 */
export type Exemption = 'integer' | 'convert' | 'shape' | 'constant' | 'control';

/** Takes the facts out of a model. `types` may be given where they have been inferred already. */
export function modelFacts(model: OnnxModel, file: string, types: TensorTypes = inferTypes(model)): ModelFacts {
  const { roles } = nodeRoles(types.graph);
  const casts = new Map<string, (string | null)[]>();
  castsOf(model.graph, casts);
  const weights = new Map<string, number>();
  weightsOf(model.graph, new Map(), weights);
  return {
    file,
    opset: standardOpset(model),
    nodes: model.nodes.map((node, index) => ({
      id: node.id,
      name: node.name,
      op: node.op,
      domain: node.domain,
      outputs: node.outputs,
      types: tensorTypesOf(node, types),
      exempt: exemptionOf(node, roles[index]!, types),
      ...(casts.has(node.id) && { casts: casts.get(node.id)! }),
      ...(weights.has(node.id) && { weight: weights.get(node.id)! }),
    })),
    sources: sourcesOf(model),
  };
}

/** Element types of a node's outputs; null also for one that is not a tensor. */
function tensorTypesOf(node: OnnxNode, types: TensorTypes): (DataType | null)[] {
  return types.outputsOf(node).map((type) => (isContainer(type) ? null : type));
}

/** Outputs that nothing but one Cast reads. */
function castsOf(graph: OnnxGraph, found: Map<string, (string | null)[]>): Set<string> {
  const readers = new Map<string, OnnxNode | null>();
  const around = new Set<string>();
  for (const node of graph.nodes) {
    for (const name of node.inputs) readers.set(name, readers.has(name) ? null : node);
    for (const { graph: body } of node.subgraphs) for (const name of castsOf(body, found)) around.add(name);
  }
  for (const name of [...around, ...graph.outputs.map((value) => value.name)]) readers.set(name, null);
  for (const node of graph.nodes) {
    if (!node.outputs.some((name) => readers.get(name)?.op === 'Cast')) continue;
    const to = node.outputs.map((name) => readers.get(name)).map((reader) => (reader?.op === 'Cast' ? reader : null));
    found.set(
      node.id,
      to.map((cast) => cast && elementType(cast, 'to')),
    );
  }
  return new Set(readers.keys());
}

/** Operators that multiply data by weights. */
export const products: ReadonlySet<string> = new Set(['MatMul', 'Gemm', 'Conv', 'ConvTranspose']);

function weightsOf(graph: OnnxGraph, around: ReadonlyMap<string, number>, found: Map<string, number>): void {
  const sizes = new Map(around);
  // What the graph makes itself hides what is around it.
  for (const name of [...graph.inputs.map((value) => value.name), ...graph.nodes.flatMap(({ outputs }) => outputs)])
    sizes.delete(name);
  for (const { name, shape } of graph.initializers)
    sizes.set(
      name,
      shape.reduce((size, dim) => size * dim, 1),
    );
  for (const node of graph.nodes) {
    for (const { graph: body } of node.subgraphs) weightsOf(body, sizes, found);
    if (!products.has(node.op)) continue;
    const [one, ...more] = node.inputs.slice(0, 2).flatMap((name) => sizes.get(name) ?? []);
    if (one !== undefined && more.length === 0) found.set(node.id, one);
  }
}

/** As many readers of a weight as someone would put in one rule. */
const mostReaders = 20;

function sourcesOf({ graph, nodes }: OnnxModel): NonNullable<ModelFacts['sources']> {
  const readers = new Map<string, number[]>();
  const weights = new Set(graph.initializers.map(({ name }) => name));
  for (const name of [...graph.inputs.map((value) => value.name), ...weights]) readers.set(name, []);
  for (const [i, { inputs }] of nodes.entries()) {
    for (const name of inputs) {
      const found = readers.get(name);
      if (found && found.length < mostReaders && found.at(-1) !== i) found.push(i);
    }
  }
  return [...readers].map(([name, found]) => ({ name, kind: weights.has(name) ? 'weight' : 'input', nodes: found }));
}

const control: ReadonlySet<string> = new Set(['If', 'Loop', 'Scan']);
const convert: ReadonlySet<string> = new Set([
  'Cast',
  'CastLike',
  'BitCast',
  'QuantizeLinear',
  'DequantizeLinear',
  'DynamicQuantizeLinear',
]);
function exemptionOf(node: OnnxNode, role: NodeRole, types: TensorTypes): Exemption | null {
  if (control.has(node.op) && node.subgraphs.length > 0) return 'control';
  if (role === 'constant' || role === 'shape') return role;
  if (convert.has(node.op)) return 'convert';
  const outputs = tensorTypesOf(node, types);
  const whole =
    outputs.length > 0 && outputs.every((type, i) => node.outputs[i] === '' || (type !== null && !isFloatType(type)));
  return whole ? 'integer' : null;
}
