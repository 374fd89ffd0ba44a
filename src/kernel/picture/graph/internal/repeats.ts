import type { GraphIndex } from '../graphIndex.ts';
import { draft, type Draft } from './draft.ts';
import { addTo } from '../../../base/addTo.ts';

/** Fewer repetitions than this are shown one by one. */
export const fewestRepeats = 3;
/** Modules of fewer nodes than this are no blocks worth counting. */
const smallest = 3;

/**
 * Puts numbered siblings of one structure (`blocks.0 … blocks.11`) under one module that stands for all of them, where
 * they follow each other: each one's outputs are read by the next, and nothing else leads from one to another. Siblings
 * that run side by side, or with other modules between them, stay as they are: a box for all of them would be a picture
 * of another network.
 */
export function gatherRepeats(graph: GraphIndex, module: Draft): void {
  const families = new Map<string, Draft[]>();
  for (const child of module.children) {
    const stem = child.kind === 'scope' || child.kind === 'part' ? stemOf(child.label) : null;
    if (stem === null) continue;
    addTo(families, stem, child);
  }
  for (const [stem, family] of families) {
    if (family.length < fewestRepeats) continue;
    for (const members of equalRuns(graph, family)) {
      if (!isChain(graph, members.map(pointsBelow))) continue;
      const all = members.length === family.length;
      const run = draft(
        all ? `${module.id}/${stem}*` : `${module.id}/${members[0]!.label}*`,
        all ? stem.replace(/[._-]$/, '') : rangeLabel(members),
        'repeat',
      );
      run.children = members;
      run.first = members[0]!.first;
      const inRun = new Set(members);
      module.children = [...module.children.filter((child) => !inRun.has(child)), run].sort(
        (a, b) => a.first - b.first,
      );
    }
  }
}

/** `blocks.1 … 11` */
export const rangeLabel = (members: readonly Draft[]): string =>
  `${members[0]?.label ?? ''} … ${/\d+$/.exec(members.at(-1)?.label ?? '')?.[0] ?? ''}`;

/** `blocks.11` → `blocks.`; null without a number at the end, or with nothing else. */
function stemOf(label: string): string | null {
  const found = /^(.*?\D)\d+$/.exec(label);
  if (found?.[1] !== undefined) return found[1];
  return /^\d+$/.test(label) ? '' : null;
}

/** Members of one structure that follow each other in the graph's order, as long as possible. */
function equalRuns(graph: GraphIndex, family: Draft[]): Draft[][] {
  const runs: Draft[][] = [];
  let last: number | null = null;
  for (const member of family.toSorted((a, b) => a.first - b.first)) {
    const points = pointsBelow(member);
    const structure = points.length < smallest ? null : structureOf(graph, points);
    if (structure !== null && structure === last) runs.at(-1)!.push(member);
    else runs.push([member]);
    last = structure;
  }
  return runs.filter(({ length }) => length >= fewestRepeats);
}

/**
 * Whether blocks follow each other: every block but the last has an edge to the next one, and there is no other way from
 * one block to another, neither an edge nor a path through points that are in no block.
 */
export function isChain(graph: GraphIndex, blocks: readonly number[][]): boolean {
  const blockOf = new Map<number, number>();
  let last = 0;
  blocks.forEach((points, block) => {
    for (const point of points) {
      blockOf.set(point, block);
      last = Math.max(last, graph.rank[point]!);
    }
  });
  const linked = new Set<number>();
  const outside: number[] = [];
  const seen = new Set<number>();
  const visit = (point: number, from: number | null): boolean => {
    for (let i = graph.outStart[point]!; i < graph.outStart[point + 1]!; i++) {
      const reader = graph.to[graph.outEdges[i]!]!;
      const block = blockOf.get(reader);
      if (block === undefined) {
        if (graph.rank[reader]! < last && !seen.has(reader)) outside.push(reader);
        seen.add(reader);
      } else if (from === null || (block !== from && block !== from + 1)) return false;
      else if (block === from + 1) linked.add(from);
    }
    return true;
  };
  for (const [point, block] of blockOf) if (!visit(point, block)) return false;
  for (let point = outside.pop(); point !== undefined; point = outside.pop()) if (!visit(point, null)) return false;
  return linked.size === blocks.length - 1;
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

/**
 * A number that is the same for the same operators in the same order with weights of the same shapes; different ones
 * may, rarely, share it.
 */
function structureOf(graph: GraphIndex, points: number[]): number {
  let hash = 2166136261 ^ points.length;
  const add = (part: number) => (hash = Math.imul(hash ^ part, 16777619));
  for (const point of points.toSorted((a, b) => graph.rank[a]! - graph.rank[b]!)) {
    const node = graph.data.nodes[point];
    add(opHash(node?.op ?? ''));
    for (const name of node?.inputs ?? []) {
      const tensor = graph.tensors.get(name);
      if (tensor?.initializer === true) add(opHash(tensor.shape?.join() ?? ''));
    }
  }
  return hash;
}

const hashes = new Map<string, number>();

/** A number for an operator's name, or another short text. */
export function opHash(op: string): number {
  const known = hashes.get(op);
  if (known !== undefined) return known;
  let hash = 2166136261;
  for (let i = 0; i < op.length; i++) hash = Math.imul(hash ^ op.charCodeAt(i), 16777619);
  // A model may invent any number of operator names.
  if (hashes.size < 10_000) hashes.set(op, hash);
  return hash;
}
