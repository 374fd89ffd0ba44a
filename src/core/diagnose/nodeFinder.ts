import type { BuildLog } from '../engine/buildLog.ts';
import { createModelGraph, tensorsNamed, type ModelGraph } from '../model/modelGraph.ts';
import { createNodeNames, type NodeNames } from '../model/nodeNames.ts';
import { nodesInName } from '../model/nodesInName.ts';
import { parserName } from '../model/parserName.ts';
import type { OnnxModel } from '../onnx/onnxModel.ts';

/** Finds the nodes that a name of TensorRT's stands for, as ids in the model's order; none without a model. */
export class NodeFinder {
  /** Names of the inputs that are not weights. */
  readonly inputs: string[] = [];
  readonly #log: BuildLog;
  readonly #graph: ModelGraph | null = null;
  readonly #names: NodeNames | null = null;

  constructor(log: BuildLog, model: OnnxModel | undefined) {
    this.#log = log;
    if (!model) return;
    this.#graph = createModelGraph(model);
    this.#names = createNodeNames(this.#graph, log.parsedNodes);
    this.inputs = this.#graph.tensors.filter(({ kind }) => kind === 'input').map(({ name }) => name);
  }

  /** The nodes of a layer or tensor; of a fused name its parts; otherwise those of an operator. */
  find(layer: string | null, op?: string): string[] {
    if (!this.#graph || !this.#names) return [];
    if (layer !== null) {
      const exact = [...this.#names.nodesOfLayer(layer), ...this.#producers(layer)];
      const found = exact.length > 0 ? exact : nodesInName(this.#names, layer).flat();
      if (found.length > 0) return this.#ids(found);
    }
    return op === undefined
      ? []
      : this.#ids(this.#graph.nodes.flatMap((node, index) => (node.op === op ? [index] : [])));
  }

  /**
   * The nodes of a tensor as TensorRT names it: the producer and the readers of an ONNX tensor (TensorRT's copies end in
   * `'`); of a tensor that the parser made, `ONNXTRT_Broadcast_output'`, the node for which the log registers its layer.
   */
  ofTensor(tensor: string): string[] {
    if (!this.#graph || !this.#names) return [];
    const name = tensor.replace(/'+$/, '');
    const producers = this.#producers(name);
    const readers = tensorsNamed(this.#graph, name).flatMap(({ consumers }) => consumers);
    if (producers.length + readers.length > 0) {
      // The producer comes first: most often it is the one to change.
      return [...new Set([...this.#ids(producers), ...this.#ids(readers)])];
    }
    const layer = name.replace(/_output(?:_\d+)?$/, '');
    const owner = this.#log.parsedNodes.find(
      ({ helpers, layers }) => helpers.includes(layer) || layers.includes(layer),
    );
    return this.#ids(this.#names.nodesOf(owner?.name ?? name));
  }

  /** What a node reads, with the shapes that the model declares; empty if it declares fewer than two. */
  inputsOf(id: string | undefined): { name: string; shape: string }[] {
    const node = id === undefined ? undefined : this.#graph?.indexOfId.get(id);
    if (!this.#graph || node === undefined) return [];
    const { tensors, inputs } = this.#graph;
    const known = inputs[node]!.flatMap((tensor) => {
      const { name, value } = tensors[tensor] ?? {};
      if (name === undefined || !value?.shape) return [];
      return [{ name, shape: value.shape.map((size) => size ?? '?').join('×') || 'scalar' }];
    });
    return known.length > 1 ? known : [];
  }

  /**
   * The name of the node that a parser's error is about: by its first output in the model, otherwise by the node's own
   * text.
   */
  parsed(text: string): string | undefined {
    const output = /While parsing node number \d+ \[\S* -> "([^"]*)"/.exec(text)?.[1];
    if (output === undefined) return undefined;
    const [producer] = this.#producers(output);
    return producer !== undefined
      ? parserName(this.#graph!.nodes[producer]!)
      : /\n(?:\w+\.cpp:\d+: )?(?:name: "(.*)"|Node name: (.*))/.exec(text)?.slice(1).find(Boolean);
  }

  /** The layer whose tactics were being timed at a line of the log. */
  timedAt(line: number): string | undefined {
    const layers = this.#log.phases.findLast((phase) => phase.line <= line)?.tactics ?? [];
    return layers.findLast((layer) => layer.line <= line && layer.reformat !== true)?.name;
  }

  #producers(tensor: string): number[] {
    if (!this.#graph) return [];
    return tensorsNamed(this.#graph, tensor).flatMap(({ producer }) => (producer < 0 ? [] : [producer]));
  }

  #ids(nodes: readonly number[]): string[] {
    return [...new Set(nodes)].sort((a, b) => a - b).map((node) => this.#graph!.nodes[node]!.id);
  }
}
