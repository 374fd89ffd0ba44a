// Compares two reports; the difference as text.
import { addTo } from '../base/addTo.ts';
import {
  counted,
  deltaText,
  exactRelease,
  isSameTime,
  shapeText,
  sizeText,
  thousands,
  timeText,
} from '../base/text.ts';
import type { Fate, FusionReport, FusionSaving, ReportLayer } from '../fusion/fusionReport.ts';
import {
  inForeignNode,
  isNoise,
  isPlanned,
  listsEngine,
  measuredEngine,
  precisionSentence,
  precisionShare,
  runningLayers,
  totalMs,
  profileWords,
} from '../report/words.ts';
import {
  type Both,
  type BuildDiff,
  type Change,
  type DiffInput,
  type DiffSide,
  type DiffTime,
  type DiffTotals,
  type InputShapes,
  type MarkedComparison,
  namesOnly,
  type NetworkNode,
  type NodeStates,
} from './buildDiff.ts';
import { sourceRanges } from '../network/sourceLines.ts';
import { type BuildFacts, buildFacts } from '../precision/buildFacts.ts';
import { computeType } from '../precision/verifyPrecision.ts';
import { requestOfDiff, diffVerdict } from './internal/verdict.ts';
import { aspectsOf, comparableKernels, emptyLayerChanges, isSameWork } from './internal/aspects.ts';
import {
  type Cluster,
  clusters,
  clusterWords,
  comparableGroups,
  conversions,
  delta,
  type Group,
  isSameNetwork,
  matchNodes,
  type NodeMatch,
  nodeWords,
  otherMethods,
  words,
} from './matchNodes.ts';
import { type Document, facts, note, table } from '../document/document.ts';

export { dynamicShapesCost, dynamicShapesRemark } from './internal/fixedShapes.ts';

const isMarked = ({ marked }: DiffInput): boolean =>
  marked !== undefined && marked.outputs.length + marked.debug.length > 0;

/** Exactly one side has marked tensors, and both have an engine. */
const isComparable = (a: DiffInput, b: DiffInput): boolean =>
  isMarked(a) !== isMarked(b) && !isPlanned(a.report) && !isPlanned(b.report);

/**
 * Which fusions a build with marked tensors shares with the build without them.
 * @returns undefined unless exactly one side has marked tensors, and both have an engine
 */
export function compareMarked(
  a: DiffInput,
  b: DiffInput,
  match: NodeMatch,
  { aMs, bMs }: Pick<DiffTime, 'aMs' | 'bMs'>,
): MarkedComparison | undefined {
  if (!isComparable(a, b)) return undefined;
  const side = isMarked(a) ? 'a' : 'b';
  const [groupsA, groupsB] = comparableGroups(a.report, b.report, match);
  const [plain, marked] = side === 'b' ? [groupsA, groupsB] : [groupsB, groupsA];
  const other = side === 'b' ? match.toB : reversed(match, b.report.nodes.length);
  const homes = homesOf(marked.groups);
  const { nodes } = (side === 'b' ? b : a).report;
  const found: MarkedComparison = {
    side,
    ...(side === 'b' ? b : a).marked!,
    survived: 0,
    dissolved: [],
    unknown: 0,
    fused: 0,
    example: null,
    deltaMs: aMs === null || bMs === null ? null : side === 'b' ? bMs - aMs : aMs - bMs,
  };
  for (const group of plain.groups.filter(({ nodes: own }) => own.length > 1)) {
    const own = group.nodes.map((index) => other[index]!).filter((index) => index !== -1);
    if (own.some((index) => nodes[index]!.fate === 'unknown')) found.unknown += 1;
    else {
      // A node that is folded on the other side is not torn off.
      const kernels = new Set(own.flatMap((index) => homes.get(index) ?? []));
      const isTogether = [...kernels].some((kernel) =>
        own.every((index) => homes.get(index)?.includes(kernel) ?? true),
      );
      // Members of a ForeignNode that no kernel names: together or not, nothing says.
      if (kernels.size === 0 && own.some((index) => nodes[index]!.fate === 'foreign')) found.unknown += 1;
      else if (isTogether || kernels.size === 0) found.survived += 1;
      else {
        const ids = own.map((index) => nodes[index]!.id);
        found.dissolved.push({ nodes: ids, kernel: group.layers[0]?.name ?? '', kernels: kernels.size });
      }
    }
  }
  const still = marked.groups.filter(({ nodes: own }) => own.length > 1);
  found.fused = still.length;
  const [first] = still;
  if (first) found.example = nodeWords(first.nodes.map((index) => nodes[index]!));
  return found;
}

