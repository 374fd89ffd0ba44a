// Writes a simulated model: one run of its nodes, in FP32 and in low precision.
import type { LowType } from '../../../kernel/simulation/simulated.ts';
import { type DataType, type OnnxGraph, type OnnxNode } from '../../../kernel/read/onnx/onnxModel.ts';
import type { NewNode, NewTensor } from '../../../kernel/read/onnx/writeModel.ts';
import { cast, int64, lowDivision, lowLogSum, lowRunningSum } from './lowForms.ts';
import {
  isQuantized,
  type ReducedPrecisionModel,
  type LowNode,
  type FollowingNode,
  type QuantizedNode,
  type RoundedNode,
} from './reducedPrecisionModel.ts';

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
  private readonly modeOf: (low: Pick<LowNode, 'index'>) => Mode;
  /** Of nodes that TensorRT computes otherwise in any type, the positions of their switches: behind those of low nodes. */
  private readonly unscaled: ReadonlyMap<string, number>;
  /** Initializers that the written nodes need, for the main graph; by type and bytes. */
  readonly constants = new Map<string, NewTensor>();

  constructor(low: ReducedPrecisionModel, names: Names, modeOf: (low: Pick<LowNode, 'index'>) => Mode) {
    this.low = low;
    this.unscaled = new Map(low.unscaled.map((id, at) => [id, low.low.length + at]));
    this.names = names;
    this.modeOf = modeOf;
  }

  /**
   * Writes a node of the model. `rename`: new names for its outputs, for a run next to another one; otherwise they keep
   * theirs.
   */
  node(node: OnnxNode, draft: GraphDraft, rename = false): void {
    const { values } = draft;
    const around = this.low.around?.get(node.id);
    const inputs = node.inputs.map(
      (name, i) => this.scaleOf(node, i) ?? (name === '' ? '' : values.of(around?.get(i) ?? name)),
    );
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

  /** A node in FP32, as TensorRT computes it unless it is part of the reference. */
  private plain(node: OnnxNode, inputs: string[], outputs: string[], draft: GraphDraft): void {
    const index = this.unscaled.get(node.id);
    const mode = index === undefined ? 'exact' : this.modeOf({ index });
    if (mode === 'exact') return this.asWritten(node, inputs, outputs, draft);
    const output = outputs[0]!;
    const naive = mode === 'low' ? output : this.names.fresh('r');
    this.logSumOf(node, this.exponentials(inputs[0]!, draft), inputs, naive, draft);
    if (mode === 'low') return;
    const exact = this.names.fresh('e');
    this.asWritten(node, inputs, [exact], draft);
    this.select(mode.exactIf, exact, naive, output, draft);
  }

  private exponentials(input: string, draft: GraphDraft): string {
    const output = this.names.fresh('e');
    draft.nodes.push({ op: 'Exp', name: this.names.fresh('n'), inputs: [input], outputs: [output] });
    return output;
  }

  /** The second half of a ReduceLogSumExp: `powers` are its exponentials. */
  private logSumOf(node: OnnxNode, powers: string, inputs: string[], output: string, draft: GraphDraft): void {
    const name = this.names.copyOf(node);
    draft.nodes.push({
      op: 'ReduceLogSum',
      name,
      inputs: [powers, ...inputs.slice(1)],
      outputs: [output],
      like: node,
    });
  }

  private asWritten(node: OnnxNode, inputs: string[], outputs: string[], draft: GraphDraft): void {
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
    // In BF16, which reaches as far as FP32, no rounding was seen inside.
    if (type === 'float16' && (node.op === 'ReduceLogSum' || this.unscaled.has(node.id))) {
      const logarithm = fresh('r');
      if (node.op === 'ReduceLogSum') this.plain(node, read, [logarithm], draft);
      else this.logSumOf(node, round(this.exponentials(read[0]!, draft)), read, logarithm, draft);
      return lowLogSum(logarithm, draft.nodes, fresh, round);
    }
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
