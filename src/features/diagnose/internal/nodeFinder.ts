import type { BuildLog } from '../../../kernel/read/tensorrt/buildOutput.ts';
import { type Network, networkOf } from '../../../kernel/network/network.ts';
import { endsOfForeignNode } from '../../../kernel/network/layerName.ts';
import { createNodeNames, type NodeNames, nodesInName, parserName } from '../../../kernel/network/nodeNames.ts';
import { shapeValueInputs } from './checkShapes.ts';
import type { OnnxModel } from '../../../kernel/read/onnx/onnxModel.ts';
import { shapeText } from '../../../kernel/base/text.ts';
import { driverNode } from '../parsedOp.ts';

/** An input of the network. */
export interface NetworkInput {
  name: string;
  /** Some of its dimensions are dynamic. */
  open: boolean;
  /** Its values may be a shape: integers of rank 0 or 1. */
  shape: boolean;
  /** How many values it has; 1 where that is not known. */
  values: number;
}

/** Finds the nodes that a name of TensorRT's stands for, as ids in the model's order; none without a model. */
export class NodeFinder {
  /** Inputs that are not weights, of the model or as the log lists them. */
  readonly networkInputs: NetworkInput[];
  readonly #log: BuildLog;
  readonly #graph: Network | null = null;
  readonly #names: NodeNames | null = null;

  constructor(log: BuildLog, model: OnnxModel | undefined) {
    this.#log = log;
    this.networkInputs = (log.model?.inputs ?? []).map(({ name, type, dims }) => ({
      name,
      open: dims.includes('-1'),
      shape: /^int(?:32|64)$/i.test(type) && !dims.includes(','),
      values: Number(/^\D*(\d+)\D*$/.exec(dims)?.[1] ?? 1),
    }));
    if (!model) return;
    this.#graph = networkOf(model);
    this.#names = createNodeNames(this.#graph, log.parsedNodes);
    const deciding = new Set(shapeValueInputs(this.#graph, this.#graph.inferred));
    this.networkInputs = this.#graph.tensors
      .filter(({ kind }) => kind === 'input')
      .map(({ name, value }) => ({
        name,
        open: value?.shape?.some((size) => typeof size !== 'number') ?? true,
        shape:
          deciding.size > 0
            ? deciding.has(name)
            : /^int(?:32|64)$/.test(value?.type ?? '') && (value?.shape?.length ?? 2) <= 1,
        values: typeof value?.shape?.[0] === 'number' ? value.shape[0] : 1,
      }));
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
    const readers = this.#graph.tensorsNamed(name).flatMap(({ consumers }) => consumers);
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
      return [{ name, shape: shapeText(value.shape) }];
    });
    return known.length > 1 ? known : [];
  }

  /**
   * The node that a parser's error is about: by its first output in the model, which no other node has, otherwise by its
   * place there, or by the node's own text.
   */
  parsed(text: string): { name: string; ids: string[] } | undefined {
    const at = /While parsing node number (\d+) \[(\S*) -> "([^"]*)"/.exec(text);
    const named = driverNode(text);
    const place = at?.[1] ?? named?.place;
    if (place === undefined) return undefined;
    const graph = this.#graph;
    const [producer] = at ? this.#producers(at[3]!) : [];
    const numbered = graph?.model.graph.nodes[Number(place)];
    const node = producer === undefined ? undefined : graph!.nodes[producer]!;
    if (node !== undefined) return { name: parserName(node), ids: [node.id] };
    const name =
      /\n(?:\w+\.cpp:\d+: )?(?:name: "(.*)"|Node name: ([\s\S]*?)(?=\n(?:\w+\.cpp:\d+: )?(?:---|Node \w+:)|$))/
        .exec(text)
        ?.slice(1)
        .find(Boolean);
    const op = at?.[2] ?? named?.op;
    if (numbered !== undefined && numbered.op === op && (name === undefined || parserName(numbered) === name))
      return { name: parserName(numbered), ids: [numbered.id] };
    return name === undefined ? undefined : { name, ids: [] };
  }

  /** How many nodes of each operator the model has from the first to the last node that a region's name gives. */
  opsBetween(layer: string): Map<string, number> {
    const ends = endsOfForeignNode(layer);
    const all = this.#graph?.nodes.map(({ name, op }) => ({ name, op })) ?? this.#log.parsedNodes;
    const counts = new Map<string, number>();
    if (ends === undefined) return counts;
    const first = all.findIndex(({ name }) => ends[0].includes(name));
    const last = all.findLastIndex(({ name }) => ends[1].includes(name));
    if (first < 0) return counts;
    for (const { op } of all.slice(first, last + 1)) if (op !== 'Constant') counts.set(op, (counts.get(op) ?? 0) + 1);
    return counts;
  }

  /** The layer whose tactics were being timed at a line of the log. */
  timedAt(line: number): string | undefined {
    const layers = this.#log.phases.findLast((phase) => phase.line <= line)?.tactics ?? [];
    return layers.findLast((layer) => layer.line <= line && layer.reformat !== true)?.name;
  }

  #producers(tensor: string): number[] {
    if (!this.#graph) return [];
    return this.#graph.tensorsNamed(tensor).flatMap(({ producer }) => (producer < 0 ? [] : [producer]));
  }

  #ids(nodes: readonly number[]): string[] {
    return [...new Set(nodes)].sort((a, b) => a - b).map((node) => this.#graph!.nodes[node]!.id);
  }
}
