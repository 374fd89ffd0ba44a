// Finds the smallest part of a network that is wrong though its inputs are right.
import { inDataOrder, type ModelGraph, readsOf } from '../../kernel/network/modelGraph.ts';
import type { Network } from '../../kernel/network/network.ts';
import { closed, nodesWithin, outermost, subgraphOf } from '../surgery/extractModel.ts';
import { dataInput } from '../surgery/changeModel.ts';

/** A part of a network to build alone: indices of nodes of the main graph, and of tensors. */
export interface PieceCandidate {
  nodes: number[];
  /** Its outputs; null: every tensor that is read outside. */
  ends: number[] | null;
  /** Those of its nodes that pass their first input on instead of computing anything. */
  passed: number[];
}

interface WrongPart extends PieceCandidate {
  /** The output that is most wrong. */
  wrong: number;
}

/**
 * A search that asks about parts one at a time, and gets for each the output that is most wrong when it is built alone with
 * right inputs, or null where it is right. It returns the smallest wrong part that it found; null: every part that was
 * tried is right, so the fault vanishes when the network is cut. Whoever runs it may stop after any answer.
 */
export type PieceSearch = Generator<PieceCandidate, PieceCandidate | null, number | null>;

/**
 * First the neighborhoods of the suspects, from small to large. Then windows over the network in data order, half as
 * large each time, overlapping by half, so that a fault which lies across a border of one window is inside of the next.
 * At last whatever can be left out is, until nothing can.
 * @param suspects ids of nodes that are likely to be wrong, the likeliest first
 */
export function* searchPiece(graph: Network, suspects: readonly string[]): PieceSearch {
  const all = computingNodes(graph);
  const found = (yield* aroundSuspects(graph, all, suspects)) ?? (yield* halving(all));
  return found === null ? null : yield* leaveOut(graph, found);
}

/** Nodes of a part that compute something. */
export const sizeOfPart = ({ nodes, passed }: PieceCandidate): number => nodes.length - passed.length;

/** Asks about nodes with everything that is read outside as an output. */
function* isWrong(nodes: number[]): Generator<PieceCandidate, WrongPart | null, number | null> {
  const part = { nodes, ends: null, passed: [] };
  const wrong = yield part;
  return wrong === null ? null : { ...part, wrong };
}

/** The nodes of the main graph in data order; constants come along with what reads them. */
export const computingNodes = (graph: ModelGraph): number[] =>
  inDataOrder(graph).filter((node) => graph.owner[node]! < 0 && graph.nodes[node]!.op !== 'Constant');

/** How many of several suspects are tried: most networks repeat one fault. */
const MOST_SUSPECTS = 3;

function* aroundSuspects(
  graph: ModelGraph,
  all: readonly number[],
  suspects: readonly string[],
): Generator<PieceCandidate, WrongPart | null, number | null> {
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
      const found = yield* isWrong(nodes);
      if (found !== null) return found;
    }
  }
  return null;
}

/**
 * The smallest window of a wrong sequence that is wrong. The whole sequence counts as wrong, and is asked about only
 * where nothing smaller is.
 */
function* halving(all: readonly number[]): Generator<PieceCandidate, WrongPart | null, number | null> {
  let current = [...all];
  for (let known: WrongPart | null = null; ;) {
    const length = Math.ceil(current.length / 2);
    const stride = Math.max(1, Math.ceil(length / 2));
    let smaller: WrongPart | null = null;
    if (length < current.length)
      for (let at = 0; smaller === null && at < current.length - length + stride; at += stride) {
        const start = Math.min(at, current.length - length);
        smaller = yield* isWrong(current.slice(start, start + length));
      }
    if (smaller === null) return known ?? (yield* isWrong(current));
    known = smaller;
    current = smaller.nodes;
  }
}

/**
 * Leaves out whatever the fault does not need, until no single step is possible: outputs, because a tensor that is an
 * output keeps TensorRT from fusing what makes it; chunks of nodes, half as large each time; and nodes in passing, where
 * what reads their output can read their input instead.
 */
