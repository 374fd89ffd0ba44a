import type { FusionReport, ReportShape } from '../fusion/fusionReport.ts';
import type { GraphData } from '../scene/panel/viewData.ts';

/** An input or output as Triton's `config.pbtxt` describes it. */
export interface TritonTensor {
  name: string;
  /** `TYPE_FP32`; null: not known, or Triton has none for it. */
  dataType: string | null;
  /** Sizes of the engine's binding, -1: open; null: not known. */
  dims: number[] | null;
}

/** What Triton needs to know of an engine. */
export interface TritonModel {
  name: string;
  inputs: TritonTensor[];
  outputs: TritonTensor[];
  /** The largest batch of all profiles; 0: the first dimension of some input or output is not an open batch. */
  maxBatch: number;
  /** Of each optimization profile, the batch that it is tuned for; one entry without open dimensions. */
  profiles: { index: number; optBatch: number | null }[];
}

const dataTypes: Readonly<Record<string, string>> = {
  float: 'TYPE_FP32',
  float16: 'TYPE_FP16',
  bfloat16: 'TYPE_BF16',
  int8: 'TYPE_INT8',
  uint8: 'TYPE_UINT8',
  int32: 'TYPE_INT32',
  int64: 'TYPE_INT64',
  bool: 'TYPE_BOOL',
};

/**
 * The engine's bindings and profiles. Inputs and outputs are those of the model, with the sizes that the engine was
 * built for; what the build does not say stays open or unknown.
 */
export function tritonModel(name: string, graph: GraphData, report: FusionReport): TritonModel {
  const shapes = report.builtShapes ?? [];
  const inputs = graph.inputs.map(({ name: input, type, shape }) => tensorOf(input, type, shape));
  const outputs = graph.outputs.map(({ name: output, type, shape }) => {
    const inferred = report.tensors.find((tensor) => tensor.name === output);
    return tensorOf(output, type ?? inferred?.type ?? null, shape ?? inferred?.shape ?? null);
  });
  const indices = [...new Set(shapes.map(({ profile }) => profile))].toSorted((a, b) => a - b);
  const profiles = (indices.length === 0 ? [0] : indices).map((index) => ({
    index,
    optBatch: batchOf(shapes, inputs, index, 'opt'),
  }));
  const all = [...inputs, ...outputs];
  const isBatched = all.length > 0 && all.every(({ dims }) => dims?.[0] === -1);
  const largest = isBatched ? profiles.map(({ index }) => batchOf(shapes, inputs, index, 'max')) : [];
  const known = largest.filter((batch) => batch !== null);
  return { name, inputs, outputs, maxBatch: known.length === largest.length ? Math.max(0, ...known) : 0, profiles };
}

function tensorOf(name: string, type: string | null, shape: readonly (number | string | null)[] | null): TritonTensor {
  const dims = shape === null ? null : shape.map((size) => (typeof size === 'number' && size >= 0 ? size : -1));
  return { name, dataType: type === null ? null : (dataTypes[type] ?? null), dims };
}

/** The first size of all inputs in one profile; null: they differ, or are not known. */
function batchOf(
  shapes: readonly ReportShape[],
  inputs: readonly TritonTensor[],
  profile: number,
  kind: 'opt' | 'max',
): number | null {
  const sizes = inputs.map(
    ({ name }) => shapes.find((shape) => shape.input === name && shape.profile === profile)?.[kind][0] ?? null,
  );
  const [first = null] = sizes;
  return sizes.every((size) => size === first) ? first : null;
}
