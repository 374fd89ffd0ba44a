import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { errorText } from '../../base/problem.ts';
import { driverPrecisions, suggestedShapes } from '../../build/buildCommand.ts';
import { type BuildManifest, type BuiltShape, builtShapes, programFailure } from '../../build/buildManifest.ts';
import { type CommandNote, type EngineOptions, isWarning } from '../../build/buildOptions.ts';
import { knownFaults } from '../../faults/knownFaults.ts';
import { counted } from '../../base/text.ts';
import type { Launcher } from '../../build/launcher.ts';
import type { OnnxModel } from '../../read/onnx/onnxModel.ts';
import { borrowCaches } from '../files/borrowCaches.ts';
import { checkOutput, filesOfModel, moveResult } from '../files/writeResult.ts';
import { driverModules } from '../files/driverModules.ts';
import { isGzip, readWhole } from '../files/fileSource.ts';
import { fillWeights } from '../files/fillWeights.ts';
import { fingerprint } from '../files/fingerprint.ts';
import { withFolderLock } from '../files/folderLock.ts';
import { moveAtomically, writeWhole } from '../files/writeWhole.ts';
import { ParsedFiles } from '../files/parsedFiles.ts';
import { removeTree } from '../files/persist.ts';
import { type Build, buildsFolder, newBuildFolder, writeManifest } from '../store/buildFolder.ts';
import { expectedSeconds, removeCutOff } from '../store/buildHistory.ts';
import { buildSteps, typedCopyFolder } from './buildSteps.ts';
import { type ProcessEnd, runProcess } from '../tools/runProcess.ts';
import { fileTrouble, stopIfCancelled, UserError } from '../files/userError.ts';
import { absoluteFiles, absoluteOptions } from './absoluteOptions.ts';
import { type BuildPlan, type BuildTools, planBuild, refusals } from './buildPlan.ts';
import { explainFailure } from './internal/buildFailure.ts';
import type { BuildFilePaths } from './internal/buildFilePaths.ts';
import { Launch } from './launch.ts';
import { type OutputEvents, ProgramOutput } from './internal/programOutput.ts';

/**
 * The options that the user chose, for comparing two builds: neither tools nor what has its own place in the manifest.
 */
export function chosenOptions(options: EngineOptions & { launcher?: Launcher | undefined }): BuildManifest['options'] {
  const left = new Set([
    'model',
    'backend',
    'driver',
    'python',
    'trtexec',
    'polygraphy',
    'launcher',
    'cache',
    'folder',
    'environment',
    'signal',
  ]);
  const chosen: BuildManifest['options'] = {};
  if (options.launcher) chosen['launcher'] = options.launcher.command;
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (left.has(name) || value === undefined || typeof value === 'function') continue;
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') chosen[name] = value;
    else if (Array.isArray(value) && value.every((one) => typeof one === 'string')) chosen[name] = value;
    else chosen[name] = JSON.stringify(value);
  }
  return chosen;
}

/**
 * For which shapes a build makes its engine, with a warning where sizes are defaulted, and one for each form of the model
 * that this TensorRT is known to compute wrong. A model that cannot be read has none.
 */
export async function shapesOfBuild(
  path: string,
  { profiles }: EngineOptions,
  { product, version }: BuildManifest['tensorrt'],
): Promise<{ shapes: BuiltShape[][]; notes: CommandNote[] }> {
  const read = await new ParsedFiles().model(path).catch(() => undefined);
  if (!read) return { shapes: [], notes: [] };
  const shapes = builtShapes(read.value, profiles);
  const defaulted = defaultedText(read.value, shapes);
  const faults = product === null ? [] : knownFaults(read.value, { product, version, capability: null });
  const wrong = faults
    .filter(({ severity }) => severity === 'error')
    .map(
      ({ message, advice, nodes, repair }) =>
        `The engine will give wrong values at ${counted(nodes.length, 'node')}. ${message} ${advice}${repair === undefined ? '' : ` Repair: ${repair}.`}`,
    );
  return {
    shapes,
    notes: [
      ...(defaulted === null ? [] : [{ kind: 'warned', flag: 'shapes', message: defaulted } as const]),
      ...wrong.map((message) => ({ kind: 'warned', flag: 'model', message }) as const),
    ],
  };
}

