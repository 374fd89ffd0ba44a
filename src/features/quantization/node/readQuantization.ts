import { quantizedNodes } from '../../../kernel/rules/quantizedNodes.ts';
import type { FusionReport } from '../../../kernel/fusion/fusionReport.ts';
import { networkOf } from '../../../kernel/network/network.ts';
import { inlineFunctions } from '../../../kernel/network/modelGraph.ts';
import type { OnnxModel } from '../../../kernel/read/onnx/onnxModel.ts';
import {
  cacheNotes,
  floatIslands,
  misplaced,
  type Quantization,
  quantizedPairs,
} from '../../../kernel/quantization/quantization.ts';
import { withFile } from '../../../kernel/node/files/fileSource.ts';
import { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { refuseErrors } from '../../../kernel/node/files/refuseErrors.ts';
import { requireBuild } from '../../../kernel/node/store/buildFolder.ts';
import { loadBuild } from '../../../kernel/node/store/loadBuild.ts';
import { openQuantized, readCache, readScales, readScaleValues } from '../../../kernel/node/store/readScales.ts';

export interface QuantizationRequest {
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
export async function readQuantization({ path, cache, build }: QuantizationRequest): Promise<Quantization> {
  const { value: model, problems } = await new ParsedFiles().model(path);
  refuseErrors(path, problems);
  const report = build === undefined ? null : (await loadBuild(await requireBuild(build), { onnx: path })).report;
  return quantizationOf(path, model, { cache: cache ?? null, report });
}

/**
 * The same of a model that is read already.
 * @param cache path of a calibration cache; null: none
 * @throws {UserError} if the model's scales or the cache cannot be read
 */
export async function quantizationOf(
  path: string,
  model: OnnxModel,
  { cache, report }: { cache: string | null; report: FusionReport | null },
): Promise<Quantization> {
  const graph = networkOf(inlineFunctions(model));
  return withFile(path, async (source) => {
    const network = await openQuantized(graph, path, source);
    const values = await readScaleValues(network, path, source);
    const calibrated = cache === null ? null : await readCache(cache);
    const notes = calibrated === null ? [] : cacheNotes(calibrated, (name) => graph.byName.has(name));
    const wrong = misplaced(network, (node) => values.get(node) ?? null);
    return {
      tensors: readScales(network, values, calibrated).map(({ scale }) => scale),
      pairs: quantizedPairs(network, wrong, report),
      misplaced: wrong,
      islands: floatIslands(network, quantizedNodes(graph.model.graph), graph.inferred, report),
      ...(notes.length > 0 && { notes }),
    };
  });
}
