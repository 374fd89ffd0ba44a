import type { DataType, OnnxModel, OnnxNode } from '../formats/onnx/onnxModel.ts';
import { addTo } from '../base/addTo.ts';
import { createModelGraph, expandFunctions, graphPathOf, type ModelGraph, type ModelTensor } from './modelGraph.ts';
import { type InferredTensors, inferTensors } from './inferTensors.ts';
import { nodeRoles, type NodeRoles } from './nodeRoles.ts';

/**
 * A model as a network: its nodes, tensors, scopes and edges by number, and what follows from them without a build. Each
 * part is made at its first use, and once.
 */
export interface Network extends ModelGraph {
  /** Type and shape of every tensor, by its index. */
  readonly inferred: InferredTensors;
  /** What each node is for, as far as the model alone says it. */
  readonly roles: NodeRoles;
  /** The type of a tensor as seen in the graph with this path ('' is the main graph); null: cannot be told. */
  typeOf(graphPath: string, tensor: string): DataType | null;
  /** Types of one node's outputs, in order. */
  outputTypesOf(node: OnnxNode): (DataType | null)[];
  /** The tensors of that name in all graphs, those of an owner before those of its subgraphs. */
  tensorsNamed(name: string): readonly ModelTensor[];
}

const networks = new WeakMap<OnnxModel, Network>();

/** The network of a model, which must not change afterwards: the same for all who ask. Never fails, see `createModelGraph`. */
export function networkOf(model: OnnxModel): Network {
  let network = networks.get(model);
  if (!network) networks.set(model, (network = createNetwork(model)));
  return network;
}

const expansions = new WeakMap<OnnxModel, OnnxModel>();

/** The network that TensorRT takes of a model: each call of a local function has the function's body as a subgraph. */
export function builtNetworkOf(model: OnnxModel): Network {
  if (model.functions.length === 0) return networkOf(model);
  let expanded = expansions.get(model);
  if (!expanded) expansions.set(model, (expanded = expandFunctions(model)));
  return networkOf(expanded);
}

function createNetwork(model: OnnxModel): Network {
  let inferred: InferredTensors | undefined;
  let roles: NodeRoles | undefined;
  let named: Map<string, ModelTensor[]> | undefined;
  return {
    ...createModelGraph(model),
    get inferred() {
      return (inferred ??= inferTensors(this));
    },
    get roles() {
      return (roles ??= nodeRoles(this));
    },
    typeOf(path, tensor) {
      return this.inferred.types[this.tensorAt(path, tensor)] ?? null;
    },
    outputTypesOf(node) {
      const path = graphPathOf(node.id);
      return node.outputs.map((tensor) => (tensor === '' ? null : this.typeOf(path, tensor)));
    },
    tensorsNamed(name) {
      if (!named) {
        named = new Map();
        for (const tensor of this.tensors) addTo(named, tensor.name, tensor);
      }
      return name === '' ? [] : (named.get(name) ?? []);
    },
  };
}
