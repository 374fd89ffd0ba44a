import { basename, join, resolve } from 'node:path';
import { networkOf } from '../../../kernel/network/network.ts';
import { type ModelGraph, products, standardOpset } from '../../../kernel/network/modelGraph.ts';
import { planEdit } from '../../../kernel/read/onnx/editModel.ts';
import type { FusionReport } from '../../../kernel/fusion/fusionReport.ts';
import type { OnnxModel, OnnxTensor } from '../../../kernel/read/onnx/onnxModel.ts';
import { cacheNotes, QuantizedGraph } from '../../../kernel/quantization/quantization.ts';
import {
  type MigrationPlan,
  nodesInInt8,
  planMigration,
  scalesAlong,
  type WeightsToScale,
} from '../../../kernel/quantization/calibration.ts';
import type { ByteSource } from '../../../kernel/base/problem.ts';
import { UserError } from '../../../kernel/node/files/userError.ts';
import { checkOutput, filesOfModel } from '../../../kernel/node/files/writeResult.ts';
import { withFile } from '../../../kernel/node/files/fileSource.ts';
import { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { readFloats } from '../../../kernel/node/files/readFloats.ts';
import { refuseErrors } from '../../../kernel/node/files/refuseErrors.ts';
import { writeModel } from '../../../kernel/node/files/writeModel.ts';
import { readCache } from '../../../kernel/node/store/readScales.ts';

export interface Migration {
  /** Names of the tensors that have a Q/DQ pair now. */
  activations: string[];
  weights: string[];
  /** Nodes that stay in floating point. */
  skipped: { node: string; name: string; reason: string }[];
  /** Tensors of the cache that nothing uses. */
  unused: string[];
  /** What in the cache has no effect, in sentences. */
  notes: string[];
  /** Names of nodes that have scales and get no pairs, because the engine computed them in floating point; only with an engine. */
  floating?: string[];
  model: string;
}

/** Per-channel scales need it. */
const OLDEST_OPSET = 13;

/** @throws {UserError} if a model is too old for Q/DQ nodes with a scale per channel */
export function refuseOldOpset(path: string, model: OnnxModel): void {
  if (standardOpset(model) < OLDEST_OPSET)
    throw new UserError(
      `${basename(path)} uses opset ${standardOpset(model)}; scales per channel need ${OLDEST_OPSET}. Convert it first, for example with onnx.version_converter`,
    );
}

/**
 * Writes a model with Q/DQ nodes that have the scales of a calibration cache: TensorRT 11 reads no such caches.
 * @param engine an implicit INT8 build of the model: pairs only where it computed in INT8
 * @throws {UserError} if the model is quantized already, too old, or the cache fits none of its tensors
 */
export async function migrateCalibration(
  { path, cache, out, engine = null }: { path: string; cache: string; out: string; engine?: FusionReport | null },
  signal?: AbortSignal,
): Promise<Migration> {
  await checkOutput(out, [...(await filesOfModel(path)), cache], 'model');
  const calibrated = await readCache(cache);
  const { value: model, problems } = await new ParsedFiles().model(path, { spans: true });
  refuseErrors(path, problems);
  const file = basename(path);
  if (model.nodes.some(({ op }) => op === 'QuantizeLinear' || op === 'DequantizeLinear'))
    throw new UserError(`${file} has Q/DQ nodes already. Pass the model from which the cache was made`);
  refuseOldOpset(path, model);
  const graph = networkOf(model);
  const network = new QuantizedGraph(graph);
  return withFile(path, async (source) => {
    const scales = await weightScales(network, resolve(path), source);
    const planOf = (only: ReadonlySet<string> | null) =>
      planMigration(
        network,
        graph.inferred,
        calibrated,
        ({ tensor, axis }) => scales.get(`${axis}:${tensor}`) ?? null,
        only,
      );
    const only = engine === null ? null : int8NodesOf(engine, network, file);
    const plan = planOf(only);
    if (plan.activations.length === 0)
      throw new UserError(
        plan.skipped[0]
          ? `${cache} fits no node of ${file}: ${plan.skipped[0].reason}. Pass the cache of this model, and the model in FP32`
          : `${file} has no node that TensorRT computes in INT8: no Conv, ConvTranspose, Gemm or MatMul of an activation and a matrix, outside If, Loop, Scan and local functions`,
      );
    const edited = await planEdit(model, source, plan.edits);
    if (!edited.value) throw new UserError(`${file}: ${edited.problems[0]?.message ?? 'cannot be edited'}`);
    await writeModel(edited.value, { path, source }, out, signal);
    const { activations, weights, unused } = plan;
    const nameOf = (node: string): string => graph.nodes[graph.indexOfId.get(node)!]!.name;
    const skipped = plan.skipped.map(({ node, reason }) => ({ node, name: nameOf(node), reason }));
    const floating = only && [...pairedNodes(planOf(null))].filter((id) => !only.has(id)).map(nameOf);
    const notes = cacheNotes(calibrated);
    return { activations, weights, skipped, unused, notes, ...(floating && { floating }), model: join(out) };
  });
}

const pairedNodes = ({ edits }: MigrationPlan): Set<string> => new Set(edits.inputs?.map(({ node }) => node));

/** @throws {UserError} if the engine says no types, or computed nothing in INT8 */
function int8NodesOf(engine: FusionReport, network: QuantizedGraph, file: string): Set<string> {
  const nodes = nodesInInt8(engine);
  if (nodes === null)
    throw new UserError(
      `the engine's layers say no types. Build it with --profilingVerbosity=detailed and pass its layer info`,
    );
  // What adds a bias is no sum.
  const { graph } = network;
  for (const id of nodes) {
    const node = graph.indexOfId.get(id) ?? -1;
    if (network.op(node) === 'Add' && graph.inputs[node]!.some((tensor) => network.isConstant(tensor)))
      nodes.delete(id);
  }
  if (nodes.size > 0) return nodes;
  throw new UserError(
    `the engine computes no Conv, ConvTranspose, Gemm, MatMul, pool or sum of ${file} in INT8. Pass the layer info of a build with --int8`,
  );
}

/** Scales of the weights of products, by axis and name. @param only ids of the nodes; null: all */
export async function weightScales(
  network: QuantizedGraph,
  path: string,
  source: ByteSource,
  only: ReadonlySet<string> | null = null,
): Promise<Map<string, readonly number[]>> {
  const found = new Map<string, readonly number[]>();
  for (const { tensor, axis, weights } of weightsOf(network, only)) {
    const key = `${axis}:${tensor}`;
    if (found.has(key)) continue;
    const values = await readFloats(weights, path, source);
    if (!values || weights.type !== 'float' || !values.every((value) => Number.isFinite(value))) continue;
    found.set(key, scalesAlong(values, weights.shape, axis));
  }
  return found;
}

function weightsOf(
  network: QuantizedGraph,
  only: ReadonlySet<string> | null,
): (WeightsToScale & { weights: OnnxTensor })[] {
  const graph: ModelGraph = network.graph;
  return [...graph.nodes.keys()].flatMap((node) => {
    if (only !== null && !only.has(graph.nodes[node]!.id)) return [];
    const op = network.op(node);
    const index = network.weightsIndex(node);
    const weights = products.has(op) && graph.owner[node]! < 0 ? network.constantAt(node, index) : undefined;
    const axis = weights && network.weightAxis(node, weights.shape.length);
    const { name } = graph.tensors[network.input(node, index)] ?? { name: '' };
    return weights && axis !== undefined ? [{ tensor: name, axis, weights }] : [];
  });
}
