// Which nodes of two models are the same; groups of changes.
import { addTo } from '../../kernel/base/addTo.ts';
import { deltaText, isSameTime } from '../../kernel/base/text.ts';
import {
  type FusionReport,
  opaqueForeignNodes,
  type ReportLayer,
  type ReportNode,
} from '../../kernel/fusion/fusionReport.ts';
import { type ChangeKind, type NetworkNode, plainName } from '../../kernel/report/buildDiff.ts';

/** Operators that change no more than a tensor's type: edges are followed through them, since exports add and drop them. */
export const conversions: ReadonlySet<string> = new Set(['QuantizeLinear', 'DequantizeLinear', 'Cast', 'Identity']);

/** The edges of a network and hashes of what surrounds its nodes. Equal hashes stand for equal surroundings. */
export class Structure {
  /** Edges between nodes. */
  edges = 0;
  readonly #nodes: readonly NetworkNode[];
  /** Producer of each input, past conversions; -1: none (an input of the graph, a constant, an absent input). */
  readonly #producers: Int32Array[];
  /** Reader and `output:input` of each edge, past conversions. */
  readonly #readers: [number, string][][];
  readonly #own: number[];

  constructor(nodes: readonly NetworkNode[]) {
    this.#nodes = nodes;
    const producer = new Map<string, [number, number]>();
    nodes.forEach(({ outputs }, index) =>
      outputs.forEach((output, slot) => {
        if (output !== '' && !producer.has(output)) producer.set(output, [index, slot]);
      }),
    );
    const source = (tensor: string): [number, number] | undefined => {
      let found = producer.get(tensor);
      for (let steps = 0; found && steps < 16; steps += 1) {
        const node = nodes[found[0]]!;
        const before = conversions.has(node.op) ? producer.get(node.inputs[0] ?? '') : undefined;
        if (!before) break;
        found = before;
      }
      return found;
    };
    this.#readers = nodes.map(() => []);
    this.#producers = nodes.map(({ inputs }, index) => {
      const producers = new Int32Array(inputs.length).fill(-1);
      inputs.forEach((input, slot) => {
        const from = input === '' ? undefined : source(input);
        if (!from) return;
        producers[slot] = from[0];
        this.edges += 1;
        // What reads a conversion counts as a reader of what was converted: the conversion itself would count twice.
        if (!conversions.has(nodes[index]!.op)) this.#readers[from[0]]!.push([index, `${from[1]}:${slot}`]);
      });
      return producers;
    });
    this.#own = nodes.map((node) =>
      hashText(
        `${this.#kindOf(node)}|${node.constants.join()}|${node.inputs.map((input) => (input === '' ? 0 : 1)).join('')}`,
      ),
    );
  }

  #kindOf({ op, attributes }: NetworkNode): string {
    return `${op}|${attributes}`;
  }

  /** Operator and attributes as one text. */
  kind(node: number): string {
    return this.#kindOf(this.#nodes[node]!);
  }

  producers(node: number): Int32Array {
    return this.#producers[node]!;
  }

  readers(node: number): readonly [number, string][] {
    return this.#readers[node]!;
  }

  /** A hash of everything that a node depends on and everything that depends on it. */
  wholeHashes(): number[] {
    const order = this.#order();
    const up = [...this.#own];
    for (const node of order) up[node] = this.#withProducers(up[node]!, node, up);
    const down = [...this.#own];
    for (const node of order.toReversed()) down[node] = this.#withReaders(down[node]!, node, down);
    return up.map((hash, node) => mix(hash, down[node]!));
  }

  /**
   * A hash of a node and its neighbors up to three edges away.
   * @param labels of nodes that are known on both sides, -1 for the others: the same number for the same node
   */
  hashesAround(labels: Int32Array): number[] {
    let hashes = this.#own.map((hash, node) => (labels[node] === -1 ? hash : mix(1, labels[node]!)));
    for (let round = 0; round < 3; round += 1) {
      const before = hashes;
      hashes = before.map((hash, node) =>
        labels[node] === -1 ? this.#withReaders(this.#withProducers(hash, node, before), node, before) : hash,
      );
    }
    return hashes;
  }

  #withProducers(hash: number, node: number, hashes: readonly number[]): number {
    let result = hash;
    for (const producer of this.#producers[node]!) result = mix(result, producer === -1 ? 3 : hashes[producer]!);
    return result;
  }

  #withReaders(hash: number, node: number, hashes: readonly number[]): number {
    const readers = this.#readers[node]!.map(([reader, slot]) => mix(hashText(slot), hashes[reader]!));
    let result = mix(hash, readers.length);
    for (const reader of readers.toSorted((x, y) => x - y)) result = mix(result, reader);
    return result;
  }

  /** Producers first; nodes of a damaged model's cycle last, in file order. */
  #order(): number[] {
    const missing = this.#producers.map((producers) => producers.filter((one) => one !== -1).length);
    const order: number[] = [];
    missing.forEach((count, node) => {
      if (count === 0) order.push(node);
    });
    for (let at = 0; at < order.length; at += 1)
      for (const [reader] of this.#readers[order[at]!]!) if ((missing[reader]! -= 1) === 0) order.push(reader);
    if (order.length < missing.length) {
      const seen = new Set(order);
      missing.forEach((_, node) => {
        if (!seen.has(node)) order.push(node);
      });
    }
    return order;
  }
}

