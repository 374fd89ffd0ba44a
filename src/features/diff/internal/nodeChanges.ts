// What became of each matched node, and of the kernels around it.
import { totalMs } from '../../../kernel/fusion/fusionReport.ts';
import { addTo } from '../../../kernel/base/addTo.ts';
import type { Fate, FusionReport, ReportLayer } from '../../../kernel/fusion/fusionReport.ts';
import { inForeignNode, listsEngine } from '../../../kernel/report/words.ts';
import type { Change, NodeStates } from '../../../kernel/report/buildDiff.ts';
import { type BuildFacts, buildFacts } from '../../../kernel/rules/buildFacts.ts';
import { computeType } from '../../../kernel/rules/verifyPrecision.ts';
import { aspectsOf, comparableKernels, emptyLayerChanges, isSameWork } from './aspects.ts';
import {
  type Cluster,
  clusters,
  clusterWords,
  comparableGroups,
  delta,
  type Group,
  type NodeMatch,
  nodeWords,
  words,
} from '../matchNodes.ts';

const computedFates: ReadonlySet<Fate> = new Set(['foreign', 'fused', 'single']);

/** What a matched pair's fates alone say. */
type PairState = 'both' | 'neither' | 'folded' | 'computed' | 'lost' | 'unknown' | 'notComparable';

function pairState(a: Fate, b: Fate): PairState {
  if (a === 'unknown') return 'notComparable';
  if (b === 'unaccounted' && a !== b) return 'lost';
  if (b === 'unknown') return 'unknown';
  // A shape that is computed on the host on one side, and known before the build on the other.
  const isHost = (fate: Fate, other: Fate) => fate === 'shape' && (other === 'folded' || other === 'removed');
  const before = computedFates.has(a) || isHost(a, b);
  const after = computedFates.has(b) || isHost(b, a);
  return before ? (after ? 'both' : 'folded') : after ? 'computed' : 'neither';
}

export class NodeComparison {
  readonly states: Omit<NodeStates, 'onlyA' | 'onlyB'> = {
    same: 0,
    split: 0,
    merged: 0,
    moved: 0,
    folded: 0,
    computed: 0,
    lost: 0,
    unknown: 0,
    notComparable: 0,
  };
  readonly comparedBy = { kernels: 0, foreignNodes: 0 };
  readonly #a: FusionReport;
  readonly #b: FusionReport;
  readonly #match: NodeMatch;
  /** Of each node of B, the position of its pair in A. */
  readonly #toA: Int32Array;
  readonly #timed: boolean;
  #facts: { a: BuildFacts; b: BuildFacts } | undefined;

  constructor(a: FusionReport, b: FusionReport, match: NodeMatch) {
    this.#a = a;
    this.#b = b;
    this.#match = match;
    this.#toA = new Int32Array(b.nodes.length).fill(-1);
    match.toB.forEach((other, index) => {
      if (other !== -1) this.#toA[other] = index;
    });
    this.#timed = totalMs(a.layers) !== null && totalMs(b.layers) !== null;
  }