/** Of each node, its groups. */
function homesOf(groups: readonly Group[]): Map<number, number[]> {
  const homes = new Map<number, number[]>();
  for (const [home, { nodes }] of groups.entries()) for (const node of nodes) addTo(homes, node, home);
  return homes;
}

function reversed({ toB }: NodeMatch, size: number): Int32Array {
  const toA = new Int32Array(size).fill(-1);
  toB.forEach((other, index) => {
    if (other !== -1) toA[other] = index;
  });
  return toA;
}

/** What the comparison says, one sentence each. */
export function markedSentences(marked: MarkedComparison): string[] {
  const { side, outputs, debug, all, survived, dissolved, unknown, fused, example, deltaMs } = marked;
  const [with_, without] = side === 'b' ? ['B', 'A'] : ['A', 'B'];
  const what = [
    all
      ? 'all tensors marked as outputs'
      : outputs.length > 0 &&
        `${counted(outputs.length, 'tensor')} marked as ${outputs.length === 1 ? 'an output' : 'outputs'}`,
    debug.length > 0 && `${counted(debug.length, 'tensor')} marked for debugging`,
  ].filter((text) => text !== false);
  const total = survived + dissolved.length + unknown;
  const rest = unknown > 0 ? `, ${unknown} unknown` : '';
  const cost =
    deltaMs === null
      ? 'what it costs is unknown without profiles'
      : `it takes ${timeText(Math.abs(deltaMs))} ${deltaMs < 0 ? 'less' : 'more'}`;
  const sentences = [
    `${with_} has ${what.join(' and ')}: of ${counted(total, 'fusion')} in ${without}, ${survived} survived, ${dissolved.length} dissolved${rest}; ${cost}.`,
  ];
  if (dissolved.length > 0)
    sentences.push(
      `${with_} is not the engine of ${without}: its values and times can differ from the engine that you ship.`,
    );
  if (all && fused > 0)
    sentences.push(
      `${with_} is called unfused, but ${counted(fused, 'kernel')} still ${fused === 1 ? 'computes' : 'compute'} several nodes, for example ${example}.`,
    );
  return sentences;
}

/**
 * Compares two builds node by node. What one side cannot know (kernels, times, types) is never a change.
 * Linear in nodes, edges and layers.
 */
export function diffReports(a: DiffInput, b: DiffInput, match = matchInputs(a, b)): BuildDiff {
  const comparison = new Comparison(a.report, b.report, match);
  const changes = comparison.changes();
  const engines = [measuredEngine(a.report), measuredEngine(b.report)] as const;
  const [aMs, bMs] = [engines[0]?.ms ?? null, engines[1]?.ms ?? null];
  const attributedMs =
    aMs === null || bMs === null ? null : changes.reduce((sum, { deltaMs }) => sum + (deltaMs ?? 0), 0);
  const onlyA = a.report.nodes.filter((_, index) => match.toB[index] === -1);
  const matchedB = new Set(match.toB);
  const marked = compareMarked(a, b, match, { aMs, bMs });
  const onlyB = b.report.nodes.filter((_, index) => !matchedB.has(index));
  const isNoiseOnly = engines[0] && engines[1] && isNoise(engines[0], engines[1]);
  const sorted = withCode(changes, a.report, b.report).toSorted(byWeight);
  return {
    schema: 1,
    a: sideOf(a),
    b: sideOf(b),
    request: requestOfDiff(a, b),
    verdict: diffVerdict([a, b], { aMs, bMs, isNoise: isNoiseOnly }, sorted),
    matched: {
      byName: match.byName,
      byStructure: match.byStructure.length,
      structure: match.byStructure.map((at) => ({ a: a.report.nodes[at]!.id, b: b.report.nodes[match.toB[at]!]!.id })),
      onlyA: onlyA.map(({ id }) => id),
      onlyB: onlyB.map(({ id }) => id),
      conversions: { a: onlyA.filter(isConversion).length, b: onlyB.filter(isConversion).length },
    },
    changes: sorted,
    shapes: otherShapes(a.report, b.report),
    time: {
      aMs,
      bMs,
      attributedMs,
      noiseMs: attributedMs === null ? null : bMs! - aMs! - attributedMs,
      isNoise: isNoiseOnly,
    },
    totals: {
      states: { ...comparison.states, onlyA: onlyA.length, onlyB: onlyB.length },
      comparedBy: comparison.comparedBy,
      ...totalsOf(a, b),
    },
    ...(marked && { marked }),
  };
}

