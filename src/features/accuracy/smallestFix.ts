// The smallest set of nodes to keep in FP32.
import { errorFigure } from '../../kernel/simulation/simulated.ts';
import type { AccuracyFix, AccuracyOutput, Trade } from '../../kernel/simulation/simulated.ts';
import { randomCaution } from '../../kernel/build/randomInputs.ts';
import { type Network } from '../../kernel/network/network.ts';
import { attentionNodes, attentions } from '../../kernel/network/modelGraph.ts';
import { isBareName, writeName, writePath } from '../../kernel/rules/overrideFile.ts';
import { readOverrides } from '../../kernel/rules/readOverrides.ts';
import { planRewrite } from '../precision/planRewrite.ts';
import { isRealType, planPrecision } from '../../kernel/rules/precisionPlan.ts';
import { type NodeIndex, resolveOverrides } from '../../kernel/rules/resolveOverrides.ts';
import { finiteOrNull, worstError } from './accuracyReport.ts';
import type { ReducedPrecisionModel } from './internal/reducedPrecisionModel.ts';
import { kneeOf, type TradeCurve, tradeSizes } from './internal/tradeCurve.ts';

export { TradeCurve } from './internal/tradeCurve.ts';

/** One rule of a fix, and the nodes that it selects (positions in the index). */
export interface FixRule {
  selector: string;
  nodes: number[];
}

/**
 * Selectors for nodes (positions): a pattern with `*` for each number in the name where that selects two or more of
 * them and no other node that computes, otherwise the name.
 */
export function fixRules(nodes: readonly number[], index: NodeIndex): FixRule[] {
  const wanted = new Set(nodes);
  const patterns = new Map<string, number[]>();
  const rules: FixRule[] = [];
  const done = new Set<number>();
  for (const node of nodes) {
    const name = index.names[node]!;
    const pattern = isBareName(name) ? name.replaceAll(/\d+/g, '*') : name;
    const known = patterns.get(pattern) ?? [];
    patterns.set(pattern, [...known, node]);
  }
  for (const node of nodes) {
    if (done.has(node)) continue;
    const name = index.names[node]!;
    const pattern = isBareName(name) ? name.replaceAll(/\d+/g, '*') : name;
    const group = patterns.get(pattern)!;
    const whole =
      group.length > 1 && [...index.matching(pattern)].every((i) => wanted.has(i) || index.computes[i] !== 1);
    const own = whole ? group : nodes.filter((other) => index.names[other] === name);
    rules.push({ selector: whole ? pattern : writeName(name), nodes: own });
    for (const one of own) done.add(one);
  }
  return rules;
}

/** What the text of a fix says apart from its rules. */
export interface RulesHead {
  /** The model as a `model` line names it. */
  model: string;
  /** Its line `base`. */
  base: 'fp16' | 'bf16' | 'keep';
  /** Comment lines, without `#`. */
  comments: string[];
}

/** The text of an override file with the rules of a fix; `notes` become comments after them. */
export function rulesText(
  { model, base, comments }: RulesHead,
  rules: readonly FixRule[],
  notes: readonly string[],
): string {
  return `model ${writePath(model)}\nbase ${base}\n${rules.length > 0 ? `\n${addedRules(comments, rules, notes)}` : ''}`;
}

