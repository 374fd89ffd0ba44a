import type { LowPrecision } from '../../../kernel/simulation/simulated.ts';
import type {
  AccuracyOutput,
  AccuracyReport,
  ComparedOutput,
  JudgedNode,
  MeasureKind,
  MeasuredNode,
  PlannedOutput,
  Sensitivity,
  TimedRun,
} from '../../../kernel/simulation/simulated.ts';
import { hasRandomInputs, type DeclaredInput } from '../../../kernel/build/randomInputs.ts';
import type { PythonWithRuntime } from '../../../kernel/node/tools/pythonWithRuntime.ts';
import { access } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import {
  finiteOrNull,
  type JudgedOutputs,
  measureErrors,
  outputErrors,
  outsideTable,
  planOutputs,
  sensitivityGroups,
  storedError,
  unscaledError,
  trialError,
} from '../accuracyReport.ts';
import {
  findLowNodes,
  findQuantizedNodes,
  judgeChunks,
  type ModelFile,
  type ReducedPrecisionModel,
  switchedChunks,
  unmaterializedTensors,
  withReplaced,
  withUnmaterialized,
} from '../chunkPlan.ts';
import {
  describeFix,
  describeTrade,
  FixCost,
  type PrecisionFix,
  searchFix,
  type SearchTrial,
  type TradeCurve,
} from '../smallestFix.ts';
import type { FusionReport } from '../../../kernel/fusion/fusionReport.ts';
import type { OnnxModel, OnnxTensor } from '../../../kernel/read/onnx/onnxModel.ts';
import { readElements } from '../../../kernel/read/onnx/readElements.ts';
import { readModel } from '../../../kernel/read/onnx/readModel.ts';
import { NodeIndex, resolveOverrides } from '../../../kernel/rules/resolveOverrides.ts';
import { readOverrides } from '../../../kernel/rules/readOverrides.ts';
import { type Network, networkOf } from '../../../kernel/network/network.ts';
import { standardOpset } from '../../../kernel/network/modelGraph.ts';
import { modelFacts } from '../../../kernel/rules/buildFacts.ts';
import { planPrecision, type PrecisionPlan } from '../../../kernel/rules/precisionPlan.ts';
import { chooseTypes } from '../../precision/planRewrite.ts';
import { externalPath, openExternal } from '../../../kernel/node/files/externalFile.ts';
import { type FileSource, isGzip, withFile } from '../../../kernel/node/files/fileSource.ts';
import { withoutLinks } from '../../../kernel/node/files/linkWeights.ts';
import { refuseErrors } from '../../../kernel/node/files/refuseErrors.ts';
import { externalLocations } from '../../../kernel/node/files/writeModel.ts';
import { stopIfCancelled, UserError } from '../../../kernel/node/files/userError.ts';
import { openSamples } from '../../../kernel/node/simulation/openSamples.ts';
import { Simulation } from '../../../kernel/node/simulation/simulation.ts';
import { bestRemedy, clampTrials, faultyConstants, type RemedyRuns, withConstants } from './constantRemedy.ts';
import { readQuantizedInputs, scaleTrials, withReads } from './scaleRemedy.ts';
import { withTimes } from './ruleCosts.ts';
import { SearchLog } from './searchLog.ts';
import { addTo } from '../../../kernel/base/addTo.ts';
import { shapeText } from '../../../kernel/base/text.ts';

