import {
  type CalibrationCache,
  isPart,
  QuantizedGraph,
  rangeOf,
  readCalibrationCache,
  type TensorScale,
} from '../../quantization/quantization.ts';
import type { ReadScale } from '../../quantization/calibration.ts';
import type { ModelGraph } from '../../network/modelGraph.ts';
import type { OnnxTensor } from '../../read/onnx/onnxModel.ts';
import type { ByteSource } from '../../base/problem.ts';
import { decodeUtf8 } from '../../base/text.ts';
import { readWhole } from '../files/fileSource.ts';
import { readBytes, readFloats } from '../files/readFloats.ts';
import { UserError } from '../files/userError.ts';

/** @throws {UserError} if the file is not a calibration cache */
export async function readCache(path: string): Promise<CalibrationCache> {
  const cache = readCalibrationCache(decodeUtf8(await readWhole(path)));
  if (!cache) throw new UserError(`${path} is not an INT8 calibration cache of TensorRT`);
  return cache;
}

/**
 * The values of the scales of a model's Q and DQ nodes, by index of the node; null: they are not stored in the model.
 * @throws {UserError} if the file of their external data is missing or outside the model's folder
 */
export async function readScaleValues(
  network: QuantizedGraph,
  path: string,
  source: ByteSource,
): Promise<Map<number, readonly number[] | null>> {
  const found = new Map<number, readonly number[] | null>();
  const read = new Map<OnnxTensor, readonly number[] | null>();
  for (const [node, { op }] of network.graph.nodes.entries()) {
    if (!isPart(op)) continue;
    const constant = network.constantAt(node, 1);
    if (constant && !read.has(constant)) {
      const values = await readFloats(constant, path, source);
      read.set(constant, values && Array.from(values));
    }
    found.set(node, constant ? read.get(constant)! : (network.scaleNumbers(node) ?? null));
  }
  return found;
}

/**
 * A model's Q/DQ nodes with the zero points of many channels.
 * @throws {UserError} as `readScaleValues`
 */
export async function openQuantized(graph: ModelGraph, path: string, source: ByteSource): Promise<QuantizedGraph> {
  const network = new QuantizedGraph(graph);
  const zeros = new Map<OnnxTensor, readonly number[]>();
  for (const [node, { op }] of graph.nodes.entries()) {
    const zero = isPart(op) ? network.constantAt(node, 2) : undefined;
    if (zero === undefined || zeros.has(zero) || network.zeroPoints(node) !== undefined) continue;
    const values = await readBytes(zero, path, source);
    if (values) zeros.set(zero, values);
  }
  return zeros.size === 0 ? network : new QuantizedGraph(graph, zeros);
}

/**
 * The scales of a model's tensors, then those of a cache: one entry a tensor, or several where Q/DQ nodes quantize it in
 * several ways.
 * @param values as `readScaleValues` gives them
 */
export function readScales(
  network: QuantizedGraph,
  values: ReadonlyMap<number, readonly number[] | null>,
  cache: CalibrationCache | null,
): ReadScale[] {
  return [...scalesInModel(network, values), ...(cache === null ? [] : scalesOfCache(cache))];
}

const scalesOfCache = ({ scales }: CalibrationCache): ReadScale[] =>
  [...scales].map(([tensor, scale]) => {
    const range = rangeOf(scale, 'int8', 0);
    const told: TensorScale = { tensor, scale, count: 1, source: 'cache', nodes: [], type: 'int8', range };
    return { scale: told, values: [scale], axis: 0, zeroPoint: 0 };
  });

function scalesInModel(network: QuantizedGraph, valuesOf: ReadonlyMap<number, readonly number[] | null>): ReadScale[] {
  const { graph } = network;
  const found = new Map<string, ReadScale>();
  for (const [node, { op }] of graph.nodes.entries()) {
    const maker = network.producer(network.input(node, 0));
    const alone = op === 'DequantizeLinear' && network.op(maker) !== 'QuantizeLinear';
    if (op !== 'QuantizeLinear' && !alone) continue;
    const tensor = graph.tensors[network.input(node, 0)]?.name ?? '';
    const values = valuesOf.get(node) ?? null;
    const scale = values === null || values.length === 0 ? null : values.reduce((most, value) => Math.max(most, value));
    const type = network.quantizedType(node);
    const zero = network.zeroPoint(node);
    const range = zero === null ? null : rangeOf(scale, type, zero);
    const count = network.scaleCount(node);
    const key = JSON.stringify([tensor, scale, count, type, range]);
    const known = found.get(key);
    const { id } = graph.nodes[node]!;
    if (known) {
      known.scale.nodes.push(id);
      continue;
    }
    found.set(key, {
      scale: { tensor, scale, count, source: 'model', nodes: [id], type, range },
      // Scales of blocks are of several axes.
      values: (network.constantAt(node, 1)?.shape.length ?? 0) < 2 ? values : null,
      axis: network.attribute(node, 'axis', 1),
      zeroPoint: zero,
    });
  }
  return [...found.values()];
}
