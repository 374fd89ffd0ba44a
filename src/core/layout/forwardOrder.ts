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
  const start = new Int32Array(count + 1);
  const waiting = new Int32Array(count);
  for (let e = 0; e < from.length; e++) {
    start[from[e]! + 1]! += 1;
    waiting[to[e]!]! += 1;
  }
  for (let v = 0; v < count; v++) start[v + 1]! += start[v]!;
  const next = start.slice(0, count);
  const list = new Int32Array(from.length);
  for (let e = 0; e < from.length; e++) {
    list[next[from[e]!]!] = to[e]!;
    next[from[e]!]! += 1;
  }
  position.fill(-1);
  const ready = new Uint8Array(count);
  const heap: number[] = [];
  const push = (v: number) => {
    ready[v] = 1;
    siftUp(heap, v);
  };
  for (let v = 0; v < count; v++) if (waiting[v] === 0) push(v);
  for (let filled = 0, cut = 0; filled < count; filled++) {
    if (heap.length === 0) {
      while (ready[cut] === 1) cut += 1;
      push(cut);
    }
    const v = popSmallest(heap);
    position[v] = filled;
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

function siftUp(heap: number[], value: number): void {
  let at = heap.length;
  heap.push(value);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (heap[parent]! <= value) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = value;
}

function popSmallest(heap: number[]): number {
  const first = heap[0]!;
  const last = heap.pop()!;
  if (heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child += 1;
    if (heap[child]! >= last) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
  return first;
}