function* leaveOut(graph: Network, found: WrongPart): Generator<PieceCandidate, PieceCandidate, number | null> {
  let current: WrongPart = found;
  const isSmaller = function* (candidate: PieceCandidate | null): Generator<PieceCandidate, boolean, number | null> {
    if (candidate === null) return false;
    const wrong = yield candidate;
    if (wrong !== null) current = { ...candidate, wrong };
    return wrong !== null;
  };
  yield* isSmaller(upTo(graph, current, [current.wrong]));
  // What a later round can leave out is single nodes that were needed before.
  for (let largest = Math.ceil(current.nodes.length / 2); ; largest = 1) {
    for (let size = largest; ; size = Math.max(1, Math.floor(size / 2))) {
      let isAny = false;
      // From the end first: what only reads the wrong values is the easiest to do without.
      for (let end = current.nodes.length; end > 0;) {
        const start = Math.max(0, end - size);
        if (yield* isSmaller(without(graph, current, current.nodes.slice(start, end)))) isAny = true;
        end = Math.min(start, current.nodes.length);
      }
      if (size === 1 && !isAny) break;
    }
    let isAny = false;
    for (const output of outputsOf(graph, current)) {
      const now = outputsOf(graph, current);
      if (output === current.wrong || !now.includes(output)) continue;
      const rest = now.filter((other) => other !== output);
      if (yield* isSmaller(upTo(graph, current, rest))) isAny = true;
    }
    for (const node of current.nodes)
      if (!current.passed.includes(node) && canPass(graph, node)) {
        const passed = [...current.passed, node];
        if (yield* isSmaller({ nodes: current.nodes, ends: current.ends, passed })) isAny = true;
      }
    if (!isAny) return current;
  }
}

const outputsOf = (graph: ModelGraph, { nodes, ends }: PieceCandidate): number[] =>
  subgraphOf(graph, nodes, ends).outputs;

/** A part with fewer outputs, and only the nodes that these need. */
function upTo(graph: ModelGraph, { nodes, passed }: PieceCandidate, ends: readonly number[]): PieceCandidate | null {
  const inside = new Set(nodes);
  const needed = new Set<number>();
  const open = [...ends];
  for (let tensor = open.pop(); tensor !== undefined; tensor = open.pop()) {
    const { producer } = graph.tensors[tensor]!;
    if (!inside.has(producer) || needed.has(producer)) continue;
    needed.add(producer);
    open.push(...readsOf(graph, producer));
  }
  const isNeeded = (node: number) => needed.has(node);
  // In passing, a node alone would be nothing.
  if (nodes.filter(isNeeded).length <= passed.filter(isNeeded).length) return null;
  return { nodes: nodes.filter(isNeeded), ends: [...ends], passed: passed.filter(isNeeded) };
}

/** A part without some of its nodes. Where its outputs go with them, what they read becomes an output instead. */
function without(
  graph: ModelGraph,
  { nodes, ends, passed }: PieceCandidate,
  gone: readonly number[],
): PieceCandidate | null {
  const left = new Set(gone);
  const rest = nodes.filter((node) => !left.has(node));
  if (rest.length === 0) return null;
  const part = { nodes: rest, ends, passed: passed.filter((node) => !left.has(node)) };
  if (ends === null) return rest.length > part.passed.length ? part : null;
  const made = new Set(rest.flatMap((node) => graph.outputs[node]!));
  const kept = ends.filter((tensor) => made.has(tensor));
  const read = [...new Set(gone.flatMap((node) => readsOf(graph, node)))].filter((tensor) => made.has(tensor));
  const now = kept.length > 0 ? kept : read;
  return now.length === 0 ? null : upTo(graph, part, now);
}

/** Whether what reads a node can read its input instead: same type, same shape, nothing else given. */
function canPass(graph: Network, node: number): boolean {
  const from = graph.inputs[node]![dataInput(graph, node)];
  const [to, ...more] = graph.outputs[node]!;
  const { types, shapes } = graph.inferred;
  if (from === undefined || from < 0 || to === undefined || more.length > 0) return false;
  const [a, b] = [shapes[from], shapes[to]];
  return (
    types[from] === types[to] &&
    !!a &&
    !!b &&
    a.length === b.length &&
    a.every((dim, axis) => dim !== null && dim === b[axis])
  );
}

function inOrder(all: readonly number[], nodes: Iterable<number>): number[] {
  const wanted = new Set(nodes);
  return all.filter((node) => wanted.has(node));
}
