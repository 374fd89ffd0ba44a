import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { diagnoseLog } from '../../../diagnose/diagnoseLog.ts';
import type { Diagnosis } from '../../../../kernel/build/diagnosis.ts';
import { type InferredTensors, networkOf } from '../../../../kernel/network/network.ts';
import { type ModelGraph } from '../../../../kernel/network/modelGraph.ts';
import type { OnnxModel } from '../../../../kernel/read/onnx/onnxModel.ts';
import {
  type BorderTensor,
  extractModel,
  type KnownTensors,
  type Subgraph,
  subgraphOf,
} from '../../../surgery/extractModel.ts';
import type { CheckResult, GateFile } from '../../../gate/gateFile.ts';
import { evaluateGate } from '../../../gate/evaluateGate.ts';
import { breaksRule, failsAlike, type Symptom } from '../../reduceFailure.ts';
import { partProfiles } from '../../../surgery/splitModel.ts';
import { fillWeights } from '../../../../kernel/node/files/fillWeights.ts';
import type { FileSource } from '../../../../kernel/node/files/fileSource.ts';
import { linkWeights, unpackedName } from '../../../../kernel/node/files/linkWeights.ts';
import { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { writeModel } from '../../../../kernel/node/files/writeModel.ts';
import type { Build } from '../../../../kernel/node/store/buildFolder.ts';
import { readBuildSide } from '../../../../kernel/node/store/buildSide.ts';
import { Cancelled, UserError } from '../../../../kernel/node/files/userError.ts';
import { type BuildOptions, runBuild } from '../../../../kernel/node/run/runBuild.ts';
import type { TrialMemory } from './trialMemory.ts';
import { refuseErrors } from '../../../../kernel/node/files/refuseErrors.ts';
import { removeTree } from '../../../../kernel/node/files/persist.ts';

/** A build that was tried, and what its log says went wrong. */
export interface PartTrial {
  built: Build;
  log: Buffer;
  found: Diagnosis[];
  /** What the rule says of the build; null: it failed, or there is no rule. */
  check: CheckResult | null;
  /** The model that was built. */
  model: OnnxModel;
  /** Folders of the files of this build, as its command and log name them. */
  folders: string[];
}

export interface TrialRequest {
  /** For every part; `model` is the whole. */
  options: BuildOptions;
  /** The model's content. */
  source: FileSource;
  /** For links, parts and builds. */
  folder: string;
  /** What builds are judged by; null: whether they fail. */
  rule: GateFile | null;
}

/** Builds parts of one model, in a folder where its weights are linked. */
export class PartTrials {
  /** How many builds began. */
  builds = 0;
  readonly graph: ModelGraph;
  /** Types for outputs whose type no one knows, such as those of unknown operators. */
  readonly assumed: KnownTensors;
  readonly #inferred: InferredTensors;
  readonly #options: BuildOptions;
  readonly #source: FileSource;
  readonly #folder: string;
  readonly #rule: GateFile | null;
  /** Answers by the nodes of the part. */
  readonly #known = new Map<string, Promise<boolean>>();

  private constructor({ options, source, folder, rule }: TrialRequest, model: OnnxModel) {
    const network = networkOf(model);
    this.graph = network;
    this.#inferred = network.inferred;
    this.#options = options;
    this.#source = source;
    this.#folder = folder;
    this.#rule = rule;
    const unknown = this.graph.tensors.filter(
      ({ kind, owner }, tensor) => kind === 'node' && owner < 0 && this.#inferred.types[tensor] === null,
    );
    this.assumed = new Map(unknown.map(({ name }) => [name, { type: 'float', shape: null }]));
  }

  /** @throws {UserError} if the model is damaged */
  static async begin(request: TrialRequest): Promise<PartTrials> {
    const { options, source, folder } = request;
    const { value: model, problems } = await new ParsedFiles().model(options.model, { spans: true });
    refuseErrors(options.model, problems);
    await linkWeights(options.model, model, source, folder);
    return new PartTrials(request, model);
  }

  /**
   * Builds a model. Its folder is gone afterwards.
   * @throws {Cancelled} through `signal`
   */
  async build(options: BuildOptions, signal: AbortSignal | undefined): Promise<PartTrial> {
    this.builds += 1;
    const folder = join(this.#folder, `build-${this.builds}`);
    try {
      const built = await runBuild({ ...options, folder }, {}, signal);
      if (built.manifest.result === 'cancelled') throw new Cancelled();
      const files = new ParsedFiles();
      const path = join(built.folder, built.manifest.files.log ?? '');
      const [{ value: said }, { value: model }] = [await files.log(path), await files.model(options.model)];
      const check = await this.#judged(built, options.model, files);
      const filled = options.randomWeights ? await fillWeights(options.model, options.cache, signal) : options.model;
      const folders = [built.folder, dirname(filled), dirname(resolve(options.model))];
      return { built, log: await readFile(path), found: diagnoseLog(said, model), check, model, folders };
    } finally {
      await removeTree(folder);
    }
  }

  async #judged(built: Build, model: string, files: ParsedFiles): Promise<CheckResult | null> {
    if (this.#rule === null || built.manifest.result !== 'passed') return null;
    const side = await readBuildSide(built.folder, model, files);
    return evaluateGate('', this.#rule, side, null).checks[0] ?? null;
  }

  /** Whether a part has the symptom. One that cannot be a model of its own does not. */
  shows(
    symptom: Symptom,
    nodes: readonly number[],
    memory: TrialMemory,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const subgraph = subgraphOf(this.graph, nodes, null);
    const key = subgraph.nodes.join();
    const known = this.#known.get(key) ?? this.#remembered(symptom, subgraph, memory, signal);
    this.#known.set(key, known);
    return known;
  }

  async #remembered(
    symptom: Symptom,
    subgraph: Subgraph,
    memory: TrialMemory,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const key = subgraph.nodes.join();
    const earlier = memory.answer(key);
    if (earlier !== undefined) return earlier;
    const answer = await this.#tried(symptom, subgraph, this.#known.size, signal);
    if (!signal?.aborted) await memory.remember(key, answer);
    return answer;
  }

  async #tried(
    symptom: Symptom,
    subgraph: Subgraph,
    number: number,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    if (subgraph.inputs.some((tensor) => this.#inferred.types[tensor] === null)) return false;
    const model = join(this.#folder, `trtlens-part-${number}.onnx`);
    const weights = join(this.#folder, unpackedName(this.#options.model));
    const place = { kind: 'references', modelFile: basename(weights) } as const;
    const made = extractModel(this.graph, this.#source.size, subgraph, this.#inferred, place, this.assumed);
    if ('reason' in made) return false;
    try {
      // The links are what it is taken from: nothing is copied.
      await writeModel(made, { path: weights, source: this.#source }, model, signal);
      return shown(symptom, await this.build(this.optionsFor(model, made.inputs), signal));
    } catch (error) {
      // Options that this part cannot have, such as rules for nodes that are not in it.
      if (error instanceof UserError && !(error instanceof Cancelled)) return false;
      throw error;
    } finally {
      await removeTree(model);
    }
  }

  /** The options of a part, whose inputs may be others than those of the whole. */
  optionsFor(model: string, inputs: readonly BorderTensor[]): BuildOptions {
    const { profiles } = this.#options;
    const own = profiles && { profiles: partProfiles(profiles, this.graph.model.graph.inputs, inputs) };
    return { ...this.#options, ...own, model };
  }
}

/** Whether a build has the symptom. */
export const shown = (symptom: Symptom, { built, found, check, model }: PartTrial): boolean =>
  'rule' in symptom
    ? breaksRule(check)
    : built.manifest.result === 'failed' && failsAlike(symptom.failure, found, model);

/** A text without the folders of this machine, whatever its encoding. */
export function withoutFolders(text: Buffer, folders: readonly string[]): Buffer {
  const bytes = (path: string) => Buffer.from(path).toString('latin1');
  const rest = folders.reduce((left, folder) => left.replaceAll(bytes(`${folder}${sep}`), ''), text.toString('latin1'));
  return Buffer.from(rest, 'latin1');
}
