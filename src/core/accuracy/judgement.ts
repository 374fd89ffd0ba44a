import type { ModelGraph } from '../model/modelGraph.ts';
import { lowMakers } from './lowMakers.ts';
import type { LowModel, LowNode } from './lowNodes.ts';
import { type Measured, NOT_RUN, overflowFrom } from './measures.ts';

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

/** Why a node has no errors; `measured`: it was to be measured. */
function whyNot({ outputs }: LowNode, measured: boolean): string {
  if (measured) return 'did not run with these inputs';
  return outputs.length === 0
    ? 'results are not floating point'
    : 'inside a body that cannot be measured, such as a loop over sequences';
}

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
  model: LowModel,
  graph: ModelGraph,
  measured: readonly MeasuredNode[][],
  alone: ReadonlyMap<number, number>,
  tolerance: number,
): JudgedNode[] {
  const { low } = model;
  const found = low.map((): Found => ({ max: 0, local: 0, run: 0, vanished: 0, measured: false, runs: false }));
  for (const sample of measured)
    for (const { node, outputs } of sample) for (const one of outputs) add(found[node]!, one);
  const makersOf = lowMakers(model, graph);
  const makers = low.map(makersOf);
  const roles = low.map(({ index, type }): JudgedNode['role'] => {
    if (!alone.has(index)) return 'fine';
    // A result that does not fit is stored as infinity by whoever made it: this node cannot help it.
    return makers[index]!.some((maker) => found[maker]!.max >= overflowFrom[type]) ? 'victim' : 'root';
  });
  const spoiled = roles.some((role) => role !== 'fine');
  return low.map((one) => {
    const { node, index, type } = one;
    const { max, local, run, vanished, measured: known, runs } = found[index]!;
    const lost = spoiled && runs && !(run <= tolerance);
    const before = Math.max(0, ...makers[index]!.map((maker) => found[maker]!.run));
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
      ...(!runs && { notJudged: whyNot(one, known) }),
    };
  });
}

/** The worst of what was measured of a node; `runs`: it ran in some sample. */
interface Found {
  max: number;
  local: number;
  run: number;
  vanished: number;
  measured: boolean;
  runs: boolean;
}

function add(to: Found, { max, shadow, shadowSum, run, runSum, vanished }: Measured): void {
  const relative = (difference: number, sum: number) =>
    !Number.isFinite(sum) ? Infinity : max > 0 ? difference / max : difference;
  to.measured = true;
  if (max === NOT_RUN) return;
  to.runs = true;
  to.max = Math.max(to.max, max);
  to.local = Math.max(to.local, relative(shadow, shadowSum));
  to.run = Math.max(to.run, relative(run, runSum));
  // The mean of no elements is NaN.
  if (vanished > to.vanished) to.vanished = vanished;
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
