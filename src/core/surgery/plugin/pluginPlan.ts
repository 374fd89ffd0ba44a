import { inDataOrder, type ModelGraph, readsOf } from '../../model/modelGraph.ts';
import type { InferredTensors } from '../../model/inferTensors.ts';
import type { OnnxAttribute } from '../../onnx/onnxModel.ts';
import { borderTensor, type BorderTensor, type KnownTensors } from '../extractModel.ts';
import type { Piece, Unfit } from '../pieceOf.ts';
import { elementwiseChain, type ChainStep } from './elementwise.ts';

/** A value that the custom node has as an attribute, and the plugin as a field. */
export interface PluginAttribute {
  /** An identifier in C++ and Python. */
  name: string;
  value: { float: number } | { int: number } | { floats: number[] } | { ints: number[] } | { string: string };
  /** Where it comes from, for a comment. */
  from: string;
}

/** A custom node, and the plugin that computes it. */
export interface PluginPlan {
  /** Operator and plugin name; an identifier. */
  name: string;
  /** Of the node, and namespace of the plugin; an identifier. */
  domain: string;
  version: string;
  /** What it replaces: indices of nodes in data order, Constant nodes aside. */
  nodes: number[];
  /** Indices of tensors; the same order as `inputs`. */
  reads: number[];
  inputs: BorderTensor[];
  outputs: BorderTensor[];
  attributes: PluginAttribute[];
  /** How to compute each element, where the nodes are a chain of elementwise operators; otherwise why not. */
  chain: ChainStep[] | { reason: string };
}

/** Constants with one element whose value was read: by the tensor's index. */
export type Scalars = ReadonlyMap<number, number>;

/** Types that plugins have. */
const pluginTypes: ReadonlySet<string> = new Set([
  'float',
  'float16',
  'bfloat16',
  'int64',
  'int32',
  'int8',
  'uint8',
  'bool',
]);

const identifier = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

/** Namespaces in which `tensorrt.plugin` registers nothing. */
const reserved: ReadonlySet<string> = new Set(['trt', 'tensorrt', 'std']);

/**
 * What a custom node in the place of a piece is like. Constants with one element, small lists of integers and the
 * nodes' attributes become its attributes; other constants are inputs.
 * @param name chosen by the user: operator, class and file names
 * @param known types and shapes that the user gives, such as of what unknown operators make
 */
export function planPlugin(
  graph: ModelGraph,
  inferred: InferredTensors,
  piece: Piece,
  scalars: Scalars,
  { name, domain }: { name: string; domain: string },
  known: KnownTensors = new Map(),
): PluginPlan | Unfit {
  const bad = [name, domain].find((text) => !identifier.test(text));
  if (bad !== undefined)
    return { reason: `'${bad}' is not a name for a plugin: use letters, digits and _, and begin with a letter` };
  if (reserved.has(domain)) return { reason: `'${domain}' is TensorRT's own: choose another domain` };
  const chosen = new Set(piece.nodes.filter((node) => graph.nodes[node]!.op !== 'Constant'));
  const nodes = inDataOrder(graph).filter((node) => chosen.has(node));
  if (nodes.length === 0) return { reason: 'Only constants are selected' };
  const made = new Set(nodes.flatMap((node) => graph.outputs[node]!));
  const attributes: PluginAttribute[] = [];
  /** Names of the attributes that tensors became. */
  const constants = new Map<number, string>();
  const reads: number[] = [];
  for (const [place, node] of nodes.entries()) {
    const { op, attributes: own } = graph.nodes[node]!;
    const prefix = `${op.replaceAll(/\W/g, '').slice(0, 24).toLowerCase() || 'node'}${place}`;
    for (const attribute of own) {
      const value = attributeValue(attribute);
      if (value)
        attributes.push({
          name: fresh(attributes, `${prefix}_${attribute.name}`),
          value,
          from: `${op}.${attribute.name}`,
        });
    }
    for (const tensor of [...readsOf(graph, node), ...piece.initializers.filter((one) => isRead(graph, node, one))]) {
      if (made.has(tensor) || constants.has(tensor) || reads.includes(tensor)) continue;
      const value = constantValue(graph, tensor, scalars);
      if (value === null) reads.push(tensor);
      else {
        const attribute = fresh(attributes, `${prefix}_input${graph.inputs[node]!.indexOf(tensor)}`);
        constants.set(tensor, attribute);
        attributes.push({ name: attribute, value, from: graph.tensors[tensor]!.name });
      }
    }
  }
  const ends = piece.outputs.filter((tensor) => made.has(tensor));
  const border = (tensors: readonly number[]) => tensors.map((tensor) => borderTensor(graph, tensor, inferred, known));
  const [inputs, outputs] = [border(reads), border(ends)];
  const unknown = [...inputs, ...outputs].find((tensor) => typeof tensor === 'string');
  if (unknown !== undefined)
    return {
      reason: `The type of tensor "${unknown}" is unknown. Select other nodes, or pass --like-input if its type and shape are those of the first input`,
    };
  const all = [...inputs, ...outputs] as BorderTensor[];
  const odd = all.find(({ type }) => !pluginTypes.has(type));
  if (odd) return { reason: `Plugins have no tensors of type ${odd.type}, as "${odd.name}" has. Select other nodes` };
  if (inputs.length === 0) return { reason: 'The selected nodes read constants only, so TensorRT folds them' };
  const open = (outputs as BorderTensor[]).find((output) => !outputDims(inputs as BorderTensor[], output));
  if (open)
    return { reason: `The shape of "${open.name}" does not follow from the shapes of the inputs. Select other nodes` };
  const chain = elementwiseChain(graph, inferred, { nodes, reads, ends, constants, attributes });
  return {
    name,
    domain,
    version: '1',
    nodes,
    reads,
    inputs: inputs as BorderTensor[],
    outputs: outputs as BorderTensor[],
    attributes,
    chain,
  };
}

