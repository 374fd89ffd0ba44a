// Nodes, tensors, producers and consumers; expanded functions; attentions.
import { addTo, appended } from '../base/addTo.ts';
import type { OnnxFunction, OnnxGraph, OnnxModel, OnnxNode, OnnxTensor, OnnxValue } from '../read/onnx/onnxModel.ts';

/** The version of the standard operator set that a model imports; 1 where it names none. */
export function standardOpset({ opsets }: { opsets: readonly { domain: string; version: number }[] }): number {
  return opsets.find(({ domain }) => isStandardDomain(domain))?.version ?? 1;
}

/** Whether a domain is that of ONNX's own operators. */
export const isStandardDomain = (domain: string): boolean => domain === '' || domain === 'ai.onnx';

/** Operators that multiply data by weights; TensorRT computes them in INT8 where Q/DQ nodes are around them. */
export const products: ReadonlySet<string> = new Set(['MatMul', 'Gemm', 'Conv', 'ConvTranspose']);

/** What can run in INT8 behind or in front of a product. */
export const pools: ReadonlySet<string> = new Set(['MaxPool', 'AveragePool', 'GlobalAveragePool']);

/** Operators whose inputs get Q/DQ nodes. */
export const quantizable: ReadonlySet<string> = new Set([...products, ...pools, 'Add']);

/** One tensor of one graph. Names may repeat between a graph and its subgraphs; these do not. */
export interface ModelTensor {
  name: string;
  /** Index of the node that makes it; -1 for an input, an initializer, or a name that nothing defines. */
  producer: number;
  kind: 'node' | 'input' | 'initializer' | 'formal' | 'undefined';
  /** Index of the node whose subgraph has it; -1 in the main graph. */
  owner: number;
  /** Indices of the nodes that read it: also the owner of a subgraph that captures it. */
  consumers: number[];
  /** Type and shape, where the model gives them. */
  value: OnnxValue | null;
  /** What an initializer contains; absent for all other tensors. */
  stored?: OnnxTensor;
}

/** A model's nodes and tensors by number, over all its graphs: for walks in either direction. */
export interface ModelGraph {
  model: OnnxModel;
  /** In the model's order; a node's place here is its index everywhere below. */
  nodes: OnnxNode[];
  indexOfId: Map<string, number>;
  tensors: ModelTensor[];
  /** Indices of tensors. -1 for an optional input that is not given. */
  inputs: number[][];
  outputs: number[][];
  /** Tensors of outer graphs that the subgraphs of a node read. */
  captured: number[][];
  /** Index of the node whose subgraph the node is in; -1 in the main graph. */
  owner: Int32Array;
  /** Tensors of the main graph by name. */
  byName: Map<string, number>;
  /** Tensors of every graph by its path and their name. */
  scopes: Map<string, Map<string, number>>;
  /** The tensor of that name as the graph with that path sees it: its own or one of a graph around it; -1: none. */
  tensorAt(path: string, name: string): number;
  /** The main graph's outputs. */
  graphOutputs: number[];
  /** Tensors that a subgraph gives back, by the index of its owner. */
  bodyOutputs: Map<number, number[]>;
}

/** Most nodes capture nothing: they share this list, which stays empty. */
const none: number[] = [];

interface Scope {
  names: Map<string, number>;
  outer: Scope | null;
  owner: number;
  /** Tensors of outer graphs that this one reads. */
  captures: Set<number>;
}

/** Numbers everything. Bad models (names without a definition, several definitions, cycles) still give a graph. */
export function createModelGraph(model: OnnxModel): ModelGraph {
  const graph: ModelGraph = {
    model,
    nodes: model.nodes,
    indexOfId: new Map(model.nodes.map((node, index) => [node.id, index])),
    tensors: [],
    inputs: [],
    outputs: [],
    captured: [],
    owner: new Int32Array(model.nodes.length).fill(-1),
    byName: new Map(),
    scopes: new Map(),
    tensorAt(path, name) {
      for (let at = path; ; at = outerPath(at)) {
        const found = this.scopes.get(at)?.get(name);
        if (found !== undefined || at === '') return found ?? -1;
      }
    },
    graphOutputs: [],
    bodyOutputs: new Map(),
  };
  for (let i = 0; i < model.nodes.length; i++) {
    graph.inputs.push(none);
    graph.outputs.push(none);
    graph.captured.push(none);
  }
  addGraph(graph, model.graph, { names: graph.byName, outer: null, owner: -1, captures: new Set() });
  return graph;
}

