// A model as a build in reduced precision would compute it.
import type { LowType, QuantizedType, UnmaterializedTensor } from '../../../kernel/simulation/simulated.ts';
import { addTo } from '../../../kernel/base/addTo.ts';
import { type OnnxGraph, type OnnxModel, type OnnxNode, type OnnxTensor } from '../../../kernel/read/onnx/onnxModel.ts';
import type { NewTensor } from '../../../kernel/read/onnx/writeModel.ts';
import type { FusionReport } from '../../../kernel/fusion/fusionReport.ts';
import type { Network } from '../../../kernel/network/network.ts';
import { parserName } from '../../../kernel/network/nodeNames.ts';
import { followsType, outputFollows, type RealType } from '../../../kernel/rules/precisionPlan.ts';
import type { ChosenType, TypeChoice } from '../../precision/planRewrite.ts';

/** A node in low precision: rounded under the rules, or fed by Q/DQ nodes. */
export type LowNode = RoundedNode | QuantizedNode;

interface AnyLowNode {
  /** Position among all low nodes, which the search refers to. */
  index: number;
  node: OnnxNode;
  /** Path of its graph. */
  graph: string;
}

/** A node whose inputs come from Q/DQ nodes: exactly, it reads what these were given. */
export interface QuantizedNode extends AnyLowNode {
  type: QuantizedType;
  /** Positions of these inputs, and the tensors before the Q nodes. */
  sources: Map<number, string>;
  /** A DequantizeLinear that makes an output of the model: exactly, it gives this tensor on. null: any other node. */
  bypass: string | null;
  /** Positions of its outputs. Nothing rounds them but the next Q node. */
  outputs: number[];
}

/** A node that computes in FP16 or BF16 under the rules: what of it is rounded. */
export interface RoundedNode extends AnyLowNode {
  type: LowType;
  /** Positions of the inputs and outputs that are rounded. */
  inputs: number[];
  outputs: number[];
  /** The output type that a rule requests, where it differs from `type`; by output. */
  outputTypes: (RealType | null)[];
  /** Its divisor is a constant, and TensorRT multiplies by the reciprocal. */
  constantDivisor: boolean;
  /** The axis of a running sum, where it is a constant. */
  sumAxis: number | null;
}

/** A comparison and similar ones: its constants follow the type of its data. */
export interface FollowingNode {
  /** Ids of the nodes that make its data; null: what is not made by a node, so FP32. */
  makers: (string | null)[];
  /** Positions of its constant inputs. */
  constants: number[];
}

/** A constant that a node of the main graph reads in place of its own, in low precision. */
export interface Replacement {
  /** Id of the node, and which of its inputs. */
  node: string;
  index: number;
  tensor: NewTensor;
  /** The axis of the scales of a Q or DQ node; absent: as it is. */
  axis?: number;
}

/** What a simulation needs to know of a model under rules. */
export interface ReducedPrecisionModel {
  model: OnnxModel;
  low: LowNode[];
  byId: Map<string, LowNode>;
  following: Map<string, FollowingNode>;
  /** Ids of the nodes in FP32 and lower that TensorRT computes without subtracting the largest value; see `unscaledNodes`. */
  unscaled: string[];
  /** By node id and input, what nodes read before a Q/DQ pair under the rules; absent: nothing. */
  around?: ReadonlyMap<string, ReadonlyMap<number, string>>;
  /** By node and input; absent: none. */
  replaced?: ReadonlyMap<string, Replacement>;
}

/** The same model with other constants in low precision. */
export const withReplaced = (
  model: ReducedPrecisionModel,
  replaced: readonly Replacement[],
): ReducedPrecisionModel => ({
  ...model,
  replaced: new Map(replaced.map((one) => [`${one.node}:${one.index}`, one])),
});

/**
 * ReduceLogSumExp: TensorRT computes log(sum(exp(x))) as it is written, in FP32 inside and in an FP32 network, too, so
 * that it overflows from 88.7 on, where ONNX Runtime subtracts the largest value first (measured: 10.6, H100, opsets 13 and
 * 18; Softmax and LogSoftmax are right in each type).
 */
export const unscaledNodes = (model: OnnxModel, network: Network): string[] =>
  model.nodes
    .filter((node) => node.op === 'ReduceLogSumExp' && node.domain === '' && network.outputTypesOf(node)[0] === 'float')
    .map(({ id }) => id);

/**
 * Finds the nodes that compute in FP16 or BF16 under a choice of types, with the model's inputs and outputs left in FP32,
 * as `trtlens precision apply` writes it. `beyondOnnx`: also those that such a copy leaves in FP32, because ONNX has no
 * form for them in the model's opset, while TensorRT computes them in the low type.
 */
