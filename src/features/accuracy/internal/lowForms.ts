// The nodes that stand for one in low precision where TensorRT computes it otherwise, and how a value is cast.
import type { LowType } from '../../../kernel/simulation/simulated.ts';
import { dataTypeNumber, type OnnxNode } from '../../../kernel/read/onnx/onnxModel.ts';
import type { NewGraph, NewNode } from '../../../kernel/read/onnx/writeModel.ts';

/*
 * Operators that TensorRT does not compute as "FP32 inside, rounded result" when they are in a low precision. All were
 * measured (TensorRT 10.6, H200 and H100). All others are taken to accumulate in FP32; for reductions, poolings and products
 * measured errors agree with that.
 */

/**
 * x / constant: x times the constant's reciprocal, which is rounded, too. `read` are the rounded inputs.
 * Returns the name of the quotient, not rounded yet.
 */
export function lowDivision(
  read: string[],
  nodes: NewNode[],
  fresh: (what: string) => string,
  round: (name: string) => string,
): string {
  const reciprocal = fresh('reciprocal');
  nodes.push({ op: 'Reciprocal', name: fresh('n'), inputs: [read[1]!], outputs: [reciprocal] });
  const factor = round(reciprocal);
  const quotient = fresh('quotient');
  nodes.push({ op: 'Mul', name: fresh('n'), inputs: [read[0]!, factor], outputs: [quotient] });
  return quotient;
}

/** ReduceLogSum: the sum is rounded before its logarithm. `logarithm`: the result in FP32. Returns the name of the result. */
export function lowLogSum(
  logarithm: string,
  nodes: NewNode[],
  fresh: (what: string) => string,
  round: (name: string) => string,
): string {
  const add = (op: string, input: string): string => {
    const output = fresh(op);
    nodes.push({ op, name: fresh('n'), inputs: [input], outputs: [output] });
    return output;
  };
  return add('Log', round(add('Exp', logarithm)));
}

/**
 * CumSum along a known axis: the sum is rounded after each step. `read` are the rounded inputs. Returns the name of the
 * result. ONNX Runtime wants to know the rank inside a Scan, so the dimensions before and behind the axis become one.
 */
export function lowRunningSum(node: OnnxNode, axis: number, [x]: string[], writing: RunningSum): string {
  const { nodes, fresh, constant, type } = writing;
  const has = (name: string) => node.attributes.some((attribute) => attribute.name === name && attribute.value === 1);
  const add = (op: string, inputs: string[], attributes: NewNode['attributes'] = {}): string => {
    const output = fresh(op);
    nodes.push({ op, name: fresh('n'), inputs, outputs: [output], attributes });
    return output;
  };
  const shape = add('Shape', [x!]);
  const product = (from: bigint, to: bigint) =>
    add('ReduceProd', [add('Slice', [shape, constant(from), constant(to)])], { keepdims: { int: 1 } });
  const end = 2n ** 63n - 1n;
  const behind = axis === -1 ? end : BigInt(axis + 1);
  const flat = add('Concat', [product(0n, BigInt(axis)), constant(-1n), product(behind, end)], { axis: { int: 0 } });
  const rows = add('Reshape', [x!, flat]);
  const first = add('Reshape', [
    add('Slice', [rows, constant(0n), constant(1n), constant(1n)]),
    add('Concat', [product(0n, BigInt(axis)), product(behind, end)], { axis: { int: 0 } }),
  ]);
  const start = add('Where', [writing.never, first, writing.zero]);
  const last = fresh('last');
  const sums = fresh('sums');
  nodes.push({
    op: 'Scan',
    name: fresh('n'),
    inputs: [start, rows],
    outputs: [last, sums],
    attributes: {
      body: { graph: step(has('exclusive'), type, fresh) },
      num_scan_inputs: { int: 1 },
      scan_input_axes: { ints: [1] },
      scan_output_axes: { ints: [1] },
      scan_input_directions: { ints: [has('reverse') ? 1 : 0] },
      scan_output_directions: { ints: [has('reverse') ? 1 : 0] },
    },
  });
  return add('Reshape', [sums, shape]);
}

/** One step of a running sum. */
function step(exclusive: boolean, type: LowType, fresh: (what: string) => string): NewGraph {
  const value = (what: string) => ({ name: fresh(what), newType: 'float', rank: 2 });
  const [before, element, after, given] = [value('before'), value('element'), value('after'), value('given')];
  const [raw, down] = [fresh('raw'), fresh('down')];
  return {
    name: 'step',
    inputs: [before, element],
    outputs: [after, given],
    initializers: [],
    nodes: [
      { op: 'Add', name: fresh('n'), inputs: [before.name, element.name], outputs: [raw] },
      cast(fresh('n'), raw, down, type),
      cast(fresh('n'), down, after.name, 'float'),
      { op: 'Identity', name: fresh('n'), inputs: [exclusive ? before.name : after.name], outputs: [given.name] },
    ],
  };
}

/** What a running sum is written with. */
export interface RunningSum {
  nodes: NewNode[];
  fresh: (what: string) => string;
  /** Returns the name of a list of one int64. */
  constant: (value: bigint) => string;
  /** Scalars: 0 and false. */
  zero: string;
  never: string;
  type: LowType;
}

export function cast(name: string, input: string, output: string, to: string): NewNode {
  return { op: 'Cast', name, inputs: [input], outputs: [output], attributes: { to: { int: dataTypeNumber(to)! } } };
}

/** A number as raw data has it. */
export function int64(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, value, true);
  return bytes;
}
