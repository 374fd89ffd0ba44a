// One node of a model under check, and what its checks read of it.
import type { OnnxNode, OnnxTensor } from '../../../kernel/read/onnx/onnxModel.ts';
import type { InferredTensors } from '../../../kernel/network/network.ts';
import type { ModelGraph } from '../../../kernel/network/modelGraph.ts';
import type { Dim } from '../../../kernel/network/outputTypes.ts';
import { typeName, versionNumber } from '../../../kernel/base/text.ts';
import type { CheckTarget, NodeProblem } from './checkShapes.ts';

/** One node with what is known around it. */
export interface NodeToCheck {
  node: OnnxNode;
  index: number;
  graph: ModelGraph;
  inferred: InferredTensors;
  target: CheckTarget;
}

export type FormCheck = (one: NodeToCheck) => NodeProblem | undefined;

export const problem = (code: string, message: string, advice: string, repair?: string): NodeProblem => ({
  severity: 'error',
  code,
  message,
  advice,
  ...(repair !== undefined && { repair }),
});

export const isRtx = ({ target }: NodeToCheck): boolean => target.product === 'tensorrt-rtx';
/** Whether the version is at least this one; TensorRT-RTX has the parser of the newest. */
export const since = (one: NodeToCheck, version: string): boolean =>
  isRtx(one) || versionNumber(one.target.version ?? '11.2') >= versionNumber(version);
export const typeOf = ({ graph, index, inferred }: NodeToCheck, at: number) =>
  inferred.types[graph.inputs[index]![at] ?? -1] ?? null;
export const shapeOf = ({ graph, index, inferred }: NodeToCheck, at: number) =>
  inferred.shapes[graph.inputs[index]![at] ?? -1] ?? null;
export const given = ({ node }: NodeToCheck, at: number): boolean => (node.inputs[at] ?? '') !== '';

/** An element type as messages name it, in capitals. */
export const typeText = (type: string): string => typeName(type.toUpperCase());

/** The constant that a node reads, from an initializer or a Constant; undefined: none, or not kept. */
export function constantAt({ graph, index }: Pick<NodeToCheck, 'graph' | 'index'>, at: number): OnnxTensor | undefined {
  const tensor = graph.tensors[graph.inputs[index]![at] ?? -1];
  if (tensor === undefined) return undefined;
  if (tensor.kind === 'initializer') return initializersOf(graph).get(tensor.name);
  const producer = graph.nodes[tensor.producer];
  const value = producer?.op === 'Constant' ? producer.attributes.find(({ name }) => name === 'value')?.value : null;
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

const cache = new WeakMap<ModelGraph, Map<string, OnnxTensor>>();
function initializersOf(graph: ModelGraph): Map<string, OnnxTensor> {
  let map = cache.get(graph);
  if (map === undefined)
    cache.set(graph, (map = new Map(graph.model.graph.initializers.map((one) => [one.name, one]))));
  return map;
}

/** The elements of a small list of integers, as far as they are known. */
export const valuesAt = ({ graph, index, inferred }: NodeToCheck, at: number): readonly Dim[] | undefined =>
  inferred.values?.get(graph.inputs[index]![at] ?? -1);

/**
 * Whether an input of the model leads to a tensor.
 * @param readBy the tensors of which a node's outputs are made
 */
export function comesFromInput(
  graph: ModelGraph,
  tensor: number,
  readBy: (node: number) => readonly number[],
): boolean {
  const seen = new Set<number>();
  const open = [tensor];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { kind, producer = -1 } = graph.tensors[at] ?? {};
    if (kind === 'input') return true;
    if (producer < 0 || seen.has(producer)) continue;
    seen.add(producer);
    open.push(...readBy(producer));
  }
  return false;
}