/** What to judge, and how long to search. */
export interface AccuracyRequest {
  /** Path of the model; its external data is next to it. */
  model: string;
  /** Files or folders with input values; none: random ones. */
  inputs: string[];
  /** Shapes of random inputs, by name; default: those of the model, small ones for open dimensions. */
  shapes?: ReadonlyMap<string, number[]> | undefined;
  /** Default: the rules' base, else fp16. */
  low?: LowPrecision | undefined;
  /** Path of the FP32 model whose outputs are the reference; default: the model itself, without what makes it imprecise. */
  reference?: string | undefined;
  /** Text of override rules that the model is built with. */
  rules?: string | undefined;
  /** Largest error of an output that passes. */
  tolerance: number;
  /** The share of the tolerance that a fix has to reach; default: `fixShare`. */
  aim?: number | undefined;
  /**
   * Which outputs count; default: those of floating-point types. Of another type, no larger share of elements than the
   * tolerance may differ.
   */
  judgedOutputs?: JudgedOutputs | undefined;
  /** Measures that outputs are judged by, by name; '' is for all others. Default: their numbers, and what their kind needs. */
  measures?: ReadonlyMap<string, MeasureKind> | undefined;
  /** The search ends with the best set found after so many runs or seconds. */
  maxRuns: number;
  maxSeconds: number;
  /** The fix is the best set of at most so many nodes, whatever error it leaves; default: the smallest that passes. */
  mostNodes?: number | undefined;
  /** Once the search runs, the signal ends it with what was found; default: nothing is kept. */
  keepFound?: boolean | undefined;
  /** Takes what is known while the search goes on, each time that it knows more. */
  found?: ((report: AccuracyReport) => void) | undefined;
  /** A build of the model: what it computes if its kernels hold values, as a second opinion. */
  build?: FusionReport | undefined;
  /** Also run so many nodes, and every operator and module, alone in low precision. */
  sensitivity?: number | undefined;
  /** The model as the rules name it. */
  modelLine: string;
  runtime: PythonWithRuntime;
  /** Path of `simulate.py`. */
  script: string;
  signal?: AbortSignal | undefined;
  progress?: ((progress: AccuracyProgress) => void) | undefined;
}

export interface AccuracyProgress {
  stage: 'judging' | 'preparing' | 'searching';
  /** Nodes judged or prepared, or runs made. */
  done: number;
  /** null: not known. */
  total: number | null;
  /** The best so far that is worth a look: so many nodes in FP32 and the error they leave. */
  best?: { nodes: number; error: number };
}

/**
 * Finds which nodes of a model lose accuracy in a low precision, and the smallest set of them that has to stay in FP32,
 * by simulation on the CPU. Writes nothing.
 * @throws {UserError} if the model cannot be read or run, or the inputs do not fit it
 */
export const judgeAccuracy = (request: AccuracyRequest): Promise<AccuracyReport> =>
  simulated(request, (judge) => judge.report());

/**
 * The outputs of a model in low precision alone: judges no node and searches nothing.
 * @throws {UserError} if the model cannot be read or run, or the inputs do not fit it
 */
export const lowOutputs = (request: AccuracyRequest): Promise<AccuracyOutput[]> =>
  simulated(request, (judge) => judge.lowOutputs());

/** The reference of a model on its samples, with which other runs can be compared. */
export interface OtherRun {
  samples: number;
  inputs: DeclaredInput[];
  /** The reference itself. */
  exact: AccuracyOutput[];
  /** The outputs of another model file. */
  other: (path: string) => Promise<AccuracyOutput[]>;
  /** How fast ONNX Runtime runs a model file. */
  timed: (path: string) => Promise<TimedRun[]>;
  /** Stored outputs of an engine. */
  measured: (path: string) => Promise<AccuracyOutput[]>;
}

/**
 * Runs the FP32 model, and `work` with its outputs as the reference.
 * @throws {UserError} if the model cannot be read or run, or the inputs do not fit it
 */
export const withReference = (request: AccuracyRequest, work: (run: OtherRun) => Promise<void>): Promise<void> =>
  simulated(request, async (judge) => work(await judge.reference()));

const simulated = <Result>(request: AccuracyRequest, work: (judge: Judge) => Promise<Result>): Promise<Result> =>
  withoutLinks(request.model, (model) => simulatedFile({ ...request, model }, work));

async function simulatedFile<Result>(
  request: AccuracyRequest,
  work: (judge: Judge) => Promise<Result>,
): Promise<Result> {
  return withFile(request.model, async (source) => {
    const subject = await readSubject(request, source);
    const end = new AbortController();
    const simulation = new Simulation(request.runtime, request.script, end.signal);
    const judge = new Judge(request, subject, simulation);
    const stop = () => {
      if (!judge.endSearch()) end.abort(request.signal?.reason);
    };
    if (request.signal?.aborted) stop();
    request.signal?.addEventListener('abort', stop, { once: true });
    try {
      return await work(judge);
    } finally {
      request.signal?.removeEventListener('abort', stop);
      await simulation.close();
    }
  });
}

/** Engines were measured to differ from the simulation by up to a tenth where both miss or meet a tolerance. */
export const fixShare = 0.8;

/** No node of the model is in the low precision. */
export class NothingLow extends UserError {}

