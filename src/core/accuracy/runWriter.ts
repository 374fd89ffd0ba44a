import type { NewNode, NewTensor } from '../onnx/writeParts.ts';
import type { DataType, OnnxGraph, OnnxNode } from '../onnx/onnxModel.ts';
import {
  type FollowingNode,
  isQuantised,
  type LowModel,
  type LowNode,
  type LowType,
  type QuantisedNode,
  type RoundedNode,
} from './lowNodes.ts';
import { cast, lowDivision, lowRunningSum } from './ownArithmetic.ts';

/** How a node computes: exactly, in its low precision, or as a Boolean tensor says (true: exactly). */
export type Mode = 'exact' | 'low' | { exactIf: string };

/** Names for what a simulation adds: none of them is a name of the model. */
export class Names {
  readonly prefix: string;
  private count = 0;

  constructor({ model }: LowModel) {
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
export interface Sheet {
  nodes: NewNode[];
  values: Values;
}

/**
 * Writes one run of a model: its nodes in FP32, and after each low-precision node, its inputs and its constants a
 * named pair of Casts, down and up. So a node multiplies and accumulates in FP32 and stores a rounded result, as Tensor
 * Cores do. (ONNX Runtime keeps such pairs; it computes typed FP16 models in FP32 and drops the rounding.)
 */
export class RunWriter {
  private readonly low: LowModel;
  private readonly names: Names;
  private readonly modeOf: (low: LowNode) => Mode;
  /** Initializers that the written nodes need, for the main graph; by type and bytes. */
  readonly constants = new Map<string, NewTensor>();

  constructor(low: LowModel, names: Names, modeOf: (low: LowNode) => Mode) {
    this.low = low;
    this.names = names;
    this.modeOf = modeOf;
  }

  /**
   * Writes a node of the model. `rename`: new names for its outputs, for a run next to another one; otherwise they keep
   * theirs.
   */
  node(node: OnnxNode, sheet: Sheet, rename = false): void {
    const { values } = sheet;
    const inputs = node.inputs.map((name) => (name === '' ? '' : values.of(name)));
    const outputs = node.outputs.map((name) => {
      if (name === '') return '';
      const own = rename ? this.names.fresh('v') : name;
      values.set(name, own);
      return own;
    });
    const low = this.low.byId.get(node.id);
    const mode = low ? this.modeOf(low) : 'exact';
    if (low && isQuantised(low)) return this.quantisedNode(low, mode, inputs, outputs, sheet);
    if (low && mode !== 'exact') return this.lowNode(low, mode, inputs, outputs, sheet);
    const following = this.low.following.get(node.id);
    const read = following ? this.followed(following, inputs, sheet) : inputs;
    this.plain(node, read, outputs, sheet);
  }

  private plain(node: OnnxNode, inputs: string[], outputs: string[], sheet: Sheet): void {
    const bodies = node.subgraphs.filter(({ graph }) => graph.nodes.length > 0);
    const attributes = Object.fromEntries(
      bodies.map(({ attribute, graph }) => [attribute, { graph: this.body(graph, sheet.values) }]),
    );
    sheet.nodes.push({ op: node.op, name: this.names.copyOf(node), inputs, outputs, attributes, like: node });
  }

  private body(graph: OnnxGraph, around: Values) {
    const values = new Values(around);
    // What the body defines hides what has the same name around it.
    for (const { name } of [...graph.inputs, ...graph.initializers]) values.set(name, name);
    const sheet: Sheet = { nodes: [], values };
    for (const node of graph.nodes) this.node(node, sheet);
    const { name, inputs, outputs, initializers } = graph;
    return { name, nodes: sheet.nodes, inputs, outputs, initializers };
  }

  /** A node behind Q/DQ nodes; exactly, it reads what was in front of them. */
  private quantisedNode(low: QuantisedNode, mode: Mode, inputs: string[], outputs: string[], sheet: Sheet): void {
    if (low.bypass !== null) return this.bypassed(low, low.bypass, mode, inputs, outputs, sheet);
    const read = inputs.map((name, i) => {
      const source = low.sources.get(i);
      if (source === undefined || mode === 'low') return name;
      const exact = sheet.values.of(source);
      return mode === 'exact' ? exact : this.select(mode.exactIf, exact, name, this.names.fresh('s'), sheet);
    });
    this.plain(low.node, read, outputs, sheet);
  }

  private bypassed(
    low: QuantisedNode,
    source: string,
    mode: Mode,
    inputs: string[],
    [output = '']: string[],
    sheet: Sheet,
  ): void {
    const exact = sheet.values.of(source);
    if (mode === 'low') return this.plain(low.node, inputs, [output], sheet);
    if (mode === 'exact') return void sheet.nodes.push(this.copy(exact, output));
    const raw = this.names.fresh('r');
    this.plain(low.node, inputs, [raw], sheet);
    this.select(mode.exactIf, exact, raw, output, sheet);
  }

  private lowNode(
    low: RoundedNode,
    mode: Exclude<Mode, 'exact'>,
    inputs: string[],
    outputs: string[],
    sheet: Sheet,
  ): void {
    const { type } = low;
    const read = inputs.map((name, i) => (low.inputs.includes(i) ? this.read(name, type, mode, sheet) : name));
    const raw = outputs.map((name, i) => (low.outputs.includes(i) ? this.names.fresh('r') : name));
    this.compute(low, mode, read, raw, sheet);
    for (const i of low.outputs) this.store(low, i, mode, raw[i]!, outputs[i]!, sheet);
  }

  /** What a low node reads: the rounded value, or the exact one where the node is switched to FP32. */
  private read(name: string, type: LowType, mode: Exclude<Mode, 'exact'>, sheet: Sheet): string {
    const rounded = this.rounded(name, type, sheet);
    if (mode === 'low' || rounded === name) return rounded;
    return this.select(mode.exactIf, name, rounded, this.names.fresh('s'), sheet);
  }

  private store(low: RoundedNode, index: number, mode: Mode, raw: string, output: string, sheet: Sheet): void {
    const asked = low.outputTypes[index] ?? null;
    const lowest = this.rounded(raw, low.type, sheet);
    const stored = asked === null || asked === 'float' ? lowest : this.rounded(lowest, asked, sheet);
    if (mode === 'low' || mode === 'exact') sheet.nodes.push(this.copy(stored, output));
    else this.select(mode.exactIf, raw, stored, output, sheet);
    // What is read in the same type was rounded already, also where this node is switched to FP32.
    if (asked === null) sheet.values.setRounding(output, low.type, lowest);
  }

  /** The node itself, and where TensorRT computes in the low type itself, that arithmetic. */
  private compute(low: RoundedNode, mode: Exclude<Mode, 'exact'>, read: string[], raw: string[], sheet: Sheet): void {
    const own = this.ownArithmetic(low, read, sheet);
    if (own === null) return this.plain(low.node, read, raw, sheet);
    if (mode === 'low') return void sheet.nodes.push(this.copy(own, raw[0]!));
    const exact = this.names.fresh('e');
    this.plain(low.node, read, [exact], sheet);
    this.select(mode.exactIf, exact, own, raw[0]!, sheet);
  }

  private ownArithmetic(low: RoundedNode, read: string[], sheet: Sheet): string | null {
    const { node, type } = low;
    const fresh = (what: string) => this.names.fresh(what);
    const round = (name: string) => this.rounded(name, type, sheet);
    if (low.constantDivisor) return lowDivision(read, sheet.nodes, fresh, round);
    if (low.sumAxis === null) return null;
    return lowRunningSum(node, low.sumAxis, read, {
      nodes: sheet.nodes,
      fresh,
      constant: (value) => this.integers(value),
      zero: this.float(0),
      never: this.constant('bool', [], new Uint8Array(1)),
      type,
    });
  }

  private followed({ makers, constants }: FollowingNode, inputs: string[], sheet: Sheet): string[] {
    const modes = makers.map((id): Mode => {
      const low = id === null ? undefined : this.low.byId.get(id);
      return low && low.type === 'float16' && !low.outputTypes.some(Boolean) ? this.modeOf(low) : 'exact';
    });
    if (modes.includes('exact')) return inputs;
    const flags = [...new Set(modes.flatMap((mode) => (typeof mode === 'object' ? [mode.exactIf] : [])))];
    const exactIf = flags.reduce((a, b) => {
      const either = this.names.fresh('b');
      sheet.nodes.push({ op: 'Or', name: this.names.fresh('n'), inputs: [a, b], outputs: [either] });
      return either;
    }, flags[0] ?? '');
    const mode = flags.length === 0 ? 'low' : { exactIf };
    return inputs.map((name, i) => (constants.includes(i) ? this.read(name, 'float16', mode, sheet) : name));
  }

  /** A value through the low type and back. */
  rounded(name: string, type: LowType, sheet: Sheet): string {
    const known = sheet.values.rounding(name, type);
    if (known !== undefined) return known;
    const [down, up] = [this.names.fresh('down'), this.names.fresh('up')];
    sheet.nodes.push(cast(down, name, down, type), cast(up, down, up, 'float'));
    sheet.values.setRounding(name, type, up);
    sheet.values.setRounding(up, type, up);
    return up;
  }

  private select(flag: string, exact: string, low: string, output: string, sheet: Sheet): string {
    sheet.nodes.push({ op: 'Where', name: this.names.fresh('n'), inputs: [flag, exact, low], outputs: [output] });
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
