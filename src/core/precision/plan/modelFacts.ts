import { products, quantisable } from '../../model/products.ts';
import { standardOpset } from '../../model/opset.ts';
import type { DataType, OnnxModel, OnnxNode } from '../../onnx/onnxModel.ts';

import type { ModelGraph } from '../../model/modelGraph.ts';
import { nodeRoles } from '../../model/nodeRoles.ts';
import type { NodeRole } from '../../model/nodeRoles.ts';
import { inferTypes } from '../../model/tensorTypes.ts';
import { elementType, isContainer } from '../../model/outputTypes.ts';
import { activationsAt } from '../../quantisation/migrateCalibration.ts';
import { QuantisedGraph } from '../../quantisation/quantisedGraph.ts';
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
  /** Of a product of data and a weight: the weight's shape. Absent for all others. */
  weight?: number[];
  /** Of an operator that TensorRT quantizes: the tensors that need a scale so that it computes in INT8. */
  activations?: string[];
}

/**
 * Why a node accepts no precision: `integer` only makes integers or booleans; `convert` (Cast, Q/DQ) makes the type
 * that the model names; `shape` and `constant` are its role in the graph; `control` (If, Loop, Scan) is not a layer
 * itself.
 */
export type Exemption = 'integer' | 'convert' | 'shape' | 'constant' | 'control';

/** Takes the facts out of a model. `types` may be given where they have been inferred already. */
export function modelFacts(model: OnnxModel, file: string, types: TensorTypes = inferTypes(model)): ModelFacts {
  const { graph } = types;
  const { roles } = nodeRoles(graph);
  const network = new QuantisedGraph(graph);
  const givenOut = new Set([...graph.graphOutputs, ...[...graph.bodyOutputs.values()].flat()]);
  return {
    file,
    opset: standardOpset(model),
    nodes: model.nodes.map((node, index) => {
      const casts = castsOf(graph, index, givenOut);
      const weight = weightOf(graph, index);
      const activations = quantisable.has(node.op) ? activationsAt(network, index) : null;
      return {
        id: node.id,
        name: node.name,
        op: node.op,
        domain: node.domain,
        outputs: node.outputs,
        types: tensorTypesOf(node, types),
        exempt: exemptionOf(node, roles[index]!, types),
        ...(casts && { casts }),
        ...(weight !== null && { weight }),
        ...(activations !== null && { activations }),
      };
    }),
    sources: sourcesOf(graph),
  };
}

/** Element types of a node's outputs; null also for one that is not a tensor. */
function tensorTypesOf(node: OnnxNode, types: TensorTypes): (DataType | null)[] {
  return types.outputsOf(node).map((type) => (isContainer(type) ? null : type));
}

/** The types to which Casts turn a node's outputs that nothing else reads; null: none is. */
function castsOf(graph: ModelGraph, index: number, givenOut: ReadonlySet<number>): (DataType | null)[] | null {
  let at = 0;
  const casts = graph.nodes[index]!.outputs.map((name) => {
    const tensor = name === '' ? -1 : graph.outputs[index]![at++]!;
    const [reader, ...more] = graph.tensors[tensor]?.consumers ?? [];
    const cast = reader === undefined || more.length > 0 || givenOut.has(tensor) ? null : graph.nodes[reader]!;
    return cast?.op === 'Cast' ? cast : null;
  });
  return casts.some((cast) => cast !== null) ? casts.map((cast) => cast && elementType(cast, 'to')) : null;
}

/** Operators behind which a weight is still that weight, in another type. */
const sameWeight: ReadonlySet<string> = new Set(['QuantizeLinear', 'DequantizeLinear', 'Cast', 'Identity']);

/** Shape of the one weight that a product has. */
function weightOf(graph: ModelGraph, index: number): number[] | null {
  if (!products.has(graph.nodes[index]!.op)) return null;
  const weights = graph.inputs[index]!.slice(0, 2).flatMap((tensor) => {
    const { kind, value } = graph.tensors[asStored(graph, tensor)] ?? {};
    return kind === 'initializer' && value?.shape ? [value.shape.map(Number)] : [];
  });
  return weights.length === 1 ? weights[0]! : null;
}

/** The tensor that Casts and Q/DQ nodes made this one of. */
function asStored(graph: ModelGraph, tensor: number): number {
  const { producer } = graph.tensors[tensor] ?? { producer: -1 };
  const node = producer >= 0 ? graph.nodes[producer]! : undefined;
  return node && sameWeight.has(node.op) ? asStored(graph, graph.inputs[producer]![0] ?? -1) : tensor;
}

/** As many readers of a weight as someone would put in one rule. */
const mostReaders = 20;

function sourcesOf(graph: ModelGraph): NonNullable<ModelFacts['sources']> {
  return graph.tensors.flatMap(({ name, kind, owner, consumers }, tensor) => {
    if (owner >= 0 || (kind !== 'input' && kind !== 'initializer')) return [];
    // What a subgraph reads from outside counts for the reader only, not for the node that has the subgraph.
    const readers = [...new Set(consumers)].filter((node) => graph.inputs[node]!.includes(tensor));
    const nodes = readers.sort((a, b) => a - b).slice(0, mostReaders);
    return [{ name, kind: kind === 'input' ? ('input' as const) : ('weight' as const), nodes }];
  });
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
