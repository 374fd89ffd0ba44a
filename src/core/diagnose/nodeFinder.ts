import type { BuildLog } from '../engine/buildLog.ts';
import { parserName } from '../model/parserName.ts';
import type { OnnxModel, OnnxNode } from '../onnx/onnxModel.ts';
import { addTo } from '../text/addTo.ts';

/** Finds the nodes that a name of TensorRT's stands for; ids of the likeliest first. */
export class NodeFinder {
  readonly inputs: string[] = [];
  readonly #byName = new Map<string, string[]>();
  readonly #byOp = new Map<string, string[]>();
  readonly #readers = new Map<string, string[]>();
  readonly #producers = new Map<string, string>();
  readonly #nodes: readonly OnnxNode[] = [];
  readonly #shapes = new Map<string, string>();
  readonly #log: BuildLog;

  constructor(log: BuildLog, model: OnnxModel | undefined) {
    this.#log = log;
    if (!model) return;
    const { inputs, values, initializers: weights } = model.graph;
    const initialized = new Set(weights.map(({ name }) => name));
    this.inputs = inputs.map(({ name }) => name).filter((name) => !initialized.has(name));
    for (const { name, shape } of [...values, ...inputs, ...weights])
      if (shape) this.#shapes.set(name, shape.map((size) => size ?? '?').join('×') || 'scalar');
    this.#nodes = model.nodes;
    for (const node of model.nodes) {
      const name = parserName(node);
      for (const key of new Set([name, ...node.outputs])) addTo(this.#byName, key, node.id);
      for (const key of new Set(node.inputs)) if (key !== '') addTo(this.#readers, key, node.id);
      addTo(this.#byOp, node.op, node.id);
      if (node.outputs[0] !== undefined) this.#producers.set(node.outputs[0], name);
    }
  }

  find(layer: string | null, op?: string): string[] {
    if (layer !== null) {
      const exact = this.#byName.get(layer);
      if (exact) return exact;
      const parts = this.#parts(layer);
      if (parts.length > 0) return parts;
      const owner = this.#log.parsedNodes.find(({ layers }) => layers.includes(layer));
      if (owner) return this.#byName.get(owner.name) ?? [];
    }
    return (op && this.#byOp.get(op)) || [];
  }

  /**
   * The nodes of a tensor as TensorRT names it: the producer and the readers of an ONNX tensor (TensorRT's copies end in
   * `'`); of a tensor that the parser made, `ONNXTRT_Broadcast_output'`, the node for which the log registers its layer.
   */
  ofTensor(tensor: string): string[] {
    const name = tensor.replace(/'+$/, '');
    const found = [...(this.#byName.get(name) ?? []), ...(this.#readers.get(name) ?? [])];
    if (found.length > 0) return [...new Set(found)];
    const helper = name.replace(/_output(?:_\d+)?$/, '');
    const owner = this.#log.parsedNodes.find(
      ({ helpers, layers }) => helpers.includes(helper) || layers.includes(helper),
    );
    return owner === undefined ? [] : (this.#byName.get(owner.name) ?? []);
  }

  /** What a node reads, with the shapes that the model declares; empty where it declares fewer than two. */
  inputsOf(id: string | undefined): { name: string; shape: string }[] {
    const node = this.#nodes.find((one) => one.id === id);
    const known = node?.inputs.flatMap((name) => {
      const shape = this.#shapes.get(name);
      return shape === undefined ? [] : [{ name, shape }];
    });
    return known && known.length > 1 ? known : [];
  }

  /** The name of the node that a parser's error is about: by its first output in the model, else by the node's own text. */
  parsed(text: string): string | undefined {
    const output = /While parsing node number \d+ \[\S* -> "([^"]*)"/.exec(text)?.[1];
    if (output === undefined) return undefined;
    return (
      this.#producers.get(output) ??
      /\n(?:\w+\.cpp:\d+: )?(?:name: "(.*)"|Node name: (.*))/.exec(text)?.slice(1).find(Boolean)
    );
  }

  /** The layer whose tactics were being timed at a line of the log. */
  timedAt(line: number): string | undefined {
    const layers = this.#log.phases.findLast((phase) => phase.line <= line)?.tactics ?? [];
    return layers.findLast((layer) => layer.line <= line && layer.reformat !== true)?.name;
  }

  /** The ends of a ForeignNode's name and the parts of a fused one, as far as they are nodes. */
  #parts(layer: string): string[] {
    const inner = /^\{ForeignNode\[(.*)\]\}$/s.exec(layer)?.[1];
    const pieces = (inner ?? layer).split(/\.\.\.| \+ | \|\| |PWN\(|\)+|, /);
    const ids = new Set(pieces.flatMap((piece) => this.#byName.get(piece.trim()) ?? []));
    return this.#nodes.flatMap(({ id }) => (ids.has(id) ? [id] : []));
  }
}