function hashText(text: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  return joined(high, low);
}

/** Depends on the order of its arguments. 53 bits: 50,000 nodes collide once in ten million networks. */
function mix(one: number, other: number): number {
  let high = Math.imul((one / 2097152) ^ 0x9e3779b9, 2246822507) ^ Math.imul(other | 0, 3266489909);
  let low = Math.imul((one | 0) ^ 0x85ebca6b, 2654435761) ^ Math.imul((other / 2097152) | 0, 1597334677);
  high = Math.imul(high ^ (high >>> 15), 2246822519) ^ low;
  low = Math.imul(low ^ (low >>> 13), 3266489917) ^ high;
  return joined(high, low);
}

const joined = (high: number, low: number): number =>
  2097152 * ((high ^ (high >>> 16)) >>> 0) + (((low ^ (low >>> 15)) >>> 0) & 0x1fffff);

/** Which node of A is which node of B, by position in the lists. */
export interface NodeMatch {
  /** Position in B of each node of A; -1: none. */
  toB: Int32Array;
  byName: number;
  /** Positions in A of the nodes that were matched by structure; all other pairs are by name. */
  byStructure: number[];
}

/**
 * Matches the nodes of two networks: by name (of the node, else of its first output) where weights and structure do not
 * contradict, then by weights and by structure: what is alike from the inputs to the outputs, then outwards from what is matched.
 * Linear in nodes and edges. Nodes without a counterpart stay unmatched.
 */
export function matchNodes(a: readonly NetworkNode[], b: readonly NetworkNode[]): NodeMatch {
  const match = new Matching(a.length, b.length);
  if (isSameNetwork(a, b)) {
    for (let index = 0; index < a.length; index += 1) match.pair(index, index);
    return match.result(0, a.length);
  }
  const [left, right] = [new Structure(a), new Structure(b)];
  const hasEdges = left.edges > 0 && right.edges > 0;
  const whole = hasEdges ? ([left.wholeHashes(), right.wholeHashes()] as const) : null;
  // Names that the weights contradict: the twins around them go along.
  const twins = matchWeights(a, b);
  const isRenamed = (one: number, other: number) => nameOf(a[one]!) !== nameOf(b[other]!);
  for (const [index, other] of twins) if (isRenamed(index, other)) match.pair(index, other);
  if (whole) spread(left, right, match, 0, (x, y) => whole[0][x] === whole[1][y] && isRenamed(x, y));
  const beforeNames = match.count;
  matchNames(a, b, match, whole);
  const afterNames = match.count;
  if (whole) {
    matchClasses(whole[0], whole[1], match, left, right);
    let before = -1;
    while (match.count !== before) {
      before = match.count;
      spread(left, right, match);
      matchAlike(left.hashesAround(match.labelsA()), right.hashesAround(match.labelsB()), match);
    }
  }
  return match.result(beforeNames, afterNames);
}