/** The model under its rules. */
interface Subject {
  model: OnnxModel;
  network: Network;
  index: NodeIndex;
  low: ReducedPrecisionModel;
  /** The nodes of a typed copy, and those that it leaves in FP32 because ONNX has no form for them; absent: none. */
  beyond?: ReducedPrecisionModel;
  base: LowPrecision;
  file: ModelFile;
  source: FileSource;
}

async function readSubject(request: AccuracyRequest, source: FileSource): Promise<Subject> {
  const { model: path, rules, judgedOutputs } = request;
  const { value: model, problems } = await readModel(source, { spans: true });
  refuseErrors(path, problems);
  if (!model?.graph.span) throw new UserError(`${path} cannot be read as an ONNX model`);
  const names = model.graph.outputs.map(({ name }) => name);
  const asked = typeof judgedOutputs === 'object' ? judgedOutputs : [];
  const chosen = [...(request.measures?.keys() ?? [])].filter((name) => name !== '');
  const unknown = [...asked, ...chosen].find((one) => !names.includes(one));
  if (unknown !== undefined)
    throw new UserError(`${path} has no output "${unknown}". Its outputs are: ${names.join(', ')}`);
  for (const location of externalLocations(model)) await checkExternal(dirname(path), location);
  const network = networkOf(model);
  const index = new NodeIndex(modelFacts(model, basename(path)));
  const overrides = readOverrides(rules ?? '');
  const plan = planPrecision(overrides, index, resolveOverrides(overrides, index, null));
  const base = request.low ?? (plan.base === 'keep' ? 'fp16' : plan.base);
  const name = (await isGzip(path)) ? null : basename(path);
  const subject = { model, network, index, base, source, file: { size: source.size, name } };
  const opset = standardOpset(model);
  if (opset < 9)
    throw new UserError(
      `${path} has opset ${opset}; the simulation needs 9 or later. Convert it first (onnx.version_converter).`,
    );
  const half = model.nodes.find((node) =>
    network.outputTypesOf(node).some((type) => type === 'float16' || type === 'bfloat16'),
  );
  if (half)
    throw new UserError(
      `${path} is in FP16 or BF16 already (the first such node is "${half.name || half.op}"). ONNX Runtime computes most of it in FP32, so nothing would show. Pass the FP32 model that it was made from`,
    );
  return { ...subject, ...lowNodesOf(path, model, plan, base) };
}

/** @throws {UserError} if no node is in the low precision, or the rules cannot hold */
function lowNodesOf(
  path: string,
  model: OnnxModel,
  plan: PrecisionPlan,
  base: LowPrecision,
): Pick<Subject, 'low' | 'beyond'> {
  const isHalf = base === 'fp16' || base === 'bf16';
  const choice = chooseTypes(model, { ...plan, base: isHalf ? base : 'keep' }, undefined, 'tensorrt');
  refuseErrors(path, choice.problems);
  if (isHalf) {
    const [low, all] = [findLowNodes(choice), findLowNodes(choice, true)];
    return { low, ...(all.low.length > low.low.length && { beyond: all }) };
  }
  const low = findQuantizedNodes(choice, base === 'int8' ? 'int8' : 'float8');
  if (low.low.length === 0 && low.around!.size === 0)
    throw new NothingLow(`${path} has no Q/DQ nodes in ${base.toUpperCase()} on its data. Quantize the model first`);
  return { low };
}

/** @throws {UserError} if a file of weights is missing, or not inside the model's folder */
async function checkExternal(folder: string, location: string): Promise<void> {
  const path = await externalPath(folder, location);
  await access(path).catch(() => {
    throw new UserError(`${location} is missing. The model keeps its weights in it; copy it next to the model`);
  });
}

class Judge {
  private readonly request: AccuracyRequest;
  private readonly subject: Subject;
  private readonly simulation: Simulation;
  /** What is compared, and how; those that no node makes are left out. */
  private plan: readonly PlannedOutput[];
  private runs = 0;
  /** Why the model cannot be run in low precision. */
  private refused: string | undefined;
  /** The error with every node exact: 0 unless another model is the reference. */
  private exact = 0;
  /** Results of whole runs by their exact nodes. */
  private readonly known = new Map<string, ComparedOutput[][]>();
  /** Nodes that in low precision alone make an index leave its table. */
  private readonly outside = new Set<number>();
  private search: 'before' | 'running' | 'stopped' = 'before';

