import type { FusionReport } from '../../core/fusion/fusionReport.ts';
import { inferTensors } from '../../core/model/inferTensors.ts';
import { inlineFunctions } from '../../core/model/inlineFunctions.ts';
import { createModelGraph } from '../../core/model/modelGraph.ts';
import type { OnnxModel } from '../../core/onnx/onnxModel.ts';
import { quantisedNodes } from '../../core/precision/check/quantisedNodes.ts';
import { cacheNotes } from '../../core/quantisation/calibrationCache.ts';
import { floatIslands } from '../../core/quantisation/floatIslands.ts';
import { misplaced } from '../../core/quantisation/misplaced.ts';
import { quantisedPairs } from '../../core/quantisation/pairs.ts';
import type { Quantisation } from '../../core/quantisation/quantisation.ts';
import { withFile } from '../files/fileSource.ts';
import { ParsedFiles } from '../files/parsedFiles.ts';
import { refuseErrors } from '../files/refuseErrors.ts';
import { requireBuild } from './buildFolder.ts';
import { loadBuild } from './loadBuild.ts';
import { openQuantised, readCache, readScales, readScaleValues } from '../quantisation/readScales.ts';

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
  refuseErrors(path, problems);
  const report = build === undefined ? null : (await loadBuild(await requireBuild(build), { onnx: path })).report;
  return quantisationOf(path, model, { cache: cache ?? null, report });
}

/**
 * The same of a model that is read already.
 * @param cache path of a calibration cache; null: none
 * @throws {UserError} if the model's scales or the cache cannot be read
 */
export async function quantisationOf(
  path: string,
  model: OnnxModel,
  { cache, report }: { cache: string | null; report: FusionReport | null },
): Promise<Quantisation> {
  const graph = createModelGraph(inlineFunctions(model));
  return withFile(path, async (source) => {
    const network = await openQuantised(graph, path, source);
    const values = await readScaleValues(network, path, source);
    const calibrated = cache === null ? null : await readCache(cache);
    const notes = calibrated === null ? [] : cacheNotes(calibrated);
    const wrong = misplaced(network, (node) => values.get(node) ?? null);
    return {
      tensors: readScales(network, values, calibrated).map(({ scale }) => scale),
      pairs: quantisedPairs(network, wrong, report),
      misplaced: wrong,
      islands: floatIslands(network, quantisedNodes(graph.model.graph), inferTensors(graph), report),
      ...(notes.length > 0 && { notes }),
    };
  });
}
