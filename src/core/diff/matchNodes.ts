import type { NetworkNode } from './diffInput.ts';
import { Structure } from './structure.ts';
import { addTo } from '../text/addTo.ts';

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
      (name !== '' || outputs.length === 0 || other.outputs.length === 0 || outputs[0] === other.outputs[0])
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
  name !== '' ? `${op} ${name}` : outputs[0] ? `${op} -> ${outputs[0]}` : '';

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
  // Twins: any pairing is right, as long as their neighbours are paired alike.
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

/** From pairs to their neighbours: the producer at the same input, the only consumer of its kind at the same output. */
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