/** Changes with the places of their code, of B where it has the nodes. */
function withCode(changes: Change[], a: FusionReport, b: FusionReport): Change[] {
  const [ofA, ofB] = [a, b].map(
    ({ nodes }) => new Map(nodes.flatMap(({ id, source }) => (source === undefined ? [] : [[id, source] as const]))),
  ) as [Map<string, string>, Map<string, string>];
  if (ofA.size + ofB.size === 0) return changes;
  return changes.map((change) => {
    const code =
      sourceRanges(change.nodesB.map((id) => ofB.get(id))) || sourceRanges(change.nodesA.map((id) => ofA.get(id)));
    return code === '' ? change : { ...change, code };
  });
}

/** Which node of A is which of B; by name alone where the models are not there. */
export const matchInputs = (a: DiffInput, b: DiffInput): NodeMatch =>
  matchNodes(a.network ?? namesOnly(a.report), b.network ?? namesOnly(b.report));

/**
 * How much of one network the other has, from 0 to 1: matched nodes of all of the larger one. Q/DQ nodes and Casts do not
 * count, since a copy in another precision has many more of them. null: it cannot be said, because most nodes have no name
 * and no model is at hand.
 */
export function sharedNodes(a: DiffInput, b: DiffInput): number | null {
  const [left, right] = [a, b].map(({ network, report }) =>
    (network ?? namesOnly(report)).filter(({ op }) => !conversions.has(op)),
  ) as [NetworkNode[], NetworkNode[]];
  const most = Math.max(left.length, right.length);
  if (most === 0) return null;
  const hasEdges = a.network !== undefined && b.network !== undefined;
  const unnamed = Math.max(...[left, right].map((nodes) => nodes.filter(({ name }) => name === '').length));
  if (!hasEdges && !isSameNetwork(left, right) && unnamed > most / 2) return null;
  return matchInputs(a, b).toB.reduce((sum, to, from) => sum + (to >= 0 && isCounted(a, from) ? 1 : 0), 0) / most;
}

const isCounted = ({ report }: DiffInput, index: number): boolean => !conversions.has(report.nodes[index]?.op ?? '');

/** Inputs of both sides that the engines were built for with other shapes: their times are not of the same work. */
export function otherShapes(a: FusionReport, b: FusionReport): InputShapes[] {
  const others = shapesOf(b);
  return [...shapesOf(a)].flatMap(([input, shape]) => {
    const other = others.get(input);
    return other === undefined || other === shape ? [] : [{ input, a: shape, b: other }];
  });
}

/** Of each input whose shapes are known: `1×8 … 4×64 … 8×256`, one text for each optimization profile. */
function shapesOf({ tensors = [], builtShapes = [] }: Partial<FusionReport>): Map<string, string> {
  const found = new Map<string, string>();
  const end = tensors.findIndex(({ producer }) => producer !== null);
  for (const { name, shape } of end < 0 ? tensors : tensors.slice(0, end))
    if (shape?.every((size) => typeof size === 'number')) found.set(name, shapeText(shape));
  const open = new Map<string, string[]>();
  for (const { input, min, opt, max } of builtShapes) {
    const text = [...new Set([min, opt, max].map(shapeText))].join(' … ');
    addTo(open, input, text);
  }
  for (const [input, texts] of open) if (!found.has(input)) found.set(input, texts.join('; '));
  return found;
}

const isConversion = ({ op }: { op: string }): boolean => conversions.has(op) && op !== 'Identity';

const sideOf = ({ source, report, figures, failed }: DiffInput): DiffSide => ({
  source,
  model: report.model.file,
  product: report.tensorrt.product,
  version: report.tensorrt.version,
  gpu: figures?.gpu ?? null,
  planned: isPlanned(report),
  traced: report.profile !== undefined,
  ...(report.optimizationProfile && { optimizationProfile: report.optimizationProfile }),
  ...(failed !== undefined && { failed }),
});

