import type { PythonWithRuntime } from '../../../kernel/node/tools/pythonWithRuntime.ts';
import type { IndexedModel } from '../../../kernel/node/files/parsedModel.ts';
import { basename, resolve } from 'node:path';
import { parserName } from '../../../kernel/network/nodeNames.ts';
import { networkOf } from '../../../kernel/network/network.ts';
import type { ModelEdits } from '../../../kernel/read/onnx/editModel.ts';
import type { PrecisionPlan } from '../../../kernel/rules/precisionPlan.ts';
import { type CalibrationCache, QuantizedGraph } from '../../../kernel/quantization/quantization.ts';
import { activationsToScale, planMigration, type ReadScale } from '../../../kernel/quantization/calibration.ts';
import type { ByteSource, Problem } from '../../../kernel/base/problem.ts';
import { counted } from '../../../kernel/base/text.ts';
import { UserError } from '../../../kernel/node/files/userError.ts';
import { refuseOldOpset, weightScales } from './migrateCalibration.ts';
import { namedScales } from '../../../kernel/node/store/namedScales.ts';
import { observe } from '../../../kernel/node/simulation/observeValues.ts';

/** Where the scales of `int8` rules are from. */
export interface ScalesSource {
  /** Path of a calibration cache, or of samples that the model is run on. */
  path: string;
  /** ONNX Runtime for samples; absent: only a cache will do. */
  runtime?: (() => Promise<PythonWithRuntime>) | undefined;
  /** Path of `simulate.py`. */
  script?: string | undefined;
}

/** Q/DQ pairs for the nodes that rules put into INT8, and which of them stay in floating point. */
export interface RulePairs {
  edits: ModelEdits;
  /** Ids of the nodes that compute in INT8. */
  nodes: ReadonlySet<string>;
  problems: Problem[];
}

/**
 * Plans the Q/DQ pairs of `int8` rules; null: there are no such rules.
 * @param model read with spans
 * @throws {UserError} if the scales cannot be read or measured, or no node can be quantized
 */
export async function pairsForRules(
  { path, model }: IndexedModel,
  source: ByteSource,
  plan: PrecisionPlan,
  scales: ScalesSource,
  signal?: AbortSignal,
): Promise<RulePairs | null> {
  const asked = new Set(plan.nodes.filter(({ compute }) => compute === 'int8').map(({ id }) => id));
  if (asked.size === 0) return null;
  refuseOldOpset(path, model);
  const graph = networkOf(model);
  const network = new QuantizedGraph(graph);
  const cache =
    (await namedScales(scales.path)) ??
    (await measured(activationsToScale(network, asked), { path, model, source }, scales, signal));
  const weights = await weightScales(network, resolve(path), source, asked);
  const made = planMigration(
    network,
    graph.inferred,
    cache,
    ({ tensor, axis }) => weights.get(`${axis}:${tensor}`) ?? null,
    asked,
  );
  if (made.skipped.length === asked.size)
    throw new UserError(`${basename(path)}: no node of the int8 rules can be quantized: ${made.skipped[0]!.reason}`);
  const name = (id: string): string => parserName(graph.nodes[graph.indexOfId.get(id)!]!);
  const problems = made.skipped.slice(0, 3).map(({ node, reason }): Problem => ({
    severity: 'warning',
    code: 'stays-float',
    message: `"${name(node)}" stays in floating point although a rule requests int8: ${reason}.`,
    node,
  }));
  const more = made.skipped.length - problems.length;
  if (more > 0)
    problems.push({
      severity: 'warning',
      code: 'stays-float',
      message: `${counted(more, 'more node')} of int8 rules ${more === 1 ? 'stays' : 'stay'} in floating point.`,
    });
  const floating = new Set(made.skipped.map(({ node }) => node));
  return { edits: made.edits, nodes: new Set([...asked].filter((id) => !floating.has(id))), problems };
}

/** Scales that cover the largest magnitudes that samples reach. */
async function measured(
  tensors: readonly string[],
  { path, model, source }: { path: string; model: IndexedModel['model']; source: ByteSource },
  { path: samples, runtime, script }: ScalesSource,
  signal: AbortSignal | undefined,
): Promise<CalibrationCache> {
  if (runtime === undefined || script === undefined)
    throw new UserError(
      `${samples} contains samples, which only "trtlens precision apply" measures. Apply the rules first, or name a calibration cache`,
    );
  const asked = tensors.map((tensor): ReadScale => ({
    scale: { tensor, scale: 1, count: 1, source: 'cache', nodes: [], type: 'int8', range: null },
    values: [1],
    axis: 0,
    zeroPoint: 0,
  }));
  const request = { model: path, inputs: [samples], runtime: await runtime(), script, signal };
  const { observed } = await observe(model, source, asked, request);
  const cache: CalibrationCache = { header: null, scales: new Map(), unusable: [], unread: [] };
  tensors.forEach((tensor, index) => {
    const largest = observed[index]?.largest ?? null;
    if (largest !== null && largest > 0) cache.scales.set(tensor, largest / 127);
    else cache.unusable.push(tensor);
  });
  return cache;
}