/** The path of the graph that a node is in: `20/then_branch/3` is in `20/then_branch`, `20` in ''. */
export function graphPathOf(nodeId: string): string {
  const slash = nodeId.lastIndexOf('/');
  return slash < 0 ? '' : nodeId.slice(0, slash);
}

/** The path of the graph around a graph: of `20/then_branch` it is ''. */
const outerPath = (path: string): string => graphPathOf(graphPathOf(path));

function addGraph(graph: ModelGraph, source: OnnxGraph, scope: Scope): void {
  graph.scopes.set(source.path, scope.names);
  define(graph, source, scope);
  for (const node of source.nodes) {
    const index = graph.indexOfId.get(node.id);
    if (index === undefined) continue;
    graph.owner[index] = scope.owner;
    graph.inputs[index] = node.inputs.map((name) => (name === '' ? -1 : read(graph, name, scope, index)));
    for (const { graph: body } of node.subgraphs) {
      const inner: Scope = { names: new Map(), outer: scope, owner: index, captures: new Set() };
      addGraph(graph, body, inner);
      if (inner.captures.size > 0) graph.captured[index] = [...graph.captured[index]!, ...inner.captures];
    }
  }
  const outputs = source.outputs.map(({ name }) => lookup(name, scope)).filter((tensor) => tensor !== undefined);
  if (scope.owner < 0) graph.graphOutputs = outputs;
  else graph.bodyOutputs.set(scope.owner, [...(graph.bodyOutputs.get(scope.owner) ?? []), ...outputs]);
}

function define(graph: ModelGraph, source: OnnxGraph, scope: Scope): void {
  const add = (
    name: string,
    kind: ModelTensor['kind'],
    producer: number,
    value: OnnxValue | null,
    stored?: OnnxTensor,
  ): number => {
    const known = scope.names.get(name);
    if (known !== undefined) return known;
    const tensor: ModelTensor = { name, producer, kind, owner: scope.owner, consumers: [], value };
    if (stored) tensor.stored = stored;
    const index = graph.tensors.push(tensor) - 1;
    scope.names.set(name, index);
    return index;
  };
  const values = new Map<string, OnnxValue>();
  for (const value of source.values) values.set(value.name, value);
  for (const value of source.outputs) values.set(value.name, value);
  // Old models list their initializers among the inputs, too: they are constants anyway.
  for (const tensor of source.initializers) add(tensor.name, 'initializer', -1, tensor, tensor);
  for (const value of source.inputs) add(value.name, scope.owner < 0 ? 'input' : 'formal', -1, value);
  for (const node of source.nodes) {
    const index = graph.indexOfId.get(node.id);
    if (index === undefined) continue;
    graph.outputs[index] = node.outputs
      .filter((name) => name !== '')
      .map((name) => add(name, 'node', index, values.get(name) ?? null));
  }
}

function addConsumer(graph: ModelGraph, tensor: number, reader: number): void {
  const read = graph.tensors[tensor]!;
  read.consumers = appended(read.consumers, reader);
}

