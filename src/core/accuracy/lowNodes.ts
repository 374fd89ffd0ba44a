import type { OnnxGraph, OnnxModel, OnnxNode, OnnxTensor } from '../onnx/onnxModel.ts';
import { followsType, outputFollows, type RealType } from '../precision/plan/opTyping.ts';
import type { TensorTypes } from '../model/tensorTypes.ts';
import type { ChosenType, TypeChoice } from '../precision/rewrite/rewriteTypes.ts';

/** The types that are simulated by rounding FP32 values. */
export type LowType = Exclude<RealType, 'float'>;

/** The types that Q/DQ nodes make. */
export type QuantisedType = 'int8' | 'float8';

/** A node in low precision: rounded under the rules, or fed by Q/DQ nodes. */
export type LowNode = RoundedNode | QuantisedNode;

interface AnyLowNode {
  /** Position among all low nodes, which the search refers to. */
  index: number;
  node: OnnxNode;
  /** Path of its graph. */
  graph: string;
}

/** A node whose inputs come from Q/DQ nodes: exactly, it reads what these were given. */
export interface QuantisedNode extends AnyLowNode {
  type: QuantisedType;
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

/** What a simulation needs to know of a model under rules. */
export interface LowModel {
  model: OnnxModel;
  low: LowNode[];
  byId: Map<string, LowNode>;
  following: Map<string, FollowingNode>;
}

/**
 * Finds the nodes that compute in FP16 or BF16 when a model is rewritten by `choice` with its inputs and outputs left
 * in FP32, as `trtlens precision apply` writes it.
 */
export function findLowNodes({ model, types, nodes }: TypeChoice): LowModel {
  const found: LowModel = { model, low: [], byId: new Map(), following: new Map() };
  const walk = (graph: OnnxGraph, around: Scope | null): void => {
    const scope = new Scope(graph, around);
    const isFloat = (name: string) => name !== '' && types.typeOf(graph.path, name) === 'float';
    for (const node of graph.nodes) {
      const chosen = nodes.get(node.id);
      if (chosen?.typing === 'free' && chosen.type !== 'float') addLow(chosen, chosen.type, scope, isFloat);
      if (chosen?.typing === 'inputs') addFollowing(node, scope, isFloat);
      for (const { graph: body } of node.subgraphs) walk(body, scope);
    }
  };
  const addLow = (chosen: ChosenType, type: LowType, scope: Scope, isFloat: (name: string) => boolean): void => {
    const { node } = chosen;
    const low: RoundedNode = {
      index: found.low.length,
      node,
      graph: scope.path,
      type,
      inputs: positions(node.inputs, (name, i) => isFloat(name) && followsType(node, i)),
      outputs: positions(node.outputs, (name, i) => isFloat(name) && outputFollows(node, i)),
      outputTypes: node.outputs.map((_, i) => (chosen.outputs[i] === type ? null : (chosen.outputs[i] ?? null))),
      constantDivisor:
        node.op === 'Div' && scope.isConstant(node.inputs[1] ?? '') && !scope.isReadByErf(node.outputs[0] ?? ''),
      sumAxis: node.op === 'CumSum' ? scope.integerOf(node.inputs[1] ?? '') : null,
    };
    if (low.inputs.length + low.outputs.length === 0) return;
    found.low.push(low);
    found.byId.set(node.id, low);
  };
  const addFollowing = (node: OnnxNode, scope: Scope, isFloat: (name: string) => boolean): void => {
    const floats = positions(node.inputs, (name, i) => isFloat(name) && followsType(node, i));
    const constants = floats.filter((i) => scope.isConstant(node.inputs[i]!));
    if (constants.length === 0 || constants.length === floats.length) return;
    const data = floats.filter((i) => !constants.includes(i));
    found.following.set(node.id, { makers: data.map((i) => scope.makerOf(node.inputs[i]!)), constants });
  };
  walk(model.graph, null);
  return found;
}

/** Whether Q/DQ nodes put a node into low precision. */
export const isQuantised = (low: LowNode): low is QuantisedNode => low.type === 'int8' || low.type === 'float8';

/**
 * Finds the nodes of the main graph that read what Q/DQ nodes made of floating-point numbers. Weights that are stored
 * quantised have no other values: they are part of the reference, too.
 */
export function findQuantisedNodes(model: OnnxModel, types: TensorTypes, type: QuantisedType): LowModel {
  const found: LowModel = { model, low: [], byId: new Map(), following: new Map() };
  const { nodes } = model.graph;
  const quantised = new Map(nodes.filter(({ op }) => op === 'QuantizeLinear').map((node) => [node.outputs[0]!, node]));
  const sources = new Map<string, string>();
  const given = new Set(model.graph.outputs.map(({ name }) => name));
  for (const { op, inputs, outputs } of nodes) {
    const before = op === 'DequantizeLinear' ? quantised.get(inputs[0]!) : undefined;
    const made = types.typeOf('', inputs[0] ?? '') ?? '';
    const isOfType = type === 'float8' ? made.startsWith('float8') : /^u?int(?:8|16|4)$/.test(made);
    if (before && isOfType) sources.set(outputs[0]!, before.inputs[0]!);
  }
  for (const node of nodes) {
    const own = new Map(
      node.inputs.flatMap((name, i) => (sources.has(name) ? [[i, sources.get(name)!] as const] : [])),
    );
    const ends = given.has(node.outputs[0] ?? '') ? (sources.get(node.outputs[0]!) ?? null) : null;
    const bypass = node.op === 'DequantizeLinear' ? ends : null;
    if ((own.size === 0 && bypass === null) || node.op === 'QuantizeLinear') continue;
    const outputs = positions(node.outputs, (name) => name !== '' && types.typeOf('', name) === 'float');
    const low: QuantisedNode = { index: found.low.length, node, graph: '', type, sources: own, bypass, outputs };
    found.low.push(low);
    found.byId.set(node.id, low);
  }
  return found;
}

const positions = (names: readonly string[], test: (name: string, index: number) => boolean): number[] =>
  names.flatMap((name, i) => (test(name, i) ? [i] : []));

const isTensor = (maker: OnnxNode | OnnxTensor): maker is OnnxTensor => !('op' in maker);

/** Who makes the tensors that are visible in a graph. */
class Scope {
  readonly path: string;
  private readonly graph: OnnxGraph;
  private readonly around: Scope | null;
  private readonly makers = new Map<string, OnnxNode | OnnxTensor | null>();