export function findLowNodes({ model, network, nodes }: TypeChoice, beyondOnnx = false): ReducedPrecisionModel {
  const unscaled = unscaledNodes(model, network);
  const found: ReducedPrecisionModel = { model, low: [], byId: new Map(), following: new Map(), unscaled };
  const walk = (graph: OnnxGraph): void => {
    const constants = new Constants(network, graph.path);
    const isFloat = (name: string) => name !== '' && network.typeOf(graph.path, name) === 'float';
    for (const node of graph.nodes) {
      const chosen = nodes.get(node.id);
      if (chosen?.typing === 'free' && chosen.type !== 'float' && (beyondOnnx || chosen.beyondOnnx !== true))
        addLow(chosen, chosen.type, graph.path, constants, isFloat);
      if (chosen?.typing === 'inputs') addFollowing(node, constants, isFloat);
      for (const { graph: body } of node.subgraphs) walk(body);
    }
  };
  const addLow = (
    chosen: ChosenType,
    type: LowType,
    path: string,
    constants: Constants,
    isFloat: (name: string) => boolean,
  ): void => {
    const { node } = chosen;
    const low: RoundedNode = {
      index: found.low.length,
      node,
      graph: path,
      type,
      inputs: positions(node.inputs, (name, i) => isFloat(name) && followsType(node, i)),
      outputs: positions(node.outputs, (name, i) => isFloat(name) && outputFollows(node, i)),
      outputTypes: node.outputs.map((_, i) => (chosen.outputs[i] === type ? null : (chosen.outputs[i] ?? null))),
      constantDivisor:
        node.op === 'Div' &&
        constants.isConstant(node.inputs[1] ?? '') &&
        !constants.isReadByErf(node.outputs[0] ?? ''),
      sumAxis: node.op === 'CumSum' ? constants.integerOf(node.inputs[1] ?? '') : null,
    };
    if (low.inputs.length + low.outputs.length === 0) return;
    found.low.push(low);
    found.byId.set(node.id, low);
  };
  const addFollowing = (node: OnnxNode, known: Constants, isFloat: (name: string) => boolean): void => {
    const floats = positions(node.inputs, (name, i) => isFloat(name) && followsType(node, i));
    const constants = floats.filter((i) => known.isConstant(node.inputs[i]!));
    if (constants.length === 0 || constants.length === floats.length) return;
    const data = floats.filter((i) => !constants.includes(i));
    found.following.set(node.id, { makers: data.map((i) => known.makerOf(node.inputs[i]!)), constants });
  };
  walk(model.graph);
  return found;
}

/** Whether Q/DQ nodes put a node into low precision. */
export const isQuantized = (low: LowNode): low is QuantizedNode => low.type === 'int8' || low.type === 'float8';

/**
 * Finds the nodes of the main graph that read what Q/DQ nodes made of floating-point numbers. Weights that are stored
 * quantized have no other values: they are part of the reference, too. A node that a rule takes out of its Q/DQ pairs
 * reads around them in every run, as in a typed copy.
 */
export function findQuantizedNodes(
  { model, network, nodes: chosen }: Pick<TypeChoice, 'model' | 'network' | 'nodes'>,
  type: QuantizedType,
): ReducedPrecisionModel {
  const around = new Map([...chosen].flatMap(([id, { around: reads }]) => (reads ? [[id, reads] as const] : [])));
  const unscaled = unscaledNodes(model, network);
  const found: ReducedPrecisionModel = { model, low: [], byId: new Map(), following: new Map(), unscaled, around };
  const { nodes } = model.graph;
  const quantized = new Map(nodes.filter(({ op }) => op === 'QuantizeLinear').map((node) => [node.outputs[0]!, node]));
  const sources = new Map<string, string>();
  const given = new Set(model.graph.outputs.map(({ name }) => name));
  for (const { op, inputs, outputs } of nodes) {
    const before = op === 'DequantizeLinear' ? quantized.get(inputs[0]!) : undefined;
    const made = network.typeOf('', inputs[0] ?? '') ?? '';
    const isOfType = type === 'float8' ? made.startsWith('float8') : /^u?int(?:8|16|4)$/.test(made);
    if (before && isOfType) sources.set(outputs[0]!, before.inputs[0]!);
  }
  for (const node of nodes) {
    const own = new Map(
      node.inputs.flatMap((name, i) => {
        const source = around.get(node.id)?.has(i) === true ? undefined : sources.get(name);
        return source === undefined ? [] : [[i, source] as const];
      }),
    );
    const ends = given.has(node.outputs[0] ?? '') ? (sources.get(node.outputs[0]!) ?? null) : null;
    const bypass = node.op === 'DequantizeLinear' ? ends : null;
    if ((own.size === 0 && bypass === null) || node.op === 'QuantizeLinear') continue;
    const outputs = positions(node.outputs, (name) => name !== '' && network.typeOf('', name) === 'float');
    const low: QuantizedNode = { index: found.low.length, node, graph: '', type, sources: own, bypass, outputs };
    found.low.push(low);
    found.byId.set(node.id, low);
  }
  return found;
}

const positions = (names: readonly string[], test: (name: string, index: number) => boolean): number[] =>
  names.flatMap((name, i) => (test(name, i) ? [i] : []));

/** What is known of the tensors that the nodes of one graph read. */
class Constants {
  readonly #network: Network;
  readonly #path: string;

