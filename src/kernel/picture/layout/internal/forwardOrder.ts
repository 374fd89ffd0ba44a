import { rowsBy, SmallestFirst } from '../layoutTypes.ts';

/**
 * An order of `count` vertices in which as many edges as can be run forward, near the order of their numbers. Collapsed
 * modules can depend on each other both ways; then the one with the smaller number comes first. Returns each vertex's
 * position. Linear but for a heap of the vertices that are ready.
 */
export function forwardOrder(count: number, from: Int32Array, to: Int32Array): Int32Array {
  const position = new Int32Array(count);
  if (alreadyForward(from, to)) {
    for (let v = 0; v < count; v++) position[v] = v;
    return position;
  }
  const { start, list } = rowsBy(count, from, to);
  const waiting = new Int32Array(count);
  for (let e = 0; e < to.length; e++) waiting[to[e]!]! += 1;
  position.fill(-1);
  const ready = new Uint8Array(count);
  const heap = new SmallestFirst();
  const push = (v: number) => {
    ready[v] = 1;
    heap.push(v);
  };
  for (let v = 0; v < count; v++) if (waiting[v] === 0) push(v);
  for (let filled = 0, cut = 0; filled < count;) {
    const v = heap.pop();
    if (v === undefined) {
      while (ready[cut] === 1) cut += 1;
      push(cut);
      continue;
    }
    position[v] = filled;
    filled += 1;
    for (let i = start[v]!; i < start[v + 1]!; i++) {
      const w = list[i]!;
      waiting[w]! -= 1;
      if (waiting[w] === 0 && ready[w] === 0) push(w);
    }
  }
  return position;
}

function alreadyForward(from: Int32Array, to: Int32Array): boolean {
  for (let e = 0; e < from.length; e++) if (from[e]! >= to[e]!) return false;
  return true;
}
