import { expandFunctions } from '../../model/expandFunctions.ts';
import { inferTensors } from '../../model/inferTensors.ts';
import { createModelGraph } from '../../model/modelGraph.ts';
import type { OnnxModel } from '../../onnx/onnxModel.ts';
import type { GraphData, GraphTensor } from './viewData.ts';

/**
 * The graph of a model with the types and shapes that follow from its operators, for a view without a report, which has
 * them too. Never fails; what an unknown operator makes stays unknown.
 */
export function typedGraph(data: GraphData, model: OnnxModel): GraphData {
  const tensors = knownTensors(expandFunctions(model));
  const byName = new Map(tensors.flatMap((tensor) => (tensor.producer === undefined ? [[tensor.name, tensor]] : [])));
  const typed = (port: GraphTensor): GraphTensor => {
    const known = byName.get(port.name);
    return { ...port, type: known?.type ?? port.type, shape: known?.shape ?? port.shape };
  };
  return { ...data, outputs: data.outputs.map(typed), tensors };
}

/** The main graph comes first. A tensor whose name another one has already has its producer with it. */
function knownTensors(model: OnnxModel): GraphTensor[] {
  const graph = createModelGraph(model);
  const { types, shapes } = inferTensors(graph);
  const names = new Set<string>();
  return graph.tensors.flatMap(({ name, kind, producer }, index): GraphTensor[] => {
    const [type, shape] = [types[index] ?? null, shapes[index] ?? null];
    const initializer = kind === 'initializer';
    if (name === '' || (type === null && shape === null && !initializer)) return [];
    const isFirst = !names.has(name);
    names.add(name);
    if (isFirst) return [{ name, type, shape, initializer }];
    return producer < 0 ? [] : [{ name, type, shape, initializer, producer: graph.nodes[producer]!.id }];
  });
}
