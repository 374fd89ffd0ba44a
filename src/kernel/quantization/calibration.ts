// Calibration caches and how to migrate them.
import type { ModelEdits } from '../read/onnx/editModel.ts';
import type { FusionReport } from '../fusion/fusionReport.ts';
import { tensorPrecision } from '../read/tensorrt/buildOutput.ts';
import { isFloatType } from '../read/onnx/onnxModel.ts';
import type { InferredTensors } from '../network/network.ts';
import { type ModelGraph, pools, products, quantizable } from '../network/modelGraph.ts';
import { floatBytes } from './floatBytes.ts';
import {
  type CalibrationCache,
  islandText,
  lastStep,
  limitsOf,
  pairCounts,
  pairFates,
  type Quantization,
  rangeText,
  scaleText,
  sourceText,
  type TensorScale,
} from './quantization.ts';
import { isPart, type QuantizedGraph, typeWord } from '../fusion/quantizedGraph.ts';
import {
  type Action,
  type Block,
  type Document,
  section,
  table,
  type Target,
  type Text,
} from '../document/document.ts';
import { counted, oneLine, percentText, thousands } from '../base/text.ts';

/** Weights of a product that are to be quantized, per output channel where TensorRT has kernels for that. */
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
interface MigrationTarget {
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
  network: QuantizedGraph,
  { types }: InferredTensors,
  cache: CalibrationCache,
  weightScales: (weights: WeightsToScale) => readonly number[] | null,
  only: ReadonlySet<string> | null = null,
): MigrationPlan {
  const { graph } = network;
  const plan: MigrationPlan = { edits: {}, activations: [], weights: [], skipped: [], unused: [] };
  const low = new Set<number>();
  const targets: MigrationTarget[] = [];
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

/**
 * Ids of the nodes that an engine computed in INT8, of those that Q/DQ pairs can put there: a product whose layer reads
 * INT8 values, a pool or a sum whose layer reads nothing else. null: no layer says its types.
 */
export function nodesInInt8(report: FusionReport): Set<string> | null {
  const ops = new Map(report.nodes.map(({ id, op }) => [id, op]));
  const found = new Set<string>();
  let known = false;
  for (const { inputs, nodes } of report.layers) {
    const types = inputs.flatMap((tensor) => tensorPrecision(tensor) ?? []);
    if (types.length === 0) continue;
    known = true;
    const low = types.filter((type) => type === 'int8');
    if (low.length === 0) continue;
    for (const id of nodes) {
      const op = ops.get(id) ?? '';
      if (products.has(op) || (quantizable.has(op) && low.length === types.length)) found.add(id);
    }
  }
  return known ? found : null;
}

/** Why a node that a rule names gets no pairs; null: what it reads is quantized already. */
function whyNot(network: QuantizedGraph, node: number): string | null {
  const op = network.op(node);
  if (network.graph.owner[node]! >= 0) return 'it is inside a subgraph';
  if (!quantizable.has(op)) return `TensorRT quantizes ${[...quantizable].join(', ')}, not ${op}`;
  const other = otherType(network, node);
  if (other !== null) return `it reads ${other} values`;
  const reads = network.graph.inputs[node]!.slice(0, 2);
  if (reads.every((tensor) => network.dequantizedBy(tensor) >= 0)) return null;
  return products.has(op) ? 'its weights are not a stored matrix' : 'it does not read activations only';
}

/** What a node reads behind DequantizeLinear that is not INT8, as TensorRT takes uint8, too; null: nothing. */
function otherType(network: QuantizedGraph, node: number): string | null {
  const types = network.graph.inputs[node]!.slice(0, 2).flatMap((tensor) => {
    const by = network.dequantizedBy(tensor);
    return by < 0 ? [] : [network.quantizedType(by)];
  });
  const other = types.find((type) => type !== 'int8' && type !== 'uint8');
  return other === undefined ? null : typeWord(other);
}

/** @param low the nodes before it that are to compute in INT8; null: it may be a pool or a sum behind any node */
function targetAt(network: QuantizedGraph, node: number, low: ReadonlySet<number> | null): MigrationTarget | null {
  const { graph } = network;
  const op = network.op(node);
  if (otherType(network, node) !== null) return null;
  if (products.has(op)) {
    const index = network.weightsIndex(node);
    const [data, second] = [network.input(node, 1 - index), network.input(node, index)];
    if (data < 0 || second < 0 || network.isConstant(data)) return null;
    if (!network.isConstant(second)) return { node, activations: plain(network, [data, second]), weights: null };
    // Dequantized weights are quantized already.
    if (network.dequantizedBy(second) >= 0) return { node, activations: plain(network, [data]), weights: null };
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
function residuals(network: QuantizedGraph, inputs: readonly number[]): number[] {
  const own = inputs.findIndex((tensor) => network.productBefore(tensor) >= 0);
  return [...new Set(inputs.filter((_, index) => index !== own))];
}

/** Those that are not dequantized already. */
const plain = (network: QuantizedGraph, tensors: readonly number[]): number[] =>
  tensors.filter((tensor) => network.dequantizedBy(tensor) < 0);

/** The activations that need scales so that nodes can compute in INT8, by name. @param only ids of the nodes */
export function activationsToScale(network: QuantizedGraph, only: ReadonlySet<string>): string[] {
  const { nodes } = network.graph;
  const asked = [...nodes.keys()].filter((node) => only.has(nodes[node]!.id));
  return [...new Set(asked.flatMap((node) => activationsAt(network, node)))];
}

/** The same for one node. */
export function activationsAt(network: QuantizedGraph, node: number): string[] {
  const { graph } = network;
  const target = graph.owner[node]! >= 0 ? null : targetAt(network, node, null);
  return (target?.activations ?? []).flatMap((tensor) => graph.tensors[tensor]?.name ?? []);
}

/** The node whose kernel makes a tensor: what precedes activations. */
function madeBy(network: QuantizedGraph, tensor: number): number {
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
  readonly #network: QuantizedGraph;
  readonly #cache: CalibrationCache;
  readonly #weightScales: (weights: WeightsToScale) => readonly number[] | null;
  readonly #plan: MigrationPlan;
  readonly #names: Set<string>;
  readonly #made = new Map<string, string>();

  constructor(
    network: QuantizedGraph,
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

  add(targets: readonly MigrationTarget[]): void {
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

  /** @returns name of the dequantized tensor */
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

/** A tensor's scales with all their values. */
export interface ReadScale {
  scale: TensorScale;
  /** null: they cannot be read. */
  values: readonly number[] | null;
  /** Of which each entry has a scale of its own, if there are several. */
  axis: number;
  /** Quantized value that stands for 0; null: not known. */
  zeroPoint: number | null;
}

/** A model that also counts the values beyond the ends of ranges. */
export interface ObservationPlan {
  edits: ModelEdits;
  /** By the position of each scale: the scalar outputs with the number of values, of clipped ones, and the largest magnitude. */
  outputs: (readonly [values: string, clipped: string, largest: string] | null)[];
}

/**
 * Adds outputs to a model that compare tensors with the ranges of their scales. Scales whose values are not known, of
 * tensors inside subgraphs, of stored integers, and of blocks have none.
 */
export function planObservation(
  graph: ModelGraph,
  { types, shapes }: InferredTensors,
  scales: readonly ReadScale[],
): ObservationPlan {
  const taken = new Set([...graph.tensors, ...graph.nodes].map(({ name }) => name));
  const edits: Required<Pick<ModelEdits, 'insert' | 'addInitializers' | 'declare'>> = {
    insert: [],
    addInitializers: [],
    declare: [],
  };
  const fresh = (wanted: string): string => {
    let name = wanted;
    for (let n = 1; taken.has(name); n++) name = `${wanted}_${n}`;
    taken.add(name);
    return name;
  };
  const outputs = scales.map((read) => {
    const tensor = graph.byName.get(read.scale.tensor);
    const after = tensor === undefined ? undefined : placeOf(graph, tensor, read.scale);
    if (tensor === undefined || after === undefined || !isFloatType(types[tensor] ?? 'float')) return null;
    const bounds = boundsOf(read, shapes[tensor]?.length ?? null);
    if (bounds === null) return null;
    const { name } = graph.tensors[tensor]!;
    const add = (op: string, inputs: string[], attributes: Record<string, { int: number }> = {}): string => {
      const output = fresh(`${name}_observed_${op}`);
      edits.insert.push({ graph: '', node: { op, name: output, inputs, outputs: [output], attributes }, after });
      return output;
    };
    const bound = (bytes: Uint8Array): string => {
      const constant = fresh(`${name}_observed_bound`);
      edits.addInitializers.push({
        graph: '',
        tensor: { name: constant, newType: 'float', shape: bounds.shape, bytes },
      });
      return constant;
    };
    // ONNX Runtime compares no half precision.
    const value = add('Cast', [name], { to: { int: 1 } });
    const below = add('Less', [value, bound(bounds.low)]);
    const clipped = add('Or', [below, add('Greater', [value, bound(bounds.high)])]);
    const whole = { keepdims: { int: 0 } };
    const found = [
      add('Size', [name]),
      add('ReduceSum', [add('Cast', [clipped], { to: { int: 7 } })], whole),
      add('ReduceMax', [add('Abs', [value])], whole),
    ] as const;
    found.forEach((output, index) =>
      edits.declare.push({
        graph: '',
        list: 'outputs',
        value: { name: output, newType: index < 2 ? 'int64' : 'float' },
      }),
    );
    return found;
  });
  return { edits, outputs };
}

/** The node behind which a tensor is there, by id; null: from the start. undefined: it cannot be observed. */
function placeOf(graph: ModelGraph, tensor: number, { source, nodes }: TensorScale): string | null | undefined {
  const producer = graph.tensors[tensor]!.producer;
  const first = source === 'model' ? graph.indexOfId.get(nodes[0]!) : undefined;
  // A node of a local function is not in the graph itself.
  if (first !== undefined && (graph.nodes[first]!.op !== 'QuantizeLinear' || graph.owner[first]! >= 0))
    return undefined;
  if (producer >= 0 && graph.owner[producer]! >= 0) return undefined;
  return producer < 0 ? null : graph.nodes[producer]!.id;
}

/** What is rounded to the end of a range although it is not next to it. */
function boundsOf(
  { scale, values, axis, zeroPoint }: ReadScale,
  rank: number | null,
): { shape: number[]; low: Uint8Array; high: Uint8Array } | null {
  const limits = limitsOf(scale.type);
  if (values === null || zeroPoint === null || limits === undefined) return null;
  if (!values.every((value) => value > 0 && Number.isFinite(value))) return null;
  if (values.length !== 1 && rank === null) return null;
  const at = axis < 0 ? axis + (rank ?? 0) : axis;
  const shape = values.length === 1 ? [] : Array.from({ length: rank! }, (_, i) => (i === at ? values.length : 1));
  const half = lastStep(scale.type) / 2;
  const bytesAt = (end: number): Uint8Array => floatBytes(values.map((one) => (end - zeroPoint) * one));
  return { shape, low: bytesAt(limits[0] - half), high: bytesAt(limits[1] + half) };
}

/** What is around the results. */
export interface QuantizationContext {
  /** The model's name. */
  title: string;
  /** What the fates are from, such as the id of a build; null: there is no build. */
  build: string | null;
  /** Path of the calibration cache whose scales are shown; null: none. */
  cache: string | null;
  /** A node's name by its id. */
  nameOf: (id: string) => string;
  actions?: readonly Action[];
}

/** The quantization of a model: its scales, what a build made of its Q/DQ pairs, and what prevents quantized kernels. */
export function quantizationDocument(found: Quantization, context: QuantizationContext): Document {
  const { title, build, cache, actions = [] } = context;
  const notes = [fateSource(found, build), cache === null ? '' : `Calibrated scales are from ${cache}.`];
  return {
    title: `Quantization of ${title}`,
    blocks: [
      { kind: 'text', text: summary(found, build !== null, cache !== null) },
      ...[...notes, ...(found.notes ?? [])]
        .filter((text) => text !== '')
        .map((text): Block => ({ kind: 'note', text })),
      { kind: 'actions', actions },
      ...section('Placements That Can Prevent Quantized Kernels', placements(found, context)),
      ...section('Q/DQ Pairs', pairs(found)),
      ...section('Floating Point Between Quantized Nodes', islands(found, context)),
      ...section('Scales', scales(found)),
    ],
  };
}

function summary(
  { tensors, pairs: all, misplaced, islands: parts }: Quantization,
  built: boolean,
  cached: boolean,
): string {
  if (tensors.length + misplaced.length === 0)
    return `The model has no Q/DQ nodes, and ${cached ? 'the calibration cache has no usable scale' : 'no calibration cache is in use'}.`;
  const activations = all.filter(({ constant }) => !constant).length;
  const against = `${counted(misplaced.length, 'placement')} against TensorRT's rules.`;
  if (tensors.length === 0) return `The model has no Q/DQ nodes. ${against}`;
  if (all.length === 0) return 'The model has no Q/DQ nodes; the scales are those of a calibration cache.';
  return [
    `${counted(activations, 'Q/DQ pair')} of activations${built && activations > 0 ? ` (${pairCounts(all)})` : ''} and ${thousands(all.length - activations)} of weights.`,
    against,
    `${counted(parts.length, 'part')} in floating point between quantized nodes.`,
  ].join(' ');
}

function fateSource({ pairs: all }: Quantization, build: string | null): string {
  if (all.length === 0) return '';
  return build === null
    ? 'What TensorRT makes of the pairs is not known without a build.'
    : `Fates are those of build ${build}.`;
}

const nodesTarget = (ids: readonly string[]): Target => ({ kind: 'nodes', ids });

const placements = ({ misplaced }: Quantization, { nameOf }: QuantizationContext): Block[] =>
  misplaced.length === 0
    ? []
    : [
        {
          kind: 'findings',
          findings: misplaced.map(({ code, nodes, message, fix }) => ({
            severity: 'warning',
            code,
            place: [{ text: oneLine(nameOf(nodes[0]!)), to: nodesTarget(nodes) }],
            text: message,
            advice: fix,
          })),
        },
      ];

/** Pairs that cost a kernel first, those that cost nothing last. */
const order = ['kernel', 'reformat', 'moved', 'unknown', 'fused', 'removed', 'folded'];

function pairs({ pairs: all }: Quantization): Block[] {
  const rows = all
    .toSorted((a, b) => order.indexOf(a.fate) - order.indexOf(b.fate) || Number(a.constant) - Number(b.constant))
    .map(({ tensor, constant, quantize, dequantize, fate, why, fix }) => {
      const to = nodesTarget([...(quantize === null ? [] : [quantize]), ...dequantize]);
      const cells: Text[] = [
        [{ text: oneLine(tensor), to }],
        constant ? 'weights' : 'activation',
        pairFates[fate],
        fix === null ? why : `${why} ${fix}`,
      ];
      return fate === 'kernel' || fate === 'reformat' ? { cells, state: 'warning' as const } : { cells };
    });
  return table(['tensor', '', 'what TensorRT made of it', 'why'], rows, 'pair');
}

const islands = ({ islands: parts }: Quantization, { nameOf }: QuantizationContext): Block[] =>
  table(
    ['first node', 'cost'],
    parts.map((island) => ({
      cells: [[{ text: oneLine(nameOf(island.nodes[0]!)), to: nodesTarget(island.nodes) }], islandText(island)],
    })),
    'part',
  );

function scales({ tensors }: Quantization): Block[] {
  const measured = tensors.some(({ observed }) => observed !== undefined);
  const rows = tensors.map((tensor) => {
    const { clippedShare = null, largest = null } = tensor.observed ?? {};
    const seen = measured
      ? [clippedShare === null ? '' : percentText(clippedShare * 100), largest === null ? '' : largest.toPrecision(4)]
      : [];
    return {
      cells: [oneLine(tensor.tensor), scaleText(tensor), rangeText(tensor), ...seen, sourceText(tensor)],
    };
  });
  const head = ['tensor', 'scale#', 'range#', ...(measured ? ['clipped#', 'largest value#'] : []), 'source'];
  return table(head, rows, 'tensor');
}