/** The same nodes in the same order, by their names: most builds that are compared are of one model. */
export const isSameNetwork = (a: readonly NetworkNode[], b: readonly NetworkNode[]): boolean =>
  a.length === b.length &&
  a.every(({ id, name, op, outputs }, index) => {
    const other = b[index]!;
    return (
      id === other.id &&
      name === other.name &&
      op === other.op &&
      // Unnamed nodes are distinguished by what they write, where that is known.
      (name !== '' ||
        outputs.length === 0 ||
        other.outputs.length === 0 ||
        plainName(outputs[0]!) === plainName(other.outputs[0]!))
    );
  });

/** The pairs found so far. */
class Matching {
  readonly toB: Int32Array;
  readonly toA: Int32Array;
  /** Pairs in the order in which they were found, as positions in A. */
  readonly found: number[] = [];

  constructor(a: number, b: number) {
    this.toB = new Int32Array(a).fill(-1);
    this.toA = new Int32Array(b).fill(-1);
  }

  get count(): number {
    return this.found.length;
  }

  /** Makes a pair where both are free. */
  pair(a: number, b: number): boolean {
    if (this.toB[a] !== -1 || this.toA[b] !== -1) return false;
    this.toB[a] = b;
    this.toA[b] = a;
    this.found.push(a);
    return true;
  }

  /** For each node of A the number of its pair, or -1: the same label on both sides for a pair. */
  labelsA(): Int32Array {
    return this.toB.map((b, a) => (b === -1 ? -1 : a));
  }

  labelsB(): Int32Array {
    return this.toA;
  }

  /** @param from @param to the pairs that names made are those between */
  result(from: number, to: number): NodeMatch {
    return { toB: this.toB, byName: to - from, byStructure: [...this.found.slice(0, from), ...this.found.slice(to)] };
  }
}

type Hashes = readonly [readonly number[], readonly number[]];

/** Which node of A has the weights of which node of B: those that one node of its kind has on either side. */
function matchWeights(a: readonly NetworkNode[], b: readonly NetworkNode[]): Map<number, number> {
  const keyOf = ({ op, weights = '' }: NetworkNode) => (weights === '' ? '' : `${op} ${weights}`);
  const others = positions(b.map(keyOf));
  const found = new Map<number, number>();
  for (const [key, these] of positions(a.map(keyOf))) {
    const those = others.get(key);
    if (key !== '' && these.length === 1 && those?.length === 1) found.set(these[0]!, those[0]!);
  }
  return found;
}

/** Pairs nodes with the same operator and name, in order where a name is used as often on both sides. */
function matchNames(a: readonly NetworkNode[], b: readonly NetworkNode[], match: Matching, whole: Hashes | null): void {
  const others = positions(b.map(nameOf));
  const classesB = whole && positions(whole[1]);
  for (const [name, these] of positions(a.map(nameOf))) {
    const those = others.get(name);
    if (name === '' || those === undefined || those.length !== these.length) continue;
    these.forEach((index, position) => {
      const other = those[position]!;
      // An exporter that numbers its nodes gives old names to other nodes: the structure knows better.
      const contradicted = whole !== null && whole[0][index] !== whole[1][other] && classesB!.has(whole[0][index]!);
      if (!contradicted) match.pair(index, other);
    });
  }
}

/** A node's name with its operator; the first output's for one without a name, '' for neither. */
const nameOf = ({ name, op, outputs }: NetworkNode): string =>
  name !== '' ? `${op} ${name}` : outputs[0] ? `${op} -> ${plainName(outputs[0])}` : '';