  changes(): Change[] {
    const pairs = this.#a.nodes.map(({ fate }, index): PairState | undefined => {
      const other = this.#match.toB[index]!;
      return other === -1 ? undefined : pairState(fate, this.#b.nodes[other]!.fate);
    });
    const [left, right] = comparableGroups(this.#a, this.#b, this.#match);
    // What computes a node is compared only where both sides say it: a member of a ForeignNode can be in no known kernel.
    const grouped = [left, right].map(({ groups }) => new Set(groups.flatMap(({ nodes }) => nodes)));
    const isComparable = (at: number | undefined): at is number =>
      at !== undefined && pairs[at] === 'both' && grouped[0]!.has(at) && grouped[1]!.has(this.#match.toB[at]!);
    const sharedOf = (positions: (number | undefined)[]) => positions.filter(isComparable).toSorted((x, y) => x - y);
    const found = clusters(left, right, {
      a: ({ nodes }) => sharedOf(nodes),
      b: ({ nodes }) => sharedOf(nodes.map((node) => (this.#toA[node] === -1 ? undefined : this.#toA[node]))),
    });
    /** The state of nodes that both sides compute; what is in no other cluster is the same. */
    const state = new Map<number, 'split' | 'merged' | 'moved'>();
    const changes: Change[] = [];
    /** Groups none of whose nodes the other side computes: their time goes to what happened to the nodes. */
    const alone: Cluster[] = [];
    for (const cluster of found) {
      if (cluster.shared.length === 0) {
        alone.push(cluster);
        continue;
      }
      const kind = kindOf(cluster);
      if (kind !== 'same') for (const node of cluster.shared) if (!state.has(node)) state.set(node, kind);
      changes.push(...this.#clusterChanges(cluster, kind));
      const level = [...cluster.a, ...cluster.b].some(({ whole }) => whole) ? 'foreignNodes' : 'kernels';
      this.comparedBy[level] += cluster.alike ? cluster.shared.length : 0;
    }
    pairs.forEach((pair, index) => {
      if (pair === undefined) return;
      const now = pair === 'both' ? (state.get(index) ?? 'same') : pair === 'neither' ? 'same' : pair;
      this.states[now] += 1;
    });
    this.comparedBy.kernels += [...state.keys()].length;
    // Only an engine's list says which reformats and other layers without nodes there are.
    const comparable = this.#timed || (listsEngine(this.#a) && listsEngine(this.#b));
    const empty = comparable ? emptyLayerChanges(left.empty, right.empty, this.#timed) : [];
    return [...changes, ...this.#fateChanges(pairs, alone), ...empty];
  }

  #clusterChanges(cluster: Cluster, kind: Change['kind'] | 'same'): Change[] {
    const layersA = cluster.a.flatMap(({ layers }) => layers);
    const layersB = cluster.b.flatMap(({ layers }) => layers);
    const nodesA = cluster.shared.map((index) => this.#a.nodes[index]!);
    const nodesB = cluster.shared.map((index) => this.#b.nodes[this.#match.toB[index]!]!);
    const base = {
      nodesA: nodesA.map(({ id }) => id),
      nodesB: nodesB.map(({ id }) => id),
      layersA: layersA.map(({ id }) => id),
      layersB: layersB.map(({ id }) => id),
      exact: [...nodesA, ...nodesB].every(({ exact }) => exact),
    };
    let deltaMs = this.#delta(layersA, layersB);
    const changes: Change[] = [];
    const add = (one: Pick<Change, 'kind' | 'a' | 'b' | 'message'>) => {
      changes.push({ ...base, ...one, deltaMs });
      // The cluster's time is counted once.
      deltaMs = null;
    };
    const label = nodeWords(nodesA);
    if (kind !== 'same') {
      const [before, after] = clusterWords(cluster);
      const crossed = !cluster.alike ? '' : ` ${cluster.b[0]!.foreign ? 'into' : 'out of'} a ForeignNode,`;
      add({ kind, a: before, b: after, message: words(kind, label, nodesA.length, [before, after], deltaMs, crossed) });
    }
    const isWhole = [...cluster.a, ...cluster.b].some(({ whole }) => whole);
    const computed = () => this.#computedIn(cluster);
    for (const { kind: aspect, a, b, message } of aspectsOf(layersA, layersB, kind === 'same' && !isWhole, computed))
      add({ kind: aspect, a, b, message: `${label}: ${message}${delta(deltaMs)}.` });
    if (changes.length === 0 && deltaMs !== null && !isSameWork(layersA, layersB)) {
      const before = totalMs(layersA)!;
      const after = totalMs(layersB)!;
      add({
        kind: 'time',
        a: `${before} ms`,
        b: `${after} ms`,
        message: `${label}: ${sameWords(isWhole, layersA, layersB)}${delta(deltaMs)}.`,
      });
    }
    return changes;
  }

  /** The one type that all nodes of a cluster are computed in, on each side, as `precision verify` and gates see it. */
  #computedIn({ shared }: Cluster): { a: string; b: string } | null {
    const only = (report: FusionReport, facts: BuildFacts, positions: readonly number[]): string | null => {
      const types = new Set(
        positions.map((position) => computeType({ position, op: report.nodes[position]!.op }, facts)),
      );
      const [type] = types;
      return types.size === 1 && type ? type : null;
    };
    this.#facts ??= { a: buildFacts(this.#a, null), b: buildFacts(this.#b, null) };
    const a = only(this.#a, this.#facts.a, shared);
    const b = only(
      this.#b,
      this.#facts.b,
      shared.map((index) => this.#match.toB[index]!),
    );
    return a === null || b === null ? null : { a, b };
  }

  /** Nodes that only one side computes, and nodes that B knows nothing of. */
  #fateChanges(pairs: readonly (PairState | undefined)[], alone: readonly Cluster[]): Change[] {
    const ofNode = (side: 'a' | 'b') => {
      const groups = new Map<number, Group[]>();
      for (const cluster of alone)
        for (const group of cluster[side]) for (const node of group.nodes) addTo(groups, node, group);
      return groups;
    };
    const groupsA = ofNode('a');
    const groupsB = ofNode('b');
    const told = new Set<ReportLayer>();
    const changes: Change[] = [];
    const add = (
      kind: 'folded' | 'computed' | 'lost' | 'unknown',
      nodesA: FusionReport['nodes'],
      nodesB: FusionReport['nodes'],
      groups: readonly Group[] | undefined,
    ) => {
      const layers = (groups ?? []).flatMap((group) => group.layers).filter((layer) => !told.has(layer));
      for (const layer of layers) told.add(layer);
      const isGone = kind !== 'computed';
      const deltaMs = isGone ? this.#delta(layers, []) : this.#delta([], layers);
      const a = fateWords(this.#a, nodesA);
      const b = fateWords(this.#b, nodesB);
      const nodes = nodesA.length > 0 ? nodesA : nodesB;
      const message = words(kind, nodeWords(nodes), nodes.length, [a, b], deltaMs);
      changes.push({
        kind,
        nodesA: nodesA.map(({ id }) => id),
        nodesB: nodesB.map(({ id }) => id),
        a,
        b,
        layersA: isGone ? layers.map(({ id }) => id) : [],
        layersB: isGone ? [] : layers.map(({ id }) => id),
        deltaMs: layers.length === 0 ? null : deltaMs,
        exact: [...nodesA, ...nodesB].every(({ exact }) => exact),
        message,
      });
    };
    pairs.forEach((pair, index) => {
      const node = this.#a.nodes[index]!;
      if (pair === undefined) {
        if (computedFates.has(node.fate)) add('folded', [node], [], groupsA.get(index));
        return;
      }
      const other = this.#match.toB[index]!;
      if (pair === 'folded' || pair === 'lost' || pair === 'unknown')
        add(pair, [node], [this.#b.nodes[other]!], groupsA.get(index));
      if (pair === 'computed') add(pair, [node], [this.#b.nodes[other]!], groupsB.get(other));
    });
    this.#b.nodes.forEach((node, index) => {
      if (this.#toA[index] === -1 && computedFates.has(node.fate)) add('computed', [], [node], groupsB.get(index));
    });
    // Groups whose nodes are not comparable (unknown in A, say): their time must go somewhere.
    for (const { a, b } of alone) {
      const layersA = a.flatMap(({ layers }) => layers).filter((layer) => !told.has(layer));
      const layersB = b.flatMap(({ layers }) => layers).filter((layer) => !told.has(layer));
      if (layersA.length + layersB.length === 0) continue;
      for (const layer of [...layersA, ...layersB]) told.add(layer);
      const deltaMs = this.#delta(layersA, layersB);
      if (deltaMs === null || isSameWork(layersA, layersB)) continue;
      const nodesA = a.flatMap(({ nodes }) => nodes.map((node) => this.#a.nodes[node]!));
      const nodesB = b.flatMap(({ nodes }) => nodes.map((node) => this.#b.nodes[node]!));
      changes.push({
        kind: 'time',
        nodesA: nodesA.map(({ id }) => id),
        nodesB: nodesB.map(({ id }) => id),
        a: layersA.map(({ name }) => name).join(', '),
        b: layersB.map(({ name }) => name).join(', '),
        layersA: layersA.map(({ id }) => id),
        layersB: layersB.map(({ id }) => id),
        deltaMs,
        exact: false,
        message: `${nodeWords(nodesA.length > 0 ? nodesA : nodesB)}: unknown on one side${delta(deltaMs)}.`,
      });
    }
    return changes;
  }

  #delta(layersA: readonly ReportLayer[], layersB: readonly ReportLayer[]): number | null {
    return this.#timed ? (totalMs(layersB) ?? 0) - (totalMs(layersA) ?? 0) : null;
  }
}

/** What is the same where nothing but the time is known to differ. */
function sameWords(isWhole: boolean, layersA: readonly ReportLayer[], layersB: readonly ReportLayer[]): string {
  if (isWhole) return 'in one ForeignNode as before; its kernels are not comparable';
  return comparableKernels(layersA, layersB)
    ? 'computed in the same way'
    : 'computed together as before; the kernels are not comparable';
}

function kindOf({ a, b, alike }: Cluster): 'same' | 'split' | 'merged' | 'moved' {
  if (alike) return a[0]!.foreign === b[0]!.foreign ? 'same' : 'moved';
  if (a.length === 1 && b.length > 1) return 'split';
  if (a.length > 1 && b.length === 1) return 'merged';
  return 'moved';
}

/** Where nodes are on one side; '' for nowhere. */
const fateWords = (report: FusionReport, nodes: FusionReport['nodes']): string =>
  nodes
    .map(({ fate, foreignNode, removedByLine }) => {
      if (removedByLine !== undefined) return `taken out of INT8 by line ${removedByLine} of its rules`;
      return fate === 'foreign' ? inForeignNode(report, foreignNode ?? -1) : whereWords[fate];
    })
    .join(', ');

const whereWords: Readonly<Record<Exclude<Fate, 'foreign'>, string>> = {
  fused: 'computed with other nodes',
  single: 'computed by a layer of its own',
  folded: 'constant-folded',
  removed: 'without work',
  shape: 'computed on the host',
  unaccounted: 'lost or moved',
  unknown: 'unknown',
};