function totalsOf(a: DiffInput, b: DiffInput) {
  const both = (value: (side: DiffInput) => number | null | undefined): Both => ({
    a: value(a) ?? null,
    b: value(b) ?? null,
  });
  // A plan has neither the reformats nor the kernels of the engine, and need not be the last.
  const known = (report: FusionReport, count: (layer: ReportLayer) => boolean) =>
    listsEngine(report) ? runningLayers(report).filter(count).length : null;
  return {
    nodes: both(({ report }) => report.nodes.length),
    layers: both(({ report }) => known(report, () => true)),
    // An opaque ForeignNode has kernels that no one listed.
    kernels: both(({ report }) => (report.layers.some(isOpaque) ? null : known(report, () => true))),
    foreignNodes: both(({ report }) => (listsEngine(report) ? report.foreignNodes.length : null)),
    reformats: both(({ report }) => known(report, ({ kind }) => kind === 'reformat')),
    accounting: { a: a.report.accounting, b: b.report.accounting },
    precision: { a: precisionShare(a.report, a.requested ?? null), b: precisionShare(b.report, b.requested ?? null) },
    savedLaunches: both(({ report }) => sumOf(savingsOf(report), ({ launches }) => launches)),
    savedBytes: both(({ report }) => sumOf(savingsOf(report), ({ bytes }) => bytes)),
    savedMs: both(({ report: { layers } }) =>
      sumOf(
        layers.filter(({ saved }) => typeof saved?.ms === 'number'),
        ({ saved }) => saved!.ms,
      ),
    ),
    activationMemory: both(({ figures }) => figures?.activationMemory),
    weightsMemory: both(({ figures }) => figures?.weightsMemory),
    engineSize: both(({ figures }) => figures?.engineSize),
    buildSeconds: both(({ figures }) => figures?.buildSeconds),
    warnings: both(({ figures }) => figures?.warnings),
  };
}

/** None where it is not known which kernel computes most nodes of the ForeignNodes, or what became of one: too few are counted. */
function savingsOf(report: FusionReport): readonly FusionSaving[] {
  const members = report.nodes.filter(({ fate }) => fate === 'foreign');
  const placed = members.filter(({ layers }) => layers.length > 0).length;
  const known = listsEngine(report) && report.accounting.unknown === 0 && placed >= members.length / 2;
  return known ? (report.savings ?? []) : [];
}

/** null: of one it is not known, or there is none. */
function sumOf<T>(all: readonly T[], value: (one: T) => number | null): number | null {
  const known = all.map(value).filter((one) => one !== null);
  return known.length < all.length || all.length === 0 ? null : known.reduce((sum, one) => sum + one, 0);
}

const isOpaque = ({ kind }: ReportLayer): boolean => kind === 'foreign';

const computedFates: ReadonlySet<Fate> = new Set(['foreign', 'fused', 'single']);

/** What a matched pair's fates alone say. */
type PairState = 'both' | 'neither' | 'folded' | 'computed' | 'unknown' | 'notComparable';

function pairState(a: Fate, b: Fate): PairState {
  if (a === 'unknown') return 'notComparable';
  if (b === 'unknown') return 'unknown';
  const [before, after] = [computedFates.has(a), computedFates.has(b)];
  return before ? (after ? 'both' : 'folded') : after ? 'computed' : 'neither';
}

const kindOrder: Change['kind'][] = [
  'unknown',
  'split',
  'merged',
  'moved',
  'computed',
  'folded',
  'precision',
  'kernel',
  'format',
  'time',
];

const byWeight = (one: Change, other: Change): number =>
  Math.abs(other.deltaMs ?? 0) - Math.abs(one.deltaMs ?? 0) ||
  kindOrder.indexOf(one.kind) - kindOrder.indexOf(other.kind);