  constructor(request: AccuracyRequest, subject: Subject, simulation: Simulation) {
    this.request = request;
    this.subject = subject;
    this.simulation = simulation;
    const { judgedOutputs: judged = 'float', measures = new Map() } = request;
    this.plan = planOutputs(subject.network, { judged, measures });
  }

  private get judged(): string[] {
    return this.plan.filter(({ judged }) => judged).map(({ name }) => name);
  }

  async report(): Promise<AccuracyReport> {
    const { low, network, index, base } = this.subject;
    const { tolerance } = this.request;
    const { samples, sources } = await this.begin();
    const measured = await this.measure(samples);
    await this.prepare(low);
    const all = await this.trial('0'.repeat(low.low.length), null);
    const outputs = this.outputs(all);
    // What every node exact leaves, no set of nodes repairs.
    const least = this.exact <= tolerance ? 0 : this.exact;
    const limit = least + tolerance;
    const aimed = least + tolerance * (this.request.aim ?? fixShare);
    const goal = this.exact <= aimed ? aimed : limit;
    const worst = this.errorOf(all);
    const log = new SearchLog(goal, worst);
    const hopeless = worst > tolerance && worst <= limit;
    const {
      modelLine,
      rules: given,
      runtime: { used },
    } = this.request;
    const random = hasRandomInputs({ inputs: sources });
    const reportOf = (fix: PrecisionFix | null, alone: ReadonlyMap<number, number>): AccuracyReport => {
      const { runs } = this;
      const found = { fix, low, index, base, outputs, tolerance, goal, runs, given, modelLine, random };
      const trade = describeTrade(log.curve, found);
      return {
        low: base,
        ...(this.refused !== undefined && { refused: this.refused }),
        level: 'node',
        samples,
        tolerance,
        goal: finiteOrNull(goal) ?? tolerance,
        inputs: sources,
        ...(used && { runtime: used }),
        outputs,
        nodes: measureErrors(low, network, measured, alone, tolerance, this.refused !== undefined).map((node, at) =>
          this.outside.has(at) ? { ...node, outside: true } : node,
        ),
        fix: hopeless ? null : describeFix(found),
        reason: null,
        ...(trade && { trade }),
        ...this.comparedWith(),
        ...this.unscaled(),
      };
    };
    const fix = worst <= limit ? null : await this.searchSet(goal, log, reportOf);
    const report = reportOf(fix, fix?.alone ?? new Map());
    if (this.isStopped) {
      report.search = 'stopped';
      if (fix?.exact.length === low.low.length)
        Object.assign(report, { fix: null, reason: 'The search was stopped before it found a set that passes.' });
    } else {
      const sensitivity = await this.sensitivity(report.nodes);
      const typedCopy = await this.typedCopy(worst);
      if (sensitivity) report.sensitivity = sensitivity;
      if (typedCopy) report.typedCopy = typedCopy;
      if (fix) Object.assign(report, await this.causes(report, fix, goal));
    }
    if (hopeless)
      report.reason =
        unscaledError(report) || `${storedError(report).trim()} Store them in floating point, or quantize them again.`;
    const { build } = this.request;
    return build ? this.kernelLevel(withTimes(report, build), build) : report;
  }

  /** Constants that are behind the error, and what helps other than FP32. */
  private async causes(
    { nodes }: AccuracyReport,
    fix: PrecisionFix,
    tolerance: number,
  ): Promise<Pick<AccuracyReport, 'nodes' | 'remedies' | 'placements'>> {
    const { low, network, source } = this.subject;
    const { model, maxSeconds } = this.request;
    const until = performance.now() + maxSeconds * 1000;
    const runs: RemedyRuns = {
      fix: fix.exact,
      tolerance,
      over: () => this.request.signal?.aborted === true || performance.now() > until,
      make: async (replaced) => {
        await this.restart(withReplaced(low, replaced));
        return async (exact) => {
          const flags = low.low.map((_, at) => (exact.includes(at) ? '1' : '0'));
          return this.errorOf(await this.trial(flags.join(''), null));
        };
      },
    };
    const guilty = new Set([...fix.exact, ...fix.alone.keys()].map((at) => low.low[at]!.node.id));
    const read = (tensor: OnnxTensor) =>
      readElements(tensor, source, (location) => openExternal(dirname(model), location));
    const subject = { ...this.subject, source };
    if (this.isQdq) {
      const { reads, placements } = await readQuantizedInputs(subject, guilty, this.request, read);
      const found = await bestRemedy(low, scaleTrials(subject, reads), runs);
      return {
        nodes: withReads(nodes, reads),
        ...(found && { remedies: [found] }),
        ...(placements.length > 0 && { placements }),
      };
    }
    const faults = await faultyConstants(low, network, guilty, read);
    const found = faults.length === 0 ? null : await bestRemedy(low, clampTrials(low, faults), runs);
    return { nodes: withConstants(nodes, faults), ...(found && { remedies: [found] }) };
  }

