import type { ModelEdits } from '../../../kernel/read/onnx/editModel.ts';
import type { DataType, OnnxGraph, OnnxNode, OnnxTensor } from '../../../kernel/read/onnx/onnxModel.ts';
import { type ModelGraph, standardOpset } from '../../../kernel/network/modelGraph.ts';
import { parserName } from '../../../kernel/network/nodeNames.ts';
import { isDequantize, isQuantize, QuantizedGraph } from '../../../kernel/quantization/quantization.ts';
import {
  followsType,
  isRealType,
  outputFollows,
  readsAnyType,
  type RealType,
} from '../../../kernel/rules/precisionPlan.ts';
import { type ChosenType, type NewCast, placeOf, type RewritePlan, type TypeChoice } from './rewritePlan.ts';
import { halfSince } from '../../../kernel/rules/opTypes.ts';

/** What a rewrite makes nodes read in place of what they read in the model. */
export interface NewReads {
  /** The inputs, by `placeOf`. */
  places: ReadonlySet<string>;
  /** Names of the tensors that are read there. */
  tensors: ReadonlySet<string>;
}

/** Ids of the Q/DQ nodes whose output is read in the model, and not after a rewrite. */
export function unreadPairs(graph: ModelGraph, { places, tensors }: NewReads): Set<string> {
  const network = new QuantizedGraph(graph);
  const given = new Set([...graph.graphOutputs, ...[...graph.bodyOutputs.values()].flat()]);
  const unread = new Set<number>();
  const readsNoMore = (reader: number, tensor: number): boolean => {
    if (unread.has(reader)) return true;
    const { id } = graph.nodes[reader]!;
    const read = [...graph.inputs[reader]!.keys()].filter((index) => graph.inputs[reader]![index] === tensor);
    // A node that reads the tensor in its subgraph only has no such input.
    return read.length > 0 && read.every((index) => places.has(placeOf({ node: id, index })));
  };
  const isUnread = (node: number): boolean =>
    graph.outputs[node]!.every(
      (tensor) =>
        !given.has(tensor) &&
        !tensors.has(graph.tensors[tensor]!.name) &&
        graph.tensors[tensor]!.consumers.every((reader) => readsNoMore(reader, tensor)),
    );
  for (const node of [...graph.nodes.keys()].toReversed()) {
    // What nothing reads in the model, its author left there.
    if (!isDequantize(network.op(node)) || network.readers(node).length === 0 || !isUnread(node)) continue;
    unread.add(node);
    const quantize = network.producer(network.input(node, 0));
    if (quantize >= 0 && isQuantize(network.op(quantize)) && isUnread(quantize)) unread.add(quantize);
  }
  return new Set([...unread].map((node) => graph.nodes[node]!.id));
}

export type Edits = Pick<
  RewritePlan,
  'casts' | 'inputs' | 'outputs' | 'names' | 'remove' | 'initializers' | 'constants' | 'values'
>;

/** One floating-point tensor of one graph, with who makes it and who reads it in which type. */
interface Tensor {
  graph: string;
  name: string;
  /** The type that it has in the model. */
  declared: RealType;
  /** The type that it will have. */
  made: RealType;
  maker: { node: OnnxNode; index: number } | null;
  /** Initializer or Constant node: can change its type with its bytes. */
  constant: 'initializer' | 'node' | null;
  /** `from`: the tensor that the node reads in the model, where that is another one. */
  readers: { node: string; index: number; type: RealType; from?: string }[];
  /** A graph output: the type that it must have there. */
  promised: RealType | null;
  /** A graph inside this one gives it out. */
  givenInside: boolean;
  graphInput: boolean;
}

/**
 * Works out Casts, retyped constants and declared types from the chosen types.
 * @param pairs the Q/DQ pairs of `int8` rules, which other edits add
 */
export function rewriteEdits(choice: TypeChoice, io: 'keep' | 'follow', pairs?: ModelEdits): Edits {
  const walk = new EditWalk(choice, io);
  walk.graph(choice.model.graph, null);
  return walk.edits(pairs);
}

