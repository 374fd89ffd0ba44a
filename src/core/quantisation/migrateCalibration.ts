import type { InferredTensors } from '../model/inferTensors.ts';
import type { ModelEdits } from '../onnx/editModel.ts';
import type { CalibrationCache } from './calibrationCache.ts';
import { pools, products, quantisable } from '../model/products.ts';
import { floatBytes } from './floatBytes.ts';
import { isPart, type QuantisedGraph, typeWord } from './quantisedGraph.ts';

/** Weights of a product that are to be quantised, per output channel where TensorRT has kernels for that. */
export interface WeightsToScale {
  /** Name of the initializer, or of what a Constant node makes. */
  tensor: string;
  /** Of the output channels; null: one scale for all. */
  axis: number | null;
}

export interface MigrationPlan {
  edits: ModelEdits;
  /** Names of the activations and weights that get a Q/DQ pair. */
  activations: string[];
  weights: string[];
  /** Nodes that stay in floating point, as id, and why. */
  skipped: { node: string; reason: string }[];
  /** Tensors of the cache that nothing uses. */
  unused: string[];
}

/** What TensorRT computes in the kernel of the product before it. */
const epilogues: ReadonlySet<string> = new Set(
  'Relu Clip LeakyRelu PRelu Sigmoid Tanh Elu HardSigmoid HardSwish Mish Gelu Erf BatchNormalization'.split(' '),
);

/** A node that is to compute in INT8: the inputs that get pairs. */
interface Target {
  node: number;
  activations: number[];
  weights: (WeightsToScale & { index: number }) | null;
}

/**
 * Where Q/DQ pairs belong so that TensorRT computes in INT8 what it computed with the calibration cache: at the inputs of
 * products (one scale per activation, one per output channel of weights), and of pools and sums of two activations behind
 * them. A pair is before a product, so never between it and its activation.
 * @param only ids of the nodes that are to compute in INT8, whatever they are next to; null: all that the placement rules name
 * @param weightScales of an initializer; null: its elements cannot be read
 */
export function planMigration(
  network: QuantisedGraph,
  { types }: InferredTensors,
  cache: CalibrationCache,
  weightScales: (weights: WeightsToScale) => readonly number[] | null,
  only: ReadonlySet<string> | null = null,
): MigrationPlan {
  const { graph } = network;
  const plan: MigrationPlan = { edits: {}, activations: [], weights: [], skipped: [], unused: [] };
  const low = new Set<number>();
  const targets: Target[] = [];
  const nameOf = (tensor: number) => graph.tensors[tensor]!.name;
  for (const node of graph.nodes.keys()) {
    const { id } = graph.nodes[node]!;
    if (only !== null && !only.has(id)) continue;
    const skip = (reason: string) => plan.skipped.push({ node: id, reason });
    const target = graph.owner[node]! >= 0 ? null : targetAt(network, node, only === null ? low : null);
    if (!target) {
      const reason = only === null ? null : whyNot(network, node);
      if (reason !== null) skip(reason);
      continue;
    }
    const lost = target.activations.find((tensor) => !cache.scales.has(nameOf(tensor)));
    const other = target.activations.find((tensor) => types[tensor] !== 'float');
    if (lost !== undefined)
      skip(
        cache.unusable.includes(nameOf(lost))
          ? `the scale of "${nameOf(lost)}" is not a positive number`
          : `the cache has no scale for "${nameOf(lost)}"`,
      );
    else if (other !== undefined) skip(`"${nameOf(other)}" has the type ${types[other] ?? 'unknown'}, not float`);
    else if (target.weights && weightScales(target.weights) === null)
      skip(`the weights "${target.weights.tensor}" cannot be read as finite floats`);
    else {
      low.add(node);
      targets.push(target);
    }
  }
  new Pairs(network, cache, weightScales, plan).add(targets);
  const used = new Set(plan.activations);
  plan.unused = [...cache.scales.keys()].filter((name) => !used.has(name));
  return plan;
}

