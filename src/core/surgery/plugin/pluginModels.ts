import type { ModelGraph } from '../../model/modelGraph.ts';
import { composeModel, importedDomain } from '../../onnx/composeModel.ts';
import type { EditedModel } from '../../onnx/editModel.ts';
import { type Segment, segmentsSize } from '../../onnx/segment.ts';
import type { NewGraph, NewNode } from '../../onnx/writeParts.ts';
import type { BorderTensor } from '../extractModel.ts';
import { type Piece, reachable } from '../pieceOf.ts';
import type { PluginPlan } from './pluginPlan.ts';

/** The nodes that a plugin replaces, as a piece that reads what the plugin reads. */
export function replacedPiece(graph: ModelGraph, piece: Piece, { reads, nodes, outputs }: PluginPlan): Piece {
  const given = new Set(reads);
  const constants = piece.nodes.filter(
    (node) => graph.nodes[node]!.op === 'Constant' && !graph.outputs[node]!.some((tensor) => given.has(tensor)),
  );
  return {
    nodes: [...constants, ...nodes].toSorted((a, b) => a - b),
    inputs: reads,
    outputs: outputs.map(({ name }) => graph.byName.get(name)!),
    initializers: piece.initializers.filter((tensor) => !given.has(tensor)),
  };
}

/** The model with the custom node in the place of the nodes. `graph` is of a model that was read with spans. */
export function replacedModel(graph: ModelGraph, size: number, plan: PluginPlan): EditedModel {
  const { model } = graph;
  const gone = new Set(plan.nodes);
  const behind = reachable(graph, gone, 'behind');
  const main = graph.nodes.flatMap((node, index) =>
    graph.owner[index]! < 0 && !gone.has(index) ? [{ node, index }] : [],
  );
  const nodesOf = (after: boolean) => main.filter(({ index }) => behind.has(index) === after).map(({ node }) => node);
  const made = new Set(plan.nodes.flatMap((node) => graph.outputs[node]!.map((tensor) => graph.tensors[tensor]!.name)));
  for (const { name } of plan.outputs) made.delete(name);
  const read = (tensor: number) =>
    plan.reads.includes(tensor) || graph.tensors[tensor]!.consumers.some((reader) => !gone.has(reader));
  const isOutput = new Set(graph.graphOutputs);
  return composed(graph, size, plan, {
    name: model.graph.name,
    nodes: [...nodesOf(false), pluginNode(graph, plan), ...nodesOf(true)],
    inputs: model.graph.inputs,
    outputs: model.graph.outputs,
    initializers: model.graph.initializers.filter(({ name }) => {
      const tensor = graph.byName.get(name);
      return tensor === undefined || isOutput.has(tensor) || read(tensor);
    }),
    values: model.graph.values.filter(({ name, span }) => span && !made.has(name)),
  });
}

/** The custom node alone, as a model. */
export function pluginModel(graph: ModelGraph, size: number, plan: PluginPlan): EditedModel {
  const value = ({ name, type, shape }: BorderTensor) => ({ name, newType: type, ...(shape && { shape }) });
  return composed(graph, size, plan, {
    name: plan.name,
    nodes: [pluginNode(graph, plan)],
    inputs: plan.inputs.map(value),
    outputs: plan.outputs.map(value),
    initializers: [],
  });
}

function composed(graph: ModelGraph, size: number, { domain }: PluginPlan, made: NewGraph): EditedModel {
  const segments: Segment[] = composeModel(graph.model, size, made, null);
  if (!graph.model.opsets.some((one) => one.domain === domain)) segments.push(importedDomain(domain));
  return { segments, size: segmentsSize(segments), external: null };
}

/**
 * With TensorRT's own attributes, by which its parser finds the plugin. TensorRT 10.6 looks for plugins in Python by the
 * node's name in place of its operator.
 */
function pluginNode(graph: ModelGraph, { name, domain, version, reads, outputs, attributes }: PluginPlan): NewNode {
  return {
    op: name,
    domain,
    name,
    inputs: reads.map((tensor) => graph.tensors[tensor]!.name),
    outputs: outputs.map((tensor) => tensor.name),
    attributes: {
      plugin_version: { string: version },
      plugin_namespace: { string: domain },
      ...Object.fromEntries(attributes.map(({ name: own, value }) => [own, value])),
    },
  };
}