const isRead = (graph: ModelGraph, node: number, tensor: number): boolean =>
  graph.tensors[tensor]!.consumers.includes(node);

/** A name that is an identifier and that no attribute has. Names that begin with `plugin_` are TensorRT's. */
function fresh(attributes: readonly PluginAttribute[], wanted: string): string {
  const base = wanted.replaceAll(/[^A-Za-z0-9_]/g, '_').slice(0, 60);
  let name = base;
  for (let number = 1; attributes.some((one) => one.name === name); number += 1) name = `${base}_${number}`;
  return name;
}

/** null: it cannot be a field of a plugin, or only its beginning is known. */
function attributeValue({ kind, value, count, reference }: OnnxAttribute): PluginAttribute['value'] | null {
  if (value === null || count !== undefined || reference !== undefined) return null;
  if (kind === 'float' && typeof value === 'number') return { float: value };
  if (kind === 'int' && typeof value === 'number') return { int: value };
  // Fields of plugins are bytes: other texts would depend on the encoding.
  if (kind === 'string' && typeof value === 'string' && /^[ -~]*$/.test(value)) return { string: value };
  if (kind === 'floats' && Array.isArray(value)) return { floats: value as number[] };
  if (kind === 'ints' && Array.isArray(value)) return { ints: value as number[] };
  return null;
}

function constantValue(graph: ModelGraph, tensor: number, scalars: Scalars): PluginAttribute['value'] | null {
  const scalar = scalars.get(tensor);
  if (scalar !== undefined) return { float: scalar };
  const { name, producer, kind } = graph.tensors[tensor]!;
  const found =
    kind === 'initializer'
      ? graph.model.graph.initializers.find((one) => one.name === name)
      : graph.nodes[producer]?.op === 'Constant'
        ? graph.nodes[producer].attributes.find((one) => one.kind === 'tensor')?.value
        : null;
  const ints = found && typeof found === 'object' && 'ints' in found ? found.ints : undefined;
  return ints && ints.length > 0 ? { ints } : null;
}

/** Each dimension of an output: a size, or an input and the axis where its size is. null: one is not known. */
export function outputDims(
  inputs: readonly BorderTensor[],
  { shape }: BorderTensor,
): (number | { input: number; axis: number })[] | null {
  const dims = shape?.map((dim) => {
    if (typeof dim === 'number') return dim;
    const input = dim === null ? -1 : inputs.findIndex((one) => one.shape?.includes(dim));
    return input < 0 ? null : { input, axis: inputs[input]!.shape!.indexOf(dim) };
  });
  return dims?.every((dim) => dim !== null) ? dims : null;
}
