// What is measured of a node in low precision, and what that makes of it.
import { overflowFrom } from '../../../kernel/simulation/nodeEvidence.ts';
import type { Measured, MeasuredNode, Measures } from '../../../kernel/simulation/simulated.ts';
import type { JudgedNode } from '../../../kernel/simulation/simulated.ts';
import type { NewNode } from '../../../kernel/read/onnx/writeModel.ts';
import type { ModelGraph } from '../../../kernel/network/modelGraph.ts';
import { lowMakers } from './lowMakers.ts';
import { finiteOrNull } from './outputErrors.ts';
import type { LowNode, ReducedPrecisionModel } from './reducedPrecisionModel.ts';
import type { RunWriter } from './runWriter.ts';

export const NOT_RUN = -1;

/**
 * Writes the nodes that measure one output; what they give are scalars. `loose`: the copies that may have another size
 * than the reference, which counts as not finite.
 */
export function writeMeasures(
  low: LowNode,
  copies: { reference: string; run: string; shadow: string },
  nodes: NewNode[],
  writer: RunWriter,
  loose: { run: boolean; shadow: boolean },
): Measures {
  const add = (op: string, inputs: string[], attributes: NewNode['attributes'] = {}): string => {
    const [name, output] = [writer.fresh('n'), writer.fresh('m')];
    nodes.push({ op, name, inputs, outputs: [output], attributes });
    return output;
  };
  const whole = (op: string, input: string) => add(op, [input], { keepdims: { int: 0 } });
  const zero = writer.float(0);
  const isLoose = loose.run || loose.shadow;
  const flat = (name: string) => add('Reshape', [name, writer.integers(-1n)]);
  const reference = isLoose ? flat(copies.reference) : copies.reference;
  const aligned = (copy: string, mayDiffer: boolean): string => {
    if (!isLoose) return copy;
    if (!mayDiffer) return flat(copy);
    const infinity = writer.float(Infinity);
    const [count, all] = [add('Shape', [reference]), flat(copy)];
    const filled = add('Concat', [all, add('Expand', [infinity, count])], { axis: { int: 0 } });
    const isSame = add('Equal', [add('Shape', [all]), count]);
    return add('Where', [isSame, add('Slice', [filled, writer.integers(0n), count]), infinity]);
  };
  const [shadow, run] = [aligned(copies.shadow, loose.shadow), aligned(copies.run, loose.run)];
  const size = add('Abs', [reference]);
  // Neither infinities nor NaN are less.
  const known = add('Less', [size, writer.float(Infinity)]);
  const difference = (copy: string) => add('Where', [known, add('Abs', [add('Sub', [copy, reference])]), zero]);
  const [ofShadow, ofRun] = [difference(shadow), difference(run)];
  // NaN is not 0. (Older operator sets compare no floating-point numbers for equality.)
  const gone = add('And', [add('Not', [add('Cast', [shadow], { to: { int: 9 } })]), add('Greater', [size, zero])]);
  return {
    node: low.index,
    numbers: {
      max: whole('ReduceMax', add('Where', [known, size, zero])),
      shadow: whole('ReduceMax', ofShadow),
      shadowSum: whole('ReduceSum', ofShadow),
      vanished: whole('ReduceMean', add('Cast', [gone], { to: { int: 1 } })),
      run: whole('ReduceMax', ofRun),
      runSum: whole('ReduceSum', ofRun),
    },
  };
}

/** Why a node has no errors; `measured`: it was to be measured; `refused`: the low-precision run ended early. */
function whyNot({ outputs }: LowNode, measured: boolean, refused: boolean): string {
  if (measured) return 'did not run with these inputs';
  if (refused) return 'the low-precision run ended before it was measured';
  return outputs.length === 0
    ? 'results are not floating point'
    : 'inside a body that cannot be measured, such as a loop over sequences';
}

/** Share of results that have to vanish before it counts: in most tensors some are tiny. */
const VANISHED = 0.01;

/**
 * Judges every low-precision node from what was measured in all samples, the worst of them counting. `alone`: error of
 * the outputs with only that node in low precision (by `LowNode.index`; Infinity: not finite), of the nodes that alone
 * miss the tolerance. `refused`: the low-precision run ended before all were measured.
 */
export function measureErrors(
  model: ReducedPrecisionModel,
  graph: ModelGraph,
  measured: readonly MeasuredNode[][],
  alone: ReadonlyMap<number, number>,
  tolerance: number,
  refused = false,
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
      localError: runs ? finiteOrNull(local) : null,
      propagatedError: runs ? finiteOrNull(run) : null,
      max: runs ? finiteOrNull(max) : null,
      overflow: runs && !Number.isFinite(local),
      underflow: vanished > VANISHED,
      role: role === 'fine' && lost ? 'victim' : role,
      amplification: runs && before > 0 ? finiteOrNull(run / before) : null,
      ...(alone.has(index) && { alone: finiteOrNull(alone.get(index)!) }),
      ...(!runs && { notJudged: whyNot(one, known, refused) }),
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
