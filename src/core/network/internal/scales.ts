import type { ModelGraph } from '../modelGraph.ts';
import type { Shape } from '../outputTypes.ts';

/** What only moves elements: a scale on either side of it is the same. */
export const moving: ReadonlySet<string> = new Set([
  'Transpose',
  'Reshape',
  'Squeeze',
  'Unsqueeze',
  'Flatten',
  'Identity',
]);

/** A Mul by one number. */
export interface Scale {
  /** Index of the Mul. */
  node: number;
  /** Which of its two inputs is the number. */
  at: number;
}

/** A network, as far as scales need it: its shapes are inferred at their first use. */
type Shaped = ModelGraph & { readonly inferred: { shapes: readonly Shape[] } };

/** The Mul by one number through which a tensor goes, behind nodes that only move elements; null: none. */
function scaleOf(network: Shaped, tensor: number): Scale | null {
  for (let at = tensor; at >= 0;) {
    const { producer, consumers } = network.tensors[at]!;
    // What something else reads, too, keeps its scale.
    if (producer < 0 || consumers.length !== 1 || network.graphOutputs.includes(at)) return null;
    const inputs = network.inputs[producer]!;
    if (network.nodes[producer]!.op === 'Mul') {
      const { shapes } = network.inferred;
      const isNumber = (input: number): boolean => {
        const shape = shapes[input] ?? null;
        return shape !== null && shape.length <= 1 && shape.every((dim) => dim === 1);
      };
      const scale = inputs.findIndex(isNumber);
      return scale < 0 || inputs.length !== 2 || isNumber(inputs[1 - scale]!) ? null : { node: producer, at: scale };
    }
    if (!moving.has(network.nodes[producer]!.op)) return null;
    at = inputs[0] ?? -1;
  }
  return null;
}

/**
 * The two Muls by one number that scale the inputs of a MatMul of the main graph, as exporters write scaled dot-product
 * attention; null: its inputs are not both scaled.
 * @param node its index
 */
export function scalesOf(network: Shaped, node: number): [Scale, Scale] | null {
  const inputs = network.inputs[node]!;
  if (network.nodes[node]!.op !== 'MatMul' || inputs.length !== 2 || network.owner[node]! >= 0) return null;
  const [one, other] = inputs.map((tensor) => scaleOf(network, tensor));
  return one && other && one.node !== other.node ? [one, other] : null;
}