  constructor(graph: OnnxGraph, around: Scope | null) {
    this.path = graph.path;
    this.graph = graph;
    this.around = around;
    for (const { name } of graph.inputs) this.makers.set(name, null);
    for (const tensor of graph.initializers) this.makers.set(tensor.name, tensor);
    for (const node of graph.nodes) for (const name of node.outputs) this.makers.set(name, node);
  }

  private find(name: string): OnnxNode | OnnxTensor | null {
    const own = this.makers.get(name);
    return own === undefined ? (this.around?.find(name) ?? null) : own;
  }

  makerOf(name: string): string | null {
    const maker = this.find(name);
    return maker === null || isTensor(maker) ? null : maker.id;
  }

  /** A GELU that is written out (x / √2, then Erf) becomes one operator in TensorRT, which was seen not to round inside. */
  isReadByErf(name: string): boolean {
    return this.graph.nodes.some(({ op, inputs }) => op === 'Erf' && inputs[0] === name);
  }

  /** The only element of a constant of integers; null: it is no such constant. */
  integerOf(name: string): number | null {
    const maker = this.find(name);
    const constant = maker && !isTensor(maker) && maker.op === 'Constant' ? maker.attributes[0] : undefined;
    const tensor =
      maker && isTensor(maker) ? maker : constant?.kind === 'tensor' ? (constant.value as OnnxTensor) : null;
    if (constant?.name === 'value_int' && typeof constant.value === 'number') return constant.value;
    return tensor?.ints?.length === 1 ? tensor.ints[0]! : null;
  }

  /** An initializer, or what nodes make of nothing but constants. */
  isConstant(name: string): boolean {
    for (let one = name, steps = 0; steps < 8; steps++) {
      const maker = this.find(one);
      if (maker === null) return false;
      if (isTensor(maker) || maker.op === 'Constant') return true;
      const inputs = maker.inputs.filter((input) => input !== '');
      if (inputs.length !== 1 || maker.subgraphs.length > 0 || maker.op === 'Shape' || maker.op === 'Size')
        return false;
      one = inputs[0]!;
    }
    return false;
  }
}
