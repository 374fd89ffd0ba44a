import { type ModelGraph, readsOf } from '../model/modelGraph.ts';
import { type Piece, pieceOf, pieceOfNodes, type Unfit } from './pieceOf.ts';

/** What computes sizes from the results of Shape, and constants from constants. */
const sizeOps = new Set(
  'Gather Slice Concat Unsqueeze Squeeze Reshape Cast Identity Add Sub Mul Div Mod Min Max'.split(' '),
);
/** So many nodes such a computation has one behind the other, at most. */
const deepest = 32;

/**
 * The piece that these nodes make, with copies of the nodes that compute the sizes it reads from shapes of tensors that
 * it reads anyway: as inputs, sizes would have to be given by hand, and TensorRT needs their values when it builds.
 * @param ids of nodes of the main graph
 */
export function pieceWithSizes(graph: ModelGraph, ids: Iterable<string>): Piece | Unfit {
  const piece = pieceOfNodes(graph, ids);
  return 'reason' in piece ? piece : withSizes(graph, piece);
}

/** The same for a piece. What the copies make is no output of it. */
export function withSizes(graph: ModelGraph, piece: Piece): Piece {
  const sizes = sizeNodes(graph, piece);
  return sizes.length === 0 ? piece : { ...pieceOf(graph, [...piece.nodes, ...sizes], null), outputs: piece.outputs };
}

function sizeNodes(graph: ModelGraph, piece: Piece): number[] {
  const there = new Set([...piece.inputs, ...piece.nodes.flatMap((node) => graph.outputs[node]!)]);
  const known = new Map<number, boolean>();
  const computesSizes = (node: number, depth: number): boolean => {
    const before = known.get(node);
    if (before !== undefined) return before;
    // Until it is known, for what a broken model computes from itself.
    known.set(node, false);
    const { op, domain } = graph.nodes[node]!;
    const reads = readsOf(graph, node);
    const answer =
      domain === '' &&
      depth < deepest &&
      (op === 'Constant' ||
        (op === 'Shape' && reads.every((tensor) => there.has(tensor))) ||
        (sizeOps.has(op) && reads.every((tensor) => isSize(tensor, depth + 1))));
    known.set(node, answer);
    return answer;
  };
  const isSize = (tensor: number, depth: number): boolean => {
    const { kind, producer } = graph.tensors[tensor]!;
    return producer < 0 ? kind === 'initializer' : computesSizes(producer, depth);
  };
  const found = new Set<number>();
  const open = piece.inputs.map((tensor) => graph.tensors[tensor]!.producer);
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node < 0 || found.has(node) || !computesSizes(node, 0)) continue;
    found.add(node);
    if (graph.nodes[node]!.op !== 'Shape')
      open.push(...readsOf(graph, node).map((tensor) => graph.tensors[tensor]!.producer));
  }
  return [...found];
}
