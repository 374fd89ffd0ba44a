import { absoluteInput } from '../../../kernel/node/files/inputFile.ts';
import { dirname, join, resolve } from 'node:path';
import { tableBasis } from '../../diagnose/checkModel.ts';
import { diagnoseLog } from '../../diagnose/diagnoseLog.ts';
import {
  candidates,
  catalogue,
  failureOfTrial,
  isNew,
  isProgress,
  joinOutputs,
  type PlannedRepair,
  planRepair,
  preferred,
  type RankedRepair,
  type Repair,
  type RepairTrial,
  trialByTables,
  trialOf,
  trialOfFaults,
} from '../planRepair.ts';
import {
  judgeProof,
  noisyWeights,
  planProof,
  type Proof,
  type ProofVerdict,
  type RepairResult,
  givenValues,
  openSettings,
  shapeSets,
  shiftedWeights,
} from '../repairResult.ts';
import { builtShapes, type ShapeRange } from '../../../kernel/build/buildManifest.ts';
import type { OnnxModel } from '../../../kernel/read/onnx/onnxModel.ts';
import { readMap, type RefusedPlace, writeMap } from '../../../kernel/network/repairMap.ts';
import { RepairSubject } from '../subject.ts';
import type { ByteSource } from '../../../kernel/base/problem.ts';
import { counted } from '../../../kernel/base/text.ts';
import { cacheFolder } from '../../../kernel/node/files/cacheFolder.ts';
import { checkOutput, filesOfModel } from '../../../kernel/node/files/writeResult.ts';
import { openExternal } from '../../../kernel/node/files/externalFile.ts';
import { type FileSource, withFile } from '../../../kernel/node/files/fileSource.ts';
import { fingerprint } from '../../../kernel/node/files/fingerprint.ts';
import { linkWeights } from '../../../kernel/node/files/linkWeights.ts';
import { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { refuseErrors } from '../../../kernel/node/files/refuseErrors.ts';
import { writeModel } from '../../../kernel/node/files/writeModel.ts';
import { runBuild } from '../../../kernel/node/run/runBuild.ts';
import { Cancelled, stopIfCancelled, UserError } from '../../../kernel/node/files/userError.ts';
import { editState, type RepairState, wholeOf } from './repairState.ts';
import type { RepairEvents, RepairRequest } from './repairRequest.ts';
import { RuntimeSession } from './runtimeSession.ts';
import { temporaryFolder } from '../../../kernel/node/files/writeWhole.ts';
import { removeTree } from '../../../kernel/node/files/persist.ts';

/**
 * Finds the smallest set of repairs with which a model builds, proves it and writes it. Nothing is written unless
 * the proof holds. Everything else is in a temporary folder that is removed at the end.
 * @throws {UserError} if it cannot begin, or the result cannot be written
 * @throws {Cancelled} through `signal`
 */
export async function repairModel(
  request: RepairRequest,
  events: RepairEvents = {},
  signal?: AbortSignal,
): Promise<RepairResult> {
  const { options, out } = request;
  if (out !== null) await checkOutput(out, await filesOfModel(options.model), 'model');
  const parent = join(options.cache ?? cacheFolder(), 'repair');
  const folder = await temporaryFolder(parent, 'try-');
  const runtime = new RuntimeSession(request.runtime, request.script, folder, signal);
  try {
    return await withFile(options.model, (source) =>
      new Search(request, events, { source, folder, runtime }, signal).run(),
    );
  } finally {
    await runtime.close();
    await removeTree(folder);
  }
}

interface Next {
  state: RepairState;
  trial: RepairTrial;
}

interface Places {
  source: FileSource;
  folder: string;
  runtime: RuntimeSession;
}

/** A repair may be needed again behind another one, but not for ever. */
const mostSteps = 40;
const mostOfOne = 3;

class Search {
  readonly #request: RepairRequest;
  readonly #events: RepairEvents;
  readonly #places: Places;
  readonly #signal: AbortSignal | undefined;
  readonly #refused: RepairResult['refused'] = [];
  readonly #answers = new Map<string, boolean>();
  readonly #opened = new Map<string, FileSource>();
  #prefersFloat: boolean;
  #linked = '';
  #builds = 0;
  #tensorrt: RepairResult['tensorrt'];

  constructor(request: RepairRequest, events: RepairEvents, places: Places, signal: AbortSignal | undefined) {
    this.#request = request;
    this.#events = events;
    this.#places = places;
    this.#signal = signal;
    this.#prefersFloat = request.allow.has('float');
    const { product, version } = request.target ?? { product: 'tensorrt-rtx', version: null };
    this.#tensorrt = { product, version };
  }

  async run(): Promise<RepairResult> {
    try {
      return await this.#run();
    } finally {
      for (const file of this.#opened.values()) await file.close();
    }
  }

  async #run(): Promise<RepairResult> {
    const begun = Date.now();
    const { options } = this.#request;
    const path = options.model;
    const { value: model, problems } = await new ParsedFiles().model(path, { spans: true });
    refuseErrors(path, problems);
    const { source, folder } = this.#places;
    this.#linked = await linkWeights(path, model, source, folder);
    const original: RepairState = { source, model, steps: [], trials: [], outputs: new Map(), texts: [] };
    const first = await this.#build(original);
    const { only } = this.#request;
    const { state: found, trial: left } = only
      ? await this.#exactly(original, first, only)
      : await this.#found(original, first);
    const result: RepairResult = {
      status: 'failed',
      model: resolve(path),
      written: null,
      repairs: found.steps,
      notAllowed: [],
      failure: first.error,
      left: left.error,
      refused: this.#refused.filter(
        (one, index) =>
          this.#refused.findIndex((other) => other.name === one.name && other.repair === one.repair) === index,
      ),
      settings: openSettings(model, options.profiles),
      proof: null,
      verdict: null,
      tensorrt: this.#tensorrt,
      tables: this.#request.target ? tableBasis(this.#request.target) : null,
      builds: this.#builds,
      seconds: 0,
    };
    if (first.error === null && !only) result.status = 'builds';
    else if (left.error === null) await this.#finish(result, original, found);
    const seconds = (Date.now() - begun) / 1000;
    const { used } = this.#places.runtime;
    return { ...result, tensorrt: this.#tensorrt, builds: this.#builds, seconds, ...(used && { runtime: used }) };
  }

  /** Asks for what is not allowed, proves and writes. */
  async #finish(result: RepairResult, original: RepairState, found: RepairState): Promise<void> {
    const { out, allow } = this.#request;
    const smallest = this.#request.only ? found : await this.#smallest(original, found);
    result.repairs = smallest.steps;
    const proved = await this.#prove(original, smallest);
    if ('reason' in proved) result.verdict = { holds: false, shown: 'other', text: `Not proved: ${proved.reason}` };
    else {
      result.proof = proved;
      const classes = smallest.steps.map((step) => step.class);
      result.verdict = judgeProof(proved, classes);
    }
    for (const { id } of smallest.steps) {
      const repair = catalogue.find((one) => one.id === id)!;
      if (await this.#isAllowed(repair, smallest, result.verdict)) continue;
      if (!result.notAllowed.includes(id)) result.notAllowed.push(id);
    }
    result.status =
      result.notAllowed.length > 0
        ? 'not-allowed'
        : result.verdict.holds || allow.has('unproved')
          ? 'repaired'
          : 'unproved';
    if (result.status !== 'repaired' || out === null) return;
    const { sha256 } = await fingerprint(this.#request.options.model);
    const noted = await editState(smallest, {
      metadata: [writeMap(smallest.steps, sha256, readMap(original.model))],
    });
    await writeModel(wholeOf(noted), { path: this.#request.options.model, source: noted.source }, out, this.#signal);
    result.written = resolve(out);
  }

  async #isAllowed(repair: Repair, { steps }: RepairState, verdict: ProofVerdict): Promise<boolean> {
    const { allow } = this.#request;
    if (repair.class === 'exact' || allow.has(repair.id)) return true;
    if (repair.class !== 'meaning' && allow.has(repair.class)) return true;
    const known = this.#answers.get(repair.id);
    if (known !== undefined) return known;
    const places = steps.filter(({ id }) => id === repair.id).flatMap((step) => step.places).length;
    const answer = (await this.#events.ask?.(repair, places, verdict)) ?? false;
    this.#answers.set(repair.id, answer);
    return answer;
  }

  /** These repairs, each wherever it applies. @throws {UserError} if one applies nowhere */
  async #exactly(original: RepairState, first: RepairTrial, ids: readonly string[]): Promise<Next> {
    let state = original;
    for (const repair of ids.map((id) => catalogue.find((one) => one.id === id)!)) {
      const planned = await planRepair(this.#subject(state), repair, failureOfTrial(state.model, first).nodes);
      this.#refused.push(...planned.refused.map((one) => ({ repair: repair.id, ...one })));
      if (!planned.edits) throw new UserError(`${repair.id} does not apply to this model${reasonIn(planned.refused)}`);
      state = await this.#apply(state, planned, first);
    }
    return { state, trial: await this.#build(state) };
  }

  /** Who allows floating point wants it, unless the model only builds without it. */
  async #found(original: RepairState, first: RepairTrial): Promise<Next> {
    const next = await this.#search(original, first);
    if (next.trial.error === null || !this.#prefersFloat) return next;
    this.#prefersFloat = false;
    const other = await this.#search(original, first);
    return other.trial.error === null ? other : next;
  }

  /** Adds repairs until the model builds or none helps any more. */
  async #search(original: RepairState, first: RepairTrial): Promise<Next> {
    let [state, trial] = [original, first];
    const counts = new Map<string, number>();
    while (trial.error !== null && state.steps.length < mostSteps) {
      stopIfCancelled(this.#signal);
      const excluded = new Set([...counts].filter(([, count]) => count >= mostOfOne).map(([id]) => id));
      const next = await this.#next(state, trial, excluded);
      if (!next) break;
      for (const { id } of next.state.steps.slice(state.steps.length)) counts.set(id, (counts.get(id) ?? 0) + 1);
      ({ state, trial } = next);
    }
    return { state, trial };
  }

  /** The state after the next repair that helps. Those at the failing nodes are tried together, others one by one. */
  async #next(state: RepairState, trial: RepairTrial, excluded: ReadonlySet<string>): Promise<Next | null> {
    const subject = this.#subject(state);
    const found = await this.#candidates(subject, trial, excluded);
    const direct = found.slice(0, found.findLastIndex(({ answer }) => answer === 'direct') + 1);
    if (direct.length > 0) {
      const all = await this.#applyAll(state, trial, direct);
      const after = await this.#build(all);
      if (isProgress(trial, after)) return { state: all, trial: after };
    }
    // Together they may have been too much.
    const meant = (planned: PlannedRepair): boolean => planned.repair.class === 'meaning';
    for (const planned of found.toSorted((a, b) => Number(meant(a)) - Number(meant(b)))) {
      const one = await this.#apply(state, planned, trial);
      const after = await this.#build(one);
      if (isProgress(trial, after)) return { state: one, trial: after };
    }
    return this.#together(state, trial, excluded);
  }

  /** Repairs that only help together: what answers the failure, then everything, again and again until nothing is new. */
  async #together(state: RepairState, trial: RepairTrial, excluded: ReadonlySet<string>): Promise<Next | null> {
    for (const answers of [
      ['direct', 'text'],
      ['direct', 'text', 'try'],
    ]) {
      let all = state;
      for (let round = 0; round < mostOfOne; round++) {
        const found = await this.#candidates(this.#subject(all), trial, excluded);
        const wanted = found.filter(({ answer, repair }) => answers.includes(answer) && repair.class !== 'meaning');
        const next = await this.#applyAll(all, trial, wanted, false);
        if (next.steps.length === all.steps.length) break;
        all = next;
      }
      if (all.steps.length - state.steps.length < 2) continue;
      const after = await this.#build(all);
      if (isProgress(trial, after)) return { state: all, trial: after };
    }
    return null;
  }

  async #candidates(
    subject: RepairSubject,
    trial: RepairTrial,
    excluded: ReadonlySet<string>,
  ): Promise<RankedRepair[]> {
    const { found, refused } = await candidates(subject, failureOfTrial(subject.model, trial), excluded);
    this.#refused.push(...refused);
    return preferred(found, this.#prefersFloat);
  }

  /** One after the other; each is planned on what the ones before have left. @param atNodes only at the failing nodes */
  async #applyAll(
    state: RepairState,
    trial: RepairTrial,
    planned: readonly PlannedRepair[],
    atNodes = true,
  ): Promise<RepairState> {
    let at = state;
    for (const first of planned) {
      const { nodes } = failureOfTrial(at.model, trial);
      const again = at === state ? first : await planRepair(this.#subject(at), first.repair, nodes);
      if (!again.edits) continue;
      if (atNodes && at !== state && !isNew(again, at.steps.slice(state.steps.length), nodes)) continue;
      at = await this.#apply(at, again, trial);
    }
    return at;
  }

  async #apply(
    state: RepairState,
    { repair, edits, places, outputs, texts }: PlannedRepair,
    trial: RepairTrial,
  ): Promise<RepairState> {
    this.#events.progress?.(`${repair.id}: ${counted(places.length, 'place')}`);
    const made = await editState(state, edits);
    const { id, title, class: kind } = repair;
    const steps = [...state.steps, { id, title, class: kind, places }];
    return {
      ...made,
      steps,
      trials: [...state.trials, trial],
      outputs: joinOutputs(state.outputs, outputs),
      texts: texts.length > 0 ? texts : state.texts,
    };
  }

  /** Without each repair that turns out not to be needed. */
  async #smallest(original: RepairState, found: RepairState): Promise<RepairState> {
    let smallest = found;
    for (let index = found.steps.length - 1; index >= 0 && smallest.steps.length > 1; index--) {
      stopIfCancelled(this.#signal);
      const state = await this.#without(original, smallest, index);
      if (state && (await this.#build(state)).error === null) smallest = state;
    }
    return smallest;
  }

  /** The repairs of a state but one, from the beginning; null: one of them no longer applies. */
  async #without(original: RepairState, { steps, trials }: RepairState, left: number): Promise<RepairState | null> {
    let state = original;
    for (const [index, { id }] of steps.entries()) {
      if (index === left) continue;
      const trial = trials[index]!;
      const repair = catalogue.find((one) => one.id === id)!;
      const planned = await planRepair(this.#subject(state), repair, failureOfTrial(state.model, trial).nodes);
      if (!planned.edits) return null;
      state = await this.#apply(state, planned, trial);
    }
    return state;
  }

  #subject(state: RepairState): RepairSubject {
    const { profiles } = this.#request.options;
    return new RepairSubject(state.model, state.source, {
      shapes: shapeSets(state.model, profiles).known,
      values: givenValues(state.model, profiles, () => true),
      open: (location) => this.#open(location),
      compute: (names) => this.#places.runtime.compute(state, names, this.#linked),
    });
  }

  async #open(location: string): Promise<ByteSource> {
    const opened = this.#opened.get(location) ?? (await openExternal(dirname(this.#request.options.model), location));
    this.#opened.set(location, opened);
    return opened;
  }

  async #build(state: RepairState): Promise<RepairTrial> {
    const { target, options: request } = this.#request;
    if (target) return trialByTables(state.model, target, builtShapes(state.model, request.profiles));
    this.#builds += 1;
    const { folder } = this.#places;
    this.#events.progress?.(
      state.steps.length === 0 ? 'building the model' : `building with ${state.steps.map(({ id }) => id).join(', ')}`,
    );
    const model = await this.#written(state, `trtlens-repair-${this.#builds}.onnx`);
    const build = join(folder, `build-${this.#builds}`);
    try {
      const { engine: _, profiles, ...options } = this.#request.options;
      const own = profiles && { profiles: ofInputs(state.model, profiles) };
      const built = await runBuild({ ...options, ...own, model, folder: build }, {}, this.#signal);
      const { result, error, tensorrt, files } = built.manifest;
      this.#tensorrt = tensorrt;
      if (result === 'cancelled') throw new Cancelled();
      if (result === 'passed') return trialOfFaults(state.model, tensorrt);
      const { value: log } = await new ParsedFiles().log(join(built.folder, files.log ?? ''));
      return trialOf(diagnoseLog(log, state.model), state.model, error ?? result);
    } finally {
      await removeTree(build);
      if (model !== this.#linked) await removeTree(model);
    }
  }

  /** The file of a state, next to the original's weights. */
  async #written(state: RepairState, name: string, changed = state.steps.length > 0): Promise<string> {
    if (!changed) return this.#linked;
    const out = join(this.#places.folder, name);
    await writeModel(wholeOf(state), { path: this.#linked, source: state.source }, out, this.#signal);
    return out;
  }

  async #prove(original: RepairState, repaired: RepairState): Promise<Proof | { reason: string }> {
    this.#events.progress?.('comparing the outputs with those of the original');
    const open = (location: string) => this.#open(location);
    const shifted = async (state: RepairState, name: string): Promise<string> => {
      const edits = await shiftedWeights(state.model, state.source, open);
      return edits ? this.#written(await editState(state, edits), name, true) : this.#written(state, name);
    };
    const moved = await noisyWeights(original.model, original.source, open);
    const noisy = moved && (await this.#written(await editState(original, moved), 'trtlens-noisy.onnx', true));
    const { profiles } = this.#request.options;
    return this.#places.runtime.prove({
      original: await shifted(original, 'trtlens-original.onnx'),
      repaired: await shifted(repaired, 'trtlens-repaired.onnx'),
      files: this.#request.samples.map(absoluteInput),
      noisy,
      plan: planProof(original.model, profiles, repaired.model),
      renamed: repaired.outputs,
      texts: repaired.texts,
    });
  }
}

/** The shapes of inputs that the model still has. */
function ofInputs({ graph }: OnnxModel, profiles: readonly Record<string, ShapeRange>[]): Record<string, ShapeRange>[] {
  const names = new Set(graph.inputs.map(({ name }) => name));
  return profiles.map((profile) => Object.fromEntries(Object.entries(profile).filter(([name]) => names.has(name))));
}

const reasonIn = ([first]: readonly RefusedPlace[]): string =>
  first ? `: at node "${first.name}", ${first.reason}` : '';
