import type { AccuracyReport } from '../../../kernel/simulation/simulated.ts';
import { realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import {
  type PrecisionSweep,
  type SweepPrecision,
  type MeasuredStep,
  type SweepStep,
  stepOf,
} from '../precisionSweep.ts';
import { isWithin, worstError } from '../accuracyReport.ts';
import { findQuantizedNodes } from '../chunkPlan.ts';
import { networkOf } from '../../../kernel/network/network.ts';
import { readModel } from '../../../kernel/read/onnx/readModel.ts';
import { externalPath } from '../../../kernel/node/files/externalFile.ts';
import { withFile } from '../../../kernel/node/files/fileSource.ts';
import { externalLocations } from '../../../kernel/node/files/writeModel.ts';
import { refuseErrors } from '../../../kernel/node/files/refuseErrors.ts';
import { Cancelled, UserError } from '../../../kernel/node/files/userError.ts';
import { type AccuracyRequest, judgeAccuracy, NothingLow, type OtherRun, withReference } from './judgeAccuracy.ts';
import { CannotRun, type EngineRequest, measureEngine } from './measureEngine.ts';

export interface SweepRequest extends Omit<AccuracyRequest, 'low' | 'rules' | 'build' | 'sensitivity'> {
  precisions: readonly SweepPrecision[];
  /** A Q/DQ model for INT8; default: the model itself if it has Q/DQ nodes. */
  quantized?: string | undefined;
  /** Largest errors that pass, of precisions that have one of their own. */
  tolerances?: ReadonlyMap<SweepPrecision, number> | undefined;
  /** Stored outputs of engines, by precision. */
  measured: ReadonlyMap<SweepPrecision, string>;
  /** Takes each report that a step is made of. */
  judged?: ((report: AccuracyReport) => void) | undefined;
  /** Times ONNX Runtime with the model, and with the Q/DQ model: what engines are compared with. */
  times?: boolean | undefined;
  /** Builds and runs an engine of each precision that has no stored outputs; undefined: none. */
  engines?: EngineRequest | undefined;
}

/**
 * Judges a model in one precision after the other, each compared with FP32.
 * @throws {UserError} if the model cannot be read or run; a precision that cannot be run has the reason in its step
 */
export async function runPrecisionSweep(asked: SweepRequest): Promise<PrecisionSweep> {
  const hasPairs = await hasQuantizedData(asked.model);
  const request = hasPairs ? quantizedSubject(asked) : asked;
  const isAlone = hasPairs && asked.reference === undefined;
  const steps: SweepStep[] = [];
  let samples = 0;
  await withReference(isAlone ? { ...request, low: 'int8' } : request, async (run) => {
    samples = run.samples;
    const measure = new Measurement(request, run);
    for (const precision of request.precisions) {
      const own = request.tolerances?.get(precision);
      const judging = { ...request, tolerance: own ?? request.tolerance };
      const measured = await measure.step(precision);
      const step =
        precision === 'fp32'
          ? {
              ...blank(precision),
              predicted: run.exact,
              ...(isAlone ? { notes: [alone] } : await timesOf(request.model, request, run)),
            }
          : precision === 'int8'
            ? await (isAlone ? aloneStep(judging, run) : quantizedStep(judging, run))
            : isAlone
              ? { ...blank(precision), reason: needsReference }
              : await judgedStep(judging, precision);
      steps.push({ ...step, ...measured, ...(own !== undefined && { tolerance: own }) });
    }
  });
  const { used } = request.runtime;
  return { tolerance: request.tolerance, samples, rungs: steps, ...(used && { runtime: used }) };
}

const alone = 'The model has Q/DQ nodes; the reference is the same model without them.';
const needsReference =
  'not run: the model has Q/DQ nodes. Pass the FP32 model that it was made from (--reference MODEL)';

/** A Q/DQ model is the INT8 of the FP32 model that it was made from, where that is given, and otherwise its own. */
const quantizedSubject = (asked: SweepRequest): SweepRequest =>
  asked.reference === undefined
    ? { ...asked, quantized: asked.model }
    : { ...asked, model: asked.reference, quantized: asked.quantized ?? asked.model, reference: undefined };

/** Whether Q/DQ nodes make INT8 of a model's data. */
async function hasQuantizedData(path: string): Promise<boolean> {
  return withFile(path, async (source) => {
    const { value: model } = await readModel(source);
    return model
      ? findQuantizedNodes({ model, network: networkOf(model), nodes: new Map() }, 'int8').low.length > 0
      : false;
  });
}

const notAsked: MeasuredStep = { measured: null, milliseconds: null, notMeasured: null };

/** What engines give, stored or run here. */
class Measurement {
  readonly #request: SweepRequest;
  readonly #run: OtherRun;
  /** Why no engine runs here: the same holds for the other precisions. */
  #stopped: string | null = null;

  constructor(request: SweepRequest, run: OtherRun) {
    this.#request = request;
    this.#run = run;
  }

  async step(precision: SweepPrecision): Promise<MeasuredStep> {
    const { measured, engines, quantized, inputs, signal } = this.#request;
    const path = measured.get(precision);
    if (path !== undefined) return { ...notAsked, measured: await this.#run.measured(path) };
    if (engines === undefined) return notAsked;
    const model = precision === 'int8' ? quantized : this.#request.model;
    if (model === undefined) return { ...notAsked, notMeasured: 'pass a Q/DQ model (--int8 MODEL)' };
    if (this.#stopped !== null) return { ...notAsked, notMeasured: this.#stopped };
    try {
      return await measureEngine(
        precision,
        { model, inputs, engines, signal },
        async ({ path: out, milliseconds }) => ({
          ...notAsked,
          measured: await this.#run.measured(out),
          milliseconds,
        }),
      );
    } catch (error) {
      if (!(error instanceof UserError) || error instanceof Cancelled) throw error;
      if (error instanceof CannotRun) this.#stopped = error.message;
      return { ...notAsked, notMeasured: error.message };
    }
  }
}

const blank = (precision: SweepPrecision): SweepStep => ({
  precision,
  predicted: null,
  ...notAsked,
  lowNodes: precision === 'fp32' ? 0 : null,
  culprits: [],
  fix: null,
  reason: null,
});

const timesOf = async (path: string, { times }: SweepRequest, run: OtherRun): Promise<Pick<SweepStep, 'timed'>> =>
  times ? { timed: await run.timed(path) } : {};

/** A precision of the model itself; where it cannot be simulated, why. */
async function judgedStep(request: SweepRequest, precision: Exclude<SweepPrecision, 'fp32'>): Promise<SweepStep> {
  try {
    const report = await judgeAccuracy({ ...request, low: precision });
    request.judged?.(report);
    return { ...notAsked, ...stepOf(precision, report) };
  } catch (error) {
    if (!(error instanceof UserError) || error instanceof Cancelled) throw error;
    return { ...blank(precision), reason: `not run: ${error.message}` };
  }
}

/** INT8 of a Q/DQ model without the one that it was made from. */
const aloneStep = async (request: SweepRequest, run: OtherRun): Promise<SweepStep> => ({
  ...(await judgedStep(request, 'int8')),
  ...(await timesOf(request.model, request, run)),
});

/** INT8 of the Q/DQ model that was given. */
async function quantizedStep(request: SweepRequest, run: OtherRun): Promise<SweepStep> {
  const { quantized } = request;
  if (quantized === undefined) return { ...blank('int8'), reason: 'not run: pass a Q/DQ model (--int8 MODEL)' };
  return compareQuantized(quantized, { ...request, modelLine: `./${basename(quantized)}` }, run);
}

/** Q/DQ nodes of another type, or on weights alone: no node can be judged. */
function nothingLow(error: unknown): null {
  if (error instanceof NothingLow) return null;
  throw error;
}

/** The outputs of a Q/DQ model against the FP32 model, which of its nodes are to blame, and what its weights lose alone. */
async function compareQuantized(path: string, request: SweepRequest, run: OtherRun): Promise<SweepStep> {
  return withFile(path, async (source) => {
    const { value: model, problems } = await readModel(source);
    refuseErrors(path, problems);
    if (!model) throw new UserError(`${path} cannot be read as an ONNX model`);
    for (const location of externalLocations(model))
      await externalPath(dirname(path), location, dirname(await realpath(path)));
    const made = new Set(model.nodes.filter(({ op }) => op === 'DequantizeLinear').flatMap(({ outputs }) => outputs));
    const low = model.nodes.filter(
      ({ op, inputs }) => op !== 'QuantizeLinear' && inputs.some((name) => made.has(name)),
    );
    if (made.size === 0)
      throw new UserError(`${basename(path)} has no DequantizeLinear node, so nothing in it is INT8`);
    const predicted = await run.other(path);
    const step = { ...blank('int8'), predicted, lowNodes: low.length, ...(await timesOf(path, request, run)) };
    if (isWithin(worstError(predicted), request.tolerance)) return step;
    const against = { ...request, model: path, low: 'int8' as const, reference: request.model };
    const report = await judgeAccuracy(against).catch(nothingLow);
    if (report === null)
      return { ...step, notes: ['Its nodes cannot be judged one by one: none reads data through Q/DQ nodes in INT8.'] };
    const { culprits, fix, notes } = stepOf('int8', report);
    return { ...step, culprits, fix, ...(notes && { notes }) };
  });
}