/** Why a node that a rule names gets no pairs; null: what it reads is quantised already. */
function whyNot(network: QuantisedGraph, node: number): string | null {
  const op = network.op(node);
  if (network.graph.owner[node]! >= 0) return 'it is inside a subgraph';
  if (!quantisable.has(op)) return `TensorRT quantizes ${[...quantisable].join(', ')}, not ${op}`;
  const other = otherType(network, node);
  if (other !== null) return `it reads ${other} values`;
  const reads = network.graph.inputs[node]!.slice(0, 2);
  if (reads.every((tensor) => network.dequantisedBy(tensor) >= 0)) return null;
  return products.has(op) ? 'its weights are not a stored matrix' : 'it does not read activations only';
}

/** What a node reads behind DequantizeLinear that is not INT8, as TensorRT takes uint8, too; null: nothing. */
function otherType(network: QuantisedGraph, node: number): string | null {
  const types = network.graph.inputs[node]!.slice(0, 2).flatMap((tensor) => {
    const by = network.dequantisedBy(tensor);
    return by < 0 ? [] : [network.quantisedType(by)];
  });
  const other = types.find((type) => type !== 'int8' && type !== 'uint8');
  return other === undefined ? null : typeWord(other);
}

/** @param low the nodes before it that are to compute in INT8; null: it may be a pool or a sum behind any node */
function targetAt(network: QuantisedGraph, node: number, low: ReadonlySet<number> | null): Target | null {
  const { graph } = network;
  const op = network.op(node);
  if (otherType(network, node) !== null) return null;
  if (products.has(op)) {
    const index = network.weightsIndex(node);
    const [data, second] = [network.input(node, 1 - index), network.input(node, index)];
    if (data < 0 || second < 0 || network.isConstant(data)) return null;
    if (!network.isConstant(second)) return { node, activations: plain(network, [data, second]), weights: null };
    // Dequantised weights are quantised already.
    if (network.dequantisedBy(second) >= 0) return { node, activations: plain(network, [data]), weights: null };
    const stored = network.constantAt(node, index);
    const axis = network.weightAxis(node, stored?.shape.length ?? 0);
    if (axis === undefined) return null;
    return { node, activations: plain(network, [data]), weights: { tensor: graph.tensors[second]!.name, axis, index } };
  }
  const inputs = graph.inputs[node]!;
  const data = network.input(node, 0);
  const isSum =
    op === 'Add' && inputs.length === 2 && inputs.every((tensor) => tensor >= 0 && !network.isConstant(tensor));
  if (!isSum && !pools.has(op)) return null;
  return low === null || inputs.some((tensor) => low.has(madeBy(network, tensor)))
    ? { node, activations: plain(network, isSum ? residuals(network, inputs) : [data]), weights: null }
    : null;
}

/**
 * The inputs of a sum that get pairs: not the output of a product, whose kernel adds, and from which a pair would separate
 * the sum. Of two products, one adds.
 */
function residuals(network: QuantisedGraph, inputs: readonly number[]): number[] {
  const own = inputs.findIndex((tensor) => network.productBefore(tensor) >= 0);
  return [...new Set(inputs.filter((_, index) => index !== own))];
}

/** Those that are not dequantised already. */
const plain = (network: QuantisedGraph, tensors: readonly number[]): number[] =>
  tensors.filter((tensor) => network.dequantisedBy(tensor) < 0);

/** The activations that need scales so that nodes can compute in INT8, by name. @param only ids of the nodes */
export function activationsToScale(network: QuantisedGraph, only: ReadonlySet<string>): string[] {
  const { nodes } = network.graph;
  const asked = [...nodes.keys()].filter((node) => only.has(nodes[node]!.id));
  return [...new Set(asked.flatMap((node) => activationsAt(network, node)))];
}

/** The same for one node. */
export function activationsAt(network: QuantisedGraph, node: number): string[] {
  const { graph } = network;
  const target = graph.owner[node]! >= 0 ? null : targetAt(network, node, null);
  return (target?.activations ?? []).map((tensor) => graph.tensors[tensor]!.name);
}

/** The node whose kernel makes a tensor: what precedes activations. */
function madeBy(network: QuantisedGraph, tensor: number): number {
  let node = network.producer(tensor);
  // A model may have a cycle.
  const seen = new Set<number>();
  while (node >= 0 && !seen.has(node) && (epilogues.has(network.op(node)) || isPart(network.op(node)))) {
    seen.add(node);
    node = network.producer(network.input(node, 0));
  }
  return node;
}

