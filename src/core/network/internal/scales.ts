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

/** The Mul by one number through which a tensor goes, behind nodes that only move elements; null: none. */
function scaleOf(graph: ModelGraph, shapes: readonly Shape[], tensor: number): Scale | null {
  for (let at = tensor; at >= 0;) {
    const { producer, consumers } = graph.tensors[at]!;
    // What something else reads, too, keeps its scale.
    if (producer < 0 || consumers.length !== 1 || graph.graphOutputs.includes(at)) return null;
    const inputs = graph.inputs[producer]!;
    if (graph.nodes[producer]!.op === 'Mul') {
      const isNumber = (input: number): boolean => {
        const shape = shapes[input] ?? null;
        return shape !== null && shape.length <= 1 && shape.every((dim) => dim === 1);
      };
      const scale = inputs.findIndex(isNumber);
      return scale < 0 || inputs.length !== 2 || isNumber(inputs[1 - scale]!) ? null : { node: producer, at: scale };
    }
    if (!moving.has(graph.nodes[producer]!.op)) return null;
    at = inputs[0] ?? -1;
  }
  return null;
}

/**
 * The two Muls by one number that scale the inputs of a MatMul of the main graph, as exporters write scaled dot-product
 * attention; null: its inputs are not both scaled.
 * @param shapes of all tensors, by index
 * @param node its index
 */
export function scalesAt(graph: ModelGraph, shapes: readonly Shape[], node: number): [Scale, Scale] | null {
  const inputs = graph.inputs[node]!;
  if (graph.nodes[node]!.op !== 'MatMul' || inputs.length !== 2 || graph.owner[node]! >= 0) return null;
  const [one, other] = inputs.map((tensor) => scaleOf(graph, shapes, tensor));
  return one && other && one.node !== other.node ? [one, other] : null;
}
