// A model as a build in reduced precision would compute it.
import { addTo } from '../../base/addTo.ts';
import {
  type DataType,
  dataTypeNumber,
  type OnnxGraph,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
} from '../../formats/onnx/onnxModel.ts';
import type { NewGraph, NewNode, NewTensor } from '../../formats/onnx/writeModel.ts';
import type { FusionReport } from '../../fusion/fusionReport.ts';
import type { Network } from '../../network/network.ts';
import { parserName } from '../../network/nodeNames.ts';
import { followsType, outputFollows, type RealType } from '../../precision/precisionPlan.ts';
import type { ChosenType, TypeChoice } from '../../precision/planRewrite.ts';

/** The types that are simulated by rounding FP32 values. */
export type LowType = Exclude<RealType, 'float'>;

/** The types that Q/DQ nodes make. */
export type QuantizedType = 'int8' | 'float8';

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
  /** ONNX cannot express it in the model's opset: a typed copy leaves it in FP32. */
  beyondOnnx?: true;
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
 * Finds the nodes that compute in FP16 or BF16 under a choice of types, with the model's inputs and outputs left in FP32,
 * as `trtlens precision apply` writes it.
 */
export function findLowNodes({ model, network, nodes }: TypeChoice): ReducedPrecisionModel {
  const found: ReducedPrecisionModel = { model, low: [], byId: new Map(), following: new Map() };
  const walk = (graph: OnnxGraph): void => {
    const constants = new Constants(network, graph.path);
    const isFloat = (name: string) => name !== '' && network.typeOf(graph.path, name) === 'float';
    for (const node of graph.nodes) {
      const chosen = nodes.get(node.id);
      if (chosen?.typing === 'free' && chosen.type !== 'float')
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
      ...(chosen.beyondOnnx && { beyondOnnx: true }),
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
 * quantized have no other values: they are part of the reference, too.
 */
export function findQuantizedNodes(model: OnnxModel, network: Network, type: QuantizedType): ReducedPrecisionModel {
  const found: ReducedPrecisionModel = { model, low: [], byId: new Map(), following: new Map() };
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
      node.inputs.flatMap((name, i) => (sources.has(name) ? [[i, sources.get(name)!] as const] : [])),
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

/** A value that a build's kernel computes and uses itself, so that it may never be stored in low precision. */
export interface UnmaterializedTensor {
  tensor: string;
  /** Id of the node that makes it. */
  node: string;
  /** The kernel, by its name in the engine. */
  kernel: string;
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

/*
 * Operators that TensorRT does not compute as "FP32 inside, rounded result" when they are in a low precision. Both were
 * measured (TensorRT 10.6, H200). All others are taken to accumulate in FP32; for reductions, poolings and products
 * measured errors agree with that.
 */

/**
 * x / constant: x times the constant's reciprocal, which is rounded, too. `read` are the rounded inputs.
 * Returns the name of the quotient, not rounded yet.
 */
export function lowDivision(
  read: string[],
  nodes: NewNode[],
  fresh: (what: string) => string,
  round: (name: string) => string,
): string {
  const reciprocal = fresh('reciprocal');
  nodes.push({ op: 'Reciprocal', name: fresh('n'), inputs: [read[1]!], outputs: [reciprocal] });
  const factor = round(reciprocal);
  const quotient = fresh('quotient');
  nodes.push({ op: 'Mul', name: fresh('n'), inputs: [read[0]!, factor], outputs: [quotient] });
  return quotient;
}

/**
 * CumSum along a known axis: the sum is rounded after each step. `read` are the rounded inputs. Returns the name of the
 * result. ONNX Runtime wants to know the rank inside a Scan, so the dimensions before and behind the axis become one.
 */
export function lowRunningSum(node: OnnxNode, axis: number, [x]: string[], writing: RunningSum): string {
  const { nodes, fresh, constant, type } = writing;
  const has = (name: string) => node.attributes.some((attribute) => attribute.name === name && attribute.value === 1);
  const add = (op: string, inputs: string[], attributes: NewNode['attributes'] = {}): string => {
    const output = fresh(op);
    nodes.push({ op, name: fresh('n'), inputs, outputs: [output], attributes });
    return output;
  };
  const shape = add('Shape', [x!]);
  const product = (from: bigint, to: bigint) =>
    add('ReduceProd', [add('Slice', [shape, constant(from), constant(to)])], { keepdims: { int: 1 } });
  const end = 2n ** 63n - 1n;
  const behind = axis === -1 ? end : BigInt(axis + 1);
  const flat = add('Concat', [product(0n, BigInt(axis)), constant(-1n), product(behind, end)], { axis: { int: 0 } });
  const rows = add('Reshape', [x!, flat]);
  const first = add('Reshape', [
    add('Slice', [rows, constant(0n), constant(1n), constant(1n)]),
    add('Concat', [product(0n, BigInt(axis)), product(behind, end)], { axis: { int: 0 } }),
  ]);
  const start = add('Where', [writing.never, first, writing.zero]);
  const last = fresh('last');
  const sums = fresh('sums');
  nodes.push({
    op: 'Scan',
    name: fresh('n'),
    inputs: [start, rows],
    outputs: [last, sums],
    attributes: {
      body: { graph: step(has('exclusive'), type, fresh) },
      num_scan_inputs: { int: 1 },
      scan_input_axes: { ints: [1] },
      scan_output_axes: { ints: [1] },
      scan_input_directions: { ints: [has('reverse') ? 1 : 0] },
      scan_output_directions: { ints: [has('reverse') ? 1 : 0] },
    },
  });
  return add('Reshape', [sums, shape]);
}

/** One step of a running sum. */
function step(exclusive: boolean, type: LowType, fresh: (what: string) => string): NewGraph {
  const value = (what: string) => ({ name: fresh(what), newType: 'float', rank: 2 });
  const [before, element, after, given] = [value('before'), value('element'), value('after'), value('given')];
  const [raw, down] = [fresh('raw'), fresh('down')];
  return {
    name: 'step',
    inputs: [before, element],
    outputs: [after, given],
    initializers: [],
    nodes: [
      { op: 'Add', name: fresh('n'), inputs: [before.name, element.name], outputs: [raw] },
      cast(fresh('n'), raw, down, type),
      cast(fresh('n'), down, after.name, 'float'),
      { op: 'Identity', name: fresh('n'), inputs: [exclusive ? before.name : after.name], outputs: [given.name] },
    ],
  };
}

/** What a running sum is written with. */
export interface RunningSum {
  nodes: NewNode[];
  fresh: (what: string) => string;
  /** Returns the name of a list of one int64. */
  constant: (value: bigint) => string;
  /** Scalars: 0 and false. */
  zero: string;
  never: string;
  type: LowType;
}

export function cast(name: string, input: string, output: string, to: string): NewNode {
  return { op: 'Cast', name, inputs: [input], outputs: [output], attributes: { to: { int: dataTypeNumber(to)! } } };
}

/** How a node computes: exactly, in its low precision, or as a Boolean tensor says (true: exactly). */
export type Mode = 'exact' | 'low' | { exactIf: string };

/** Names for what a simulation adds: none of them is a name of the model. */
export class Names {
  readonly prefix: string;
  private count = 0;

  constructor({ model }: ReducedPrecisionModel) {
    const taken = model.nodes.flatMap((node) => [node.name, ...node.inputs, ...node.outputs]);
    let prefix = 'lens/';
    while (taken.some((name) => name.startsWith(prefix))) prefix = `_${prefix}`;
    this.prefix = prefix;
  }

  fresh(what: string): string {
    return `${this.prefix}${what}${this.count++}`;
  }

  /** The name of a copy of a node; `modelNames` finds the node's own name in a text. */
  copyOf({ name, op }: OnnxNode): string {
    return `${this.fresh('n')}:${name || op}`;
  }
}

/** A text about a simulated model with the names of the model's own nodes. */
export const modelNames = (text: string): string => text.replaceAll(/_*lens\/n\d+:/g, '');

/** The tensors of one graph as one run sees them, and those of the graphs around it. */
export class Values {
  private readonly around: Values | null;
  private readonly names = new Map<string, string>();
  private readonly roundings = new Map<string, string>();

  constructor(around: Values | null = null) {
    this.around = around;
  }

  /** What stands for a tensor of the model in this run. */
  of(name: string): string {
    return this.names.get(name) ?? this.around?.of(name) ?? name;
  }

  set(name: string, value: string): void {
    this.names.set(name, value);
  }

  rounding(value: string, type: LowType): string | undefined {
    return this.roundings.get(`${type} ${value}`) ?? this.around?.rounding(value, type);
  }

  setRounding(value: string, type: LowType, rounded: string): void {
    this.roundings.set(`${type} ${value}`, rounded);
  }
}

/** Where nodes of a graph are written to. */
export interface GraphDraft {
  nodes: NewNode[];
  values: Values;
}

/**
 * Writes one run of a model: its nodes in FP32, and after each low-precision node, its inputs and its constants a
 * named pair of Casts, down and up. So a node multiplies and accumulates in FP32 and stores a rounded result, as Tensor
 * Cores do. (ONNX Runtime keeps such pairs; it computes typed FP16 models in FP32 and drops the rounding.)
 */
export class RunWriter {
  private readonly low: ReducedPrecisionModel;
  private readonly names: Names;
  private readonly modeOf: (low: LowNode) => Mode;
  /** Initializers that the written nodes need, for the main graph; by type and bytes. */
  readonly constants = new Map<string, NewTensor>();

  constructor(low: ReducedPrecisionModel, names: Names, modeOf: (low: LowNode) => Mode) {
    this.low = low;
    this.names = names;
    this.modeOf = modeOf;
  }

  /**
   * Writes a node of the model. `rename`: new names for its outputs, for a run next to another one; otherwise they keep
   * theirs.
   */
  node(node: OnnxNode, draft: GraphDraft, rename = false): void {
    const { values } = draft;
    const inputs = node.inputs.map((name, i) => this.scaleOf(node, i) ?? (name === '' ? '' : values.of(name)));
    const outputs = node.outputs.map((name) => {
      if (name === '') return '';
      const own = rename ? this.names.fresh('v') : name;
      values.set(name, own);
      return own;
    });
    const low = this.low.byId.get(node.id);
    const mode = low ? this.modeOf(low) : 'exact';
    if (low && isQuantized(low)) return this.quantizedNode(low, mode, inputs, outputs, draft);
    if (low && mode !== 'exact') return this.lowNode(low, mode, inputs, outputs, draft);
    const following = this.low.following.get(node.id);
    const read = following ? this.followed(following, inputs, draft) : inputs;
    this.plain(node, read, outputs, draft);
  }

  private plain(node: OnnxNode, inputs: string[], outputs: string[], draft: GraphDraft): void {
    const bodies = node.subgraphs.filter(({ graph }) => graph.nodes.length > 0);
    const attributes = Object.fromEntries(
      bodies.map(({ attribute, graph }) => [attribute, { graph: this.body(graph, draft.values) }]),
    );
    const axis = this.low.replaced?.get(`${node.id}:1`)?.axis;
    const own = axis === undefined ? attributes : { ...attributes, axis: { int: axis } };
    draft.nodes.push({ op: node.op, name: this.names.copyOf(node), inputs, outputs, attributes: own, like: node });
  }

  /** Another scale or zero point of a Q or DQ node: exactly, no one reads what it makes. */
  private scaleOf(node: OnnxNode, index: number): string | undefined {
    const isPart = node.op === 'QuantizeLinear' || node.op === 'DequantizeLinear';
    return isPart && index > 0 ? this.replacement(node, index) : undefined;
  }

  /** The name of what a node reads in place of a constant; undefined: the constant. */
  private replacement({ id }: OnnxNode, index: number): string | undefined {
    const found = this.low.replaced?.get(`${id}:${index}`);
    if (!found) return undefined;
    const key = `replaced ${found.tensor.name}`;
    const known = this.constants.get(key);
    if (known) return known.name;
    const name = this.names.fresh('replaced');
    this.constants.set(key, { ...found.tensor, name });
    return name;
  }

  private body(graph: OnnxGraph, around: Values) {
    const values = new Values(around);
    // What the body defines hides what has the same name around it.
    for (const { name } of [...graph.inputs, ...graph.initializers]) values.set(name, name);
    const draft: GraphDraft = { nodes: [], values };
    for (const node of graph.nodes) this.node(node, draft);
    const { name, inputs, outputs, initializers } = graph;
    return { name, nodes: draft.nodes, inputs, outputs, initializers };
  }

  /** A node behind Q/DQ nodes; exactly, it reads what was in front of them. */
  private quantizedNode(low: QuantizedNode, mode: Mode, inputs: string[], outputs: string[], draft: GraphDraft): void {
    if (low.bypass !== null) return this.bypassed(low, low.bypass, mode, inputs, outputs, draft);
    const read = inputs.map((name, i) => {
      const source = low.sources.get(i);
      if (source === undefined || mode === 'low') return name;
      const exact = draft.values.of(source);
      return mode === 'exact' ? exact : this.select(mode.exactIf, exact, name, this.names.fresh('s'), draft);
    });
    this.plain(low.node, read, outputs, draft);
  }

  private bypassed(
    low: QuantizedNode,
    source: string,
    mode: Mode,
    inputs: string[],
    [output = '']: string[],
    draft: GraphDraft,
  ): void {
    const exact = draft.values.of(source);
    if (mode === 'low') return this.plain(low.node, inputs, [output], draft);
    if (mode === 'exact') return void draft.nodes.push(this.copy(exact, output));
    const raw = this.names.fresh('r');
    this.plain(low.node, inputs, [raw], draft);
    this.select(mode.exactIf, exact, raw, output, draft);
  }

  private lowNode(
    low: RoundedNode,
    mode: Exclude<Mode, 'exact'>,
    inputs: string[],
    outputs: string[],
    draft: GraphDraft,
  ): void {
    const { type } = low;
    const read = inputs.map((name, i) =>
      low.inputs.includes(i) ? this.read(name, type, mode, draft, this.replacement(low.node, i)) : name,
    );
    const raw = outputs.map((name, i) => (low.outputs.includes(i) ? this.names.fresh('r') : name));
    this.compute(low, mode, read, raw, draft);
    for (const i of low.outputs) this.store(low, i, mode, raw[i]!, outputs[i]!, draft);
  }

  /**
   * What a low node reads: the rounded value, or the exact one where the node is switched to FP32. `other`: what it reads
   * in place of it.
   */
  private read(
    name: string,
    type: LowType,
    mode: Exclude<Mode, 'exact'>,
    draft: GraphDraft,
    other: string = name,
  ): string {
    const rounded = this.rounded(other, type, draft);
    if (mode === 'low' || rounded === name) return rounded;
    return this.select(mode.exactIf, name, rounded, this.names.fresh('s'), draft);
  }

  private store(low: RoundedNode, index: number, mode: Mode, raw: string, output: string, draft: GraphDraft): void {
    const asked = low.outputTypes[index] ?? null;
    const lowest = this.rounded(raw, low.type, draft);
    const stored = asked === null || asked === 'float' ? lowest : this.rounded(lowest, asked, draft);
    if (mode === 'low' || mode === 'exact') draft.nodes.push(this.copy(stored, output));
    else this.select(mode.exactIf, raw, stored, output, draft);
    // What is read in the same type was rounded already, also where this node is switched to FP32.
    if (asked === null) draft.values.setRounding(output, low.type, lowest);
  }

  /** The node itself, and where TensorRT computes in the low type itself, that arithmetic. */
  private compute(
    low: RoundedNode,
    mode: Exclude<Mode, 'exact'>,
    read: string[],
    raw: string[],
    draft: GraphDraft,
  ): void {
    const own = this.ownArithmetic(low, read, draft);
    if (own === null) return this.plain(low.node, read, raw, draft);
    if (mode === 'low') return void draft.nodes.push(this.copy(own, raw[0]!));
    const exact = this.names.fresh('e');
    this.plain(low.node, read, [exact], draft);
    this.select(mode.exactIf, exact, own, raw[0]!, draft);
  }

  private ownArithmetic(low: RoundedNode, read: string[], draft: GraphDraft): string | null {
    const { node, type } = low;
    const fresh = (what: string) => this.names.fresh(what);
    const round = (name: string) => this.rounded(name, type, draft);
    if (low.constantDivisor) return lowDivision(read, draft.nodes, fresh, round);
    if (low.sumAxis === null) return null;
    return lowRunningSum(node, low.sumAxis, read, {
      nodes: draft.nodes,
      fresh,
      constant: (value) => this.integers(value),
      zero: this.float(0),
      never: this.constant('bool', [], new Uint8Array(1)),
      type,
    });
  }

  private followed({ makers, constants }: FollowingNode, inputs: string[], draft: GraphDraft): string[] {
    const modes = makers.map((id): Mode => {
      const low = id === null ? undefined : this.low.byId.get(id);
      return low && low.type === 'float16' && !low.outputTypes.some(Boolean) ? this.modeOf(low) : 'exact';
    });
    if (modes.includes('exact')) return inputs;
    const flags = [...new Set(modes.flatMap((mode) => (typeof mode === 'object' ? [mode.exactIf] : [])))];
    const exactIf = flags.reduce((a, b) => {
      const either = this.names.fresh('b');
      draft.nodes.push({ op: 'Or', name: this.names.fresh('n'), inputs: [a, b], outputs: [either] });
      return either;
    }, flags[0] ?? '');
    const mode = flags.length === 0 ? 'low' : { exactIf };
    return inputs.map((name, i) => (constants.includes(i) ? this.read(name, 'float16', mode, draft) : name));
  }

  /** A value through the low type and back. */
  rounded(name: string, type: LowType, draft: GraphDraft): string {
    const known = draft.values.rounding(name, type);
    if (known !== undefined) return known;
    const [down, up] = [this.names.fresh('down'), this.names.fresh('up')];
    draft.nodes.push(cast(down, name, down, type), cast(up, down, up, 'float'));
    draft.values.setRounding(name, type, up);
    draft.values.setRounding(up, type, up);
    return up;
  }

  private select(flag: string, exact: string, low: string, output: string, draft: GraphDraft): string {
    draft.nodes.push({ op: 'Where', name: this.names.fresh('n'), inputs: [flag, exact, low], outputs: [output] });
    return output;
  }

  private copy(from: string, to: string): NewNode {
    return { op: 'Identity', name: this.names.fresh('n'), inputs: [from], outputs: [to] };
  }

  fresh(what: string): string {
    return this.names.fresh(what);
  }

  copyOf(node: OnnxNode): string {
    return this.names.copyOf(node);
  }

  /** The name of a scalar. */
  float(value: number): string {
    return this.constant('float', [], new Uint8Array(Float32Array.of(value).buffer));
  }

  /** The name of a list of one number. */
  floats(value: number): string {
    return this.constant('float', [1], new Uint8Array(Float32Array.of(value).buffer));
  }

  /** The name of a list of one integer. */
  integers(value: bigint): string {
    return this.constant('int64', [1], int64(value));
  }

  private constant(type: DataType, shape: number[], bytes: Uint8Array): string {
    const key = [type, ...shape, ':', ...bytes].join(' ');
    const known = this.constants.get(key);
    if (known) return known.name;
    const name = this.names.fresh('constant');
    this.constants.set(key, { name, newType: type, shape, bytes });
    return name;
  }
}

/** A number as raw data has it. */
export function int64(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, value, true);
  return bytes;
}
