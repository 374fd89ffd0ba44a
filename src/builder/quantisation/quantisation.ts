import { basename, join, resolve } from 'node:path';
import { inferTensors } from '../../core/model/inferTensors.ts';
import { createModelGraph, type ModelGraph } from '../../core/model/modelGraph.ts';
import { standardOpset } from '../../core/model/opset.ts';
import { planEdit } from '../../core/onnx/editModel.ts';
import type { OnnxTensor } from '../../core/onnx/onnxModel.ts';
import { type CalibrationCache, readCalibrationCache } from '../../core/quantisation/calibrationCache.ts';
import { type FloatIsland, floatIslands } from '../../core/quantisation/floatIslands.ts';
import { planMigration, scalesAlong, type WeightsToScale } from '../../core/quantisation/migrateCalibration.ts';
import { type Misplaced, misplaced } from '../../core/quantisation/misplaced.ts';
import { type QuantisedPair, quantisedPairs } from '../../core/quantisation/pairs.ts';
import { products } from '../../core/model/products.ts';
import { QuantisedGraph } from '../../core/quantisation/quantisedGraph.ts';
import type { ByteSource } from '../../core/text/byteSource.ts';
import { decodeUtf8 } from '../../core/text/utf8Decoder.ts';
import { requireBuild } from '../store/buildFolder.ts';
import { loadBuild } from '../store/loadBuild.ts';
import { UserError } from '../userError.ts';
import { checkOutput, filesOfModel } from '../files/checkOutput.ts';
import { openFile, readWhole } from '../files/fileSource.ts';
import { ParsedFiles } from '../files/parsedFiles.ts';
import { readFloats } from '../files/readFloats.ts';
import { writeModel } from '../files/writeModel.ts';

/** How a tensor is quantised. */
export interface TensorScale {
  tensor: string;
  /** The only one, or the largest of several; null: its value cannot be read. */
  scale: number | null;
  /** How many there are; more than one: per channel. null: not known. */
  count: number | null;
  source: 'model' | 'cache';
}

/** `trtlens quantisation --json`. */
export interface Quantisation {
  tensors: TensorScale[];
  pairs: QuantisedPair[];
  misplaced: Misplaced[];
  islands: FloatIsland[];
}

export interface QuantisationRequest {
  /** Path of the model. */
  path: string;
  /** Path of a calibration cache. */
  cache?: string | undefined;
  /** Folder of a build of the model. */
  build?: string | undefined;
}

/**
 * The scales of a model's tensors, and what became of its Q/DQ nodes.
 * @throws {UserError} if a file cannot be read, or the build is of another model
 */
export async function readQuantisation({ path, cache, build }: QuantisationRequest): Promise<Quantisation> {
  const { value: model, problems } = await new ParsedFiles().model(path);
  const error = problems.find(({ severity }) => severity === 'error');
  if (error) throw new UserError(`${path}: ${error.message}`);
  const graph = createModelGraph(model);
  const network = new QuantisedGraph(graph);
  const calibrated = cache === undefined ? null : await readCache(cache);
  const report = build === undefined ? null : (await loadBuild(await requireBuild(build), { onnx: path })).report;
  const wrong = misplaced(network);
  const source = await openFile(path);
  try {
    const own = await scalesInModel(network, path, source);
    const listed = [...(calibrated?.scales ?? [])].map(([tensor, scale]): TensorScale => ({
      tensor,
      scale,
      count: 1,
      source: 'cache',
    }));
    return {
      tensors: [...own, ...listed],
      pairs: quantisedPairs(network, wrong, report),
      misplaced: wrong,
      islands: floatIslands(network, inferTensors(graph)),
    };
  } finally {
    await source.close();
  }
}

async function readCache(path: string): Promise<CalibrationCache> {
  const cache = readCalibrationCache(decodeUtf8(await readWhole(path)));
  if (!cache) throw new UserError(`${path} is not an INT8 calibration cache of TensorRT`);
  return cache;
}

