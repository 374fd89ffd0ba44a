import { composeModel } from '../onnx/composeModel.ts';
import type { NewTensor, NewValue } from '../onnx/writeParts.ts';
import type { EditedModel } from '../onnx/editModel.ts';
import { ExternalData } from '../onnx/editTensor.ts';
import type { OnnxTensor, OnnxValue } from '../onnx/onnxModel.ts';
import { segmentsSize } from '../onnx/segment.ts';
import { byteLength, dataTypeNumber } from '../onnx/tensorTypes.ts';
import type { InferredTensors } from '../model/inferTensors.ts';
import type { ModelGraph } from '../model/modelGraph.ts';
import type { DataType } from '../onnx/onnxModel.ts';
import type { Piece, Unfit } from './pieceOf.ts';

/** Type and shape of a tensor that crosses the border of a piece. */
export interface BorderTensor {
  name: string;
  type: DataType;
  /** null: rank unknown. A text is a symbolic dimension, null one of unknown size. */
  shape: (number | string | null)[] | null;
}

/** What else says the types of tensors, such as a build log: by the tensor's name. shape null: rank unknown. */
export type KnownTensors = ReadonlyMap<string, { type: DataType; shape: readonly (number | string | null)[] | null }>;

/**
 * Where the weights of an extracted model are:
 * - `references`: where they were, in the files next to the model or in the model itself. The new model must be in the
 * same folder.
 * - `data`: in a file of its own, only the ranges that are used
 * - `embed`: inside the new model
 * - `none`: nowhere; large ones are declared in a file of that name, which nothing writes
 */
export type WeightsPlace =
  | { kind: 'references'; modelFile: string }
  | { kind: 'data'; location: string }
  | { kind: 'embed' }
  | { kind: 'none'; location: string };

/** Smaller tensors may be shapes, axes and other constants without which a model is another one. */
const LARGE = 1 << 12;

/** A piece as a model of its own, as pieces of the old file and new bytes. */
export interface ExtractedModel extends EditedModel {
  inputs: BorderTensor[];
  outputs: BorderTensor[];
}

/** From here on initializers need not be inputs, too. */
const OLDEST_IR = 4;

/** Protobuf's readers take no message of 2 GiB or more. */
const SIZE_LIMIT = 2 ** 31 - 1;

/**
 * Makes a piece of a model a model of its own; names, operator sets, functions and metadata stay. Weights are not read.
 * @param graph of a model that was read with spans
 * @param size of the model's file in bytes
 */
export function extractModel(
  graph: ModelGraph,
  size: number,
  piece: Piece,
  inferred: InferredTensors,
  weights: WeightsPlace,
  known: KnownTensors = new Map(),
): ExtractedModel | Unfit {
  const { model } = graph;
  const declared = new Map<string, OnnxValue>();
  for (const value of [...model.graph.values, ...model.graph.outputs, ...model.graph.inputs])
    declared.set(value.name, value);
  const border = (tensors: readonly number[]) => tensors.map((tensor) => borderTensor(graph, tensor, inferred, known));
  const inputs = border(piece.inputs);
  const outputs = border(piece.outputs);
  const unknown = [...inputs, ...outputs].find((tensor) => typeof tensor === 'string');
  if (unknown !== undefined) {
    const type = inferred.types[graph.byName.get(unknown) ?? -1] ?? null;
    return {
      reason:
        type === null
          ? `The type of tensor "${unknown}" is unknown. Cut elsewhere, or pass a verbose build log of the model`
          : `"${unknown}" has the type ${type}, and a part can begin and end only at tensors. Cut elsewhere`,
    };
  }
  const external = new ExternalData('location' in weights ? weights.location : '');
  const byName = new Map(model.graph.initializers.map((tensor) => [tensor.name, tensor]));
  const initializers = piece.initializers.flatMap((tensor) => {
    const found = byName.get(graph.tensors[tensor]!.name);
    return found ? [placed(found, weights, external)] : [];
  });
  const inner = new Set(
    piece.nodes.flatMap((node) => graph.outputs[node]!.map((tensor) => graph.tensors[tensor]!.name)),
  );
  for (const { name } of outputs as BorderTensor[]) inner.delete(name);
  const segments = composeModel(
    model,
    size,
    {
      name: model.graph.name || 'extracted',
      nodes: piece.nodes.map((node) => graph.nodes[node]!),
      inputs: (inputs as BorderTensor[]).map(newValue),
      outputs: (outputs as BorderTensor[]).map(newValue),
      initializers,
      values: model.graph.values.filter(({ name, span }) => span && inner.has(name)),
    },
    weights.kind === 'references' ? weights.modelFile : null,
    OLDEST_IR,
  );
  const whole = segmentsSize(segments);
  if (whole > SIZE_LIMIT)
    return {
      reason: 'The extracted model would have 2 GiB or more. Omit --embed to write its weights to a separate file',
    };
  return {
    segments,
    size: whole,
    external:
      external.segments.length === 0 || weights.kind === 'none'
        ? null
        : { location: external.location, segments: external.segments, size: external.size },
    inputs: inputs as BorderTensor[],
    outputs: outputs as BorderTensor[],
  };
}

/** The tensor as the border of a model declares it; its name alone where its type is not known. */
export function borderTensor(
  graph: ModelGraph,
  tensor: number,
  { types, shapes }: InferredTensors,
  known: KnownTensors,
): BorderTensor | string {
  const { name } = graph.tensors[tensor]!;
  const logged = known.get(name);
  const type = types[tensor] ?? logged?.type ?? null;
  if (type === null || dataTypeNumber(type) === undefined) return name;
  const shape = shapes[tensor] ?? logged?.shape ?? null;
  // What the model leaves open may be known to the log.
  const sizes = logged?.shape?.length === shape?.length ? logged?.shape : null;
  return { name, type, shape: shape && shape.map((dim, axis) => dim ?? sizes?.[axis] ?? null) };
}

const newValue = ({ name, type, shape }: BorderTensor): NewValue => ({ name, newType: type, ...(shape && { shape }) });

/** A tensor with its elements where they should be. */
function placed(tensor: OnnxTensor, weights: WeightsPlace, external: ExternalData): OnnxTensor | NewTensor {
  const { data, name, type, shape } = tensor;
  if (weights.kind === 'none') return leftOut(tensor, weights.location, external);
  if (weights.kind === 'references' || !data || !('external' in data)) return tensor;
  const { location, offset = '0', length } = data.external;
  const size = length === undefined ? byteLength(type, shape) : Number(length);
  if (location === undefined || size === undefined) return tensor;
  const copy = { copy: { file: location, offset: Number(offset), length: size } };
  if (weights.kind === 'embed') return { name, newType: type, shape, bytes: { copy, size } };
  const at = external.place(copy, size);
  return {
    name,
    newType: type,
    shape,
    bytes: { external: { location: weights.location, offset: String(at), length: String(size) } },
  };
}

/** A tensor of which only type and shape stay, if it is large or its elements are elsewhere. */
function leftOut(tensor: OnnxTensor, location: string, external: ExternalData): OnnxTensor | NewTensor {
  const { data, name, type, shape, sparse } = tensor;
  const size = byteLength(type, shape);
  if (!data || size === undefined || sparse || ('inline' in data && size < LARGE)) return tensor;
  // Each one has a place of its own, where nothing is.
  const at = external.place({ copy: { file: location, offset: external.size, length: size } }, size);
  return { name, newType: type, shape, bytes: { external: { location, offset: String(at), length: String(size) } } };
}
