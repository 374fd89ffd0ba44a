import type { FusionReport } from '../fusion/fusionReport.ts';
import type { OnnxNode } from '../onnx/onnxModel.ts';
import { parserName } from '../model/parserName.ts';
import { isQuantised, type LowModel, type LowNode } from './lowNodes.ts';
import { addTo } from '../text/addTo.ts';

/** A value that a build's kernel computes and uses itself, so that it may never be stored in low precision. */
export interface HeldValue {
  tensor: string;
  /** Id of the node that makes it. */
  node: string;
  /** The kernel, by its name in the engine. */
  kernel: string;
}

/**
 * Values of the main graph that never leave a kernel of a build: one kernel makes them, and the same one alone reads
 * them, as TensorRT itself says. The report may be of a rewritten copy of the model: nodes are found by name.
 */
export function heldValues({ low, model }: LowModel, report: FusionReport): HeldValue[] {
  const kernels = new Map<string, number | null>();
  for (const { name, layers, exact } of report.nodes) {
    // Two nodes of one name cannot be distinguished.
    const own = exact && layers.length === 1 && name !== '' && !kernels.has(name) ? layers[0]! : null;
    kernels.set(name, own);
  }
  const readers = new Map<string, (number | null)[]>();
  // What a body reads, at any depth, is read by whatever runs the body.
  const addBodies = ({ subgraphs }: OnnxNode): void => {
    for (const { graph } of subgraphs) {
      for (const node of graph.nodes) {
        for (const tensor of node.inputs) addTo(readers, tensor, null);
        addBodies(node);
      }
      for (const { name } of graph.outputs) addTo(readers, name, null);
    }
  };
  const kernelOf = (node: { name: string; outputs: readonly string[] }) => kernels.get(parserName(node)) ?? null;
  for (const node of model.graph.nodes) {
    for (const tensor of new Set(node.inputs)) addTo(readers, tensor, kernelOf(node));
    addBodies(node);
  }
  for (const { name } of model.graph.outputs) addTo(readers, name, null);
  const names = new Map(report.layers.map(({ id, name }) => [id, name]));
  return low.flatMap(({ node, graph, outputs }) => {
    const kernel = graph === '' ? kernelOf(node) : null;
    if (kernel === null) return [];
    return outputs.flatMap((i): HeldValue[] => {
      const tensor = node.outputs[i]!;
      const all = readers.get(tensor) ?? [];
      const stays = all.length > 0 && all.every((one) => one === kernel);
      return stays ? [{ tensor, node: node.id, kernel: names.get(kernel) ?? `${kernel}` }] : [];
    });
  });
}

/** The same model, where held values are not rounded: what this build computes if its kernels hold them in FP32. */
export function withHeld(model: LowModel, held: readonly HeldValue[]): LowModel {
  const kept = new Set(held.map(({ tensor }) => tensor));
  const low = model.low.map((one): LowNode => {
    if (one.graph !== '' || isQuantised(one)) return one;
    const { inputs, outputs } = one.node;
    return {
      ...one,
      inputs: one.inputs.filter((i) => !kept.has(inputs[i]!)),
      outputs: one.outputs.filter((i) => !kept.has(outputs[i]!)),
    };
  });
  return { ...model, low, byId: new Map(low.map((one) => [one.node.id, one])) };
}