function defaultedText(model: OnnxModel, shapes: readonly BuiltShape[][]): string | null {
  const defaulted = (shapes[0] ?? []).filter((shape) => shape.defaulted);
  if (defaulted.length === 0) return null;
  const declared = new Map(model.graph.inputs.map(({ name, shape }) => [name, shape]));
  const parts = defaulted.map(({ input, defaulted: axes = [] }) => {
    const names = axes
      .map((axis) => declared.get(input)?.[axis])
      .map((dim, i) => (typeof dim === 'string' && dim !== '' ? dim : `axis ${axes[i]}`));
    return `${names.join(', ')} of input ${input}`;
  });
  return `Built for 1 along each open dimension, because no shapes were given: ${parts.join('; ')}. Give real sizes, for example --shapes ${suggestedShapes(model, defaulted).join(',')}.`;
}

/** What to build, with what, and where the result goes. */
export interface BuildOptions extends EngineOptions, BuildTools {
  /** Parent of the build's folder. Default: `buildsFolder(model)`. */
  folder?: string;
}

/** What a caller may follow while a build runs. All are optional. */
export interface BuildEvents extends OutputEvents {
  /** Another build of the same model runs, here or in another program: this one begins when it has ended. */
  waiting?: () => void;
  /** The command is about to run. The folder exists, its manifest says `running`. */
  started?: (build: Build, notes: CommandNote[]) => void;
}

/**
 * Runs one build, after any other of the same model, and leaves a folder behind: `build.log`, `layers.json` and
 * `profile.json` where the build gives them, the engine, `manifest.json`. A build that fails or is cancelled is a
 * result, too (`manifest.result`, with one line in `manifest.error`): its folder keeps the log, never an engine or a
 * temporary file. Cancelling through `signal` ends the whole process group within two seconds.
 * @throws {Cancelled} if it was cancelled before it began
 * @throws {UserError} if the build cannot begin: no such model, no TensorRT, a request that this version cannot meet
 */
export async function runBuild(given: BuildOptions, events: BuildEvents = {}, signal?: AbortSignal): Promise<Build> {
  const options = given.plugins ? { ...given, plugins: await pluginPaths(given.plugins) } : given;
  await checkModel(options.model);
  await checkEachOutput(options);
  const plan = await planBuild(options, { ...options, signal });
  stopIfCancelled(signal);
  // Whatever folder they go to: two builds of one model would share its GPU's times, caches and engine.
  return withFolderLock(buildsFolder(options.model, options.cache), () => runAlone(options, plan, events, signal), {
    ...(events.waiting && { waiting: events.waiting }),
    signal,
  });
}

async function runAlone(
  options: BuildOptions,
  plan: BuildPlan,
  events: BuildEvents,
  signal: AbortSignal | undefined,
): Promise<Build> {
  stopIfCancelled(signal);
  const parent = options.folder ?? buildsFolder(options.model, options.cache);
  const earlier = await removeCutOff(parent, halfWritten(options.model));
  const expected = expectedSeconds(earlier, resolve(options.model), plan.backend, chosenOptions(options));
  const started = new Date();
  const { id, folder } = await newBuildFolder(parent, started);
  const run = new Run(options, plan, folder, events, expected);
  try {
    return await run.start(id, started, signal);
  } catch (error) {
    await run.close();
    await removeTree(folder);
    throw error;
  }
}

async function checkModel(path: string): Promise<void> {
  const status = await stat(path).catch((error: unknown) => {
    throw fileTrouble(path, error);
  });
  if (status.isDirectory()) throw new UserError(`${path} is a folder, not an ONNX file`);
  // TensorRT reads it by its name, and so do we, before and after.
  if (!status.isFile()) throw new UserError(`${path} is not a regular file. Save the model to a file first`);
}