function lookup(name: string, scope: Scope): number | undefined {
  for (let at: Scope | null = scope; at; at = at.outer) {
    const found = at.names.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The tensor of that name as a node of that scope sees it; every owner on the way out captures it. */
function read(graph: ModelGraph, name: string, scope: Scope, reader: number): number {
  for (let at: Scope | null = scope; at; at = at.outer) {
    const found = at.names.get(name);
    if (found !== undefined) {
      addConsumer(graph, found, reader);
      return found;
    }
    if (at.owner >= 0 && at.outer) {
      const outer = lookup(name, at.outer);
      if (outer !== undefined && !at.captures.has(outer)) {
        at.captures.add(outer);
        addConsumer(graph, outer, at.owner);
      }
    }
  }
  const index =
    graph.tensors.push({
      name,
      producer: -1,
      kind: 'undefined',
      owner: scope.owner,
      consumers: [reader],
      value: null,
    }) - 1;
  scope.names.set(name, index);
  return index;
}

/** Every tensor that a node depends on: its inputs and what its subgraphs capture. */
export function readsOf(graph: ModelGraph, node: number): readonly number[] {
  const given = graph.inputs[node]!;
  const inputs = given.includes(-1) ? given.filter((tensor) => tensor >= 0) : given;
  const captured = graph.captured[node]!;
  return captured.length > 0 ? [...inputs, ...captured] : inputs;
}

/** The nodes of all subgraphs of a node, at every depth. */
export function bodyOf(graph: ModelGraph, node: number): number[] {
  const body: number[] = [];
  if (graph.nodes[node]!.subgraphs.length === 0) return body;
  // A node's subgraphs follow it directly, so its body ends where a node is outside all of them.
  for (let i = node + 1; i < graph.nodes.length && isInside(graph, i, node); i++) body.push(i);
  return body;
}

function isInside(graph: ModelGraph, node: number, owner: number): boolean {
  for (let at = graph.owner[node]!; at >= 0; at = graph.owner[at]!) if (at === owner) return true;
  return false;
}

/** The first node that reads a tensor which a later node of its graph or of one around it makes; null: all are in order. */
export function outOfOrder(graph: ModelGraph): { node: OnnxNode; tensor: string } | null {
  for (const [index, node] of graph.nodes.entries()) {
    for (const tensor of graph.inputs[index]!) {
      const { producer = -1, name = '' } = graph.tensors[tensor] ?? {};
      if (producer >= index) return { node, tensor: name };
    }
  }
  return null;
}

const orders = new WeakMap<ModelGraph, readonly number[]>();

/** The nodes in an order in which each comes after those that it reads; nodes on a cycle come last, in file order. */
export function inDataOrder(graph: ModelGraph): readonly number[] {
  let order = orders.get(graph);
  if (!order) orders.set(graph, (order = dataOrder(graph)));
  return order;
}

function dataOrder(graph: ModelGraph): number[] {
  const order: number[] = [];
  /** 0: not met, 1: on the stack, 2: in the order. */
  const state = new Uint8Array(graph.nodes.length);
  const stack: number[] = [];
  const wait = (node: number): void => {
    if (node >= 0 && state[node] === 0) stack.push(node);
  };
  for (let start = 0; start < graph.nodes.length; start++) {
    if (state[start]) continue;
    stack.push(start);
    while (stack.length > 0) {
      const node = stack.at(-1)!;
      const depth = stack.length;
      if (state[node] === 0) {
        state[node] = 1;
        for (const tensor of graph.inputs[node]!) if (tensor >= 0) wait(graph.tensors[tensor]!.producer);
        for (const tensor of graph.captured[node]!) wait(graph.tensors[tensor]!.producer);
        // An owner precedes its body, which reads what the owner is given.
        wait(graph.owner[node]!);
      }
      if (stack.length > depth) continue;
      stack.pop();
      if (state[node] === 1) order.push(node);
      state[node] = 2;
    }
  }
  return order;
}

/** Functions may call one another this deep, and all calls together may have so many nodes. */
const deepest = 32;
const mostNodes = 200_000;

/**
 * A model in which each call of a local function has the function's body as a subgraph, as TensorRT takes it: the body's
 * nodes have the ids `<call>/<function>/<position>`. The same model if it calls none.
 */
export function expandFunctions(model: OnnxModel): OnnxModel {
  if (model.functions.length === 0) return model;
  return new Expansion(model).run();
}

const keyOf = (domain: string, name: string, overload = ''): string => `${domain}\u0000${name}\u0000${overload}`;

class Expansion {
  readonly #model: OnnxModel;
  readonly #functions: Map<string, OnnxFunction>;
  readonly #nodes: OnnxNode[] = [];

  constructor(model: OnnxModel) {
    this.#model = model;
    this.#functions = new Map(model.functions.map((one) => [keyOf(one.domain, one.name, one.overload), one]));
  }

  run(): OnnxModel {
    const graph = this.#graph(this.#model.graph, '', 0);
    return { ...this.#model, graph, nodes: this.#nodes };
  }

  #graph(graph: OnnxGraph, path: string, depth: number): OnnxGraph {
    return { ...graph, path, nodes: this.#list(graph.nodes, path, depth) };
  }

  #list(nodes: readonly OnnxNode[], path: string, depth: number): OnnxNode[] {
    return nodes.map((node, position) => {
      const id = path === '' ? String(position) : `${path}/${position}`;
      const made: OnnxNode = { ...node, id, subgraphs: [] };
      this.#nodes.push(made);
      made.subgraphs = node.subgraphs.map(({ attribute, graph }) => ({
        attribute,
        graph: this.#graph(graph, `${id}/${attribute}`, depth),
      }));
      const called = depth < deepest ? this.#functions.get(keyOf(node.domain, node.op, node.overload)) : undefined;
      if (called && this.#nodes.length + called.nodes.length <= mostNodes) {
        made.subgraphs.push({ attribute: called.name, graph: this.#body(called, `${id}/${called.name}`, depth + 1) });
      }
      return made;
    });
  }

  #body({ name, inputs, outputs, nodes }: OnnxFunction, path: string, depth: number): OnnxGraph {
    const formal = (tensor: string) => ({ name: tensor, type: null, shape: null });
    return {
      name,
      path,
      nodes: this.#list(nodes, path, depth),
      inputs: inputs.map(formal),
      outputs: outputs.map(formal),
      values: [],
      initializers: [],
    };
  }
}

/** A tensor's name where a function is called, by its name in the function. */
type Names = (name: string) => string;

/**
 * A model in which the nodes of local functions are in place of their calls, as TensorRT inlines them. They have the ids
 * of `expandFunctions`, and their inner tensors the names `<call>/<name>`. The same model if it has no functions.
 */
export function inlineFunctions(model: OnnxModel): OnnxModel {
  if (model.functions.length === 0) return model;
  const called = new Set(model.functions.map(({ domain, name, overload }) => keyOf(domain, name, overload)));
  const expanded = expandFunctions(model);
  const inlining = new Inlining(called);
  const graph = inlining.graph(expanded.graph, (name) => name);
  return { ...expanded, graph, nodes: inlining.all };
}

class Inlining {
  /** Nodes of all graphs. */
  readonly all: OnnxNode[] = [];
  readonly #called: ReadonlySet<string>;

  constructor(called: ReadonlySet<string>) {
    this.#called = called;
  }

  graph(graph: OnnxGraph, names: Names): OnnxGraph {
    const nodes: OnnxNode[] = [];
    this.#add(graph.nodes, names, nodes);
    return { ...graph, nodes, outputs: graph.outputs.map((output) => ({ ...output, name: names(output.name) })) };
  }

  #add(list: readonly OnnxNode[], names: Names, nodes: OnnxNode[]): void {
    for (const node of list) {
      const body = this.#called.has(keyOf(node.domain, node.op, node.overload)) ? node.subgraphs.at(-1) : undefined;
      if (body?.attribute === node.op) this.#add(body.graph.nodes, innerNames(node, body.graph, names), nodes);
      else nodes.push(this.#node(node, names));
    }
  }

  #node(node: OnnxNode, names: Names): OnnxNode {
    const made: OnnxNode = { ...node, inputs: node.inputs.map(names), outputs: node.outputs.map(names), subgraphs: [] };
    this.all.push(made);
    made.subgraphs = node.subgraphs.map(({ attribute, graph }) => {
      const own = new Set([
        ...[...graph.inputs, ...graph.initializers].map(({ name }) => name),
        ...graph.nodes.flatMap(({ outputs }) => outputs),
      ]);
      return { attribute, graph: this.graph(graph, (name) => (own.has(name) ? name : names(name))) };
    });
    return made;
  }
}

/** What the formal names of a function stand for in a call. */
function innerNames({ id, inputs, outputs }: OnnxNode, body: OnnxGraph, names: Names): Names {
  const given = new Map([['', '']]);
  body.outputs.forEach(({ name }, index) => outputs[index] && given.set(name, names(outputs[index])));
  body.inputs.forEach(({ name }, index) => given.set(name, names(inputs[index] ?? '')));
  return (name) => given.get(name) ?? `${id}/${name}`;
}

/** A node as far as its place in an attention matters; each tensor of the network has one name or number, in all graphs. */
export interface AttentionNode<Tensor> {
  op: string;
  inputs: readonly Tensor[];
  outputs: readonly Tensor[];
}

const arranging = [
  'Cast',
  'QuantizeLinear',
  'DequantizeLinear',
  'Identity',
  'Reshape',
  'Squeeze',
  'Unsqueeze',
  'Flatten',
];
/** What may be between the first product of an attention and its Softmax: scale, cap, bias, masks of windows. */
const between: ReadonlySet<string> = new Set([
  ...'Mul Div Add Sub Where Clip Tanh Max Min Expand Transpose'.split(' '),
  ...arranging,
]);
/** What may be between its Softmax and the second product: dropout, masked heads, and rows without a key that are set to 0. */
const behindSoftmax: ReadonlySet<string> = new Set([...arranging, 'Dropout', 'Mul', 'Where', 'IsNaN', 'Transpose']);
const attentionProducts: ReadonlySet<string> = new Set(['MatMul', 'Gemm', 'Einsum']);

/** The core of one attention, as positions in the network. */
export interface Attention {
  scores: number;
  softmax: number;
  values: number;
  /** The nodes on the way from the one product to the other, in that order, without the products. */
  path: number[];
}

/** The nodes of a graph as `attentions` reads them. */
export const attentionNodes = ({ nodes, inputs, outputs }: ModelGraph): AttentionNode<number>[] =>
  nodes.map(({ op }, node) => ({ op, inputs: inputs[node]!, outputs: outputs[node]! }));

/** Every Softmax that is fed by a product of two computed tensors through scale, mask, casts and the like, and read by another one. */
export function attentions<Tensor extends string | number>(network: readonly AttentionNode<Tensor>[]): Attention[] {
  if (!network.some(({ op }) => op === 'Softmax')) return [];
  const producer = new Map<Tensor, number>();
  const readers = new Map<Tensor, number[]>();
  network.forEach(({ outputs }, index) => {
    for (const output of outputs) if (output !== '') producer.set(output, index);
  });
  network.forEach(({ inputs }, index) => {
    for (const input of inputs) if (producer.has(input)) addTo(readers, input, index);
  });
  /** A product of what nodes make: one with weights, such as that of a position bias, makes no scores. */
  const isOfComputed = ({ inputs }: AttentionNode<Tensor>) => inputs.slice(0, 2).every((input) => producer.has(input));
  const before = (softmax: number): { found: number; path: number[] } | undefined => {
    const from = new Map<number, number>();
    const queue = [softmax];
    let other: number | undefined;
    for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
      for (const input of network[at]!.inputs) {
        const found = producer.get(input);
        if (found === undefined || from.has(found) || found === softmax) continue;
        from.set(found, at);
        const node = network[found]!;
        if (attentionProducts.has(node.op)) {
          if (isOfComputed(node)) return { found, path: chain(from, found, softmax) };
          other ??= found;
        } else if (between.has(node.op)) queue.push(found);
      }
    }
    return other === undefined ? undefined : { found: other, path: chain(from, other, softmax) };
  };
  const behind = (softmax: number): { found: number; path: number[] } | undefined => {
    const from = new Map<number, number>();
    const queue = [softmax];
    for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
      for (const output of network[at]!.outputs)
        for (const reader of readers.get(output) ?? []) {
          if (from.has(reader) || reader === softmax) continue;
          const { op, inputs } = network[reader]!;
          // The probabilities are the left factor, transposed the right one.
          const factor = network[at]!.op === 'Transpose' ? inputs.indexOf(output) : 0;
          if (attentionProducts.has(op) && inputs[factor] === output) {
            from.set(reader, at);
            return { found: reader, path: chain(from, reader, softmax).reverse() };
          }
          if (!behindSoftmax.has(op)) continue;
          from.set(reader, at);
          queue.push(reader);
        }
    }
    return undefined;
  };
  return network.flatMap(({ op }, softmax) => {
    if (op !== 'Softmax') return [];
    const [scores, values] = [before(softmax), behind(softmax)];
    if (!scores || !values) return [];
    return [{ scores: scores.found, softmax, values: values.found, path: [...scores.path, softmax, ...values.path] }];
  });
}

/** The nodes between a node and a Softmax, from the node on, without the two. */
function chain(from: ReadonlyMap<number, number>, node: number, softmax: number): number[] {
  const found: number[] = [];
  for (let at = from.get(node)!; at !== softmax; at = from.get(at)!) found.push(at);
  return found;
}
