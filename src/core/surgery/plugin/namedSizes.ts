import { type InferredTensors, inferTensors } from '../../model/inferTensors.ts';
import { bodyOf, createModelGraph, type ModelGraph } from '../../model/modelGraph.ts';
import { refined } from '../../model/shape.ts';
import type { Piece } from '../pieceOf.ts';

/**
 * Shapes inside a piece in terms of its inputs: their unknown sizes get names, with which the shapes of what the piece
 * makes are inferred again. So it shows which size of an output is that of an input, whatever it is.
 */
export function withNamedSizes(graph: ModelGraph, inferred: InferredTensors, piece: Piece): InferredTensors {
  const taken = new Set(inferred.shapes.flat());
  const shapes = [...inferred.shapes];
  for (const [place, tensor] of piece.inputs.entries())
    shapes[tensor] =
      shapes[tensor]?.map((dim, axis) => {
        let name = `size_${place}_${axis}`;
        while (taken.has(name)) name += '_';
        return dim ?? name;
      }) ?? null;
  const inputs = piece.inputs.map((tensor) => {
    const shape = shapes[tensor] ?? null;
    return { name: graph.tensors[tensor]!.name, type: inferred.types[tensor] ?? null, shape: shape && [...shape] };
  });
  const nodes = piece.nodes.map((node) => graph.nodes[node]!);
  const inside = piece.nodes.flatMap((node) => bodyOf(graph, node)).map((node) => graph.nodes[node]!);
  const main = { ...graph.model.graph, nodes, inputs, outputs: [], values: [] };
  const part = createModelGraph({ ...graph.model, graph: main, nodes: [...nodes, ...inside] });
  const traced = inferTensors(part);
  for (const tensor of piece.nodes.flatMap((node) => graph.outputs[node]!)) {
    const found = part.byName.get(graph.tensors[tensor]!.name);
    if (found !== undefined) shapes[tensor] = refined(traced.shapes[found]!, shapes[tensor]!);
  }
  return { ...inferred, shapes };
}
