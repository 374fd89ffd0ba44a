import type { GraphIndex } from './graphIndex.ts';
import { draft } from './draft.ts';
import type { Draft } from './draft.ts';

/** Fewer repetitions than this are shown one by one. */
export const fewestRepeats = 3;
/** Modules of fewer nodes than this are no blocks worth counting. */
const smallest = 3;

/**
 * Puts numbered siblings of one structure (`blocks.0 … blocks.11`) under one module that stands for all of them. A few
 * may differ from the rest (a first block with a mask in it); four stages that each have a structure of their own are
 * no repetition.
 */
export function gatherRepeats(graph: GraphIndex, module: Draft): void {
  const families = new Map<string, Draft[]>();
  for (const child of module.children) {
    const stem = child.kind === 'scope' || child.kind === 'part' ? stemOf(child.label) : null;
    if (stem === null) continue;
    const family = families.get(stem);
    if (family === undefined) families.set(stem, [child]);
    else family.push(child);
  }
  for (const [stem, family] of families) {
    if (family.length < fewestRepeats || !isRepetition(graph, family)) continue;
    const members = new Set(family);
    const run = draft(`${module.id}/${stem}*`, stem.replace(/[._-]$/, ''), 'repeat');
    run.children = family;
    run.first = Math.min(...family.map(({ first }) => first));
    module.children = [...module.children.filter((child) => !members.has(child)), run].sort(
      (a, b) => a.first - b.first,
    );
  }
}

/** `blocks.11` → `blocks.`; null without a number at the end, or with nothing else. */
function stemOf(label: string): string | null {
  const found = /^(.*?\D)\d+$/.exec(label);
  if (found?.[1] !== undefined) return found[1];
  return /^\d+$/.test(label) ? '' : null;
}

function isRepetition(graph: GraphIndex, family: Draft[]): boolean {
  const counts = new Map<number, number>();
  let most = 0;
  for (const member of family) {
    const points = pointsBelow(member);
    if (points.length < smallest) return false;
    const hash = structureOf(graph, points);
    const count = (counts.get(hash) ?? 0) + 1;
    counts.set(hash, count);
    most = Math.max(most, count);
  }
  return most >= fewestRepeats && most > 0.75 * family.length;
}

export function pointsBelow(module: Draft): number[] {
  const found: number[] = [];
  const pending = [module];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const point of next.own) found.push(point);
    for (const child of next.children) pending.push(child);
  }
  return found;
}

/** A number that is the same for the same operators in the same order; different ones may, rarely, share it. */
export function structureOf(graph: GraphIndex, points: number[]): number {
  let hash = 2166136261 ^ points.length;
  for (const point of points.toSorted((a, b) => graph.rank[a]! - graph.rank[b]!)) {
    hash = Math.imul(hash ^ opHash(graph.data.nodes[point]?.op ?? ''), 16777619);
  }
  return hash;
}

const hashes = new Map<string, number>();

export function opHash(op: string): number {
  const known = hashes.get(op);
  if (known !== undefined) return known;
  let hash = 2166136261;
  for (let i = 0; i < op.length; i++) hash = Math.imul(hash ^ op.charCodeAt(i), 16777619);
  // A model may invent any number of operator names.
  if (hashes.size < 10_000) hashes.set(op, hash);
  return hash;
}
