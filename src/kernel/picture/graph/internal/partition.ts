import type { GraphIndex } from '../graphIndex.ts';
import { draft, type Draft } from './draft.ts';
import { fewestRepeats, isChain, opHash } from './repeats.ts';

/** A tensor with more readers than this (a mask, a position table) does not hold two halves of a network together. */
const hub = 6;
/** Longest repeated block, in segments. */
const longestPeriod = 48;

/** A stretch of the loose nodes, `from` to `to` (exclusive) in their order. */
interface Stretch {
  from: number;
  to: number;
}

/**
 * Gathers a module's loose nodes into parts by structure alone: cuts where a single tensor connects before and after,
 * takes sequences of segments that repeat as blocks, and packs what is left. What comes out is stable: the same
 * structure gives the same parts. Graph inputs and outputs stay where they are. `made` sees every part that holds nodes.
 */
export function partition(graph: GraphIndex, module: Draft, crowd: number, made: (part: Draft) => void): void {
  const loose = module.own.filter((point) => point < graph.nodes);
  if (loose.length <= crowd) return;
  const segments = segmentsOf(graph, loose);
  const parts: Draft[] = [];
  let pending: Stretch[] = [];
  const flush = () => {
    for (const stretch of packed(pending, crowd))
      parts.push(...partsOf(graph, module, loose, stretch, crowd, parts.length));
    pending = [];
  };
  const keys = segments.map(({ from, to }) => stretchHash(graph, loose, from, to));
  for (let i = 0; i < segments.length;) {
    const { period, count } = repetitionAt(keys, i);
    const first = segments[i]!;
    if (count < fewestRepeats || segments[i + period - 1]!.to - first.from < 3) {
      pending.push(first);
      i += 1;
      continue;
    }
    const blocks = Array.from({ length: count }, (_, k) =>
      loose.slice(segments[i + k * period]!.from, segments[i + (k + 1) * period - 1]!.to),
    );
    if (!isChain(graph, blocks)) {
      pending.push(...segments.slice(i, i + count * period));
      i += count * period;
      continue;
    }
    flush();
    const run = draft(`${module.id}/#${parts.length}*`, 'blocks', 'repeat');
    for (let k = 0; k < count; k++) {
      const block = draft(`${module.id}/#${parts.length}*/${k}`, `block ${k}`, 'part');
      fill(graph, block, loose, segments[i + k * period]!.from, segments[i + (k + 1) * period - 1]!.to, crowd);
      run.children.push(block);
    }
    run.first = run.children[0]!.first;
    parts.push(run);
    i += count * period;
  }
  flush();
  module.own = module.own.filter((point) => point >= graph.nodes);
  module.children.push(...parts);
  const visit = (part: Draft): void => {
    for (const child of part.children) visit(child);
    if (part.own.length > 0) made(part);
  };
  for (const part of parts) visit(part);
}

/** Cuts between neighbors in order where exactly one tensor is alive. Constants and hubs do not count as alive. */
function segmentsOf(graph: GraphIndex, loose: number[]): Stretch[] {
  const at = new Map(loose.map((point, i) => [point, i]));
  const change = new Int32Array(loose.length + 1);
  loose.forEach((point, i) => {
    const begin = graph.outStart[point]!;
    const end = graph.outStart[point + 1]!;
    if (end - begin > hub || graph.inStart[point] === graph.inStart[point + 1]) return;
    let last = i;
    for (let k = begin; k < end; k++) last = Math.max(last, at.get(graph.to[graph.outEdges[k]!]!) ?? i);
    change[i]! += 1;
    change[last]! -= 1;
  });
  const segments: Stretch[] = [];
  let alive = 0;
  let from = 0;
  for (let i = 0; i < loose.length; i++) {
    alive += change[i]!;
    // A constant right after the cut belongs to what reads it.
    if (alive <= 1 && graph.inStart[loose[i]!]! < graph.inStart[loose[i]! + 1]!) {
      segments.push({ from, to: i + 1 });
      from = i + 1;
    }
  }
  if (from < loose.length) segments.push({ from, to: loose.length });
  return segments;
}

function stretchHash(graph: GraphIndex, loose: number[], from: number, to: number): number {
  let hash = 2166136261 ^ (to - from);
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ opHash(graph.data.nodes[loose[i]!]?.op ?? ''), 16777619);
  return hash;
}

/** The repetition that starts at `i` and covers most, the shortest period first. */
function repetitionAt(keys: number[], i: number): { period: number; count: number } {
  let best = { period: 1, count: 1 };
  for (let period = 1; period <= longestPeriod && i + 2 * period <= keys.length; period++) {
    let same = 0;
    while (i + period + same < keys.length && keys[i + same] === keys[i + period + same]) same += 1;
    const count = 1 + Math.floor(same / period);
    if (count >= 3 && count * period > best.count * best.period) best = { period, count };
  }
  return best;
}

/** Neighboring stretches joined while they stay below the crowd's size. */
function packed(stretches: Stretch[], crowd: number): Stretch[] {
  const joined: Stretch[] = [];
  for (const { from, to } of stretches) {
    const last = joined.at(-1);
    if (last !== undefined && last.to === from && to - last.from <= crowd) last.to = to;
    else joined.push({ from, to });
  }
  return joined;
}

function partsOf(
  graph: GraphIndex,
  module: Draft,
  loose: number[],
  { from, to }: Stretch,
  crowd: number,
  at: number,
): Draft[] {
  const part = draft(`${module.id}/#${at}`, '', 'part');
  fill(graph, part, loose, from, to, crowd);
  return [part];
}

/** One part's nodes; a stretch that cannot be cut is halved by number, again and again, so that each level stays small. */
function fill(graph: GraphIndex, part: Draft, loose: number[], from: number, to: number, crowd: number): void {
  const op = (i: number) => graph.data.nodes[loose[i]!]?.op ?? '';
  const named = firstAndLast(graph, loose, from, to);
  part.label =
    part.label === '' ? (named.from === named.to ? op(named.from) : `${op(named.from)} … ${op(named.to)}`) : part.label;
  part.first = graph.rank[loose[from]!]!;
  const size = to - from;
  // A block that is a little larger is better left whole than cut in the middle.
  if (size <= 2 * crowd) {
    part.own = loose.slice(from, to);
    return;
  }
  const pieces = Math.min(crowd, Math.ceil(size / crowd));
  for (let k = 0; k < pieces; k++) {
    const piece = draft(`${part.id}.${k}`, '', 'part');
    fill(
      graph,
      piece,
      loose,
      from + Math.floor((k * size) / pieces),
      from + Math.floor(((k + 1) * size) / pieces),
      crowd,
    );
    part.children.push(piece);
  }
}

/** A part is called by its first and last operator that is not a constant. */
function firstAndLast(graph: GraphIndex, loose: number[], from: number, to: number): Stretch {
  let first = from;
  let last = to - 1;
  const constant = (i: number) => graph.data.nodes[loose[i]!]?.op === 'Constant';
  while (first < last && constant(first)) first += 1;
  while (last > first && constant(last)) last -= 1;
  return { from: first, to: last };
}
