import type { WrongPattern } from '../bisectReport.ts';
import { computingNodes, type PieceCandidate, searchPiece, sizeOfPart } from '../searchPiece.ts';
import { Cancelled } from '../../../kernel/node/files/userError.ts';
import type { Journal } from './journal.ts';
import { type Pieces, showsFault, type TriedPiece } from './pieces.ts';

export interface SmallestPiece {
  /** null: every piece that was tried is right alone. */
  piece: TriedPiece | null;
  /** Why the search ended before its end. */
  over: 'budget' | 'cancelled' | null;
}

/** What the search does now. */
export interface SearchProgress {
  /** Nodes of the network and of each smaller wrong piece. */
  steps: number[];
}

/**
 * The smallest piece of the network that is wrong with right inputs.
 * @param suspects ids of nodes that are likely to be wrong
 * @param isOver asked before each build
 */
export async function smallestPiece(
  pieces: Pieces,
  suspects: readonly string[],
  journal: Journal,
  isOver: () => 'budget' | 'cancelled' | null,
  report: (progress: SearchProgress) => void,
): Promise<SmallestPiece> {
  const { graph } = pieces;
  const steps = [computingNodes(graph).length];
  let best: TriedPiece | null = null;
  let pattern: WrongPattern | null = null;
  /** The smallest wrong one of an earlier search, which is built again when it is needed. */
  let recorded: PieceCandidate | null = null;
  const outputOf = (piece: TriedPiece) => graph.byName.get(piece.worst?.name ?? '') ?? null;
  const ask = async (candidate: PieceCandidate): Promise<number | null> => {
    const key = pieces.keyOf(candidate);
    const known = journal.answer(key);
    let wrong: number | null;
    if (known !== undefined) {
      wrong = known.wrong === null ? null : (graph.byName.get(known.wrong) ?? null);
      if (wrong !== null) [recorded, pattern] = [candidate, pattern ?? known.pattern];
    } else {
      const tried = await pieces.try(candidate);
      const isWrong = tried !== null && showsFault(tried, pattern);
      wrong = isWrong ? outputOf(tried) : null;
      await journal.add(key, wrong === null ? null : graph.tensors[wrong]!.name, tried?.worst?.pattern ?? null);
      if (isWrong) {
        [best, recorded] = [tried, null];
        pattern ??= tried.worst?.pattern ?? null;
      } else if (tried !== null) await pieces.discard(tried);
    }
    if (wrong !== null && sizeOfPart(candidate) < steps.at(-1)!) steps.push(sizeOfPart(candidate));
    report({ steps });
    return wrong;
  };
  const search = searchPiece(graph, suspects);
  let over: SmallestPiece['over'] = null;
  try {
    let next = search.next();
    while (!next.done && (over = isOver()) === null) next = search.next(await ask(next.value));
    if (recorded !== null) best = await pieces.try(recorded);
    if (best !== null && over === null) best = await withSmallerInputs(pieces, best, isOver);
  } catch (error) {
    // What was found before a cancel stays.
    if (!(error instanceof Cancelled) || best === null) throw error;
    over = 'cancelled';
  }
  return { piece: best, over };
}

/** Sizes that are tried for a dimension that the model leaves open. */
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128];

/** The same piece with smaller inputs, where the fault stays. */
async function withSmallerInputs(pieces: Pieces, found: TriedPiece, isOver: () => unknown): Promise<TriedPiece> {
  let best = found;
  const open = new Set(
    found.border.inputs.flatMap(({ shape }) => (shape ?? []).filter((dim) => typeof dim === 'string')),
  );
  for (const name of open)
    for (const size of SIZES) {
      if (isOver() !== null) return best;
      if (!(await pieces.isSmaller(best, name, size))) break;
      const tried = await pieces.vary(best, { sizes: { [name]: size } });
      if (showsFault(tried, found.worst?.pattern ?? null)) {
        best = tried!;
        break;
      }
      if (tried !== null) await pieces.discard(tried);
    }
  return best;
}
