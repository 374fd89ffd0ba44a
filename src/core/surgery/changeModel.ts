import type { InferredTensors } from '../model/inferTensors.ts';
import type { ModelGraph } from '../model/modelGraph.ts';
import type { Shape } from '../model/shape.ts';
import type { ModelEdits } from '../onnx/editModel.ts';
import type { Unfit } from './pieceOf.ts';

/** A change of a model to try: cut at a tensor of the main graph, or take out a node. */
export type ModelChange = { cut: string } | { remove: string };

/**
 * The edits that make a change.
 * - cut: the tensor becomes an output, and what read it reads a new input of the same type and shape
 * - remove: the node passes its first input on; it must have the same type and shape as the output
 */
export function editsFor(graph: ModelGraph, inferred: InferredTensors, change: ModelChange): ModelEdits | Unfit {
  return 'cut' in change ? cutAt(graph, inferred, change.cut) : without(graph, inferred, change.remove);
}

function cutAt(graph: ModelGraph, { types, shapes }: InferredTensors, name: string): ModelEdits | Unfit {
  const tensor = graph.byName.get(name);
  const found = tensor === undefined ? undefined : graph.tensors[tensor]!;
  if (tensor === undefined || !found) return { reason: `There is no tensor "${name}" in the main graph` };
  if (found.producer < 0) return { reason: `"${name}" is not computed by a node, so there is nothing to cut` };
  const type = types[tensor] ?? null;
  if (type === null) return { reason: `The type of "${name}" is unknown. Cut at another tensor` };
  const readers = found.consumers.filter((node) => graph.nodes[node]!.inputs.includes(name));
  if (readers.length < new Set(found.consumers).size)
    return { reason: `"${name}" is read inside a loop or branch, which cannot be cut. Cut before or after that node` };
  if (readers.length === 0) return { reason: `No node reads "${name}", so there is nothing to cut` };
  const shape = shapes[tensor] ?? null;
  const value = { newType: type, ...(shape && { shape }) };
  const input = freshName(graph, `${name}_cut`);
  const isOutput = graph.graphOutputs.includes(tensor);
  return {
    declare: [
      ...(isOutput ? [] : [{ graph: '', list: 'outputs' as const, value: { name, ...value } }]),
      { graph: '', list: 'inputs', value: { name: input, ...value } },
    ],
    inputs: [...new Set(readers)].flatMap((node) =>
      graph.nodes[node]!.inputs.flatMap((read, index) =>
        read === name ? [{ node: graph.nodes[node]!.id, index, tensor: input }] : [],
      ),
    ),
  };
}

function without(graph: ModelGraph, { types, shapes }: InferredTensors, id: string): ModelEdits | Unfit {
  const index = graph.indexOfId.get(id);
  const node = index === undefined ? undefined : graph.nodes[index]!;
  if (index === undefined || !node) return { reason: `There is no node ${id}` };
  const [input, output] = [graph.inputs[index]![0] ?? -1, graph.outputs[index]![0] ?? -1];
  const words = `Node ${id}${node.name && ` "${node.name}"`} (${node.op})`;
  if (input < 0 || output < 0) return { reason: `${words} has no input to pass on, so it cannot be removed` };
  const others = graph.outputs[index]!.slice(1).filter(
    (tensor) => graph.tensors[tensor]!.consumers.length > 0 || graph.graphOutputs.includes(tensor),
  );
  if (others.length > 0) return { reason: `${words} has several outputs that are read, so it cannot be removed` };
  const [before, after] = [describe(types[input], shapes[input]), describe(types[output], shapes[output])];
  if (before !== after)
    return { reason: `${words} changes ${before} to ${after}, so the model would be invalid without it` };
  const by = { op: 'Identity', name: node.name, inputs: [node.inputs[0]!], outputs: [node.outputs[0]!] };
  return { replace: [{ node: id, by }] };
}

const describe = (type: string | null | undefined, shape: Shape | undefined): string =>
  `${type ?? 'an unknown type'}${shape ? `[${shape.map((dim) => dim ?? '?').join(', ')}]` : ''}`;

function freshName(graph: ModelGraph, name: string): string {
  let fresh = name;
  for (let number = 1; graph.tensors.some((tensor) => tensor.name === fresh); number += 1) fresh = `${name}_${number}`;
  return fresh;
}
