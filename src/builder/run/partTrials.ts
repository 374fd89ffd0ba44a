import { copyFile, link, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { diagnoseLog } from '../../core/diagnose/diagnoseLog.ts';
import type { Diagnosis } from '../../core/diagnose/diagnosis.ts';
import { type InferredTensors, inferTensors } from '../../core/model/inferTensors.ts';
import { createModelGraph, type ModelGraph } from '../../core/model/modelGraph.ts';
import type { OnnxModel } from '../../core/onnx/onnxModel.ts';
import { type BorderTensor, extractModel, type KnownTensors } from '../../core/surgery/extractModel.ts';
import { type Failure, failsAlike } from '../../core/surgery/failure.ts';
import { partProfiles } from '../../core/surgery/partProfiles.ts';
import { type Piece, pieceOf } from '../../core/surgery/pieceOf.ts';
import { externalPath } from '../files/externalFile.ts';
import { isGzip, type FileSource } from '../files/fileSource.ts';
import { ParsedFiles } from '../files/parsedFiles.ts';
import { externalLocations, writeModel } from '../files/writeModel.ts';
import type { Build } from '../store/buildFolder.ts';
import { Cancelled, UserError } from '../userError.ts';
import { type BuildOptions, runBuild } from './runBuild.ts';

/** A build that was tried, and what its log says went wrong. */
export interface PartTrial {
  built: Build;
  found: Diagnosis[];
  /** The model that was built. */
  model: OnnxModel;
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
  /** Answers by the nodes of the part. */
  readonly #known = new Map<string, Promise<boolean>>();

  /**
   * @param options for every part; `model` is the whole
   * @param model read with spans from `source`
   * @param folder for links, parts and builds
   */
  private constructor(options: BuildOptions, model: OnnxModel, source: FileSource, folder: string) {
    this.graph = createModelGraph(model);
    this.#inferred = inferTensors(this.graph);
    this.#options = options;
    this.#source = source;
    this.#folder = folder;
    const unknown = this.graph.tensors.filter(
      ({ kind, owner }, tensor) => kind === 'node' && owner < 0 && this.#inferred.types[tensor] === null,
    );
    this.assumed = new Map(unknown.map(({ name }) => [name, { type: 'float', shape: null }]));
  }

  /** @throws {UserError} if the model is damaged */
  static async begin(options: BuildOptions, source: FileSource, folder: string): Promise<PartTrials> {
    const { value: model, problems } = await new ParsedFiles().model(options.model, { spans: true });
    const error = problems.find(({ severity }) => severity === 'error');
    if (error) throw new UserError(`${options.model}: ${error.message}`);
    await linkWeights(options.model, model, source, folder);
    return new PartTrials(options, model, source, folder);
  }

  /**
   * Builds a model. Its folder is gone afterwards.
   * @param log where to keep the log
   * @throws {Cancelled} through `signal`
   */
  async build(options: BuildOptions, signal: AbortSignal | undefined, log?: string): Promise<PartTrial> {
    this.builds += 1;
    const folder = join(this.#folder, `build-${this.builds}`);
    try {
      const built = await runBuild({ ...options, folder }, {}, signal);
      if (built.manifest.result === 'cancelled') throw new Cancelled();
      const files = new ParsedFiles();
      const path = join(built.folder, built.manifest.files.log ?? '');
      const [{ value: said }, { value: model }] = [await files.log(path), await files.model(options.model)];
      if (log !== undefined) await copyFile(path, log);
      return { built, found: diagnoseLog(said, model), model };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Whether a part fails in the same way. One that cannot be a model of its own does not. */
  fails(failure: Failure, nodes: readonly number[], signal: AbortSignal | undefined): Promise<boolean> {
    const piece = pieceOf(this.graph, nodes, null);
    const key = piece.nodes.join();
    const known = this.#known.get(key) ?? this.#tried(failure, piece, this.#known.size, signal);
    this.#known.set(key, known);
    return known;
  }

  async #tried(failure: Failure, piece: Piece, number: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (piece.inputs.some((tensor) => this.#inferred.types[tensor] === null)) return false;
    const model = join(this.#folder, `trtlens-part-${number}.onnx`);
    const weights = join(this.#folder, unpackedName(this.#options.model));
    const place = { kind: 'references', modelFile: basename(weights) } as const;
    const made = extractModel(this.graph, this.#source.size, piece, this.#inferred, place, this.assumed);
    if ('reason' in made) return false;
    try {
      // The links are what it is taken from: nothing is copied.
      await writeModel(made, { path: weights, source: this.#source }, model, signal);
      const { built, found, model: part } = await this.build(this.optionsFor(model, made.inputs), signal);
      return built.manifest.result === 'failed' && failsAlike(failure, found, part);
    } catch (error) {
      // Options that this part cannot have, such as rules for nodes that are not in it.
      if (error instanceof UserError && !(error instanceof Cancelled)) return false;
      throw error;
    } finally {
      await rm(model, { force: true });
    }
  }

  /** The options of a part, whose inputs may be others than those of the whole. */
  optionsFor(model: string, inputs: readonly BorderTensor[]): BuildOptions {
    const { profiles } = this.#options;
    const own = profiles && { profiles: partProfiles(profiles, this.graph.model.graph.inputs, inputs) };
    return { ...this.#options, ...own, model };
  }
}

const unpackedName = (model: string): string => basename(model).replace(/\.gz$/i, '');

/** Puts the model and the files of its weights into a folder, without copying them if that is possible. */
async function linkWeights(path: string, model: OnnxModel, source: FileSource, folder: string): Promise<void> {
  const own = join(folder, unpackedName(path));
  if (await isGzip(path)) await writeFile(own, await source.read(0, source.size));
  else await linkFile(path, own);
  for (const location of externalLocations(model)) {
    const [from, to] = [await externalPath(dirname(path), location), await externalPath(folder, location)];
    await mkdir(dirname(to), { recursive: true });
    await linkFile(from, to);
  }
}

/** A weights file that is missing stays missing: that may be the failure. */
async function linkFile(from: string, to: string): Promise<void> {
  for (const make of [link, symlink, copyFile]) {
    const error: unknown = await make(from, to).then(
      () => null,
      (reason: unknown) => reason,
    );
    if (error === null || ['EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return;
  }
}