class Comparison {
  readonly states: Omit<NodeStates, 'onlyA' | 'onlyB'> = {
    same: 0,
    split: 0,
    merged: 0,
    moved: 0,
    folded: 0,
    computed: 0,
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
      kind: 'folded' | 'computed' | 'unknown',
      nodesA: FusionReport['nodes'],
      nodesB: FusionReport['nodes'],
      groups: readonly Group[] | undefined,
    ) => {
      const layers = (groups ?? []).flatMap((group) => group.layers).filter((layer) => !told.has(layer));
      for (const layer of layers) told.add(layer);
      const lost = kind !== 'computed';
      const deltaMs = lost ? this.#delta(layers, []) : this.#delta([], layers);
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
        layersA: lost ? layers.map(({ id }) => id) : [],
        layersB: lost ? [] : layers.map(({ id }) => id),
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
      if (pair === 'folded' || pair === 'unknown') add(pair, [node], [this.#b.nodes[other]!], groupsA.get(index));
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
  unknown: 'unknown',
};

/** Changes that are alike but for the module that they are in, `layers.0` … `layers.11`, or of which B says nothing. */
interface Alike {
  changes: Change[];
  deltaMs: number | null;
}

/** Joins changes that say the same of repeated modules; the largest change of time first. */
export function alikeChanges(changes: readonly Change[]): Alike[] {
  const groups = new Map<string, Alike>();
  // B may end before it names its nodes: a list of them would say the same of each.
  const silent = changes.filter(({ kind }) => kind === 'unknown').length > 8;
  for (const change of changes) {
    const said = change.kind === 'unknown' && silent ? change.a : plain(change.message);
    const key = `${change.kind} ${change.exact} ${said}`;
    const group = groups.get(key);
    if (!group) groups.set(key, { changes: [change], deltaMs: change.deltaMs });
    else {
      group.changes.push(change);
      if (change.deltaMs !== null) group.deltaMs = (group.deltaMs ?? 0) + change.deltaMs;
    }
  }
  return [...groups.values()].toSorted((a, b) => Math.abs(b.deltaMs ?? 0) - Math.abs(a.deltaMs ?? 0));
}

/** Without numbers, hashes and the change of time. */
const plain = (message: string): string =>
  message
    .replace(/: [+−][\d.,]+ (?:ns|µs|ms|s)\.$/, '')
    .replaceAll(/_0x[0-9a-f]+/g, '')
    .replaceAll(/\d+/g, '#');

const sideText = (side: DiffSide): string =>
  [
    side.source,
    side.model,
    exactRelease(side),
    side.gpu,
    side.optimizationProfile && profileWords(side.optimizationProfile),
  ]
    .filter(Boolean)
    .join(', ');

/** A number of both sides, written for the user. */
export interface ComparedFigure {
  label: string;
  a: string;
  b: string;
  /** `+12`; '' where it is the same or one side does not know it. */
  delta: string;
}

/** Every figure that a side knows, in one order for all pages. */
export function comparedFigures(totals: DiffTotals): ComparedFigure[] {
  const kinds: [label: string, key: keyof DiffTotals, text: (value: number) => string][] = [
    ['Nodes', 'nodes', thousands],
    ['Layers and kernels listed', 'layers', thousands],
    ['Kernels', 'kernels', thousands],
    ['ForeignNodes', 'foreignNodes', thousands],
    ['Reformats', 'reformats', thousands],
    ['Launches saved (derived)', 'savedLaunches', thousands],
    ['Bytes saved (derived)', 'savedBytes', sizeText],
    ['Time saved (derived)', 'savedMs', timeText],
    ['Activation memory', 'activationMemory', sizeText],
    ['Weights memory', 'weightsMemory', sizeText],
    ['Engine size', 'engineSize', sizeText],
    ['Build time', 'buildSeconds', (seconds) => timeText(seconds * 1000)],
    ['Warnings in the log', 'warnings', thousands],
  ];
  return kinds.flatMap(([label, key, text]) => {
    const { a, b } = totals[key] as { a: number | null; b: number | null };
    if (a === null && b === null) return [];
    const delta = a === null || b === null || a === b ? '' : `${b > a ? '+' : '−'}${text(Math.abs(b - a))}`;
    return [{ label, a: a === null ? 'unknown' : text(a), b: b === null ? 'unknown' : text(b), delta }];
  });
}

/** What must be known before the figures are compared. */
function caveats({ a, b, time, shapes, totals, marked }: BuildDiff): string[] {
  const methods = a.traced !== b.traced && time.aMs !== null && time.bMs !== null;
  const inputs = shapes.slice(0, 4).map((one) => `${one.input} ${one.a} → ${one.b}`);
  const rest = shapes.length > 4 ? `, and ${counted(shapes.length - 4, 'other input')}` : '';
  const sides = [
    { name: 'A', side: a, share: totals.precision.a },
    { name: 'B', side: b, share: totals.precision.b },
  ];
  const profiles = [a, b].map(({ optimizationProfile }) => optimizationProfile?.shown ?? 0);
  return [
    ...(profiles[0] === profiles[1]
      ? []
      : [`Compared are optimization profile ${profiles[0]} of A and ${profiles[1]} of B.`]),
    // A profiler of layers adds to the time of each, a trace does not.
    ...(methods ? [`${otherMethods(a.traced)} The difference includes that.`] : []),
    ...(shapes.length > 0
      ? [`Built for other shapes, so the times are not of the same work: ${inputs.join(', ')}${rest}`]
      : []),
    ...sides.flatMap(({ name, side, share }) => [
      ...(side.planned
        ? [`${name} has no list of engine layers: compared is TensorRT's plan at the end of its log.`]
        : []),
      ...(share !== null && share.requested !== null ? [`${name}: ${precisionSentence(share)}`] : []),
    ]),
    ...(marked ? markedSentences(marked) : []),
  ];
}

/** The verdict as a sentence without its period. */
export const verdictSentence = ({ verdict }: Pick<BuildDiff, 'verdict'>): string =>
  verdict.slice(0, 1).toUpperCase() + verdict.slice(1);

/** Kernels by a name that tells them apart for a reader: without most of a hash, and without the middle of a long name. */
function withShortKernels(text: string): string {
  return text
    .replaceAll(/(?<=\w_0x[\da-f]{4})[\da-f]{12,}\b/g, '…')
    .replaceAll(/(?<![/\w.])\w{72,}(?![/\w]|\.\w)/g, (name) => `${name.slice(0, 48)}…${name.slice(-16)}`);
}

/** Both sides, how their nodes were matched, the figures, and the changes ranked by what they cost. */
export function diffDocument(diff: BuildDiff, { full = false } = {}): Document {
  const { matched, totals, time } = diff;
  const { byName, byStructure, onlyA, onlyB } = matched;
  const states = Object.entries(totals.states).filter(([, count]) => count > 0);
  const words: Record<string, string> = { notComparable: 'not comparable', onlyA: 'only in A', onlyB: 'only in B' };
  const conversions = matched.conversions.a + matched.conversions.b;
  const only = onlyA.length + onlyB.length > 0 ? `; ${onlyA.length} only in A, ${onlyB.length} only in B` : '';
  const timed = time.aMs !== null && time.bMs !== null;
  const changes = alikeChanges(diff.changes).map(({ changes: alike, deltaMs }) => {
    const [first] = alike;
    const code = first!.code === undefined ? '' : `, ${first!.code}`;
    const others = `${code}${alike.length > 1 ? ` (and ${counted(alike.length - 1, 'other')} alike).` : '.'}`;
    return {
      cells: [
        deltaMs === null || isSameTime(deltaMs) ? '' : deltaText(deltaMs),
        `${alike.length > 1 ? `${alike.length} × ` : ''}${kindText(first!)}`,
        (full ? first!.message : withShortKernels(first!.message)).replace(/\.$/, '') + others,
      ],
    };
  });
  return {
    title: `${diff.b.model}: ${diff.request || 'two builds'}`,
    blocks: [
      diff.a.failed === undefined && diff.b.failed === undefined
        ? { kind: 'text', text: `${verdictSentence(diff)}.` }
        : { kind: 'verdict', state: 'bad', text: `${verdictSentence(diff)}.` },
      ...facts([
        ['A', sideText(diff.a)],
        ['B', sideText(diff.b)],
        [
          'Nodes',
          `${byName} matched by name, ${byStructure} by structure${only}${conversions > 0 ? ` (${conversions} of them Q/DQ or Cast)` : ''}`,
        ],
        ['States', states.map(([state, count]) => `${count} ${words[state] ?? state}`).join(', ')],
        [
          'Time',
          timed
            ? `${timeText(time.aMs!)} → ${timeText(time.bMs!)} (${deltaText(time.bMs! - time.aMs!)}${time.isNoise ? ', within the noise' : ''})`
            : 'not comparable, because at least one side has no profile',
        ],
      ]),
      ...caveats(diff).map(note),
      ...table(
        ['', 'A#', 'B#', 'change#'],
        comparedFigures(totals).map(({ label, a, b, delta }) => ({ cells: [label, a, b, delta] })),
      ),
      ...(changes.length === 0
        ? [{ kind: 'text', text: 'No differences in what both sides know.' } as const]
        : [
            {
              kind: 'section',
              title: 'Changes',
              blocks: table(['time#', 'kind', 'change'], changes, 'kind of change'),
            } as const,
          ]),
    ],
  };
}

/** The kind, and whether the report derived which nodes it concerns. What one side lacks was added or removed. */
function kindText({ kind, exact, a, b }: Change): string {
  const word = kind === 'folded' && b === '' ? 'removed' : kind === 'computed' && a === '' ? 'added' : kind;
  return exact || kind === 'unknown' ? word : `${word} (derived)`;
}