class Scope {
  readonly path: string;
  readonly around: Scope | null;
  readonly own = new Map<string, Tensor>();

  constructor(path: string, around: Scope | null) {
    this.path = path;
    this.around = around;
  }

  find(name: string): Tensor | undefined {
    return this.own.get(name) ?? this.around?.find(name);
  }
}

class EditWalk {
  private readonly choice: TypeChoice;
  private readonly io: 'keep' | 'follow';
  private readonly tensors: Tensor[] = [];
  private readonly graphs: OnnxGraph[] = [];
  private readonly taken = new Set<string>();
  private readonly result: Edits = {
    casts: [],
    inputs: [],
    outputs: [],
    names: [],
    remove: [],
    initializers: [],
    constants: [],
    values: [],
  };

  constructor(choice: TypeChoice, io: 'keep' | 'follow') {
    this.choice = choice;
    this.io = io;
  }

  graph(graph: OnnxGraph, around: Scope | null): void {
    const scope = new Scope(graph.path, around);
    this.graphs.push(graph);
    // Some files declare types of tensors that they no longer have: a new tensor must not take such a name.
    for (const { name } of [...graph.values, ...graph.outputs]) this.taken.add(name);
    for (const value of graph.inputs) this.define(scope, value.name, value.type, null, null, true);
    for (const tensor of graph.initializers) this.defineInitializer(scope, tensor);
    for (const node of graph.nodes) {
      this.taken.add(node.name);
      for (const name of [...node.inputs, ...node.outputs]) this.taken.add(name);
      this.read(node, scope);
      this.make(node, scope);
      for (const { graph: body } of node.subgraphs) this.graph(body, scope);
    }
    for (const value of graph.outputs) {
      // Some exporters let a branch output a tensor of the graph around it: then that one must keep its type.
      const tensor = scope.find(value.name);
      if (!tensor) continue;
      tensor.promised = isRealType(value.type) ? value.type : tensor.declared;
      tensor.givenInside ||= tensor.graph !== graph.path;
    }
  }

  private define(
    scope: Scope,
    name: string,
    type: DataType | null,
    maker: Tensor['maker'],
    constant: Tensor['constant'],
    graphInput: boolean,
  ): Tensor | null {
    this.taken.add(name);
    const declared = type ?? this.choice.network.typeOf(scope.path, name);
    if (name === '' || !isRealType(declared)) return null;
    const tensor: Tensor = {
      graph: scope.path,
      name,
      declared,
      made: declared,
      maker,
      constant,
      readers: [],
      promised: null,
      givenInside: false,
      graphInput,
    };
    scope.own.set(name, tensor);
    this.tensors.push(tensor);
    return tensor;
  }

  private defineInitializer(scope: Scope, tensor: OnnxTensor): void {
    const { name, type } = tensor;
    const constant = isConvertible(tensor) ? 'initializer' : null;
    const listed = scope.own.get(name);
    if (listed) listed.constant = constant;
    else this.define(scope, name, type, null, constant, false);
  }

  /** Notes in which type a node reads each of its inputs. */
  private read(node: OnnxNode, scope: Scope): void {
    const chosen = this.choice.nodes.get(node.id);
    if (!chosen || readsAnyType(node)) return;
    const tensors = node.inputs.map((name, index) => scope.find(chosen.around?.get(index) ?? name));
    if (chosen.typing === 'inputs') chosen.type = this.commonType(node, tensors, chosen);
    for (const [index, tensor] of tensors.entries()) {
      if (!tensor) continue;
      const follows = chosen.typing !== 'fixed' && followsType(node, index);
      const from = node.inputs[index]!;
      const type = follows ? chosen.type : tensor.declared;
      tensor.readers.push({ node: node.id, index, type, ...(from !== tensor.name && { from }) });
    }
  }

