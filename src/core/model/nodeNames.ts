import type { ParsedNode } from './parsedNode.ts';
import type { MetadataToken } from './layerMetadata.ts';
import type { ModelGraph } from './modelGraph.ts';
import {
  kernelSpellings,
  NodesByName,
  nodesOfKernel,
  noNodes,
  withoutReturns,
  type LayerNodes,
} from './nodesByName.ts';
import { parserName } from './parserName.ts';
import { untakenNodes } from './untakenBranches.ts';

/** How a model's nodes are called in what TensorRT writes. */
export interface NodeNames extends LayerNodes {
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
  const byName = new NodesByName(graph.nodes, untakenNodes(graph));
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
    unmatched,
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
      const [, kind, count] = /\(Unnamed (Loop|IfConditional)_ (\d+)\)/.exec(base) ?? [];
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
  const byKey = new Map<string, number[]>();
  for (const record of parsed) {
    const all = byName.nodesOf(record.name);
    const key = keyOf(record.op, record.name);
    const sameOp = byKey.get(key) ?? all.filter((index) => graph.nodes[index]!.op === record.op);
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
    const index = sameOp[turn % sameOp.length]!;
    records.set(index, record);
    for (const layer of record.layers) {
      if (!graph.byName.has(layer) || byName.has(layer)) registry.set(withoutReturns(layer), index);
    }
  }
  return { names, operators, of: parsed.length };
}

const keyOf = (op: string, name: string): string => `${op}\u0000${name}`;

function nodesOfToken(
  graph: ModelGraph,
  token: MetadataToken,
  { nodesOf, longest }: Pick<NodeNames, 'nodesOf' | 'longest'>,
  owners: () => ReadonlyMap<string, number>,
): readonly number[] {
  const whole = nodesOf(token.text);
  if (whole.length > 0 || token.parts.length === 1) return outsideFunctions(graph, whole);
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

/** A node inside a function always comes with its path: a name alone is another node's, if there is one. */
function outsideFunctions(graph: ModelGraph, nodes: readonly number[]): readonly number[] {
  if (nodes.length < 2 || graph.model.functions.length === 0) return nodes;
  const outside = nodes.filter((node) => !isInFunction(graph, node));
  return outside.length > 0 ? outside : nodes;
}

function isInFunction(graph: ModelGraph, node: number): boolean {
  const owner = graph.owner[node]!;
  if (owner < 0) return false;
  const { op, subgraphs } = graph.nodes[owner]!;
  // Also a node that is not ONNX's own may have a graph as its attribute.
  const isCall =
    graph.model.functions.some(({ name }) => name === op) && subgraphs.some(({ attribute }) => attribute === op);
  return isCall || isInFunction(graph, owner);
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
