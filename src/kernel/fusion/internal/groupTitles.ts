import { addTo, valueAt } from '../../base/addTo.ts';
import { fromFirstLayer, scopeFrom, scopeOf } from '../../network/layerName.ts';
import { attentions, type ModelGraph } from '../../network/modelGraph.ts';

/** A group of nodes to name: indices in the graph, and the name that TensorRT gives to it. */
export interface UntitledGroup {
  name: string;
  members: Iterable<number>;
  /** What it computes as far as the log says, for a group of which no member is known. */
  content?: string;
}

/** Characters of the part that says where a group is. */
const longestPlace = 26;

/** A module counts as the place of a group if it has this share of its nodes: borders are seldom those of modules. */
const mostOf = 0.75;

/**
 * What each group is called: where it is among the modules, and what it computes, as
 * `stages.2/blocks.2 · LayerNorm + MLP`. Depends on the members and their names only, so that it stays the same between
 * builds. No two groups have the same title. '' where neither the members nor TensorRT's name say anything.
 */
export function groupTitles(graph: ModelGraph, groups: readonly UntitledGroup[]): string[] {
  const places = new Places(graph);
  const groupOf = new Int32Array(graph.nodes.length).fill(-1);
  const found = groups.map(({ name, members, content = '' }, group) => {
    const nodes = [...members].toSorted((a, b) => a - b);
    if (nodes.length === 0) return () => titled(placeOfName(name), content);
    for (const node of nodes) groupOf[node] = group;
    const what = contentOf(graph, nodes, (node) => groupOf[node] === group);
    const paths = places.of(nodes);
    return (inDetail: boolean) => titled(placeOf(paths, inDetail), what);
  });
  const titles = found.map((title) => title(false));
  for (const same of repeated(titles)) for (const at of same) titles[at] = found[at]!(true);
  for (const same of repeated(titles)) same.forEach((at, turn) => (titles[at] += ` #${turn + 1}`));
  return titles;
}

const titled = (place: string, what: string): string => [place, what].filter((part) => part !== '').join(' · ');

/** Positions of each title that several groups have. */
function repeated(titles: readonly string[]): number[][] {
  const places = new Map<string, number[]>();
  titles.forEach((title, at) => title !== '' && addTo(places, title, at));
  return [...places.values()].filter(({ length }) => length > 1);
}

/** The modules that a node is in, outermost first. */
interface Path {
  modules: string[];
}

/** How many nodes are at a place. */
type Counts = ReadonlyMap<Path, number>;

/** The modules of nodes, without those that all nodes of the model are in. */
class Places {
  readonly #graph: ModelGraph;
  /** The nodes of one module share its path. */
  readonly #paths: Path[];

  constructor(graph: ModelGraph) {
    this.#graph = graph;
    const byModule = new Map<string, Path>();
    this.#paths = graph.nodes.map(({ name, metadata }) => {
      const { scope } = scopeFrom(metadata);
      const module = scope ?? (name.includes('/') ? name.slice(0, name.lastIndexOf('/') + 1) : name);
      let path = byModule.get(module);
      if (!path) byModule.set(module, (path = { modules: modulesOf(name, scope) }));
      return path;
    });
    const all = new Set(this.#paths.filter((_, index) => graph.owner[index]! < 0));
    const known = [...all].filter(({ modules }) => modules.length > 0);
    const first = known[0]?.modules ?? [];
    const differs = first.findIndex((part, depth) => known.some(({ modules }) => modules[depth] !== part));
    if (differs > 0) for (const path of byModule.values()) path.modules.splice(0, differs);
  }

  of(nodes: readonly number[]): Counts {
    const counts = new Map<Path, number>();
    for (const node of nodes) {
      // What is in a subgraph is where its owner is.
      let at = node;
      for (let steps = 0; this.#graph.owner[at]! >= 0 && steps < 64; steps++) at = this.#graph.owner[at]!;
      const path = this.#paths[at]!;
      if (path.modules.length > 0) counts.set(path, (counts.get(path) ?? 0) + 1);
    }
    return counts;
  }
}

/** `blocks`, `blocks.0`, `attn` are `blocks.0` and `attn`: exporters repeat the parent's name. */
const modulesOf = (name: string, scope: string | undefined): string[] =>
  scopeOf(name, scope).filter((part, at, all) => !all[at + 1]?.startsWith(`${part}.`));

