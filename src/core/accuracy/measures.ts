import type { NewNode } from '../onnx/writeParts.ts';
import type { LowNode } from './lowNodes.ts';
import type { RunWriter } from './runWriter.ts';

/** Names of the numbers that are measured of one output of a low-precision node. */
export interface Measures {
  /** `LowNode.index`. */
  node: number;
  numbers: Record<keyof Measured, string>;
}

/**
 * What is measured of one output of a node, over the elements that are finite in the reference. `shadow` is the node in
 * low precision on exact inputs, `run` the same node in the low-precision run.
 */
export interface Measured {
  /** Largest magnitude in the reference; `NOT_RUN`: the body that the node is in did not run. */
  max: number;
  /** Largest difference of the shadow. */
  shadow: number;
  /** Sum of the shadow's differences: not finite where one of them is not (a maximum may skip NaN). */
  shadowSum: number;
  /** Share of all elements that are 0 in the shadow but not in the reference. */
  vanished: number;
  run: number;
  runSum: number;
}

export const NOT_RUN = -1;

/** From which magnitude on rounding to a low type gives infinity: half a step above its largest number. */
export const overflowFrom: Readonly<Record<LowNode['type'], number>> = {
  float16: 65520,
  bfloat16: (2 - 2 ** -8) * 2 ** 127,
  // What is out of the range of a scale becomes its end, not infinity.
  int8: Infinity,
  float8: Infinity,
};

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