/** Whole paths: the system looks for a bare name elsewhere. */
const pluginPaths = (libraries: readonly string[]): Promise<string[]> =>
  Promise.all(
    libraries.map(async (library) => {
      const path = resolve(library);
      await stat(path).catch((error: unknown) => {
        throw fileTrouble(library, error);
      });
      return path;
    }),
  );

/** What passed is moved there, perhaps hours later. */
async function checkEachOutput(options: BuildOptions): Promise<void> {
  const { model, backend, overrides, engine, timingCache, calibrationCache } = options;
  if (engine === undefined && timingCache === undefined && calibrationCache === undefined) return;
  const used = [...(await filesOfModel(model)), overrides];
  if (engine !== undefined) await checkOutput(engine, [...used, timingCache, calibrationCache], 'engine');
  if (timingCache !== undefined) await checkOutput(timingCache, [...used, calibrationCache], 'timing-cache');
  // Polygraphy alone writes it.
  if (calibrationCache !== undefined && backend === 'polygraphy')
    await checkOutput(calibrationCache, used, 'calibration-cache');
}

/** Names inside the folder. */
const names = {
  log: 'build.log',
  layers: 'layers.json',
  profile: 'profile.json',
  times: 'times.json',
  choices: 'choices.jsonl',
  engine: 'model.engine',
  /** The engine until the build has passed. */
  partial: 'model.engine.partial',
};

/** What is half written while the program runs. */
const temporary = [names.partial, 'timingCache.tmp', 'calibrationCache.tmp'];
/** The file that a compressed model is unpacked to. */
const unpackedName = (model: string): string => basename(model).replace(/\.gz$/i, '');
/** Files that an interrupted build leaves and no later step reads. A model that is not compressed has no copy of its name. */
const halfWritten = (model: string): string[] => [...temporary, typedCopyFolder, unpackedName(model)];
/** What it leaves, as far as it was asked to. */
const results = (folder: string): string[] =>
  [...temporary, names.layers, names.profile, names.times, names.choices].map((name) => join(folder, name));

class Run {
  readonly #options: BuildOptions;
  readonly #plan: BuildPlan;
  readonly #folder: string;
  readonly #events: BuildEvents;
  readonly #output: ProgramOutput;
  #environment: Record<string, string> = {};
  /** The program was told to record choices. */
  #recording = false;
  /** The file that TensorRT reads. */
  #copy = '';
  #launch: Launch | undefined;