/** Where most of some nodes are; `inDetail`, with the modules inside that they are in. */
function placeOf(all: Counts, inDetail: boolean): string {
  const path: string[] = [];
  const known = sumOf(all);
  let inside = { paths: all, nodes: known };
  let siblings = childrenOf(all, 0);
  for (;;) {
    const [most] = siblings.toSorted((a, b) => b.nodes - a.nodes);
    if (most === undefined || most.nodes < mostOf * known) break;
    path.push(most.name);
    inside = most;
    siblings = childrenOf(most.paths, path.length);
  }
  // Few nodes of another module do not name the group.
  const children = siblings.filter(({ nodes }) => nodes * siblings.length * 4 >= inside.nodes);
  // Modules that are numbered like these belong to their row, whatever their size: its ends name it.
  const stems = new Set(children.flatMap(({ name }) => (/\d$/.test(name) ? [stemOf(name)] : [])));
  const isNamed = (child: (typeof children)[number]) => children.includes(child) || stems.has(stemOf(child.name));
  const names = siblings.filter((child) => isNamed(child)).map(({ name }) => name);
  const range = rangeOf(names);
  const needed = inDetail || path.length === 0 || range !== null;
  return shortPath(needed && names.length > 0 ? [...path, range ?? listed(names)] : path);
}

/** `model.` of `model.12`; a name without a number stays as it is. */
const stemOf = (name: string): string => name.replace(/(?<!\d)\d+$/, '');

const sumOf = (paths: Counts): number => [...paths.values()].reduce((sum, count) => sum + count, 0);

function childrenOf(paths: Counts, depth: number): { name: string; paths: Counts; nodes: number }[] {
  const children = new Map<string, Map<Path, number>>();
  for (const [path, count] of paths) {
    const name = path.modules[depth];
    if (name === undefined) continue;
    const child = children.get(name);
    if (child) child.set(path, count);
    else children.set(name, new Map([[path, count]]));
  }
  return [...children].map(([name, own]) => ({ name, paths: own, nodes: sumOf(own) }));
}

/** `blocks.0` … `blocks.3` is `blocks.0–3`; null unless several are numbered alike, without a gap. */
function rangeOf(names: readonly string[]): string | null {
  const parts = names.flatMap((name) => {
    const [, stem, number] = /^(.*?)(\d{1,9})$/.exec(name) ?? [];
    return stem === undefined ? [] : [{ stem, number: Number(number) }];
  });
  const [first] = parts;
  if (first === undefined || parts.length < Math.max(2, names.length)) return null;
  const numbers = parts.map(({ number }) => number).toSorted((a, b) => a - b);
  const isRow = numbers.every((number, turn) => number === numbers[0]! + turn);
  if (!isRow || parts.some(({ stem }) => stem !== first.stem)) return null;
  return `${first.stem}${numbers[0]}–${numbers.at(-1)}`;
}

const listed = (names: readonly string[]): string =>
  names.length <= 2 ? names.join(' + ') : `${names[0]} … ${names.at(-1)}`;

/** The end of a path tells it from others. */
function shortPath(path: readonly string[]): string {
  const whole = path.join('/');
  if (whole.length <= longestPlace || path.length < 2) return whole;
  let short = path.at(-1)!;
  for (const part of path.slice(0, -1).toReversed()) {
    if (part.length + short.length + 3 > longestPlace) break;
    short = `${part}/${short}`;
  }
  return `…/${short}`;
}

/** Without its members: from the two layers that TensorRT's name has. */
function placeOfName(name: string): string {
  const ends = fromFirstLayer(name)
    .replace(/\]\}.*$/s, '')
    .split('...');
  if (ends.length !== 2) return '';
  // Of `a + b` the first is where it begins.
  const [first, last] = ends.map((end) =>
    modulesOf(end.split(' + ')[0]!.replace(/^\([^()]*\) \[[^[\]]*\]$/, ''), undefined),
  );
  const differs = first!.findIndex((part, depth) => part !== last![depth]);
  const shared = differs === -1 ? first! : first!.slice(0, differs);
  const rest = [first![shared.length], last![shared.length]].filter((part) => part !== undefined);
  return shortPath(rest.length === 2 ? [...shared, `${rest[0]} … ${rest[1]}`] : shared);
}