  /** Ends a search that keeps what it found; false: it is not searching, or keeps nothing. */
  endSearch(): boolean {
    if (this.request.keepFound !== true || this.search === 'before') return false;
    this.search = 'stopped';
    return true;
  }

  private get isQdq(): boolean {
    return this.subject.base === 'int8' || this.subject.base === 'fp8';
  }

  private get isStopped(): boolean {
    return this.search === 'stopped';
  }

  /** What the outputs are compared with, and what of a Q/DQ model is in any reference. */
  private comparedWith(): Pick<AccuracyReport, 'reference' | 'storedQuantized'> {
    const { model } = this.subject;
    const { reference } = this.request;
    const constants = new Set(model.graph.initializers.map(({ name }) => name));
    const stored = new Set(
      model.nodes.flatMap(({ op, inputs }) =>
        op === 'DequantizeLinear' && constants.has(inputs[0] ?? '') ? [inputs[0]!] : [],
      ),
    );
    const { isQdq } = this;
    return {
      ...(reference !== undefined && {
        reference: { model: basename(reference), exact: finiteOrNull(this.exact) },
      }),
      ...(isQdq && stored.size > 0 && { storedQuantized: stored.size }),
    };
  }

  /** Nodes that overflow in any type, and what they do. */
  private unscaled(): Pick<AccuracyReport, 'unscaled'> {
    const { low, model } = this.subject;
    const ids = new Set(low.unscaled);
    const names = model.nodes.filter(({ id }) => ids.has(id)).map(({ name, id }) => name || `node ${id}`);
    return names.length === 0 ? {} : { unscaled: { names, exact: finiteOrNull(this.exact) } };
  }

  /** What a typed copy leaves in FP32, because ONNX has no such form in the model's opset, and the error without that. */
  private async typedCopy(error: number): Promise<AccuracyReport['typedCopy']> {
    const { low, beyond, model } = this.subject;
    if (!beyond) return undefined;
    await this.restart(beyond);
    const worst = this.errorOf(await this.trial('0'.repeat(beyond.low.length), null));
    const kept = beyond.low.filter(({ node }) => !low.byId.has(node.id));
    const operators = [...new Set(kept.map(({ node }) => node.op))].sort();
    const errors = { error: finiteOrNull(error), worst: finiteOrNull(worst) };
    return { nodes: kept.length, operators, opset: standardOpset(model), ...errors };
  }

  /** Opens the model and reads its samples. */
  private begin() {
    return openSamples(this.simulation, this.subject.model, this.request);
  }

  /** The low-precision run alone. */
  async lowOutputs(): Promise<AccuracyOutput[]> {
    const { low } = this.subject;
    await this.begin();
    await this.prepare(low);
    return this.outputs(await this.trial('0'.repeat(low.low.length), null));
  }

  /** The exact run alone. */
  async reference(): Promise<OtherRun> {
    const { samples, inputs } = await this.begin();
    const { isQdq } = this;
    const { low } = this.subject;
    // The reference of a Q/DQ model is the one without its pairs.
    await this.prepare(isQdq ? low : { ...low, low: [], byId: new Map(), following: new Map() });
    const exact = this.outputs(await this.trial(isQdq ? '1'.repeat(low.low.length) : '', null));
    return {
      samples,
      inputs,
      exact,
      timed: (path) => this.simulation.timed(path, dirname(path)),
      other: async (path) => this.outputs(await this.simulation.other(path, dirname(path))),
      measured: async (path) => this.outputs(await this.simulation.measured(path)),
    };
  }

  /** The same model with what the kernels of a build hold left unrounded. */
  private async kernelLevel(report: AccuracyReport, build: FusionReport): Promise<AccuracyReport> {
    const { low } = this.subject;
    const held = unmaterializedTensors(low, build);
    await this.restart(withUnmaterialized(low, held));
    const outputs = this.outputs(await this.trial('0'.repeat(low.low.length), null));
    const names = new Map(report.nodes.map((node) => [node.id, node]));
    const described = held.map((value) => {
      const node = names.get(value.node)!;
      return { ...value, name: node.name, culprit: node.alone !== undefined };
    });
    return { ...report, level: 'kernel', outputs, kernel: { outputs: report.outputs, held: described } };
  }

