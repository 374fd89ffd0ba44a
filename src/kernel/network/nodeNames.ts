// Finds the nodes that a layer's name contains.
import { addTo } from '../base/addTo.ts';
import type { OnnxFunction, OnnxGraph, OnnxModel } from '../read/onnx/onnxModel.ts';
import { constantOf, type Elements, elementsOf } from './internal/shapeValues.ts';
import { atomsOf, type KnownNames, type MetadataToken, parseLayerName, readsLikeTokens } from './layerName.ts';
import { bodyOf, type ModelGraph } from './modelGraph.ts';

/**
 * The name that TensorRT's parser uses for a node in logs, layers and metadata: its own, or `node_of_<first output>`.
 * An unused first output gives `node_of_`, a node without outputs '' (observed with TensorRT-RTX 1.7.1).
 */
export function parserName({ name, outputs }: { name: string; outputs: readonly string[] }): string {
  return name === '' && outputs.length > 0 ? `node_of_${outputs[0] ?? ''}` : name;
}

/** What the parser's log says of one ONNX node. */
export interface ParsedNode {
  /** The name that the parser used: the node's own, or `node_of_<first output>`. */
  name: string;
  op: string;
  line: number;
  /** Of a Shape or Size: the dimensions of what it reads, -1 for one that the parser does not know. */
  inputDims?: readonly number[];
  /** Names of the TensorRT layers registered for it, and of helpers registered while it was parsed. */
  layers: string[];
  helpers: string[];
}

/** What the parts of a layer's name can mean in one model. */
export interface LayerNodes extends KnownNames {
  /** Indices of the nodes for which TensorRT made a layer of that name; several where nodes share it. */
  nodesOfLayer(layer: string): readonly number[];
  /** Indices of the nodes in the name of a Myelin kernel, without its `_myl3_14`. */
  nodesOfKernel(base: string): readonly number[];
}

export const noNodes: readonly number[] = [];

/** Logs lose a carriage return at the end of a line, and with it a part of a name: names are compared without. */
export const withoutReturns = (name: string): string => (name.includes('\r') ? name.replaceAll('\r', '') : name);

/** A model's nodes by the names that TensorRT's parser uses for them. */
export class NodesByName implements LayerNodes {
  /** Length of the longest name. */
  readonly longest: number;
  readonly #byName = new Map<string, number[]>();
  #spelled: ReadonlyMap<string, number[]> | undefined;

