import type { ModelGraph } from '../model/modelGraph.ts';
import type { InferredTensors } from '../model/inferTensors.ts';
import type { ModelEdits } from '../onnx/editModel.ts';
import { isFloatType } from '../onnx/tensorTypes.ts';
import { floatBytes } from './floatBytes.ts';
import { lastStep, limitsOf, type TensorScale } from './quantisation.ts';

/** A tensor's scales with all their values. */
export interface ReadScale {
  scale: TensorScale;
  /** null: they cannot be read. */
  values: readonly number[] | null;
  /** Of which each entry has a scale of its own, if there are several. */
  axis: number;
  /** Quantised value that stands for 0; null: not known. */
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