  /** Errors of single nodes (those with the largest local errors), operators and modules alone in low precision. */
  private async sensitivity(nodes: readonly JudgedNode[]): Promise<Sensitivity[] | undefined> {
    const { sensitivity: count, progress } = this.request;
    if (count === undefined) return undefined;
    const found: Sensitivity[] = [];
    for (const { kind, name, members } of sensitivityGroups(nodes, count)) {
      stopIfCancelled(this.request.signal);
      const exact = nodes.map((_, i) => (members.includes(i) ? '0' : '1')).join('');
      const error = this.errorOf(await this.trial(exact, null));
      this.runs++;
      progress?.({ stage: 'searching', done: this.runs, total: null });
      found.push({ kind, name, nodes: members.map((i) => nodes[i]!.id), error: finiteOrNull(error) });
    }
    return found.sort((a, b) => (b.error ?? Infinity) - (a.error ?? Infinity));
  }

  private async measure(samples: number): Promise<MeasuredNode[][]> {
    const { low, network, file, model } = this.subject;
    const measured: MeasuredNode[][] = Array.from({ length: samples }, () => []);
    let done = 0;
    for (const chunk of judgeChunks(low, network, file)) {
      stopIfCancelled(this.request.signal);
      // Constants alone, for instance: nothing is measured, and no one reads it.
      const isIdle = chunk.keeps.length + chunk.measures.length === 0;
      const answers = isIdle ? [] : await this.simulation.judge(chunk);
      // Whether low precision is to blame, the reference run says next; later chunks read what this one makes.
      if ('refused' in answers) {
        this.refused = answers.refused;
        break;
      }
      for (const [sample, nodes] of answers.entries()) measured[sample]!.push(...nodes);
      done += chunk.nodes;
      this.request.progress?.({ stage: 'judging', done, total: model.graph.nodes.length });
    }
    return measured;
  }

  /** Makes the sessions of another model in place of those that were made. */
  private async restart(low: ReducedPrecisionModel): Promise<void> {
    await this.simulation.reset();
    this.known.clear();
    await this.prepare(low);
  }

  /** Makes the sessions for the search, and the reference. */
  private async prepare(low: ReducedPrecisionModel): Promise<void> {
    const { network, file, model } = this.subject;
    let done = 0;
    const made = new Set<string>();
    const compared = this.plan.map(({ name }) => name);
    for (const chunk of switchedChunks(low, network, file, compared)) {
      stopIfCancelled(this.request.signal);
      if (chunk.keeps.length > 0) await this.simulation.add(chunk);
      for (const name of chunk.keeps) made.add(name);
      done += chunk.nodes;
      this.request.progress?.({ stage: 'preparing', done, total: model.graph.nodes.length });
    }
    this.plan = this.plan.filter(({ name }) => made.has(name));
    const { reference: path, tolerance } = this.request;
    const against = path === undefined ? undefined : { model: path, folder: dirname(path) };
    const samples = await this.simulation.reference(this.plan, tolerance, against);
    const isReference = low.unscaled.length === 0;
    this.exact = this.errorOf(isReference ? samples : await this.trial('1'.repeat(low.low.length), null));
    const reference = samples.flat();
    for (const { name, kind, shape, nan = 0, inf = 0 } of reference.filter((one) => this.judged.includes(one.name)))
      if (kind === 'float' && nan + inf > 0 && nan + inf === shape.reduce((size, dim) => size * dim, 1))
        throw new UserError(
          `Output "${name}" is not finite in FP32 with these inputs, so there is nothing to compare with. Pass other inputs.`,
        );
    for (const { name, measure } of this.plan)
      if (measure?.chosen && measure.kind !== 'numeric') {
        const found = reference.find((one) => one.name === name)!;
        if (found.measure === null)
          throw new UserError(
            `Output "${name}" of shape ${shapeText(found.shape)} cannot be judged by ${measure.kind}. Name the outputs it is for (--measure NAME=${measure.kind})`,
          );
      }
  }

