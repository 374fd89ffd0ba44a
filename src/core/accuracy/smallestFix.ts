/** A run that the search asks for: these nodes exact, all others in low precision. Positions are the search's own. */
export interface SearchTrial {
  exact: ReadonlySet<number>;
  /** Asked for the error that these exact nodes leave, or for what the others do alone. */
  about: 'alone' | 'repair';
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
 * 1. By halving, the nodes that alone miss the tolerance: for most faults these are the set.
 * 2. If that does not do, also by halving, which others have to join them: as many as possible stay in low precision,
 *    the least harmful first, of equals the dearest to keep exact.
 * 3. What can be omitted of the set is omitted: what saves most first, of equals the last.
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

  /** Nodes of a block that alone miss the tolerance. `known`: the block does. */
  function* culprits(block: readonly number[], known: boolean): Generator<SearchTrial, void, SearchAnswer> {
    if (stopped || block.length === 0) return;
    if (block.length > 1 && known) {
      const half = block.length >> 1;
      yield* culprits(block.slice(0, half), false);
      yield* culprits(block.slice(half), false);
      return;
    }
    const error = yield* errorOf(outside(block), 'alone');
    if (passes(error)) for (const node of block) harm[node] = error / block.length;
    else if (block.length === 1) alone.set(block[0]!, error);
    else yield* culprits(block, true);
  }
  yield* culprits(all, true);

  let exact = [...alone.keys()];
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
  return { exact: exact.toSorted((a, b) => a - b), error, minimal, without, alone };
}