  /** `without`: indices of nodes that a name means only if no other node has it. */
  constructor(nodes: Iterable<{ name: string; outputs: readonly string[] }>, without: ReadonlySet<number> = new Set()) {
    let longest = 0;
    let index = 0;
    for (const node of nodes) {
      const name = withoutReturns(parserName(node));
      if (name.length > longest) longest = name.length;
      addTo(this.#byName, name, index++);
    }
    this.longest = longest;
    if (without.size === 0) return;
    for (const [name, all] of this.#byName) {
      const kept = all.filter((node) => !without.has(node));
      if (kept.length > 0 && kept.length < all.length) this.#byName.set(name, kept);
    }
  }

  has(name: string): boolean {
    return this.#byName.has(withoutReturns(name));
  }

  /** Distinct names in the order of the nodes. */
  names(): IterableIterator<string> {
    return this.#byName.keys();
  }

  /** Indices of the nodes of exactly that name. */
  nodesOf(name: string): readonly number[] {
    return this.#byName.get(withoutReturns(name)) ?? noNodes;
  }

  /** Nodes of that name, or of the name without the `_18` that TensorRT appends where several nodes share one. */
  nodesOfLayer(layer: string): readonly number[] {
    const found = this.nodesOf(layer);
    return found.length > 0 ? found : this.sharing(layer);
  }

  /** The nodes that share the name that a layer's name is without TensorRT's `_18`. */
  sharing(layer: string): readonly number[] {
    const bare = /^([^]+)_\d+$/.exec(layer)?.[1];
    const found = bare === undefined ? noNodes : this.nodesOf(bare);
    return found.length < 2 ? noNodes : found;
  }

  nodesOfKernel(base: string): readonly number[] {
    this.#spelled ??= kernelSpellings(this.#byName);
    return nodesOfKernel(base, this.#spelled);
  }
}

/** Names as kernels spell them, with `_` for most characters that are not letters or digits. */
export function kernelSpellings(byName: Iterable<readonly [string, readonly number[]]>): Map<string, number[]> {
  const map = new Map<string, number[]>();
  for (const [name, nodes] of byName) for (const index of nodes) addTo(map, kernelSpelling(name), index);
  return map;
}

const kernelSpelling = (name: string): string => name.replace(/[^A-Za-z0-9/]/g, '_');

/** `a+b+c`: gemms that were merged; `$$myelin$$(Unnamed Loop_ 0)^a`: inside a loop. */
export function nodesOfKernel(base: string, spelled: ReadonlyMap<string, number[]>): readonly number[] {
  const whole = spelled.get(kernelSpelling(base));
  if (whole) return whole;
  const nodes: number[] = [];
  const shared = new Set<number[]>();
  for (const piece of base.split('+')) {
    const found = spelled.get(kernelSpelling(piece.slice(piece.lastIndexOf('^') + 1)));
    if (!found || shared.has(found)) continue;
    for (const index of found) nodes.push(index);
    // A name that many nodes share says nothing more where it comes again.
    if (found.length > 1) shared.add(found);
  }
  return nodes;
}

/**
 * The nodes that the name of a TensorRT layer contains, for each of its parts all that the part may mean: of a fused
 * layer its parts, of a ForeignNode the two ends, of a kernel the nodes that its name spells.
 */
export function nodesInName(names: LayerNodes, layer: string): (readonly number[])[] {
  const whole = names.nodesOfLayer(layer);
  // Most names in a log are of one layer; without a separator there is nothing to parse.
  if (whole.length > 0) return [whole];
  if (!/[ ({]|_myl\d/.test(layer)) return [];
  const name = parseLayerName(layer, names);
  const parts =
    name.kind === 'kernel' ? [names.nodesOfKernel(name.base)] : atomsOf(name).map((atom) => names.nodesOfLayer(atom));
  return parts.filter((nodes) => nodes.length > 0);
}

/** `20/then_branch/3/else_branch/0`, 20 → `then_branch` */
export const branchOf = (graph: ModelGraph, node: number, owner: number): string =>
  graph.nodes[node]!.id.slice(graph.nodes[owner]!.id.length + 1).split('/')[0]!;

/**
 * The nodes of branches that no run can take, with the If whose condition is an initializer or a Constant, the outermost
 * one. TensorRT's parser reads only the other branch.
 */
export function untakenNodes(graph: ModelGraph): Map<number, number> {
  const untaken = new Map<number, number>();
  const owners = ownersOf(graph, 'If');
  if (owners.length === 0) return untaken;
  const values = constantValues(graph);
  for (const owner of owners) {
    const value = conditionOf(graph, values, graph.inputs[owner]![0] ?? -1);
    if (value === null) continue;
    const taken = value ? 'then_branch' : 'else_branch';
    for (const node of bodyOf(graph, owner))
      if (branchOf(graph, node, owner) !== taken && !untaken.has(node)) untaken.set(node, owner);
  }
  return untaken;
}

/** The nodes in bodies of Loops that no run enters: the number of rounds is 0, or the condition false, by a constant. */
export function unrunNodes(graph: ModelGraph): Set<number> {
  const loops = ownersOf(graph, 'Loop');
  if (loops.length === 0) return new Set();
  const values = constantValues(graph);
  const isEmpty = (owner: number): boolean =>
    [0, 1].some((slot) => conditionOf(graph, values, graph.inputs[owner]![slot] ?? -1) === false);
  return new Set(loops.filter(isEmpty).flatMap((owner) => bodyOf(graph, owner)));
}

/** The nodes of an operator that have bodies. */
const ownersOf = (graph: ModelGraph, of: string): number[] =>
  graph.nodes.flatMap(({ op, subgraphs }, index) => (op === of && subgraphs.length > 0 ? [index] : []));

/** Values of initializers, by the index of the tensor. */
function constantValues(graph: ModelGraph): Map<number, Elements> {
  const values = new Map<number, Elements>();
  const add = ({ path, initializers, nodes }: OnnxGraph): void => {
    for (const tensor of initializers) {
      const elements = elementsOf(tensor);
      if (elements) values.set(graph.tensorAt(path, tensor.name), elements);
    }
    for (const { subgraphs } of nodes) for (const { graph: body } of subgraphs) add(body);
  };
  add(graph.model.graph);
  return values;
}

/** Whether a condition or a count is other than zero by a constant; null: not known before the run. */
function conditionOf(graph: ModelGraph, values: ReadonlyMap<number, Elements>, tensor: number): boolean | null {
  const producer = tensor < 0 ? undefined : graph.nodes[graph.tensors[tensor]!.producer];
  const elements = producer?.op === 'Constant' ? constantOf(producer) : values.get(tensor);
  const [value] = elements ?? [];
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) !== 0 : null;
}

/** How a model's nodes are called in what TensorRT writes. */
export interface NodeNames extends LayerNodes {
  /** Names that read like several in metadata. */
  likeTokens: ReadonlySet<string>;
  /** Indices of the nodes of that name (`node_of_<first output>` for one without); several where nodes share it. */
  nodesOf(name: string): readonly number[];
  /** The node for which the parser registered that TensorRT layer; undefined if the log doesn't say. */
  registered(layer: string): number | undefined;
  /** Nodes whose TensorRT layers the parser registered under the names in a Myelin kernel's name. */
  registeredInKernel(base: string): readonly number[];
  /** The records say which layers were made of which node: all that have none are empty. */
  registersLayers: boolean;
  /** How many TensorRT layers the parser registered, helpers included. */
  registeredLayers: number;
  /** The parser's record of a node; undefined if the log has none. */
  recordOf(node: number): ParsedNode | undefined;
  /** Nodes of a TensorRT layer's name: registered, of that name, or of the name without TensorRT's `_18`. */
  nodesOfLayer(layer: string): readonly number[];
  /** Nodes that a metadata token names; empty if the model has no such node. */
  nodesOfToken(token: MetadataToken): readonly number[];
  /** The node that became the loop or conditional in which a Myelin kernel runs, by TensorRT's count of them. */
  nodesOfLoop(base: string): readonly number[];
  /** The node whose loop or branch, function or body a token is in, where it names one. */
  callerOf(token: MetadataToken): readonly number[];
  /** Parser's records that fit no node of the model, and how many there are in all. */
  unmatched: Unmatched;
  /** Nodes of local functions that the parser did not read, with the call that it took for an operator of that name. */
  replaced: ReadonlyMap<number, number>;
}

export interface Unmatched {
  /** Names that no node of the model has. */
  names: string[];
  /** Nodes of that name with another operator, and the log's. */
  operators: { node: number; op: string }[];
  of: number;
}

/** Operators that the parser turns into TensorRT loops and conditionals, which it counts together. */
const loopMakers = new Set(['Loop', 'Scan', 'If', 'LSTM', 'GRU', 'RNN']);

/**
 * Collects the names; `parsed`: the parser's records of the log, empty if there is none; `isWhole`: none of what the
 * log says of them was dropped.
 */
export function createNodeNames(graph: ModelGraph, parsed: readonly ParsedNode[], isWhole = true): NodeNames {
  const replaced = replacedNodes(graph, parsed);
  const byName = new NodesByName(graph.nodes, new Set([...untakenNodes(graph).keys(), ...replaced.keys()]));
  const registry = new Map<string, number>();
  const records = new Map<number, ParsedNode>();
  const unmatched = register(graph, byName, parsed, registry, records);
  const constants = new Set<string>();
  for (const { name, kind, producer } of graph.tensors) {
    if (kind === 'initializer' || (producer >= 0 && graph.nodes[producer]!.op === 'Constant')) constants.add(name);
  }
  let { longest } = byName;
  for (const names of [registry.keys(), constants]) {
    for (const name of names) if (name.length > longest) longest = name.length;
  }
  let registeredSpelled: Map<string, number[]> | undefined;
  let loops: number[] | undefined;
  let labels: Map<string, number> | undefined;
  const ownerLabels = () =>
    (labels ??= new Map(
      graph.nodes.flatMap((node, index) =>
        node.subgraphs.length > 0 ? [[`${parserName(node)} (${node.op})`, index] as const] : [],
      ),
    ));
  const nodesOf = (name: string) => byName.nodesOf(name);
  const nodesOfLayer = (layer: string): readonly number[] => {
    const index = registry.get(withoutReturns(layer));
    if (index !== undefined) return [index];
    const found = nodesOf(layer);
    return found.length > 0 || constants.has(layer) ? found : byName.sharing(layer);
  };
  return {
    longest,
    likeTokens: new Set([...byName.names()].filter(readsLikeTokens)),
    unmatched,
    replaced,
    has: (name) => byName.has(name) || registry.has(name) || constants.has(name),
    nodesOf,
    nodesOfLayer,
    registered: (layer) => registry.get(layer),
    registeredInKernel: (base) => {
      registeredSpelled ??= kernelSpellings([...registry].map(([name, index]) => [name, [index]]));
      return nodesOfKernel(base, registeredSpelled);
    },
    registersLayers: isWhole && parsed.some(({ layers }) => layers.length > 0),
    registeredLayers: parsed.reduce((sum, { layers, helpers }) => sum + layers.length + helpers.length, 0),
    recordOf: (node) => records.get(node),
    nodesOfToken: (token) => nodesOfToken(graph, token, { nodesOf, longest }, ownerLabels),
    callerOf: (token) => callersOf(graph, token, nodesOf),
    nodesOfLoop: (base) => {
      const [, kind, count] = /\(Unnamed (Loop|IfConditional)[_*] (\d+)\)/.exec(base) ?? [];
      loops ??= graph.nodes.flatMap(({ op }, index) => (loopMakers.has(op) ? [index] : []));
      const node = count === undefined ? undefined : loops[Number(count)];
      if (node === undefined || (graph.nodes[node]!.op === 'If') !== (kind === 'IfConditional')) return noNodes;
      return [node];
    },
    nodesOfKernel: (base) => byName.nodesOfKernel(base),
  };
}

/** Nodes that share a name are distinguished by their order: the parser takes them as the file does. */
function register(
  graph: ModelGraph,
  byName: NodesByName,
  parsed: readonly ParsedNode[],
  registry: Map<string, number>,
  records: Map<number, ParsedNode>,
): Unmatched {
  const seen = new Map<string, number>();
  const names: string[] = [];
  const operators: Unmatched['operators'] = [];
  // Functions are parsed node by node, though the model's graphs have only their calls.
  const inFunctions = new Set(
    graph.model.functions.flatMap(({ nodes }) => nodes.map((node) => keyOf(node.op, parserName(node)))),
  );
  const byKey = new Map<string, readonly number[]>();
  const overloaded = namesInOverloads(graph);
  const add = (record: ParsedNode, index: number): void => {
    records.set(index, record);
    for (const layer of record.layers) {
      if (!graph.byName.has(layer) || byName.has(layer)) registry.set(withoutReturns(layer), index);
    }
  };
  for (const record of parsed) {
    const all = byName.nodesOf(record.name);
    // Most names are of one node.
    if (all.length === 1 && graph.nodes[all[0]!]!.op === record.op && !overloaded.has(record.name)) {
      add(record, all[0]!);
      continue;
    }
    const key = overloaded.has(record.name) ? record.name : keyOf(record.op, record.name);
    const sameOp =
      byKey.get(key) ??
      (overloaded.has(record.name) ? all : all.filter((index) => graph.nodes[index]!.op === record.op));
    byKey.set(key, sameOp);
    if (sameOp.length === 0) {
      if (inFunctions.has(key)) continue;
      if (all.length > 0) operators.push({ node: all[0]!, op: record.op });
      else names.push(record.name);
      continue;
    }
    const turn = seen.get(key) ?? 0;
    seen.set(key, turn + 1);
    // A log of several builds parses the model several times.
    add(record, sameOp[turn % sameOp.length]!);
  }
  return { names, operators, of: parsed.length };
}

/** Of a call of a function, the parser registers the layers of its nodes; of an operator, one of its own. */
function replacedNodes(graph: ModelGraph, parsed: readonly ParsedNode[]): Map<number, number> {
  const replaced = new Map<number, number>();
  if (graph.model.functions.length === 0) return replaced;
  const built = new Set(parsed.flatMap(({ op, name, layers }) => (layers.length > 0 ? [keyOf(op, name)] : [])));
  graph.nodes.forEach((node, call) => {
    const isCall = node.subgraphs.at(-1)?.attribute === node.op;
    if (isCall && built.has(keyOf(node.op, parserName(node))))
      for (const inner of bodyOf(graph, call)) replaced.set(inner, call);
  });
  return replaced;
}

/** Names of the nodes of overloaded functions: TensorRT's parser builds one overload for all, with what operators it has. */
function namesInOverloads(graph: ModelGraph): ReadonlySet<string> {
  const overloads = overloadedFunctions(graph.model);
  return new Set(overloads.flatMap(({ nodes }) => nodes.map(parserName)));
}

/** The local functions that differ from another one in their overload only. */
export function overloadedFunctions({ functions }: OnnxModel): OnnxFunction[] {
  const keyOfFunction = ({ domain, name }: OnnxFunction): string => `${domain}\u0000${name}`;
  const counts = new Map<string, number>();
  for (const one of functions) counts.set(keyOfFunction(one), (counts.get(keyOfFunction(one)) ?? 0) + 1);
  return functions.filter((one) => counts.get(keyOfFunction(one))! > 1);
}

const keyOf = (op: string, name: string): string => `${op}\u0000${name}`;

function nodesOfToken(
  graph: ModelGraph,
  token: MetadataToken,
  { nodesOf, longest }: Pick<NodeNames, 'nodesOf' | 'longest'>,
  owners: () => ReadonlyMap<string, number>,
): readonly number[] {
  const whole = nodesOf(token.text);
  if (whole.length > 0 || token.parts.length === 1) return withoutPath(graph, whole);
  // `node | graph (attribute) | owner (If) | …`, the name itself perhaps with ` | `: longest first.
  let end = token.text.length;
  for (let length = token.parts.length - 1; length > 0; length--) {
    end -= token.parts[length]!.length + ' | '.length;
    const nodes = end > longest ? noNodes : nodesOf(token.text.slice(0, end));
    if (nodes.length === 0) continue;
    const path = token.parts.slice(length);
    const inside = nodes.filter((index) => isOnPath(graph, index, path));
    if (inside.length > 0) return inside;
    // A node of a subgraph whose path is written otherwise; one of the main graph only has the name of another.
    const nested = nodes.filter((index) => graph.owner[index]! >= 0);
    if (nested.length > 0) return nested.length === 1 ? nested : noNodes;
    return behindOwner(graph, nodes, path, owners());
  }
  return noNodes;
}

/**
 * A node inside a function or the branch of an If always comes with its path: a name alone is that of another node, if
 * there is one. Nodes inside loops come without.
 */
function withoutPath(graph: ModelGraph, nodes: readonly number[]): readonly number[] {
  if (nodes.length < 2) return nodes;
  const outside = nodes.filter((node) => !hasPath(graph, node));
  return outside.length > 0 ? outside : nodes;
}

function hasPath(graph: ModelGraph, node: number): boolean {
  const owner = graph.owner[node]!;
  if (owner < 0) return false;
  const { op, subgraphs } = graph.nodes[owner]!;
  // Also a node that is not ONNX's own may have a graph as its attribute.
  const isCall =
    graph.model.functions.some(({ name }) => name === op) && subgraphs.some(({ attribute }) => attribute === op);
  return isCall || op === 'If' || hasPath(graph, owner);
}

/**
 * Where an If was decided at build time, TensorRT goes on to write its name after that of every node after it:
 * `post | if (If)` is then a node of the graph that the If is in.
 */
function behindOwner(
  graph: ModelGraph,
  nodes: readonly number[],
  path: string[],
  owners: ReadonlyMap<string, number>,
): readonly number[] {
  const levels = path.map((part) => owners.get(part));
  if (levels.includes(undefined)) return noNodes;
  return nodes.filter((index) => levels.some((owner) => graph.owner[owner!] === graph.owner[index]));
}

/** Whether the owners of a node are those that the rest of a token names, from the inside out. */
function isOnPath(graph: ModelGraph, index: number, path: string[]): boolean {
  let inner = graph.nodes[index]!.id;
  let at = graph.owner[index]!;
  for (const part of path) {
    if (at < 0) return false;
    const owner = graph.nodes[at]!;
    if (part === `${parserName(owner)} (${owner.op})`) {
      inner = owner.id;
      at = graph.owner[at]!;
      continue;
    }
    const isHere = owner.subgraphs.some(
      ({ attribute, graph: { name } }) =>
        part === `${name} (${attribute})` && inner.startsWith(`${owner.id}/${attribute}/`),
    );
    if (!isHere) return false;
  }
  return true;
}

/** The node in whose function or body a token's node is: named in its path, or the only call of the function named there. */
function callersOf(
  graph: ModelGraph,
  token: MetadataToken,
  nodesOf: (name: string) => readonly number[],
): readonly number[] {
  for (let at = 1; at < token.parts.length; at++) {
    const part = token.parts[at]!;
    const [, name, op] = /^([^]*) \(([^()]*)\)$/.exec(part) ?? [];
    if (name === undefined) continue;
    // A call inside another function is not a node of the model, though one may have its name.
    const all = nodesOf(name);
    const path = all.length > 0 ? token.parts.slice(at + 1) : [];
    const nodes = all.filter((index) => graph.nodes[index]!.op === op && isOnPath(graph, index, path));
    if (nodes.length > 0) return nodes;
  }
  for (const part of new Set(token.parts.slice(1))) {
    const plain = nodesOf(part);
    if (plain.length > 0) return plain;
    const [, called = '', type] = /^(?:Local Function: )?([^]*?)(?: \(([^()]*)\))?$/.exec(part) ?? [];
    for (const candidate of [called, type]) {
      if (candidate === undefined) continue;
      const nodes = nodesOf(candidate);
      if (nodes.length > 0) return nodes;
      if (!graph.model.functions.some(({ name }) => name === candidate)) continue;
      const calls = graph.nodes.flatMap(({ op }, index) => (op === candidate ? [index] : []));
      if (calls.length > 0) return calls;
    }
  }
  return noNodes;
}