  /** A comparison and similar ones take the type in which their data comes, if it is one; otherwise the model's. */
  private commonType(node: OnnxNode, tensors: (Tensor | undefined)[], chosen: ChosenType): RealType {
    const data = tensors.filter((tensor, i) => tensor && tensor.constant === null && followsType(node, i));
    const made = new Set(data.map((tensor) => tensor?.made));
    const only = [...made][0];
    const own = tensors.find((tensor) => tensor)?.declared ?? chosen.type;
    return made.size === 1 && only && only !== 'bfloat16' ? only : own;
  }

  private make(node: OnnxNode, scope: Scope): void {
    const chosen = this.choice.nodes.get(node.id);
    const outputTypes = this.choice.network.outputTypesOf(node);
    const constant = isConvertibleConstant(node) ? 'node' : null;
    for (const [index, name] of node.outputs.entries()) {
      const tensor = this.define(scope, name, outputTypes[index] ?? null, { node, index }, constant, false);
      if (tensor && chosen?.typing === 'free' && outputFollows(node, index)) {
        tensor.made = chosen.outputs[index] ?? chosen.type;
      }
    }
  }

  edits(pairs: ModelEdits | undefined): Edits {
    const unread = unreadPairs(this.choice.network, this.newReads(pairs));
    this.result.remove = [...unread];
    for (const tensor of this.tensors) {
      if (tensor.maker && unread.has(tensor.maker.node.id)) continue;
      tensor.readers = tensor.readers.filter(({ node }) => !unread.has(node));
      if (tensor.constant !== null && tensor.promised === null && !this.isDefault(tensor)) this.retypeConstant(tensor);
      this.connect(tensor);
    }
    this.declareValues();
    return this.result;
  }

  /** What reads around Q/DQ pairs, or through new ones. */
  private newReads(pairs: ModelEdits | undefined): NewReads {
    const around = this.tensors.flatMap(({ name, readers }) =>
      readers.filter(({ from }) => from !== undefined).map((reader) => ({ ...reader, tensor: name })),
    );
    const edits = [...around, ...(pairs?.inputs ?? [])];
    const inserted = (pairs?.insert ?? []).flatMap(({ node }) => node.inputs);
    return {
      places: new Set(edits.map(placeOf)),
      tensors: new Set([...around.map(({ tensor }) => tensor), ...inserted]),
    };
  }

  /** Since IR version 4 an input with an initializer is an input that may be given, and keeps its type like the others. */
  private isDefault({ graphInput }: Tensor): boolean {
    return graphInput && this.io === 'keep' && this.choice.model.irVersion >= 4;
  }

  /** A constant changes its own type where all its readers want the same other one. */
  private retypeConstant(tensor: Tensor): void {
    const wanted = new Set(tensor.readers.map(({ type }) => type));
    const to = [...wanted][0];
    if (wanted.size !== 1 || !to || to === tensor.declared) return;
    const node = tensor.maker?.node;
    if (node && to !== 'float' && halfSince(node.op, node.domain, to) > standardOpset(this.choice.model)) return;
    tensor.made = to;
    const change = { from: tensor.declared, to };
    if (tensor.constant === 'initializer') {
      this.result.initializers.push({ graph: tensor.graph, name: tensor.name, ...change });
    } else if (tensor.maker) {
      this.result.constants.push({ node: tensor.maker.node.id, ...change });
    }
  }