  /** Nodes that share a name can only be kept together: rules go by name. */
  private groups(): number[][] {
    const { low, index } = this.subject;
    const positions = new Map(index.nodes.map(({ id }, position) => [id, position]));
    const groups = new Map<string, number[]>();
    for (const { node, index: own } of low.low) {
      const name = index.names[positions.get(node.id)!]!;
      addTo(groups, name, own);
    }
    return [...groups.values()];
  }

  /** `reportOf`: what is known so far, as a report. */
  private async searchSet(
    tolerance: number,
    log: SearchLog,
    reportOf: (fix: PrecisionFix | null, alone: ReadonlyMap<number, number>) => AccuracyReport,
  ): Promise<PrecisionFix> {
    const { low, network } = this.subject;
    const { maxRuns, maxSeconds, progress, found } = this.request;
    this.search = 'running';
    const groups = this.groups();
    const until = performance.now() + maxSeconds * 1000;
    const cost = new FixCost(low, network, groups);
    const search = searchFix(groups.length, tolerance, (group, exact) => cost.saved(group, exact));
    for (let step = search.next(); ;) {
      if (step.done) return this.chosen(this.ungroup(step.value, groups), tolerance, log.curve);
      if (!this.isStopped) stopIfCancelled(this.request.signal);
      const exact = [...step.value.exact].flatMap((group) => groups[group]!);
      const { error, isBest } = await this.searchTrial(exact, step.value.about, tolerance, log);
      if (isBest) {
        const reason = 'The search is still running.';
        found?.({ ...reportOf(null, log.alone), search: 'running', fix: null, reason });
      }
      progress?.({ stage: 'searching', done: this.runs, total: null, ...(log.best && { best: log.best }) });
      const stop = this.isStopped || this.runs >= maxRuns || performance.now() >= until;
      step = search.next({ error, stop });
    }
  }

  /** Makes a run of the search, and notes what it says. */
  private async searchTrial(exact: number[], about: SearchTrial['about'], tolerance: number, log: SearchLog) {
    const flags = Array.from({ length: this.subject.low.low.length }, () => '0');
    for (const node of exact) flags[node] = '1';
    // A run that is not over all samples says only that it misses the tolerance.
    const whole = about === 'trade' || (about === 'repair' && exact.length <= (this.request.mostNodes ?? -1));
    const samples = await this.trial(flags.join(''), whole ? null : tolerance);
    const error = this.errorOf(samples);
    this.runs++;
    const only = flags.length - exact.length === 1 ? flags.indexOf('0') : null;
    if (only !== null && outsideTable(this.outputs(samples)) !== undefined) this.outside.add(only);
    return { error, isBest: log.add({ exact, only, error, whole }) };
  }

  /** The set that the user gets: the one searched for, the smallest tried that passes, or the best of few enough nodes. */
  private chosen(fix: PrecisionFix, tolerance: number, curve: TradeCurve): PrecisionFix {
    const { mostNodes = Infinity } = this.request;
    const points = curve.points(tolerance, mostNodes);
    const last = points.at(-1)!;
    const isSmaller = !fix.minimal && last.error <= tolerance && last.exact.length < fix.exact.length;
    if (!isSmaller && fix.exact.length <= mostNodes) return fix;
    return { ...fix, exact: [...last.exact], error: last.error, minimal: false, without: new Map() };
  }

  private ungroup(fix: PrecisionFix, groups: number[][]): PrecisionFix {
    const spread = (map: Map<number, number>) =>
      new Map([...map].flatMap(([group, error]) => groups[group]!.map((node) => [node, error] as const)));
    const exact = fix.exact.flatMap((group) => groups[group]!);
    return { ...fix, exact, without: spread(fix.without), alone: spread(fix.alone) };
  }

  /** A run with these nodes exact, of all samples; `limit`: up to the first that misses it. */
  private async trial(exact: string, limit: number | null): Promise<ComparedOutput[][]> {
    const known = this.known.get(exact);
    if (known) return known;
    // In an engine, these are never as in the reference.
    const flags = exact + '0'.repeat(this.subject.low.unscaled.length);
    const samples = await this.simulation.trial(flags, limit, this.judged);
    if (limit === null) this.known.set(exact, samples);
    return samples;
  }

  private errorOf(samples: ComparedOutput[][]): number {
    return trialError(samples, this.judged, this.plan);
  }

  private outputs(samples: ComparedOutput[][]): AccuracyOutput[] {
    return outputErrors(samples, this.judged, this.plan);
  }
}