  constructor(network: Network, path: string) {
    this.#network = network;
    this.#path = path;
  }

  #find(name: string): number {
    return this.#network.tensorAt(this.#path, name);
  }

  /** Id of the node that makes a tensor; null: none does. */
  makerOf(name: string): string | null {
    const { tensors, nodes } = this.#network;
    return nodes[tensors[this.#find(name)]?.producer ?? -1]?.id ?? null;
  }

  /** A GELU that is written out (x / √2, then Erf) becomes one operator in TensorRT, which was seen not to round inside. */
  isReadByErf(name: string): boolean {
    const { tensors, nodes, inputs } = this.#network;
    const tensor = this.#find(name);
    return (tensors[tensor]?.consumers ?? []).some((node) => nodes[node]!.op === 'Erf' && inputs[node]![0] === tensor);
  }

  /** The only element of a constant of integers; null: it is no such constant. */
  integerOf(name: string): number | null {
    const { tensors, nodes } = this.#network;
    const { stored, producer = -1 } = tensors[this.#find(name)] ?? {};
    const constant = nodes[producer]?.op === 'Constant' ? nodes[producer].attributes[0] : undefined;
    if (constant?.name === 'value_int' && typeof constant.value === 'number') return constant.value;
    const tensor = stored ?? (constant?.kind === 'tensor' ? (constant.value as OnnxTensor) : null);
    return tensor?.ints?.length === 1 ? tensor.ints[0]! : null;
  }

  /** An initializer, or what nodes make of nothing but constants. */
  isConstant(name: string): boolean {
    const { tensors, nodes, inputs } = this.#network;
    for (let tensor = this.#find(name), steps = 0; steps < 8; steps++) {
      const { kind, producer = -1 } = tensors[tensor] ?? {};
      if (kind === 'initializer') return true;
      const maker = nodes[producer];
      if (!maker) return false;
      if (maker.op === 'Constant') return true;
      const read = inputs[producer]!.filter((input) => input >= 0);
      if (read.length !== 1 || maker.subgraphs.length > 0 || maker.op === 'Shape' || maker.op === 'Size') return false;
      tensor = read[0]!;
    }
    return false;
  }
}

/**
 * Values of the main graph that never leave a kernel of a build: one kernel makes them, and the same one alone reads
 * them, as TensorRT itself says. The report may be of a rewritten copy of the model: nodes are found by name.
 */
export function unmaterializedTensors(
  { low, model }: ReducedPrecisionModel,
  report: FusionReport,
): UnmaterializedTensor[] {
  const kernels = new Map<string, number | null>();
  for (const { name, layers, exact } of report.nodes) {
    // Two nodes of one name cannot be distinguished.
    const own = exact && layers.length === 1 && name !== '' && !kernels.has(name) ? layers[0]! : null;
    kernels.set(name, own);
  }
  const readers = new Map<string, (number | null)[]>();
  // What a body reads, at any depth, is read by whatever runs the body.
  const addBodies = ({ subgraphs }: OnnxNode): void => {
    for (const { graph } of subgraphs) {
      for (const node of graph.nodes) {
        for (const tensor of node.inputs) addTo(readers, tensor, null);
        addBodies(node);
      }
      for (const { name } of graph.outputs) addTo(readers, name, null);
    }
  };
  const kernelOf = (node: { name: string; outputs: readonly string[] }) => kernels.get(parserName(node)) ?? null;
  for (const node of model.graph.nodes) {
    for (const tensor of new Set(node.inputs)) addTo(readers, tensor, kernelOf(node));
    addBodies(node);
  }
  for (const { name } of model.graph.outputs) addTo(readers, name, null);
  const names = new Map(report.layers.map(({ id, name }) => [id, name]));
  return low.flatMap(({ node, graph, outputs }) => {
    const kernel = graph === '' ? kernelOf(node) : null;
    if (kernel === null) return [];
    return outputs.flatMap((i): UnmaterializedTensor[] => {
      const tensor = node.outputs[i]!;
      const all = readers.get(tensor) ?? [];
      const stays = all.length > 0 && all.every((one) => one === kernel);
      return stays ? [{ tensor, node: node.id, kernel: names.get(kernel) ?? `${kernel}` }] : [];
    });
  });
}

/** The same model, where held values are not rounded: what this build computes if its kernels hold them in FP32. */
export function withUnmaterialized(
  model: ReducedPrecisionModel,
  held: readonly UnmaterializedTensor[],
): ReducedPrecisionModel {
  const kept = new Set(held.map(({ tensor }) => tensor));
  const low = model.low.map((one): LowNode => {
    if (one.graph !== '' || isQuantized(one)) return one;
    const { inputs, outputs } = one.node;
    return {
      ...one,
      inputs: one.inputs.filter((i) => !kept.has(inputs[i]!)),
      outputs: one.outputs.filter((i) => !kept.has(outputs[i]!)),
    };
  });
  return { ...model, low, byId: new Map(low.map((one) => [one.node.id, one])) };
}
