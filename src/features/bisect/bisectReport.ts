// What a search for wrong nodes finds; the JSON of `trtlens bisect` has this form.

/** What a wrong tensor has in common with the right one; it explains at least 99.9 % of the difference. */
export interface WrongPattern {
  kind:
    | 'factor'
    | 'offset'
    | 'permuted-axis'
    | 'batch'
    | 'stale'
    | 'swapped'
    | 'shifted'
    | 'zeros'
    | 'not-finite'
    | 'other';
  /** A number for factor and offset, an order of axes, indices of a batch, a tensor's name, …; null: nothing more to say. */
  value: unknown;
  /** The share of the difference that it explains, from 0 to 1. */
  explains: number;
}

/** Where in a tensor values are wrong. */
export type WrongPlace =
  | { kind: 'all' | 'none' }
  | { kind: 'axis' | 'tail'; axis: number; from: number; to: number; size: number }
  | { kind: 'some'; share: number };

/** One output of the engine against the reference. */
export interface CheckedOutput {
  name: string;
  wrong: boolean;
  /** max|d| / max|reference|; null: not finite, or another shape. */
  error: number | null;
  pattern?: WrongPattern | null;
  where?: WrongPlace | null;
  max?: number | null;
  mean?: number | null;
  median?: number | null;
  p99?: number | null;
  shape?: number[];
  /** Where the shapes differ: that of the reference, and that of the engine. */
  shapes?: [number[], number[]];
  /** The elements that differ most. */
  rows?: { at: number[]; reference: number | string; value: number | string }[];
  /** How many values of each are in a range, from the smallest to the largest of both. */
  histogram?: { from: number; to: number; reference: number; value: number }[];
}

/** The smallest part of the network that is still wrong when it gets right inputs. */
export interface WrongPiece {
  /** Path of the piece as a model of its own. */
  model: string;
  /** Ids of its nodes in the whole model. */
  nodes: string[];
  /** Path of the .npz with its inputs. */
  inputs: string;
  /** Its worst output, with values; null: it has none to compare. */
  output: CheckedOutput | null;
  error: number | null;
  pattern: WrongPattern | null;
}

/** In an engine whose fault vanishes when the network is cut: the first tensor that is wrong when it is made an output. */
export interface FirstWrong {
  tensor: string;
  /** Id of the node that makes it. */
  node: string;
  error: number | null;
  pattern: WrongPattern | null;
}

/** The smallest piece, built in another place. */
export interface PieceElsewhere {
  /** null: it could not be built or run there, see `problem`. */
  tensorrt: string | null;
  gpu: string | null;
  error: number | null;
  wrong: boolean | null;
  problem: string | null;
}

/** A change that was tried on the piece or on the whole model. */
export interface TriedChange {
  change: string;
  /** Of the worst output; null: not finite, or it could not be built. */
  error: number | null;
  /** Of a run of the engine; null: not timed. */
  ms: number | null;
}

/** A change after which the whole model is right. */
export interface Workaround {
  /** Path of the changed model; null: only options of the build change. */
  model: string | null;
  change: string;
  error: number | null;
  /** How much longer a run takes. */
  costMs: number | null;
}

/** How the engine behaves over several runs. */
export type Repeatability = 'same' | 'nondeterministic' | 'remembers' | 'random' | 'not tried';

/** Why nothing more was found, or what the search ended with. */
export type BisectReason =
  | 'right'
  | 'wrong'
  | 'export'
  | 'precision'
  | 'random'
  | 'nondeterministic'
  | 'remembers'
  | 'vanishes-when-cut'
  | 'budget'
  | 'cancelled';

export interface BisectResult {
  tensorrt: string | null;
  gpu: string | null;
  reference: { runtime: string; noise: number };
  outputs: CheckedOutput[];
  /** The error with the flags that the user builds with, where they are not those of the search. */
  withFlags: number | null;
  repeatability: Repeatability;
  /** Ids of nodes that TensorRT names nowhere. */
  lost: string[];
  piece: WrongPiece | null;
  /** null: not searched for, or none is wrong when it is an output. */
  first: FirstWrong | null;
  /** The same piece at the other places that were asked for. */
  elsewhere: PieceElsewhere[];
  tried: TriedChange[];
  fix: Workaround | null;
  reason: BisectReason;
  /** Nodes of the main graph before and after each step: 636, 35, 8. */
  steps: number[];
  builds: number;
  seconds: number;
}

/** Whether a smaller piece shows the same fault: the same kind of pattern, a factor or an offset within a hundredth. */
export function isSamePattern(
  before: WrongPattern | null | undefined,
  after: WrongPattern | null | undefined,
): boolean {
  if (!before || before.kind === 'other') return true;
  if (!after || after.kind !== before.kind) return false;
  if (typeof before.value !== 'number' || typeof after.value !== 'number') return true;
  return Math.abs(after.value - before.value) <= Math.abs(before.value) / 100;
}

/** The worst of some tensors: one that is not finite, or the largest error. */
export function worstOf<Tensor extends Pick<CheckedOutput, 'error'>>(tensors: readonly Tensor[]): Tensor | undefined {
  return tensors.toSorted((a, b) => (b.error ?? Infinity) - (a.error ?? Infinity))[0];
}
