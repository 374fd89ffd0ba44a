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

/** What takes a part of a tensor, or adds a bias to it. */
const parts: ReadonlySet<string> = new Set(['Split', 'Gather', 'Slice', 'Add']);

/** Index of the product that a tensor is a part of, behind nodes that move, take parts and add a bias; -1: none. */
function productAbove(graph: ModelGraph, tensor: number): number {
  for (let at = tensor, steps = 0; at >= 0 && steps < 32; steps += 1) {
    const { producer } = graph.tensors[at]!;
    const op = graph.nodes[producer]?.op ?? '';
    if (op === 'MatMul' || op === 'Gemm') return producer;
    if (!moving.has(op) && !parts.has(op)) return -1;
    const inputs = graph.inputs[producer]!;
    at = (op === 'Add' ? inputs.find((input) => input >= 0 && graph.tensors[input]!.producer >= 0) : inputs[0]) ?? -1;
  }
  return -1;
}

/**
 * Whether both inputs of such a MatMul are parts of one product, as in self-attention. Only there a scale that is moved
 * to one side was seen to stay: of cross attention TensorRT 10.6 loses the scale of the second input in any case.
 */
export function isOfOneProduct(graph: ModelGraph, scales: readonly [Scale, Scale]): boolean {
  const [one, other] = scales.map(({ node, at }) => productAbove(graph, graph.inputs[node]![1 - at]!));
  return one === other && one !== -1;
}