async function scalesInModel(network: QuantisedGraph, path: string, source: ByteSource): Promise<TensorScale[]> {
  const { graph } = network;
  const found = new Map<string, TensorScale>();
  for (const [node, { op }] of graph.nodes.entries()) {
    const maker = network.producer(network.input(node, 0));
    const alone = op === 'DequantizeLinear' && network.op(maker) !== 'QuantizeLinear';
    if (op !== 'QuantizeLinear' && !alone) continue;
    const tensor = graph.tensors[network.input(node, 0)]?.name ?? '';
    const scale = network.constantAt(node, 1);
    const values = scale ? await readFloats(scale, path, source) : null;
    const largest = values?.reduce((most, value) => Math.max(most, value), 0) ?? null;
    found.set(tensor, { tensor, scale: largest, count: network.scaleCount(node), source: 'model' });
  }
  return [...found.values()];
}

export interface Migration {
  /** Names of the tensors that have a Q/DQ pair now. */
  activations: string[];
  weights: string[];
  /** Nodes that stay in floating point. */
  skipped: { node: string; name: string; reason: string }[];
  /** Tensors of the cache that nothing uses. */
  unused: string[];
  model: string;
}

/** Per-channel scales need it. */
const OLDEST_OPSET = 13;

/**
 * Writes a model with Q/DQ nodes that have the scales of a calibration cache: TensorRT 11 reads no such caches.
 * @throws {UserError} if the model is quantised already, too old, or the cache fits none of its tensors
 */
export async function migrateCalibration(
  { path, cache, out }: { path: string; cache: string; out: string },
  signal?: AbortSignal,
): Promise<Migration> {
  await checkOutput(out, [...(await filesOfModel(path)), cache]);
  const calibrated = await readCache(cache);
  const { value: model, problems } = await new ParsedFiles().model(path, { spans: true });
  const error = problems.find(({ severity }) => severity === 'error');
  if (error) throw new UserError(`${path}: ${error.message}`);
  const file = basename(path);
  if (model.nodes.some(({ op }) => op === 'QuantizeLinear' || op === 'DequantizeLinear'))
    throw new UserError(`${file} has Q/DQ nodes already. Pass the model from which the cache was made`);
  if (standardOpset(model) < OLDEST_OPSET)
    throw new UserError(
      `${file} uses opset ${standardOpset(model)}; scales per channel need ${OLDEST_OPSET}. Convert it first, for example with onnx.version_converter`,
    );
  const graph = createModelGraph(model);
  const network = new QuantisedGraph(graph);
  const source = await openFile(path);
  try {
    const scales = await weightScales(network, resolve(path), source);
    const plan = planMigration(
      network,
      inferTensors(graph),
      calibrated,
      ({ tensor, axis }) => scales.get(`${axis}:${tensor}`) ?? null,
    );
    if (plan.activations.length === 0)
      throw new UserError(
        `${cache} fits no node of ${file}${plan.skipped[0] ? `: ${plan.skipped[0].reason}` : ''}. Pass the cache of this model`,
      );
    const edited = await planEdit(model, source, plan.edits);
    if (!edited.value) throw new UserError(`${file}: ${edited.problems[0]?.message ?? 'cannot be edited'}`);
    await writeModel(edited.value, { path, source }, out, signal);
    const { activations, weights, unused } = plan;
    const skipped = plan.skipped.map(({ node, reason }) => ({
      node,
      name: graph.nodes[graph.indexOfId.get(node)!]!.name,
      reason,
    }));
    return { activations, weights, skipped, unused, model: join(out) };
  } finally {
    await source.close();
  }
}

/** Scales of the weights of all products, by axis and name. */
async function weightScales(
  network: QuantisedGraph,
  path: string,
  source: ByteSource,
): Promise<Map<string, readonly number[]>> {
  const found = new Map<string, readonly number[]>();
  for (const { tensor, axis, weights } of weightsOf(network)) {
    const key = `${axis}:${tensor}`;
    if (found.has(key)) continue;
    const values = await readFloats(weights, path, source);
    if (values && weights.type === 'float') found.set(key, scalesAlong(values, weights.shape, axis));
  }
  return found;
}

function weightsOf(network: QuantisedGraph): (WeightsToScale & { weights: OnnxTensor })[] {
  const graph: ModelGraph = network.graph;
  return [...graph.nodes.keys()].flatMap((node) => {
    const op = network.op(node);
    const weights = products.has(op) && graph.owner[node]! < 0 ? network.constantAt(node, 1) : undefined;
    const axis = weights && network.outputAxis(node, weights.shape.length);
    return weights && axis !== undefined ? [{ tensor: weights.name, axis, weights }] : [];
  });
}
