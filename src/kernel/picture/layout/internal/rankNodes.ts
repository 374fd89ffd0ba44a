import { rowsBy } from '../layoutTypes.ts';

/**
 * A row for every vertex, so that each edge leads to a later row. Vertices are numbered so that every edge runs from a
 * smaller to a larger number. Starts from the longest path and then moves vertices towards their readers where that
 * makes the edges shorter: constants end up right above what reads them. `portalSpan`: edges that stay longer than this
 * are not drawn and pull nothing.
 */
export function rankNodes(count: number, from: Int32Array, to: Int32Array, portalSpan: number): Int32Array {
  const rank = new Int32Array(count);
  const incoming = rowsBy(count, to);
  const outgoing = rowsBy(count, from);
  for (let v = 0; v < count; v++) {
    for (let i = incoming.start[v]!; i < incoming.start[v + 1]!; i++) {
      rank[v] = Math.max(rank[v]!, rank[from[incoming.list[i]!]!]! + 1);
    }
  }
  for (let round = 0; round < 3; round++) {
    let moved = false;
    for (let v = count - 1; v >= 0; v--) {
      const out = outgoing.start[v + 1]! - outgoing.start[v]!;
      const into = incoming.start[v + 1]! - incoming.start[v]!;
      if (out === 0 || out < into) continue;
      let latest = Infinity;
      for (let i = outgoing.start[v]!; i < outgoing.start[v + 1]!; i++) {
        latest = Math.min(latest, rank[to[outgoing.list[i]!]!]! - 1);
      }
      if (latest <= rank[v]! || (out === into && into > 0 && !gains(v, latest))) continue;
      rank[v] = latest;
      moved = true;
    }
    if (!moved) break;
  }
  spreadLoose(rank, incoming.start, outgoing.start);
  return rank;

  /** With as many edges in as out, moving pays only where an edge in becomes a portal or one out stops being one. */
  function gains(v: number, latest: number): boolean {
    let before = 0;
    let after = 0;
    for (let i = outgoing.start[v]!; i < outgoing.start[v + 1]!; i++) {
      const other = rank[to[outgoing.list[i]!]!]!;
      before += Math.min(portalSpan, other - rank[v]!);
      after += Math.min(portalSpan, other - latest);
    }
    for (let i = incoming.start[v]!; i < incoming.start[v + 1]!; i++) {
      const other = rank[from[incoming.list[i]!]!]!;
      before += Math.min(portalSpan, rank[v]! - other);
      after += Math.min(portalSpan, latest - other);
    }
    return after < before;
  }
}

/** Vertices without any edge would make one endless row: they are stacked in a square. */
function spreadLoose(rank: Int32Array, inStart: Int32Array, outStart: Int32Array): void {
  const loose: number[] = [];
  for (let v = 0; v < rank.length; v++) {
    if (inStart[v] === inStart[v + 1] && outStart[v] === outStart[v + 1]) loose.push(v);
  }
  const across = Math.max(4, Math.ceil(Math.sqrt(loose.length)));
  loose.forEach((v, i) => (rank[v] = Math.floor(i / across)));
}
