import { type CalibrationCache, readCalibrationCache } from '../../core/quantisation/calibrationCache.ts';
import type { ReadScale } from '../../core/quantisation/planObservation.ts';
import { rangeOf, type TensorScale } from '../../core/quantisation/quantisation.ts';
import type { QuantisedGraph } from '../../core/quantisation/quantisedGraph.ts';
import type { ByteSource } from '../../core/text/byteSource.ts';
import { decodeUtf8 } from '../../core/text/utf8Decoder.ts';
import { readWhole } from '../files/fileSource.ts';
import { readFloats } from '../files/readFloats.ts';
import { UserError } from '../userError.ts';

/** @throws {UserError} if the file is not a calibration cache */
export async function readCache(path: string): Promise<CalibrationCache> {
  const cache = readCalibrationCache(decodeUtf8(await readWhole(path)));
  if (!cache) throw new UserError(`${path} is not an INT8 calibration cache of TensorRT`);
  return cache;
}

/**
 * The scales of a model's tensors, then those of a cache: one entry a tensor, or several where Q/DQ nodes quantise it in
 * several ways.
 */
export async function readScales(
  network: QuantisedGraph,
  path: string,
  source: ByteSource,
  cache: string | null,
): Promise<ReadScale[]> {
  const own = await scalesInModel(network, path, source);
  return [...own, ...(cache === null ? [] : scalesOfCache(await readCache(cache)))];
}

const scalesOfCache = ({ scales }: CalibrationCache): ReadScale[] =>
  [...scales].map(([tensor, scale]) => {
    const range = rangeOf(scale, 'int8', 0);
    const told: TensorScale = { tensor, scale, count: 1, source: 'cache', nodes: [], type: 'int8', range };
    return { scale: told, values: [scale], axis: 0, zeroPoint: 0 };
  });

async function scalesInModel(network: QuantisedGraph, path: string, source: ByteSource): Promise<ReadScale[]> {
  const { graph } = network;
  const found = new Map<string, ReadScale>();
  for (const [node, { op }] of graph.nodes.entries()) {
    const maker = network.producer(network.input(node, 0));
    const alone = op === 'DequantizeLinear' && network.op(maker) !== 'QuantizeLinear';
    if (op !== 'QuantizeLinear' && !alone) continue;
    const tensor = graph.tensors[network.input(node, 0)]?.name ?? '';
    const constant = network.constantAt(node, 1);
    const values = constant ? await readFloats(constant, path, source) : null;
    const scale = values?.reduce((most, value) => Math.max(most, value), 0) ?? null;
    const type = network.quantisedType(node);
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
      values: values !== null && (constant?.shape.length ?? 0) < 2 ? Array.from(values) : null,
      axis: network.attribute(node, 'axis', 1),
      zeroPoint: zero,
    });
  }
  return [...found.values()];
}
