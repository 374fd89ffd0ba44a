import { addBias } from './judgeProducts.ts';
import { sameScales, type ScaleValues } from './judgeScales.ts';
import type { Add } from './misplaced.ts';
import type { QuantisedGraph } from './quantisedGraph.ts';

/** Judges what a sum or a Concat reads through Q/DQ nodes. */
export function judgeJoin(network: QuantisedGraph, node: number, valuesOf: ScaleValues, add: Add): void {
  const inputs = network.graph.inputs[node]!;
  const op = network.op(node);
  if ((op !== 'Add' && op !== 'Sum' && op !== 'Concat') || inputs.length < 2 || inputs.some((tensor) => tensor < 0))
    return;
  if (op === 'Concat') judgeConcat(network, node, valuesOf, add);
  else if (inputs.some((tensor) => network.isConstant(tensor))) judgeAddedBias(network, node, add);
  else judgeSum(network, node, add);
}

/** A bias that is added behind its product, as MatMul has none. */
function judgeAddedBias(network: QuantisedGraph, node: number, add: Add): void {
  const inputs = network.graph.inputs[node]!;
  const bias = inputs.find((tensor) => network.isConstant(tensor) && network.dequantisedBy(tensor) >= 0);
  const product = inputs.map((tensor) => network.productBefore(tensor)).find((one) => one >= 0);
  if (bias !== undefined && product !== undefined && !inputs.every((tensor) => network.isConstant(tensor)))
    addBias(network, network.dequantisedBy(bias), product, node, add);
}

function judgeSum(network: QuantisedGraph, node: number, add: Add): void {
  const { quantised, others } = sides(network, node);
  // The output of a product is added in its kernel, in floating point: there, only the other inputs are to be quantized.
  const own = others.findIndex((tensor) => network.productBefore(tensor) >= 0);
  const floats = others.filter((_, index) => index !== own);
  if (quantised.length === 0 || floats.length === 0) return;
  const name = network.graph.tensors[floats[0]!]!.name;
  add(
    'one-side-of-residual',
    [node, quantised[0]!],
    `${network.words(node)} adds a quantized input and "${name}", which is not.`,
    `Quantize "${name}", too, or neither input.`,
  );
}

/**
 * A QuantizeLinear behind a Concat moves to each of its inputs: what has its scale already needs no kernel, other
 * quantized inputs are quantized again (ModelOpt's get_concat_eliminated_tensors gives them one scale).
 */
function judgeConcat(network: QuantisedGraph, node: number, valuesOf: ScaleValues, add: Add): void {
  const { graph } = network;
  const { quantised, others } = sides(network, node);
  if (quantised.length === 0) return;
  const output = graph.outputs[node]![0];
  const behind = output === undefined ? undefined : network.quantisedAs(output)[0];
  const words = network.words(node);
  const floats = others.filter((tensor) => !network.isConstant(tensor));
  if (floats.length > 0 && behind === undefined) {
    const name = graph.tensors[floats[0]!]!.name;
    add(
      'one-side-of-concat',
      [node, quantised[0]!],
      `${words} joins a quantized input and "${name}", which is not, so it copies floating-point values.`,
      `Quantize "${name}", too, with the same scale, or the output of ${words}.`,
    );
    return;
  }
  const first = behind ?? quantised[0]!;
  const scales = valuesOf(first);
  const other = quantised.find((one) => {
    const own = valuesOf(one);
    return own !== null && scales !== null && !sameScales(own, scales);
  });
  if (other === undefined) return;
  add(
    'concat-scales',
    [node, other, first],
    `${words} joins values that ${network.words(other)} dequantizes with another scale than that of ${network.words(first)}: TensorRT has to quantize them again.`,
    `Give all inputs ${behind === undefined ? '' : 'and the output '}of ${words} the same scale, the largest of them.`,
  );
}

/** The DequantizeLinear nodes behind the inputs of a node, and the inputs that have none. */
function sides(network: QuantisedGraph, node: number): { quantised: number[]; others: number[] } {
  const inputs = network.graph.inputs[node]!;
  return {
    quantised: inputs.map((tensor) => network.dequantisedBy(tensor)).filter((one) => one >= 0),
    others: inputs.filter((tensor) => network.dequantisedBy(tensor) < 0),
  };
}