  /** Names the node's own output, makes every type that is read, and points the readers there. */
  private connect(tensor: Tensor): void {
    if (this.io === 'follow' && tensor.graph === '') this.followIo(tensor);
    const { maker, made, promised } = tensor;
    const chosen = maker ? this.choice.nodes.get(maker.node.id) : undefined;
    // What the node computes in; an output type that a rule requests is made by a Cast after it.
    const raw = maker && chosen?.typing === 'free' && outputFollows(maker.node, maker.index) ? chosen.type : made;
    let source = tensor.name;
    if (maker && (made !== raw || (promised !== null && promised !== raw))) {
      source = this.fresh(`${tensor.name}_${word(raw)}`);
      this.result.outputs.push({ node: maker.node.id, index: maker.index, tensor: source });
      this.keepName(maker.node, tensor.name);
    }
    const byType = new Map<RealType, string>();
    if (made !== raw) {
      const through = promised === null || promised === made ? tensor.name : this.fresh(`${tensor.name}_${word(made)}`);
      this.cast(tensor, source, through, made);
      source = through;
    }
    // Readers get their values through the asked output type, even those that read the compute type.
    byType.set(made, source);
    if (promised !== null && source !== tensor.name) {
      this.cast(tensor, source, tensor.name, promised);
      byType.set(promised, tensor.name);
    }
    this.readThrough(tensor, source, byType);
  }

  /** Points every reader to the tensor of its type, which a Cast makes if there is none. */
  private readThrough(tensor: Tensor, source: string, byType: Map<RealType, string>): void {
    for (const { node, index, type, from: given = tensor.name } of tensor.readers) {
      let from = byType.get(type);
      if (from === undefined) {
        from = this.fresh(`${tensor.name}_${word(type)}`);
        this.cast(tensor, source, from, type);
        byType.set(type, from);
      }
      if (from !== given) this.result.inputs.push({ node, index, tensor: from });
    }
  }

  private keepName(node: OnnxNode, output: string): void {
    const name = parserName(node);
    if (node.name !== '' || node.outputs.find((one) => one !== '') !== output || this.taken.has(name)) return;
    this.taken.add(name);
    this.result.names.push({ node: node.id, name });
  }

  private cast(tensor: Tensor, input: string, output: string, to: RealType): void {
    const name = this.fresh(`${output}_cast`);
    const cast: NewCast = { graph: tensor.graph, name, input, output, to, after: tensor.maker?.node.id ?? null };
    this.result.casts.push(cast);
  }

  /** A graph input takes the type of its readers if they agree, a graph output that of its maker. */
  private followIo(tensor: Tensor): void {
    if (tensor.graphInput && tensor.constant === null) {
      const wanted = new Set(tensor.readers.map(({ type }) => type));
      const only = [...wanted][0];
      if (wanted.size === 1 && only && tensor.promised === null) tensor.made = only;
    }
    if (tensor.promised !== null && tensor.maker && !tensor.givenInside) tensor.promised = tensor.made;
  }

  /** Declared types of tensors that changed theirs. */
  private declareValues(): void {
    const made = new Map(
      this.tensors.map((tensor) => [`${tensor.graph}\n${tensor.name}`, tensor.promised ?? tensor.made]),
    );
    for (const graph of this.graphs) {
      for (const value of [...graph.values, ...graph.inputs, ...graph.outputs]) {
        const to = made.get(`${graph.path}\n${value.name}`);
        if (to !== undefined && isRealType(value.type) && value.type !== to) {
          this.result.values.push({ graph: graph.path, name: value.name, to });
        }
      }
    }
  }

  private fresh(wanted: string): string {
    let name = wanted;
    for (let n = 1; this.taken.has(name); n++) name = `${wanted}_${n}`;
    this.taken.add(name);
    return name;
  }
}

/** Sparse tensors, and lists of numbers in several pieces, are left as they are: a Cast follows them. */
function isConvertible({ sparse, data }: OnnxTensor): boolean {
  return !sparse && !(data && 'inline' in data && data.inline.scattered);
}

function isConvertibleConstant({ op, domain, attributes: [attribute] }: OnnxNode): boolean {
  if (!(op === 'Constant' || op === 'ConstantOfShape') || domain !== '' || !attribute) return false;
  if (attribute.name === 'value_float') return attribute.kind === 'float';
  if (attribute.name !== 'value' || attribute.kind !== 'tensor') return false;
  const tensor = attribute.value as OnnxTensor | null;
  return tensor !== null && isConvertible(tensor);
}

function word(type: RealType): string {
  return { float: 'fp32', float16: 'fp16', bfloat16: 'bf16' }[type];
}