const activations: ReadonlySet<string> = new Set(
  'Relu LeakyRelu PRelu Elu Selu Celu Gelu FastGelu BiasGelu QuickGelu Erf Sigmoid Tanh HardSwish HardSigmoid Mish Softplus Silu Swish'.split(
    ' ',
  ),
);
/** What is between the two products of a multilayer perceptron, or the parts of a norm. */
const passing: ReadonlySet<string> = new Set(
  'Add Sub Mul Div Pow Cast Identity Dropout Reshape Transpose Squeeze Unsqueeze Flatten Split Slice Clip QuantizeLinear DequantizeLinear'.split(
    ' ',
  ),
);
/** Operators that stand for themselves. */
const alone: ReadonlySet<string> = new Set(['Conv', 'ConvTranspose', 'LSTM', 'GRU', 'RNN']);
const multiplying: ReadonlySet<string> = new Set(['MatMul', 'Gemm', 'MatMulNBits', 'FusedMatMul', 'MatMulInteger']);
const shaping: ReadonlySet<string> = new Set(
  'Constant ConstantOfShape Shape Size Gather Cast Identity Dropout Reshape Transpose Squeeze Unsqueeze Flatten Split Slice Concat Expand Tile Pad QuantizeLinear DequantizeLinear Where Range'.split(
    ' ',
  ),
);
const whole: Readonly<Record<string, string>> = {
  Attention: 'Attention',
  MultiHeadAttention: 'Attention',
  GroupQueryAttention: 'Attention',
  ScaledDotProductAttention: 'Attention',
  LayerNormalization: 'LayerNorm',
  SkipLayerNormalization: 'LayerNorm',
  SimplifiedLayerNormalization: 'RMSNorm',
  SkipSimplifiedLayerNormalization: 'RMSNorm',
  RMSNormalization: 'RMSNorm',
  InstanceNormalization: 'InstanceNorm',
  GroupNormalization: 'GroupNorm',
  BatchNormalization: 'BatchNorm',
};
/** What characterizes a group most, first. Everything else that computes comes behind. */
const order =
  'Attention MLP Conv ConvTranspose LSTM GRU RNN MatMul LayerNorm RMSNorm GroupNorm InstanceNorm BatchNorm'.split(' ');
const mostParts = 3;

interface Part {
  name: string;
  count: number;
  /** The first of its nodes. */
  first: number;
}

/** What nodes compute: `LayerNorm + MLP`, `Attention ×12 + MLP ×12`; at most three parts, in the order of the nodes. */
function contentOf(graph: ModelGraph, nodes: readonly number[], isMember: (node: number) => boolean): string {
  const known = recognized(graph, nodes, isMember);
  const rank = ({ name }: Part): number => (order.indexOf(name) + order.length + 1) % (order.length + 1);
  const others = countedOps(
    graph,
    nodes,
    (op) => !shaping.has(op) && !multiplying.has(op) && valueAt(whole, op) === undefined,
  );
  const rest = others.filter(({ name }) => !order.includes(name));
  // Where a pattern is known, the operators around it say nothing more.
  const isPlain = known.every(({ name }) => /^(?:Conv|ConvTranspose|MatMul)$/.test(name));
  const parts = [...known.toSorted((a, b) => rank(a) - rank(b)), ...(isPlain ? rest : [])];
  const chosen = parts.length > 0 ? parts : countedOps(graph, nodes, (op) => op !== 'Constant');
  return (
    chosen
      // Of many blocks the norms between them say nothing.
      .slice(0, isPlain || known.filter(({ count }) => count > 1).length > 1 ? 2 : mostParts)
      .toSorted((a, b) => a.first - b.first)
      .map(({ name, count }) => (count > 1 ? `${name} ×${count}` : name))
      .join(' + ')
  );
}

/** Operators by how often they occur. */
function countedOps({ nodes: all }: ModelGraph, nodes: readonly number[], keep: (op: string) => boolean): Part[] {
  const parts = new Map<string, Part>();
  for (const node of nodes) {
    const { op } = all[node]!;
    if (!keep(op)) continue;
    const part = parts.get(op) ?? { name: op, count: 0, first: node };
    part.count += 1;
    parts.set(op, part);
  }
  return [...parts.values()].toSorted((a, b) => b.count - a.count);
}

