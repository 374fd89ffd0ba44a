import type { LowModel, LowNode } from './lowNodes.ts';
import { largest, type Measured } from './measures.ts';

/** What is known of one low-precision node. Errors are max|difference| / max|reference|; null: not finite, or unknown. */
export interface JudgedNode {
  id: string;
  /** The model's name, '' for none. */
  name: string;
  op: string;
  type: LowNode['type'];
  /** With exact inputs, so what this node alone loses. */
  localError: number | null;
  /** In the low-precision run. */
  propagatedError: number | null;
  /** Largest magnitude of its results in FP32. */
  max: number | null;
  /** With exact inputs some result is not finite, although it is in FP32. */
  overflow: boolean;
  /** With exact inputs at least 1 % of the results become 0, although they are not in FP32. */
  underflow: boolean;
  /**
   * `root`: computes with values that fit, and its loss alone makes an output miss the tolerance. `victim`: reads a value
   * that overflowed, or was spoiled by a root before it. `fine`: all others, also where an overflow does no harm.
   */
  role: 'root' | 'victim' | 'fine';
  /** Relative error of the results over the largest of the inputs, in the low-precision run; null: unknown. */
  amplification: number | null;
  /** Error of the outputs when only this node is in low precision; null: not finite. Absent: at most the tolerance. */
  alone?: number | null;
  /** Why it has no errors of its own; absent: it was judged. The search for a fix covers it nevertheless. */
  notJudged?: string;
}

/** Where a node is that runs as a part of another one. */
const placeOf = (id: string): string =>
  /\/(?:then|else)_branch\/[^/]*$/.test(id) ? 'inside a branch of an If' : 'inside a loop body';

/** The measures of one node's outputs in one sample. */
export interface MeasuredNode {
  node: number;
  outputs: Measured[];
}

/** Share of results that have to vanish before it counts: in most tensors some are tiny. */
const VANISHED = 0.01;

/**
 * Judges every low-precision node from what was measured in all samples, the worst of them counting. `alone`: error of
 * the outputs with only that node in low precision (by `LowNode.index`; Infinity: not finite), of the nodes that alone
 * miss the tolerance.
 */
export function judgeNodes(
  { low }: LowModel,
  measured: readonly MeasuredNode[][],
  alone: ReadonlyMap<number, number>,
  tolerance: number,
): JudgedNode[] {
  const found = low.map((): Found => ({ max: 0, local: 0, run: 0, vanished: 0, runs: false }));
  for (const sample of measured)
    for (const { node, outputs } of sample) for (const one of outputs) add(found[node]!, one);
  const makers = new Map(low.flatMap(({ node, index }) => node.outputs.map((name) => [name, index] as const)));
  const makerOf = (one: LowNode) =>
    one.node.inputs.flatMap((name) => makers.get(name) ?? []).filter((index) => low[index]!.graph === one.graph);
  const roles = low.map((one): JudgedNode['role'] => {
    if (!alone.has(one.index)) return 'fine';
    // A result that does not fit is stored as infinity by whoever made it: this node cannot help it.
    return makerOf(one).some((index) => found[index]!.max > largest[one.type]) ? 'victim' : 'root';
  });
  const spoiled = roles.some((role) => role !== 'fine');
  return low.map((one) => {
    const { node, index, type } = one;
    const { max, local, run, vanished, runs } = found[index]!;
    const lost = spoiled && runs && !(run <= tolerance);
    const before = Math.max(0, ...makerOf(one).map((maker) => found[maker]!.run));
    const role = roles[index]!;
    return {
      id: node.id,
      name: node.name,
      op: node.op,
      type,
      localError: runs ? finite(local) : null,
      propagatedError: runs ? finite(run) : null,
      max: runs ? finite(max) : null,
      overflow: runs && !Number.isFinite(local),
      underflow: vanished > VANISHED,
      role: role === 'fine' && lost ? 'victim' : role,
      amplification: runs && before > 0 ? finite(run / before) : null,
      ...(alone.has(index) && { alone: finite(alone.get(index)!) }),
      ...(!runs && node.id.includes('/') && { notJudged: placeOf(node.id) }),
    };
  });
}

/** The worst of what was measured of a node; `runs`: it was measured at all. */
interface Found {
  max: number;
  local: number;
  run: number;
  vanished: number;
  runs: boolean;
}

function add(to: Found, { max, shadow, shadowSum, run, runSum, vanished }: Measured): void {
  const relative = (difference: number, sum: number) =>
    !Number.isFinite(sum) ? Infinity : max > 0 ? difference / max : difference;
  to.runs = true;
  to.max = Math.max(to.max, max);
  to.local = Math.max(to.local, relative(shadow, shadowSum));
  to.run = Math.max(to.run, relative(run, runSum));
  // The mean of no elements is NaN.
  if (vanished > to.vanished) to.vanished = vanished;
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
