import type { PythonWithRuntime } from '../tools/pythonWithRuntime.ts';
import { basename, dirname } from 'node:path';
import { networkOf } from '../../network/network.ts';
import { inlineFunctions, standardOpset } from '../../network/modelGraph.ts';
import { planEdit } from '../../read/onnx/editModel.ts';
import type { OnnxModel } from '../../read/onnx/onnxModel.ts';
import { planObservation, type ReadScale } from '../../quantization/calibration.ts';
import type { ObservedValues, Quantization } from '../../quantization/quantization.ts';
import type { ByteSource } from '../../base/problem.ts';
import { openSamples, type SampleRequest } from './openSamples.ts';
import { Simulation } from './simulation.ts';
import { externalPath } from '../files/externalFile.ts';
import { withFile } from '../files/fileSource.ts';
import { ParsedFiles } from '../files/parsedFiles.ts';
import { refuseErrors } from '../files/refuseErrors.ts';
import { externalLocations } from '../files/writeModel.ts';
import { UserError } from '../files/userError.ts';
import { openQuantized, readCache, readScales, readScaleValues } from '../store/readScales.ts';

export interface ObservationRequest extends SampleRequest {
  runtime: PythonWithRuntime;
  /** Path of `simulate.py`. */
  script: string;
  signal?: AbortSignal | undefined;
}

/**
 * Runs a model on given samples with ONNX Runtime and counts, for each scale, the values beyond its range. The result
 * has the scales in the order of `found`, those that could not be observed unchanged.
 * @throws {UserError} if the model cannot be run, or the inputs do not fit it
 */
export async function withObservedValues(
  found: Quantization,
  request: ObservationRequest,
  cache: string | null,
): Promise<Quantization> {
  return withFile(request.model, async (source) => {
    const { value: model, problems } = await new ParsedFiles().model(request.model, { spans: true });
    refuseErrors(request.model, problems);
    const network = await openQuantized(networkOf(inlineFunctions(model)), request.model, source);
    const values = await readScaleValues(network, request.model, source);
    const scales = readScales(network, values, cache === null ? null : await readCache(cache));
    const { samples, observed } = await observe(model, source, scales, request);
    const tensors = scales.map(({ scale }, index) => ({
      ...scale,
      ...(observed[index] && { observed: observed[index] }),
    }));
    return { ...found, samples, tensors };
  });
}

/**
 * Runs a model on samples; what each scale makes of its tensor, null where that cannot be observed.
 * @param model read with spans
 * @throws {UserError} as `withObservedValues`
 */
export async function observe(
  model: OnnxModel,
  source: ByteSource,
  scales: readonly ReadScale[],
  request: ObservationRequest,
): Promise<{ samples: number; observed: (ObservedValues | null)[] }> {
  const { model: path } = request;
  const opset = standardOpset(model);
  if (opset < 9)
    throw new UserError(
      `${path} has opset ${opset}; measuring needs 9 or later. Convert it first (onnx.version_converter)`,
    );
  for (const location of externalLocations(model)) await externalPath(dirname(path), location);
  const graph = networkOf(model);
  const simulation = new Simulation(request.runtime, request.script, request.signal);
  try {
    const { edits, outputs } = planObservation(graph, graph.inferred, scales);
    const edited = await planEdit(model, source, edits);
    refuseErrors(basename(path), edited.problems);
    const { samples, inputs } = await openSamples(simulation, model, request);
    const names = outputs.flatMap((one) => one ?? []);
    const feeds = inputs.map(({ name }) => name);
    const values = names.length === 0 ? [] : await simulation.scalars(edited.value!.segments, feeds, names);
    const byName = new Map(names.map((name, index) => [name, values.map((sample) => sample[index]!)]));
    const observed = outputs.map((own) => {
      if (own === null) return null;
      const [counts, clipped, largest] = own.map((name) => byName.get(name) ?? []) as [number[], number[], number[]];
      return summed(counts, clipped, largest);
    });
    return { samples, observed };
  } finally {
    await simulation.close();
  }
}

function summed(counts: readonly number[], clipped: readonly number[], largest: readonly number[]): ObservedValues {
  const sum = (list: readonly number[]): number => list.reduce((total, one) => total + one, 0);
  const values = sum(counts);
  const beyond = sum(clipped);
  // Of no values, ONNX Runtime gives -inf.
  const most = values === 0 || largest.some(Number.isNaN) ? NaN : Math.max(...largest);
  return {
    values,
    clipped: beyond,
    clippedShare: values === 0 ? null : beyond / values,
    largest: Number.isFinite(most) ? most : null,
  };
}
