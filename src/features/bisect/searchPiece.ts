// Finds the smallest part of a network that is wrong though its inputs are right.
import { inDataOrder, type ModelGraph } from '../../kernel/network/modelGraph.ts';
import { closed, nodesWithin, outermost } from '../surgery/extractModel.ts';

/**
 * A search that asks about sets of nodes (indices of the main graph) one at a time, and gets for each whether it is wrong
 * when it is built alone with right inputs. It returns the smallest wrong set that it found; null: every part that was
 * tried is right, so the fault vanishes when the network is cut. Whoever runs it may stop after any answer.
 */
export type PieceSearch = Generator<number[], number[] | null, boolean>;

/**
 * First the neighborhoods of the suspects, from small to large. Then windows over the network in data order, half as
 * large each time, overlapping by half, so that a fault which lies across a border of one window is inside of the next.
 * At last whatever can be left out is, until no single node can.
 * @param suspects ids of nodes that are likely to be wrong, the likeliest first
 */
export function* searchPiece(graph: ModelGraph, suspects: readonly string[]): PieceSearch {
  const all = computingNodes(graph);
  const found = (yield* aroundSuspects(graph, all, suspects)) ?? (yield* halving(all));
  return found === null ? null : yield* leaveOut(found);
}

/** The nodes of the main graph in data order; constants come along with what reads them. */
export const computingNodes = (graph: ModelGraph): number[] =>
  inDataOrder(graph).filter((node) => graph.owner[node]! < 0 && graph.nodes[node]!.op !== 'Constant');

/** How many of several suspects are tried: most networks repeat one fault. */
const MOST_SUSPECTS = 3;

function* aroundSuspects(graph: ModelGraph, all: readonly number[], suspects: readonly string[]): PieceSearch {
  const allowed = new Set(all);
  for (const id of suspects.slice(0, MOST_SUSPECTS)) {
    const index = graph.indexOfId.get(id);
    if (index === undefined) continue;
    const node = outermost(graph, index);
    let size = 0;
    for (const radius of [1, 2, 4, 8, 16]) {
      const near = closed(
        graph,
        nodesWithin(graph, [node], radius, (other) => allowed.has(other)),
      );
      const nodes = inOrder(all, near);
      if (nodes.length === size || nodes.length * 2 > Math.max(all.length, 24)) break;
      size = nodes.length;
      if (yield nodes) return nodes;
    }
  }
  return null;
}

/**
 * The smallest window of a wrong sequence that is wrong. The whole sequence counts as wrong, and is asked about only
 * where nothing smaller is.
 */
function* halving(all: readonly number[]): PieceSearch {
  let current = [...all];
  for (let isKnown = false; ; isKnown = true) {
    const length = Math.ceil(current.length / 2);
    const stride = Math.max(1, Math.ceil(length / 2));
    let smaller: number[] | null = null;
    if (length < current.length)
      for (let at = 0; smaller === null && at < current.length - length + stride; at += stride) {
        const start = Math.min(at, current.length - length);
        const nodes = current.slice(start, start + length);
        if (yield nodes) smaller = nodes;
      }
    if (smaller === null) return isKnown || (yield current) ? current : null;
    current = smaller;
  }
}

/** Leaves out chunks, half as large each time, until no single node can be left out. */
function* leaveOut(wrong: number[]): Generator<number[], number[], boolean> {
  let current = wrong;
  for (let size = Math.ceil(current.length / 2); ; size = Math.max(1, Math.floor(size / 2))) {
    let isSmaller = false;
    // From the end first: what only reads the wrong values is the easiest to do without.
    for (let end = current.length; end > 0;) {
      const start = Math.max(0, end - size);
      const rest = [...current.slice(0, start), ...current.slice(end)];
      if (rest.length > 0 && (yield rest)) {
        current = rest;
        isSmaller = true;
      }
      end = Math.min(start, current.length);
    }
    if (size === 1 && !isSmaller) return current;
  }
}

function inOrder(all: readonly number[], nodes: Iterable<number>): number[] {
  const wanted = new Set(nodes);
  return all.filter((node) => wanted.has(node));
}