/** Writes each pair once, and lets the targets read it. */
class Pairs {
  readonly #network: QuantisedGraph;
  readonly #cache: CalibrationCache;
  readonly #weightScales: (weights: WeightsToScale) => readonly number[] | null;
  readonly #plan: MigrationPlan;
  readonly #names: Set<string>;
  readonly #made = new Map<string, string>();

  constructor(
    network: QuantisedGraph,
    cache: CalibrationCache,
    weightScales: (weights: WeightsToScale) => readonly number[] | null,
    plan: MigrationPlan,
  ) {
    this.#network = network;
    this.#cache = cache;
    this.#weightScales = weightScales;
    this.#plan = plan;
    const { nodes, tensors } = network.graph;
    this.#names = new Set([...nodes.map(({ name }) => name), ...tensors.map(({ name }) => name)]);
  }

  add(targets: readonly Target[]): void {
    const { graph } = this.#network;
    const inputs: NonNullable<ModelEdits['inputs']> = [];
    for (const { node, activations, weights } of targets) {
      const { id } = graph.nodes[node]!;
      for (const [index, tensor] of graph.inputs[node]!.entries())
        if (activations.includes(tensor)) inputs.push({ node: id, index, tensor: this.#activation(tensor) });
      if (weights) inputs.push({ node: id, index: weights.index, tensor: this.#weights(weights) });
    }
    this.#plan.edits.inputs = inputs;
  }

  #activation(tensor: number): string {
    const { name, producer } = this.#network.graph.tensors[tensor]!;
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    this.#plan.activations.push(name);
    const after = producer < 0 ? null : this.#network.graph.nodes[producer]!.id;
    return this.#pair(name, name, [this.#cache.scales.get(name)!], null, after);
  }

  #weights(weights: WeightsToScale): string {
    const key = `${weights.axis}:${weights.tensor}`;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    this.#plan.weights.push(weights.tensor);
    const maker = this.#network.producer(this.#network.graph.byName.get(weights.tensor)!);
    const after = maker < 0 ? null : this.#network.graph.nodes[maker]!.id;
    return this.#pair(key, weights.tensor, this.#weightScales(weights)!, weights.axis, after);
  }

  /** @returns name of the dequantised tensor */
  #pair(key: string, name: string, scales: readonly number[], axis: number | null, after: string | null): string {
    const [scale, zero, low, out] = ['scale', 'zero_point', 'quantized', 'dequantized'].map((word) =>
      this.#fresh(`${name}_${word}`),
    ) as [string, string, string, string];
    this.#made.set(key, out);
    const shape = axis === null ? [] : [scales.length];
    const { edits } = this.#plan;
    (edits.addInitializers ??= []).push(
      { graph: '', tensor: { name: scale, newType: 'float', shape, bytes: floatBytes(scales) } },
      { graph: '', tensor: { name: zero, newType: 'int8', shape, bytes: new Uint8Array(scales.length) } },
    );
    const attributes = axis === null ? {} : { axis: { int: axis } };
    const node = (op: string, input: string, output: string) => ({
      graph: '',
      node: { op, name: this.#fresh(`${name}_${op}`), inputs: [input, scale, zero], outputs: [output], attributes },
      after,
    });
    (edits.insert ??= []).push(node('QuantizeLinear', name, low), node('DequantizeLinear', low, out));
    return out;
  }

  #fresh(wanted: string): string {
    let name = wanted;
    for (let number = 1; this.#names.has(name); number += 1) name = `${wanted}_${number}`;
    this.#names.add(name);
    return name;
  }
}

/** Symmetric scales of weights, one per entry of an axis (null: one for all): the largest magnitude becomes 127. */
export function scalesAlong(values: Float32Array, shape: readonly number[], axis: number | null): number[] {
  const inner = axis === null ? values.length : shape.slice(axis + 1).reduce((size, dim) => size * dim, 1);
  const count = axis === null ? 1 : shape[axis]!;
  const largest = new Float32Array(count);
  for (let at = 0; at < values.length; at += 1) {
    const channel = Math.floor(at / inner) % count;
    const size = Math.abs(values[at]!);
    if (size > largest[channel]!) largest[channel] = size;
  }
  // A channel of zeros has any scale.
  return Array.from(largest, (size) => (size > 0 ? size / 127 : 1 / 127));
}