/** Patterns of several nodes, each from its edges inside the group, and the products that are in none. */
function recognized(graph: ModelGraph, nodes: readonly number[], isMember: (node: number) => boolean): Part[] {
  const op = (node: number): string => graph.nodes[node]!.op;
  const before = (node: number): number[] => {
    const found: number[] = [];
    for (const tensor of graph.inputs[node]!) {
      const producer = tensor < 0 ? -1 : graph.tensors[tensor]!.producer;
      if (isMember(producer)) found.push(producer);
    }
    return found;
  };
  const behind = (node: number): readonly number[] => {
    const [tensor, more] = graph.outputs[node]!;
    const readers = tensor === undefined ? [] : graph.tensors[tensor]!.consumers;
    if (more === undefined) return readers;
    return graph.outputs[node]!.flatMap((output) => graph.tensors[output]!.consumers);
  };
  const parts = new Map<string, Part>();
  const add = (name: string, first: number): void => {
    const part = parts.get(name);
    if (!part) parts.set(name, { name, count: 1, first });
    else {
      part.count += 1;
      part.first = Math.min(part.first, first);
    }
  };
  const used = new Set<number>();
  const network = nodes.some((node) => op(node) === 'Softmax')
    ? nodes.map((node) => ({ op: op(node), inputs: graph.inputs[node]!, outputs: graph.outputs[node]! }))
    : [];
  for (const { softmax, scores, values } of attentions(network)) {
    add('Attention', nodes[scores]!);
    for (const at of [softmax, scores, values]) used.add(nodes[at]!);
  }
  const ends = new Set<number>();
  for (const node of nodes) {
    const name = valueAt(whole, op(node)) ?? (op(node) === 'Sqrt' ? normAt(node, op, before) : undefined);
    if (name !== undefined) add(name, node);
    if (alone.has(op(node))) add(op(node), node);
    if (!multiplying.has(op(node)) || used.has(node)) continue;
    const end = secondProduct(node, op, behind, isMember);
    if (end === undefined || used.has(end)) continue;
    used.add(node);
    // A gate is a second way to the same product.
    if (!ends.has(end)) add('MLP', node);
    ends.add(end);
  }
  const rest = nodes.filter((node) => multiplying.has(op(node)) && !used.has(node) && !ends.has(node));
  // The projections of an attention belong to it.
  if (rest.length > 6 * (parts.get('Attention')?.count ?? 0)) for (const node of rest) add('MatMul', node);
  return [...parts.values()];
}

/** What may be between the parts of a norm. */
const handsOn: ReadonlySet<string> = new Set(['Add', 'Cast', 'Identity']);

/** A norm that is written out ends in `Sqrt(ReduceMean(Pow(x − mean)) + ε)`. */
function normAt(sqrt: number, op: (node: number) => string, before: (node: number) => number[]): string | undefined {
  const up = (from: number, wanted: (name: string) => boolean): number | undefined => {
    let at: number | undefined = from;
    for (let steps = 0; at !== undefined && steps < 4; steps++) {
      const sources: number[] = before(at);
      const found = sources.find((node) => wanted(op(node)));
      if (found !== undefined) return found;
      at = sources.find((node) => handsOn.has(op(node)));
    }
    return undefined;
  };
  const mean = up(sqrt, (name) => name === 'ReduceMean');
  const square = mean === undefined ? undefined : up(mean, (name) => name === 'Pow' || name === 'Mul');
  if (square === undefined) return undefined;
  return up(square, (name) => name === 'Sub') === undefined ? 'RMSNorm' : 'LayerNorm';
}

/** The product that reads what a product gives, through an activation. */
function secondProduct(
  start: number,
  op: (node: number) => string,
  behind: (node: number) => readonly number[],
  isMember: (node: number) => boolean,
): number | undefined {
  // Nodes before an activation, and their complements behind one.
  const queue = [start];
  const seen = new Set(queue);
  for (let turn = 0; turn < queue.length && seen.size <= 64; turn++) {
    const at = queue[turn]!;
    for (const reader of behind(at < 0 ? ~at : at)) {
      if (!isMember(reader)) continue;
      const name = op(reader);
      if (multiplying.has(name)) {
        if (at < 0) return reader;
        continue;
      }
      const isActive = activations.has(name);
      if (!isActive && !passing.has(name)) continue;
      const next = at < 0 || isActive ? ~reader : reader;
      if (seen.has(next)) continue;
      seen.add(next);
      queue.push(next);
    }
  }
  return undefined;
}
