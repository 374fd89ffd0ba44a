// Error against the number of nodes in FP32.

/** The best sets that were tried, by how many nodes they have; nodes are numbers of the caller. */
export class TradeCurve {
  readonly #best = new Map<number, { exact: readonly number[]; error: number }>();

  add(exact: readonly number[], error: number): void {
    const known = this.#best.get(exact.length);
    if (known === undefined || error < known.error) this.#best.set(exact.length, { exact, error });
  }

  /** Those that are better than all with fewer nodes, up to `most` nodes; no more than up to the first that passes. */
  points(tolerance: number, most = Infinity): { exact: readonly number[]; error: number }[] {
    const found: { exact: readonly number[]; error: number }[] = [];
    for (const [size, one] of [...this.#best].sort(([a], [b]) => a - b)) {
      const last = found.at(-1);
      if (size > most || (last && last.error <= tolerance)) break;
      if (!last || one.error < last.error) found.push(one);
    }
    return found;
  }
}

/** A smaller part of the whole drop is no knee. */
const LEAST_DROP = 0.12;

/**
 * The point that is furthest below the line from the first to the last point, on logarithmic scales. `errors`
 * of points with these numbers of nodes; Infinity: not finite, as much as ten times the largest that is. What passes is
 * as good as the tolerance.
 */
export function kneeOf(nodes: readonly number[], errors: readonly number[], tolerance: number): number | null {
  const [least, largest] = [Math.max(tolerance, 1e-7), Math.max(0.1, ...errors.filter(Number.isFinite))];
  const heights = errors.map((error) => Math.log10(Number.isFinite(error) ? Math.max(error, least) : 10 * largest));
  const [first, last, from, to] = [heights[0]!, heights.at(-1)!, nodes[0]!, nodes.at(-1)!];
  if (nodes.length < 3 || !(first > last)) return null;
  let best: number | null = null;
  let deepest = LEAST_DROP;
  for (let at = 1; at < nodes.length - 1; at++) {
    const along = Math.log1p(nodes[at]! - from) / Math.log1p(to - from);
    const below = (first - heights[at]!) / (first - last) - along;
    if (below > deepest) [best, deepest] = [at, below];
  }
  return best;
}

/** Numbers of nodes at which a curve is measured, below `count`: dense where there are few. `least`: no smaller one. */
export function tradeSizes(count: number, least: number): number[] {
  const sizes: number[] = [];
  for (let size = Math.max(1, least); size < count; size = Math.max(size + 1, Math.round(size * 1.5))) sizes.push(size);
  return sizes;
}