/** Pairs the classes of nodes that are alike from the inputs to the outputs of both networks. */
function matchClasses(
  a: readonly number[],
  b: readonly number[],
  match: Matching,
  left: Structure,
  right: Structure,
): void {
  const classes = positions(b);
  const ofA = [...positions(a)].filter(([hash, these]) => classes.get(hash)?.length === these.length);
  for (const [hash, these] of ofA) if (these.length === 1) match.pair(these[0]!, classes.get(hash)![0]!);
  // Twins: any pairing is right, as long as their neighbors are paired alike.
  for (const [hash, these] of ofA) {
    if (these.length === 1) continue;
    const those = classes.get(hash)!;
    let free = 0;
    for (const index of these) {
      if (match.toB[index] !== -1) continue;
      while (free < those.length && match.toA[those[free]!] !== -1) free += 1;
      if (free === those.length) break;
      const from = match.count;
      match.pair(index, those[free]!);
      spread(left, right, match, from, (x, y) => a[x] === b[y]);
    }
  }
}

/**
 * Pairs free nodes with alike surroundings: those that are the only one of their kind; if there is none, those that
 * both sides have as often, in file order, as the repeated layers of a network come.
 */
function matchAlike(a: readonly number[], b: readonly number[], match: Matching): void {
  const others = positions(b, (index) => match.toA[index] === -1);
  const classes = [...positions(a, (index) => match.toB[index] === -1)].filter(
    ([hash, these]) => others.get(hash)?.length === these.length,
  );
  const fewest = Math.min(...classes.map(([, these]) => these.length));
  for (const [hash, these] of classes)
    if (these.length === fewest) these.forEach((index, at) => match.pair(index, others.get(hash)![at]!));
}

/** From pairs to their neighbors: the producer at the same input, the only consumer of its kind at the same output. */
function spread(
  left: Structure,
  right: Structure,
  match: Matching,
  from = 0,
  allowed: (a: number, b: number) => boolean = () => true,
): void {
  for (let at = from; at < match.count; at += 1) {
    const a = match.found[at]!;
    const b = match.toB[a]!;
    const [producersA, producersB] = [left.producers(a), right.producers(b)];
    for (let slot = 0; slot < producersA.length && slot < producersB.length; slot += 1) {
      const [x, y] = [producersA[slot]!, producersB[slot]!];
      if (x >= 0 && y >= 0 && left.kind(x) === right.kind(y) && allowed(x, y)) match.pair(x, y);
    }
    const readers = (structure: Structure, node: number, taken: Int32Array) => {
      const bySlot = new Map<string, number>();
      for (const [reader, slot] of structure.readers(node)) {
        if (taken[reader] !== -1) continue;
        const key = `${structure.kind(reader)} ${slot}`;
        bySlot.set(key, bySlot.has(key) ? -1 : reader);
      }
      return bySlot;
    };
    const readersB = readers(right, b, match.toA);
    for (const [key, x] of readers(left, a, match.toB)) {
      const y = readersB.get(key);
      if (x >= 0 && y !== undefined && y >= 0 && allowed(x, y)) match.pair(x, y);
    }
  }
}

/** The positions of each value. */
function positions<T>(values: readonly T[], wanted: (index: number) => boolean = () => true): Map<T, number[]> {
  const found = new Map<T, number[]>();
  values.forEach((value, index) => {
    if (!wanted(index)) return;
    addTo(found, value, index);
  });
  return found;
}

/** What is computed together: one engine layer, or a whole ForeignNode where its kernels cannot be compared. */
export interface Group {
  /** Positions in `report.nodes`. */
  nodes: number[];
  layers: ReportLayer[];
  /** Inside a ForeignNode, or one as a whole. */
  foreign: boolean;
  /** A ForeignNode as a whole. */
  whole: boolean;
}

/** A report's groups, and what belongs to none. */
export interface Groups {
  groups: Group[];
  /** Layers that compute no node: reformats, memory moves, constants. */
  empty: ReportLayer[];
}

/**
 * The groups of both reports at a level that both know: kernel by kernel, but ForeignNodes as a whole where one side
 * lists no kernels for any of the nodes concerned (TensorRT 8, layer names only).
 */