/** The lines that a fix adds to an override file. */
export function addedRules(comments: readonly string[], rules: readonly FixRule[], notes: readonly string[]): string {
  const widest = Math.max(0, ...rules.map(({ selector }) => selector.length).filter((length) => length <= 64));
  const lines = rules.map(({ selector }, i) => `${selector.padEnd(widest)} fp32${notes[i] ? `  # ${notes[i]}` : ''}`);
  return [...comments.map((comment) => `# ${comment}`), ...lines, ''].join('\n');
}

/** A whole attention is one kernel only in one type: breaking it costs more than any Casts around it. */
const CASTS_PER_ATTENTION = 100;

/**
 * What nodes in FP32 cost an engine: Casts at the borders between types, and attentions that are no longer in one type.
 * @param groups nodes (by `LowNode.index`) that are kept together
 */
export class FixCost {
  private readonly network: Network;
  /** Of each node, its group; -1: it is in no low precision. */
  private readonly groupOf: Int32Array;
  /** Of each group, the tensors that its nodes read and make. */
  private readonly around: number[][];
  /** Of each group, the attentions that its nodes are in, each as the groups of its nodes. */
  private readonly inside: Set<number>[][];

  constructor({ low }: ReducedPrecisionModel, network: Network, groups: readonly (readonly number[])[]) {
    this.network = network;
    const { nodes, indexOfId, inputs, outputs } = network;
    this.groupOf = new Int32Array(nodes.length).fill(-1);
    const places = groups.map((members) => members.map((own) => indexOfId.get(low[own]!.node.id)!));
    for (const [group, members] of places.entries()) for (const node of members) this.groupOf[node] = group;
    this.around = places.map((members) => [
      ...new Set(members.flatMap((node) => [...inputs[node]!, ...outputs[node]!]).filter((tensor) => tensor >= 0)),
    ]);
    this.inside = groups.map(() => []);
    for (const { scores, softmax, values } of attentions(attentionNodes(network))) {
      const members = new Set([scores, softmax, values].map((node) => this.groupOf[node]!).filter((own) => own >= 0));
      for (const group of members) this.inside[group]!.push(members);
    }
  }

  /** How much cheaper a set of exact groups becomes without one of them, in Casts; negative: dearer. */
  saved(group: number, exact: ReadonlySet<number>): number {
    const rest = new Set(exact);
    rest.delete(group);
    const attention = this.inside[group]!.filter((members) => [...members].every((own) => !rest.has(own))).length;
    return this.casts(group, exact) - this.casts(group, rest) + CASTS_PER_ATTENTION * attention;
  }

  /** Casts at the tensors around a group. */
  private casts(group: number, exact: ReadonlySet<number>): number {
    const { tensors, nodes, graphOutputs } = this.network;
    let casts = 0;
    for (const tensor of this.around[group]!) {
      const { kind, producer, consumers } = tensors[tensor]!;
      const isConstant = kind === 'initializer' || (producer >= 0 && nodes[producer]!.op === 'Constant');
      if (isConstant || !isRealType(this.network.inferred.types[tensor] ?? null)) continue;
      const made = producer < 0 || this.isExact(producer, exact);
      const readers = new Set(consumers.map((reader) => this.isExact(reader, exact)));
      if (graphOutputs.includes(tensor)) readers.add(true);
      if (readers.has(!made)) casts += 1;
    }
    return casts;
  }

  private isExact(node: number, exact: ReadonlySet<number>): boolean {
    const group = this.groupOf[node]!;
    return group < 0 || exact.has(group);
  }
}

/** A run that the search asks for: these nodes exact, all others in low precision. Positions are the search's own. */
export interface SearchTrial {
  exact: ReadonlySet<number>;
  /** Asked for the error that these exact nodes leave, for what the others do alone, or for the way to the set. */
  about: 'alone' | 'repair' | 'trade';
}

/** The answer to a trial: the worst error of the outputs (Infinity: not finite), and whether time or runs are used up. */
export interface SearchAnswer {
  error: number;
  stop: boolean;
}

/** The smallest set found that has to be exact. */
export interface PrecisionFix {
  exact: number[];
  /** Error of the outputs with it. */
  error: number;
  /** No single one of them can be omitted. */
  minimal: boolean;
  /** Error of the outputs without each of them, as far as it was tried. */
  without: Map<number, number>;
  /** Error of the outputs with only this one in low precision, where that misses the tolerance. */
  alone: Map<number, number>;
}

/**
 * Searches a set of nodes to compute exactly so that the error of every output is at most the tolerance, and from which
 * no single node can be omitted. With all of them exact the error is 0. A generator: it yields the runs that it needs and gets their errors.
 *
 * 1. By halving, the largest error first, the nodes that alone miss the tolerance: for most faults these are the set.
 * 2. If that does not do, also by halving, which others have to join them: as many as possible stay in low precision,
 *    the least harmful first, of equals the dearest to keep exact.
 * 3. What can be omitted of the set is omitted: what saves most first, of equals the last.
 *
 * In between it asks what the worst few nodes alone bring ('trade'): often one of hundreds brings most.
 *
 * `count` nodes, in the model's order. `saved`: how much cheaper a set of exact nodes becomes without one of them.
 */
export function* searchFix(
  count: number,
  tolerance: number,
  saved: (node: number, exact: ReadonlySet<number>) => number = () => 0,
): Generator<SearchTrial, PrecisionFix, SearchAnswer> {
  const all = Array.from({ length: count }, (_, i) => i);
  const alone = new Map<number, number>();
  const without = new Map<number, number>();
  /** How much harm a node does: its share of the error of the largest block around it that passed alone. */
  const harm = all.map(() => Infinity);
  let stopped = false;

  function* errorOf(
    exact: Iterable<number>,
    about: SearchTrial['about'],
  ): Generator<SearchTrial, number, SearchAnswer> {
    const { error, stop } = yield { exact: new Set(exact), about };
    stopped ||= stop;
    return error;
  }
  const passes = (error: number) => error <= tolerance;
  const outside = (some: readonly number[]) => {
    const inside = new Set(some);
    return all.filter((node) => !inside.has(node));
  };

  /** Finds the nodes that alone miss the tolerance: splits the block with the largest error, of equals the smallest. */
  function* culprits(): Generator<SearchTrial, void, SearchAnswer> {
    const failing: { block: readonly number[]; error: number }[] = [];
    const isBefore = (a: (typeof failing)[number], b: (typeof failing)[number]) =>
      a.error !== b.error
        ? a.error > b.error
        : a.block.length !== b.block.length
          ? a.block.length < b.block.length
          : a.block[0]! < b.block[0]!;
    let waiting: readonly number[][] = count > 1 ? halves(all) : [all];
    while (!stopped) {
      for (const block of waiting) {
        if (stopped || block.length === 0) break;
        const error = yield* errorOf(outside(block), 'alone');
        if (passes(error)) for (const node of block) harm[node] = error / block.length;
        else if (block.length > 1) failing.push({ block, error });
        else {
          alone.set(block[0]!, error);
          // What is infinite comes first: before all of that is exact, nothing is gained.
          const isSize = tradeSizes(alone.size + 1, 1).includes(alone.size);
          if (isSize && !stopped && failing.every((other) => other.error < Infinity))
            yield* errorOf(alone.keys(), 'trade');
        }
      }
      const next = failing.reduce((best, one, at) => (best < 0 || isBefore(one, failing[best]!) ? at : best), -1);
      if (next < 0) return;
      waiting = halves(failing.splice(next, 1)[0]!.block);
    }
  }

  /** The worst of some nodes first, by the error that each gives alone or that omitting it gives. */
  const byHarm = (nodes: readonly number[]): number[] => {
    const errorBy = (node: number) => alone.get(node) ?? without.get(node) ?? 0;
    return nodes.toSorted((a, b) => {
      const [first, second] = [errorBy(a), errorBy(b)];
      return first === second ? a - b : second > first ? 1 : -1;
    });
  };

  /** What the worst few of some nodes bring. */
  function* way(nodes: readonly number[]): Generator<SearchTrial, void, SearchAnswer> {
    const infinite = nodes.filter((node) => alone.get(node) === Infinity).length;
    for (const size of tradeSizes(nodes.length, infinite))
      if (!stopped) yield* errorOf(byHarm(nodes).slice(0, size), 'trade');
  }
  yield* culprits();

  let exact = [...alone.keys()].sort((a, b) => a - b);
  let error = stopped ? Infinity : yield* errorOf(exact, 'repair');
  if (!passes(error)) ({ exact, error } = yield* join(exact));

  /** Adds nodes to the exact ones until the rest passes: the rest grows, block by block. */
  function* join(sure: readonly number[]): Generator<SearchTrial, { exact: number[]; error: number }, SearchAnswer> {
    const low: number[] = [];
    let last = 0;
    function* grow(block: readonly number[], known: boolean): Generator<SearchTrial, void, SearchAnswer> {
      if (stopped || block.length === 0) return;
      const result = known ? Infinity : yield* errorOf(outside([...low, ...block]), 'repair');
      if (passes(result)) {
        low.push(...block);
        last = result;
      } else if (block.length > 1) {
        const half = block.length >> 1;
        yield* grow(block.slice(0, half), false);
        yield* grow(block.slice(half), false);
      }
    }
    // Together they miss the tolerance: that was tried. The least harmful first; of equals the dearest to keep exact,
    // then the last, whose rounding passes through the fewest nodes.
    const price = all.map((node) => saved(node, new Set([node])));
    yield* grow(
      outside(sure).sort((a, b) => harm[a]! - harm[b]! || price[b]! - price[a]! || b - a),
      true,
    );
    yield* grow(sure, false);
    return { exact: outside(low), error: last };
  }

  /** Leaves out what can be omitted; true where a whole round changed nothing. */
  function* shrink(size: number): Generator<SearchTrial, boolean, SearchAnswer> {
    const whole = new Set(exact);
    const savings = new Map(exact.map((node) => [node, saved(node, whole)]));
    const order = exact.toSorted((a, b) => savings.get(b)! - savings.get(a)! || b - a);
    let changed = false;
    for (let at = 0; at < order.length && !stopped; at += size) {
      const block = new Set(order.slice(at, at + size));
      const rest = exact.filter((node) => !block.has(node));
      if (rest.length === exact.length) continue;
      const result = yield* errorOf(rest, 'repair');
      if (passes(result)) {
        [exact, error, changed] = [rest, result, true];
        without.clear();
      } else if (block.size === 1) for (const node of block) without.set(node, result);
    }
    return !changed;
  }
  // Large sets in blocks first: a set of hundreds would take a run a node, again and again.
  for (let size = exact.length >> 2; size > 1 && exact.length > 16; size >>= 1) yield* shrink(size);
  while (!stopped && !(yield* shrink(1)));
  const minimal = !stopped && exact.every((node) => without.has(node));
  if (minimal) yield* way(exact);
  return { exact: exact.toSorted((a, b) => a - b), error, minimal, without, alone };
}

const halves = (block: readonly number[]): number[][] => [
  block.slice(0, block.length >> 1),
  block.slice(block.length >> 1),
];

/** What a search ran on, and what it found. */
export interface FoundFix {
  /** null: every output passes, so nothing was searched. */
  fix: PrecisionFix | null;
  low: ReducedPrecisionModel;
  index: NodeIndex;
  base: 'fp16' | 'bf16' | 'int8' | 'fp8';
  /** The outputs without the fix. */
  outputs: readonly AccuracyOutput[];
  tolerance: number;
  /** The error that the fix had to reach. */
  goal: number;
  runs: number;
  /** Rules that the model was judged with; undefined: none. */
  given: string | undefined;
  /** The model as a `model` line names it. */
  modelLine: string;
  /** Some input was of random values. */
  random: boolean;
}

/** The curve of a search as a report gives it; undefined: no more than its ends. */
export function describeTrade(curve: TradeCurve, search: FoundFix): Trade | undefined {
  const { fix, low, goal } = search;
  const found = curve.points(goal, fix ? fix.exact.length : Infinity);
  if (found.length < (fix?.minimal ? 3 : 2)) return undefined;
  const knee = kneeOf(
    found.map(({ exact }) => exact.length),
    found.map(({ error }) => error),
    goal,
  );
  const at = knee === null ? undefined : found[knee]!;
  const rules = at && describeFix({ ...search, fix: { ...noFix, exact: [...at.exact], error: at.error } }).rules;
  return {
    points: found.map(({ exact, error }) => ({
      nodes: exact.map((own) => low.low[own]!.node.id),
      error: finiteOrNull(error),
    })),
    knee,
    rules: rules ?? null,
  };
}

const noFix: PrecisionFix = { exact: [], error: 0, minimal: false, without: new Map(), alone: new Map() };

/** How many Casts the typed copy of the model under these rules has more than the model. */
function castsUnder(rules: string, base: 'fp16' | 'bf16', { low, index }: FoundFix): number {
  const overrides = readOverrides(rules);
  const plan = planPrecision(overrides, index, resolveOverrides(overrides, index, null));
  return planRewrite(low.model, { ...plan, base }).counts.casts;
}

/** The fix as a report gives it, with its rules as text: appended to the given ones, otherwise as a file of their own. */
export function describeFix(search: FoundFix): AccuracyFix {
  const { fix, low, index, base, outputs, tolerance, goal, runs, given, modelLine } = search;
  const positions = new Map(index.nodes.map(({ id }, position) => [id, position]));
  const found = (fix?.exact ?? []).map((own) => ({ own, position: positions.get(low.low[own]!.node.id)! }));
  const ownOf = new Map(found.map(({ own, position }) => [position, own]));
  const rules = fixRules(
    found.map(({ position }) => position),
    index,
  );
  const without = rules.map(({ selector, nodes }) => {
    const errors = nodes.flatMap((position) => fix?.without.get(ownOf.get(position)!) ?? []);
    return { selector, nodes: nodes.map((i) => index.nodes[i]!.id), worst: Math.max(...errors) };
  });
  const isQdq = base === 'int8' || base === 'fp8';
  const notes = without.map(({ worst }) => (worst === -Infinity ? '' : `without: ${errorFigure(finiteOrNull(worst))}`));
  const before = worstError(outputs);
  const error = fix?.error ?? before ?? 0;
  const comments = [
    `Found by simulation: error ${errorFigure(error)} instead of ${errorFigure(before)} (tolerance ${tolerance}${goal < tolerance ? `, aimed at ${errorFigure(goal)}` : ''})`,
  ];
  if (search.random) comments.push(randomCaution);
  if (isQdq && rules.length > 0)
    comments.push('These nodes must not read Q/DQ nodes: leave them out when you quantize the model');
  const added = rules.length > 0 ? addedRules(comments, rules, notes) : '';
  const text =
    given === undefined
      ? rulesText({ model: modelLine, base: isQdq ? 'keep' : base, comments }, rules, notes)
      : `${given}${given === '' || given.endsWith('\n') ? '' : '\n'}${added}`;
  const casts = isQdq ? null : castsUnder(text, base, search);
  const cost = (at: number): number | null => {
    if (isQdq || casts === null || rules.length > MOST_COSTS) return null;
    const others = rules.filter((_, i) => i !== at);
    const head = given ?? rulesText({ model: modelLine, base, comments: [] }, [], []);
    return casts - castsUnder(`${head}\n${addedRules([], others, [])}`, base, search);
  };
  return {
    nodes: found.map(({ position }) => index.nodes[position]!.id),
    names: found.map(({ position }) => index.names[position]!),
    error,
    minimal: fix?.minimal ?? true,
    runs,
    casts,
    added,
    rules: text,
    without: without.map(({ worst, ...rule }, at) => ({ ...rule, error: finiteOrNull(worst), casts: cost(at) })),
  };
}

/** Of more rules, the Casts of each are not counted: that takes a plan of the whole model a rule. */
const MOST_COSTS = 24;