  constructor(
    options: BuildOptions,
    plan: BuildPlan,
    folder: string,
    events: BuildEvents,
    expectedSeconds: number | null,
  ) {
    this.#options = options;
    this.#plan = plan;
    this.#folder = folder;
    this.#events = events;
    const files = { log: this.#path('log'), layers: this.#path('layers') };
    this.#output = new ProgramOutput(files, plan.output, expectedSeconds, events);
  }

  async start(id: string, started: Date, signal: AbortSignal | undefined): Promise<Build> {
    const files = {
      engine: this.#path('partial'),
      layers: this.#path('layers'),
      profile: this.#path('profile'),
      times: this.#path('times'),
      precisions: join(this.#folder, 'precisions.json'),
      ...(this.#options.recordChoices && {
        choices: this.#path('choices'),
        recorder: join(dirname(this.#options.driver), 'record_choices.py'),
      }),
    };
    const parsed = await this.#model(signal);
    const applied = await buildSteps.applyOverrides(this.#options, this.#plan, parsed, this.#folder, signal);
    const { model } = applied;
    const wanted = { ...this.#options, ...applied.options };
    const precisions = driverPrecisions(wanted);
    this.#copy = model;
    const caches = await borrowCaches(this.#options, this.#plan.backend, this.#folder);
    const planned = await this.#planned({ ...wanted, ...caches.options, model }, files, parsed);
    const { args, notes, environment } = this.#plan.command(planned.options, planned.files);
    const refused = refusals(notes);
    if (refused.length > 0) throw new UserError(refused.join(' '));
    if (precisions) await writeWhole(files.precisions, JSON.stringify(precisions));

    this.#recording = planned.files.choices !== undefined && !notes.some(({ flag }) => flag === 'recordChoices');
    this.#environment = { ...this.#plan.environment, ...this.#options.environment, ...environment };
    const build: Build = { folder: this.#folder, manifest: this.#manifest(id, started, this.#command(args)) };
    if (applied.rulesSha256 !== null) build.manifest.rulesSha256 = applied.rulesSha256;
    const built = await shapesOfBuild(parsed, wanted, build.manifest.tensorrt);
    if (built.shapes.length > 0) build.manifest.shapes = built.shapes;
    const said = [...applied.notes, ...notes, ...built.notes];
    const warnings = said.filter(isWarning).map(({ message }) => message);
    if (warnings.length > 0) build.manifest.warnings = warnings;
    await writeManifest(build);
    this.#events.started?.(build, said);
    // A model that is gone meanwhile fails the build itself, with a better reason.
    const hashed = fingerprint(this.#options.model).catch(() => undefined);
    await this.#begin(signal);
    const end = await this.#process(args, signal);
    build.manifest.model = { ...build.manifest.model, ...(await hashed) };
    build.manifest.seconds = (Date.now() - started.getTime()) / 1000;
    await this.#finish(build.manifest, end.cancelled, end.code, caches.giveBack);
    await writeManifest(build);
    return build;
  }

  /** Ends what `start` has begun, where it did not get to its own end. Never rejects. */
  async close(): Promise<void> {
    await this.#output.close().catch(() => {});
  }

  async #begin(signal: AbortSignal | undefined): Promise<void> {
    try {
      await this.#launch?.begin(signal);
    } catch (error) {
      // Partial copies are still there, and nothing else would remove them.
      await this.#launch?.end([], signal);
      throw error;
    }
  }

  async #process(args: string[], signal: AbortSignal | undefined): Promise<ProcessEnd> {
    const [program = '', ...rest] = this.#command(args);
    this.#output.begin(args);
    try {
      return await runProcess({
        program,
        args: rest,
        ...(!this.#launch && { environment: this.#environment }),
        // The arguments of a launcher or trtexec may be relative paths; Polygraphy and our driver run in Python.
        ...((this.#launch || this.#plan.backend === 'trtexec') && { cwd: process.cwd() }),
        stdout: (line) => this.#output.stdout(line),
        stderr: (line) => this.#output.stderr(line),
        leftovers: halfWritten(this.#options.model).map((name) => join(this.#folder, name)),
        ...(signal && { signal }),
      });
    } finally {
      await this.#launch?.end(results(this.#folder), signal);
      await this.#output.close();
    }
  }

  /** Options and files as the program will know them. */
  async #planned(
    options: EngineOptions,
    files: BuildFilePaths,
    parsed: string,
  ): Promise<{ options: EngineOptions; files: BuildFilePaths }> {
    const { launcher, model, driver, randomWeights } = this.#options;
    if (!launcher) return { options: await absoluteOptions(options), files: absoluteFiles(files) };
    // With random weights it is another file, in the cache: its folder is the model's there.
    this.#launch = new Launch(launcher, this.#folder, randomWeights ? parsed : model, driver);
    if (this.#plan.output === 'log') return this.#launch.map(options, files);
    for (const name of driverModules) this.#launch.there(join(dirname(driver), name));
    return this.#launch.map(options, { ...files, driver });
  }

  /** The command line to run here. */
  #command(args: string[]): string[] {
    const command = [this.#plan.program, ...args];
    return this.#launch?.buildCommand(command, this.#environment) ?? command;
  }

  #path(kind: keyof typeof names): string {
    return join(this.#folder, names[kind]);
  }

  /** The file that TensorRT parses. It cannot unpack, and it looks for external weights next to the model. */
  async #model(signal: AbortSignal | undefined): Promise<string> {
    const { model, randomWeights, cache } = this.#options;
    if (randomWeights) return fillWeights(model, cache, signal);
    if (!(await isGzip(model))) return resolve(model);
    const unpacked = join(this.#folder, unpackedName(model));
    await writeWhole(unpacked, await readWhole(model));
    return unpacked;
  }

  #manifest(id: string, started: Date, command: string[]): BuildManifest {
    return {
      schema: 1,
      id,
      model: { file: resolve(this.#options.model), sha256: null, bytes: 0 },
      backend: this.#plan.backend,
      origin: 'built',
      tensorrt: { product: this.#plan.product, version: this.#plan.version },
      gpu: null,
      driver: null,
      command,
      options: chosenOptions(this.#options),
      started: started.toISOString(),
      seconds: null,
      result: 'running',
      error: null,
      files: { log: names.log, layers: null, profile: null, engine: null },
      pid: process.pid,
    };
  }

  async #finish(
    manifest: BuildManifest,
    cancelled: boolean,
    code: number | null,
    giveBack: () => Promise<void>,
  ): Promise<void> {
    const said = this.#output.said();
    const { log, timeLine, start, end } = said;
    const engine = await size(this.#path('partial'));
    const passed = !cancelled && code === 0 && engine > 0 && end?.event !== 'error';
    manifest.result = cancelled ? 'cancelled' : passed ? 'passed' : 'failed';
    manifest.gpu = start?.gpu ?? log.gpu;
    manifest.driver = start?.driver ?? null;
    manifest.tensorrt.version = start?.version ?? manifest.tensorrt.version ?? log.version;
    manifest.timeLine = timeLine;
    delete manifest.pid;
    await this.#nameResults(manifest);
    if (passed) {
      await giveBack().catch((error: unknown) => {
        (manifest.warnings ??= []).push(`A cache could not be updated: ${errorText(error)}.`);
      });
      await this.#keepEngine(manifest);
    } else {
      const { program } = this.#plan;
      const ended = { cancelled, code, engine, program, model: this.#options.model, parsed: this.#copy };
      const { failure, error } = await explainFailure(said, ended);
      manifest.failure = failure;
      manifest.error = error;
    }
    await this.#removeLeftovers();
  }

  /** What the program wrote to the folder in addition to log and engine. */
  async #nameResults(manifest: BuildManifest): Promise<void> {
    for (const kind of ['layers', 'profile'] as const)
      if ((await size(this.#path(kind))) > 0) manifest.files[kind] = names[kind];
    if ((await size(this.#path('choices'))) > 0) manifest.files.choices = names.choices;
    else if (this.#recording && manifest.result === 'passed')
      (manifest.warnings ??= []).push('The choices of TensorRT were not recorded. The log has the reason.');
  }

  async #keepEngine(manifest: BuildManifest): Promise<void> {
    await moveAtomically(this.#path('partial'), this.#path('engine'));
    manifest.files.engine = names.engine;
    // An engine that cannot be read again is still one.
    const content = await fingerprint(this.#path('engine')).catch(() => undefined);
    if (content !== undefined) manifest.engine = content;
    const { engine } = this.#options;
    if (engine === undefined) return;
    try {
      await moveResult(this.#path('engine'), resolve(engine), 'engine');
      manifest.files.engine = resolve(engine);
    } catch (error) {
      // It took minutes to build: it stays where it is.
      manifest.result = 'failed';
      manifest.error = `${errorText(error)}; the engine was built and is in ${this.#path('engine')}`;
      manifest.failure = programFailure('engine-not-moved', manifest.error);
    }
  }

  /** A killed process may leave its temporary files. */
  async #removeLeftovers(): Promise<void> {
    for (const name of await readdir(this.#folder))
      if (name === typedCopyFolder || /\.tmp(\.lock)?$|\.partial$/.test(name))
        await removeTree(join(this.#folder, name));
  }
}

const size = (path: string): Promise<number> =>
  stat(path).then(
    (status) => status.size,
    () => 0,
  );