export function comparableGroups(a: FusionReport, b: FusionReport, { toB }: NodeMatch): [Groups, Groups] {
  const [left, right] = [foreignNodeOf(a), foreignNodeOf(b)];
  const opaqueA = opaqueForeignNodes(a);
  const opaqueB = opaqueForeignNodes(b);
  // ForeignNodes that share nodes are compared at one level: one that is opaque makes all of them so.
  for (let grown = true; grown;) {
    grown = false;
    toB.forEach((other, index) => {
      const [x, y] = [left[index], other === -1 ? undefined : right[other]];
      if (x === undefined || y === undefined || opaqueA.has(x) === opaqueB.has(y)) return;
      opaqueA.add(x);
      opaqueB.add(y);
      grown = true;
    });
  }
  return [groupsOf(a, opaqueA), groupsOf(b, opaqueB)];
}

function foreignNodeOf({ nodes }: FusionReport): (number | undefined)[] {
  return nodes.map(({ foreignNode }) => foreignNode ?? undefined);
}

function groupsOf({ nodes, layers, foreignNodes }: FusionReport, whole: ReadonlySet<number>): Groups {
  const position = new Map(nodes.map(({ id }, index) => [id, index]));
  const at = (ids: readonly string[]) => ids.map((id) => position.get(id)).filter((index) => index !== undefined);
  const result: Groups = { groups: [], empty: [] };
  for (const { id, nodes: members, layers: own } of foreignNodes) {
    if (!whole.has(id)) continue;
    const ofIt = own.map((layer) => layers[layer]).filter((layer) => layer !== undefined);
    result.groups.push({ nodes: at(members), layers: ofIt, foreign: true, whole: true });
  }
  for (const layer of layers) {
    const inside = layer.foreignNode !== null;
    if (inside && whole.has(layer.foreignNode!)) continue;
    if (layer.nodes.length === 0) result.empty.push(layer);
    else result.groups.push({ nodes: at(layer.nodes), layers: [layer], foreign: inside, whole: false });
  }
  return result;
}

/** The kernel's name; null where none is said. TensorRT-RTX without a GPU writes a stub for kernels that its JIT chooses. */
export const tacticOf = ({ tactic }: Pick<ReportLayer, 'tactic'>): string | null =>
  tactic === null || tactic === '' || tactic === '__myelin_CASK_STUB' ? null : tactic;

/** Groups of both sides that share nodes: the least that can be compared. */
export interface Cluster {
  a: Group[];
  b: Group[];
  /** Nodes that both sides compute, as positions in A. */
  shared: number[];
  /** Both sides compute just the same nodes together. */
  alike: boolean;
}

/**
 * Joins groups of two builds to clusters. Groups with the same nodes on both sides are clusters of their own, so that a
 * node in several kernels does not tie them all together.
 * @param shared positions in A of a group's nodes that both sides compute, ascending
 */
export function clusters(
  a: Groups,
  b: Groups,
  shared: { a: (group: Group) => number[]; b: (group: Group) => number[] },
): Cluster[] {
  const entries = [
    ...a.groups.map((group) => ({ group, side: 'a' as const, nodes: shared.a(group) })),
    ...b.groups.map((group) => ({ group, side: 'b' as const, nodes: shared.b(group) })),
  ];
  const bySet = new Map<string, typeof entries>();
  for (const entry of entries) {
    const key = entry.nodes.join();
    addTo(bySet, key, entry);
  }
  const found: Cluster[] = [];
  const rest: typeof entries = [];
  for (const list of bySet.values()) {
    const [ofA, ofB] = [list.filter(({ side }) => side === 'a'), list.filter(({ side }) => side === 'b')];
    if (list[0]!.nodes.length === 0) for (const entry of list) found.push(cluster([entry], false));
    // Which of several kernels of the same nodes became which is not known.
    else if (ofA.length === ofB.length) found.push(cluster(list, true));
    else rest.push(...list);
  }
  // Union of what is left through shared nodes.
  const parent = new Map<number, number>();
  const root = (node: number): number => {
    let at = node;
    while (parent.get(at) !== at) {
      parent.set(at, parent.get(parent.get(at)!)!);
      at = parent.get(at)!;
    }
    return at;
  };
  for (const { nodes } of rest) {
    for (const node of nodes) if (!parent.has(node)) parent.set(node, node);
    for (const node of nodes) parent.set(root(node), root(nodes[0]!));
  }
  const components = new Map<number, typeof entries>();
  for (const entry of rest) {
    const key = root(entry.nodes[0]!);
    addTo(components, key, entry);
  }
  for (const list of components.values()) found.push(cluster(list, false));
  return found;
}

