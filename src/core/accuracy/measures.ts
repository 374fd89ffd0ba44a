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
  /** Largest magnitude in the reference. */
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

/** From which magnitude on a low type has no finite number. */
export const largest: Readonly<Record<LowNode['type'], number>> = {
  float16: 65504,
  bfloat16: 3.3895313892515355e38,
  // What is out of the range of a scale becomes its end, not infinity.
  int8: Infinity,
  float8: Infinity,
};

/** Writes the nodes that measure one output; what they give are scalars. */
export function writeMeasures(
  low: LowNode,
  { reference, run, shadow }: { reference: string; run: string; shadow: string },
  nodes: NewNode[],
  writer: RunWriter,
): Measures {
  const add = (op: string, inputs: string[], attributes: NewNode['attributes'] = {}): string => {
    const [name, output] = [writer.fresh('n'), writer.fresh('m')];
    nodes.push({ op, name, inputs, outputs: [output], attributes });
    return output;
  };
  const whole = (op: string, input: string) => add(op, [input], { keepdims: { int: 0 } });
  const zero = writer.float(0);
  const size = add('Abs', [reference]);
  // Neither infinities nor NaN are less.
  const known = add('Less', [size, writer.float(Infinity)]);
  const difference = (copy: string) => add('Where', [known, add('Abs', [add('Sub', [copy, reference])]), zero]);
  const [ofShadow, ofRun] = [difference(shadow), difference(run)];
  const gone = add('And', [add('Equal', [shadow, zero]), add('Greater', [size, zero])]);
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
