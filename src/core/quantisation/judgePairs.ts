import { sameScales, type ScaleValues } from './judgeScales.ts';
import type { Add } from './misplaced.ts';
import { isQuantise, movers, type QuantisedGraph } from './quantisedGraph.ts';

/** Judges a DequantizeLinear against the QuantizeLinear before it, and what reads it. */
export function judgePair(network: QuantisedGraph, dequantise: number, valuesOf: ScaleValues, add: Add): void {
  const quantise = network.producer(network.input(dequantise, 0));
  if (quantise < 0 || !isQuantise(network.op(quantise))) return;
  const differ = differences(network, quantise, dequantise, valuesOf);
  if (differ.length > 0)
    add(
      'pair-mismatch',
      [dequantise, quantise],
      `${network.words(dequantise)} has another ${differ.join(' and ')} than ${network.words(quantise)}, whose values it reads: the pair changes values instead of only rounding them.`,
      `Give both nodes the same ${differ.join(' and ')}.`,
    );
  const output = givenBy(network, dequantise);
  if (output !== null)
    add(
      'quantised-output',
      [dequantise, quantise],
      `${network.words(dequantise)} makes only the output "${output}" of the graph: no kernel behind it reads the quantized values, so the pair costs accuracy and saves nothing.`,
      `Remove the pair in front of "${output}".`,
    );
}

function differences(network: QuantisedGraph, quantise: number, dequantise: number, valuesOf: ScaleValues): string[] {
  const same = (index: number) => network.input(quantise, index) === network.input(dequantise, index);
  const [first, second] = [valuesOf(quantise), valuesOf(dequantise)];
  const [zero, other] = [network.zeroPoint(quantise), network.zeroPoint(dequantise)];
  const axisOf = (node: number) => network.attribute(node, 'axis', 1);
  const several = (network.scaleCount(quantise) ?? 1) > 1 && (network.scaleCount(dequantise) ?? 1) > 1;
  // An axis from the end and one from the start may be the same.
  const comparable = axisOf(quantise) < 0 === axisOf(dequantise) < 0;
  return [
    ...(!same(1) && first !== null && second !== null && !sameScales(first, second) ? ['scale'] : []),
    ...(!same(2) && zero !== null && other !== null && zero !== other ? ['zero point'] : []),
    ...(several && comparable && axisOf(quantise) !== axisOf(dequantise) ? ['axis'] : []),
  ];
}

/** The name of the output of the graph that a node makes, itself or through operators that only move it, and nothing else; null: none. */
function givenBy(network: QuantisedGraph, node: number): string | null {
  const { graph } = network;
  const given = new Set(graph.graphOutputs);
  for (let at = node; ;) {
    const [output, ...more] = graph.outputs[at]!;
    if (output === undefined || more.length > 0) return null;
    const { name, consumers } = graph.tensors[output]!;
    const [reader] = consumers;
    if (reader === undefined) return given.has(output) ? name : null;
    const moves = movers.has(network.op(reader)) && network.input(reader, 0) === output;
    if (given.has(output) || consumers.length > 1 || !moves) return null;
    at = reader;
  }
}