function cluster(entries: { group: Group; side: 'a' | 'b'; nodes: number[] }[], alike: boolean): Cluster {
  const of = (side: 'a' | 'b') => entries.filter((entry) => entry.side === side).map(({ group }) => group);
  const shared = [...new Set(entries.flatMap(({ nodes }) => nodes))].toSorted((x, y) => x - y);
  return { a: of('a'), b: of('b'), shared, alike };
}

/** Nodes as a sentence names them: up to two by name, then their number. */
export function nodeWords(nodes: readonly Pick<ReportNode, 'id' | 'name' | 'op'>[]): string {
  const words = ({ id, name, op }: (typeof nodes)[number]) => name || `${op} (node ${id})`;
  if (nodes.length <= 2) return nodes.map(words).join(' and ');
  return `${words(nodes[0]!)} … ${words(nodes.at(-1)!)} (${nodes.length} nodes)`;
}

/** What computes a cluster on either side. */
export const clusterWords = ({ a, b }: Cluster): [string, string] => [groupWords(a), groupWords(b)];

function groupWords(groups: readonly Group[]): string {
  const names = groups.map(({ layers, foreign, whole }) => {
    const name = layers[0] ? (tacticOf(layers[0]) ?? layers[0].name) : 'a ForeignNode';
    return whole ? 'one ForeignNode' : foreign ? `kernel ${name}` : `layer ${name}`;
  });
  if (names.length <= 2) return names.join(' and ');
  return `${names.length} ${groups.every(({ foreign }) => foreign) ? 'kernels' : 'layers'}, first ${names[0]}`;
}

/** Where the times of two builds were not measured in the same way. */
export const otherMethods = (isTracedA: boolean): string => {
  const [trace, profile] = isTracedA ? ['A', 'B'] : ['B', 'A'];
  return `The times of ${trace} are from a trace of the GPU, those of ${profile} from a profile of layers, which adds to each.`;
};

/** A change of time behind a sentence: `: +41.0 µs`; '' if there is none. */
export function delta(ms: number | null): string {
  if (ms === null || isSameTime(ms)) return '';
  return `: ${deltaText(ms)}`;
}

/**
 * The sentence of a change of grouping or fate.
 * @param count how many nodes it concerns
 * @param where for what moved with all that is computed with it: ` into a ForeignNode,`
 */
export function words(
  kind: ChangeKind,
  label: string,
  count: number,
  [a, b]: readonly [string, string],
  ms: number | null,
  where = '',
): string {
  const together = count === 1 ? '' : 'together ';
  const time = delta(ms);
  switch (kind) {
    case 'split':
      return `${label}: computed ${together}by ${a}, now split into ${b}${time}.`;
    case 'merged':
      return `${label}: computed by ${a}, now ${together}by ${b}${time}.`;
    case 'moved':
      if (a === '') return `${label}: now also computed by ${b}${time}.`;
      if (b === '') return `${label}: no longer also computed by ${a}${time}.`;
      return `${label}: moved${where} from ${a} to ${b}${time}.`;
    case 'folded':
      return b === '' ? `${label}: only in A, ${a}${time}.` : `${label}: was ${a}, now ${b}${time}.`;
    case 'computed':
      return a === '' ? `${label}: only in B, ${b}${time}.` : `${label}: was ${a}, now ${b}${time}.`;
    case 'lost':
      return `${label}: was ${a}, now lost or moved: TensorRT names it nowhere in B${time}.`;
    case 'unknown':
      return `${label}: was ${a}, now unknown${time}.`;
    case 'kernel':
    case 'precision':
    case 'format':
    case 'time':
      return `${label}: from ${a} to ${b}${time}.`;
  }
}
