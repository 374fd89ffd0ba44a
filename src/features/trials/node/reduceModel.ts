import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { quoteCommand } from '../../../kernel/base/text.ts';
import type { Diagnosis, DiagnosisCode } from '../../../kernel/build/diagnosis.ts';
import type { GateFile } from '../../gate/gateFile.ts';
import { planAnonymous } from '../../../kernel/read/onnx/editModel.ts';
import { failureOf, readRule, reduceNodes, type Symptom } from '../reduceFailure.ts';
import { subgraphOf } from '../../surgery/extractModel.ts';
import { bytesOf } from '../../../kernel/base/problem.ts';
import { cacheFolder } from '../../../kernel/node/files/cacheFolder.ts';
import { exists } from '../../../kernel/node/files/exists.ts';
import { checkOutput, filesOfModel } from '../../../kernel/node/files/writeResult.ts';
import { driverModules } from '../../../kernel/node/files/driverModules.ts';
import { extractSubgraph } from '../../surgery/node/extractSubgraph.ts';
import { readWhole, withFile } from '../../../kernel/node/files/fileSource.ts';
import { fillWeights } from '../../../kernel/node/files/fillWeights.ts';
import { fingerprint } from '../../../kernel/node/files/fingerprint.ts';
import { writeModel } from '../../../kernel/node/files/writeModel.ts';
import { writeZip } from '../../../kernel/node/files/writeZip.ts';
import { shell } from '../../../kernel/node/tools/shell.ts';
import { Cancelled, UserError } from '../../../kernel/node/files/userError.ts';
import { runByHand } from '../../../kernel/node/run/buildPlan.ts';
import { type PartTrial, PartTrials, shown, withoutFolders } from './internal/partTrials.ts';
import type { BuildOptions } from '../../../kernel/node/run/runBuild.ts';
import { TrialMemory } from './internal/trialMemory.ts';
import { temporaryFolder, writeWhole } from '../../../kernel/node/files/writeWhole.ts';
import { removeTree } from '../../../kernel/node/files/persist.ts';

export interface ReduceRequest {
  /** How to build, and the model. What names single tensors or files to write does not apply to its parts. */
  options: BuildOptions;
  /** Folder for the result, or a file that ends in `.zip`; it is made if it is missing. */
  out: string;
  /** The failure to keep, where the build has several; if omitted, the first one. */
  code?: string | undefined;
  /** One rule as in a gate file: instead of a failure, the part is to break the rule that the whole model breaks. */
  until?: string | undefined;
  /** When to stop with the smallest part so far. */
  maxSeconds?: number | undefined;
  /** Names of nodes and tensors become numbers, descriptions and metadata are left out. */
  anonymize?: boolean;
  /** The result has no large weights; it is checked with random ones. */
  withoutWeights?: boolean;
}

/** The smallest part of a model that was found to fail alike. */
export interface ReducedModel {
  /** Nodes of the main graph: of the model, and of the part. */
  from: number;
  to: number;
  /** How many builds it took, the first and the last included, and those of earlier runs that were interrupted. */
  builds: number;
  seconds: number;
  /** null: the part was chosen by a rule. */
  code: DiagnosisCode | null;
  /** Operator of the node that fails; null: the log names none. */
  operator: string | null;
  /** The rule that the part breaks; null: it fails. */
  until: string | null;
  /** Path of the part, or of the zip file that contains it; `build.log` and `command.txt` are next to it. */
  model: string;
  /** Outputs of the part whose type no one knows, such as those of unknown operators: they are declared as float. */
  assumed: string[];
  /** The time was up before everything was tried. */
  stopped: boolean;
}

/** Names in the folder of the result. */
const names = { model: 'model.onnx', log: 'build.log', command: 'command.txt' };

/** What a search that was interrupted goes on from: in the folder of the result, or next to the zip file. */
const stateOf = (out: string, zip: boolean): string => (zip ? `${out}.state` : join(out, 'reduce.state'));

/**
 * Builds a model that fails, then parts of it, two at a time, until a part is left of which every node is needed for
 * the same failure. Parts are never run. Everything but the result is in a temporary folder that is removed at the end;
 * what was found out so far is kept where the search was interrupted, and the same request goes on from there.
 * @param smaller called with the count of nodes at the beginning, and whenever a smaller part fails alike
 * @throws {UserError} if the model builds, its log names no such error, or the result cannot be written
 * @throws {Cancelled} through `signal`
 */
export async function reduceModel(
  request: ReduceRequest,
  smaller: (nodes: number) => void = () => {},
  signal?: AbortSignal,
): Promise<ReducedModel> {
  const { options, out, until } = request;
  const rule = until === undefined ? null : readRule(until);
  if (rule && 'reason' in rule) throw new UserError(`'${until}' is not a rule to search with: ${rule.reason}`);
  if (request.anonymize && options.overrides !== undefined)
    throw new UserError('Rules name nodes of the model: reduce it without --anonymize, or without rules');
  const zip = /\.zip$/i.test(out);
  const state = stateOf(out, zip);
  const used = await filesOfModel(options.model);
  const results = zip
    ? [out]
    : [...Object.values(names), 'build_engine.py', ...driverModules].map((name) => join(out, name));
  const [result = out, ...others] = results;
  await checkOutput(result, used, zip ? 'zip' : 'model');
  // A log and a command next to a model of ours are of the search before.
  const kind = (await exists(result)) ? null : 'new';
  for (const path of others) await checkOutput(path, used, kind);
  await checkOutput(state, used, 'state');
  const parent = join(options.cache ?? cacheFolder(), 'reduce');
  const folder = await temporaryFolder(parent, 'try-');
  try {
    return await new Reducer(request, { folder, zip, state, rule }, smaller, signal).run();
  } finally {
    await removeTree(folder);
  }
}

interface Places {
  /** For everything that is not the result. */
  folder: string;
  zip: boolean;
  state: string;
  rule: GateFile | null;
}

class Reducer {
  readonly #request: ReduceRequest;
  readonly #places: Places;
  readonly #smaller: (nodes: number) => void;
  readonly #signal: AbortSignal | undefined;

  constructor(
    request: ReduceRequest,
    places: Places,
    smaller: (nodes: number) => void,
    signal: AbortSignal | undefined,
  ) {
    this.#request = request;
    this.#places = places;
    this.#smaller = smaller;
    this.#signal = signal;
  }

  async run(): Promise<ReducedModel> {
    const begun = Date.now();
    const { options, maxSeconds } = this.#request;
    const path = options.randomWeights
      ? await fillWeights(options.model, options.cache, this.#signal)
      : resolve(options.model);
    return withFile(path, async (source) => {
      const { folder, rule } = this.#places;
      const trials = await PartTrials.begin({
        options: { ...partOptions(options), model: path },
        source,
        folder,
        rule,
      });
      const memory = await TrialMemory.open(this.#places.state, await this.#question());
      const earlier = memory.builds;
      const { symptom, named } = memory.first ?? (await this.#firstTrial(trials, path, memory));
      const { graph } = trials;
      const all = graph.nodes.flatMap((_, index) => (graph.owner[index]! < 0 ? [index] : []));
      this.#smaller(all.length);
      const limits = [this.#signal, maxSeconds === undefined ? undefined : AbortSignal.timeout(maxSeconds * 1000)];
      const limit = AbortSignal.any(limits.filter((one) => one !== undefined));
      const { best, done } = await this.#search(trials, symptom, named, memory, limit);
      if (this.#signal?.aborted) throw new Cancelled();
      const written = await this.#write(trials, path, best ?? all, symptom, memory);
      if (done) await memory.forget();
      return {
        from: all.length,
        ...written,
        builds: earlier + trials.builds,
        seconds: (Date.now() - begun) / 1000,
        code: 'failure' in symptom ? symptom.failure.code : null,
        operator: 'failure' in symptom ? symptom.failure.operator : null,
        until: 'rule' in symptom ? symptom.rule : null,
        stopped: !done,
      };
    });
  }

  /** What the answers of builds depend on. */
  async #question(): Promise<string> {
    const { options, code, until } = this.#request;
    const { model, driver: _, confirm: __, setUpProgress: ___, ...rest } = options;
    const { sha256 } = await fingerprint(model);
    return JSON.stringify([sha256, Object.entries(rest).toSorted(([a], [b]) => (a < b ? -1 : 1)), code, until]);
  }

  /** Builds the whole model, to learn what is to be kept. */
  async #firstTrial(trials: PartTrials, path: string, memory: TrialMemory) {
    const { options, code, until } = this.#request;
    const first = await trials.build({ ...withoutEngine(options), model: path }, this.#signal);
    if (until === undefined) {
      const cause = causeIn(first, options.model, code);
      await memory.begin({
        symptom: { failure: failureOf(cause, trials.graph.model) },
        named: cause.nodes,
      });
    } else await memory.begin({ symptom: { rule: until }, named: brokenIn(first, options.model) });
    return memory.first!;
  }

  /** Runs the search until it or the time ends. `best`: null if only the whole model has the symptom. */
  async #search(
    trials: PartTrials,
    symptom: Symptom,
    named: readonly string[],
    memory: TrialMemory,
    limit: AbortSignal,
  ): Promise<{ best: number[] | null; done: boolean }> {
    const reduction = reduceNodes(trials.graph, named);
    let best: number[] | null = null;
    for (let step = reduction.next(); ;) {
      if (step.done) return { best: best && step.value, done: true };
      const asked = step.value.map((nodes) => trials.shows(symptom, nodes, memory, limit));
      // All have ended before anything is removed.
      await Promise.allSettled(asked);
      if (limit.aborted) return { best, done: false };
      const answers = await Promise.all(asked);
      const found = answers.indexOf(true);
      if (found >= 0) {
        best = step.value[found]!;
        this.#smaller(best.length);
      }
      step = reduction.next(answers);
    }
  }

  /** Writes the part, builds it once more, and keeps the log and the command of that build. */
  async #write(trials: PartTrials, path: string, nodes: readonly number[], symptom: Symptom, memory: TrialMemory) {
    const { out, anonymize, withoutWeights } = this.#request;
    const { zip, folder } = this.#places;
    const result = zip ? join(folder, 'result') : out;
    const model = join(result, names.model);
    const subgraph = subgraphOf(trials.graph, nodes, null);
    const weights = withoutWeights ? 'none' : 'copy';
    const { inputs, outputs } = await extractSubgraph({
      path,
      pick: () => subgraph,
      out: model,
      weights,
      known: trials.assumed,
      anyRank: true,
      signal: this.#signal,
    });
    const renamed = anonymize ? await rewriteAnonymously(model, this.#signal) : new Map<string, string>();
    const last = await trials.build(
      {
        ...renamedProfiles(trials.optionsFor(resolve(model), inputs), renamed),
        ...(withoutWeights && { randomWeights: true }),
      },
      this.#signal,
    );
    if (!shown(symptom, last)) {
      await memory.forget();
      throw new UserError(
        withoutWeights
          ? `${model} fails with its own weights only: leave out --without-weights`
          : `${model} failed once, but not when it was built again: the failure comes and goes`,
      );
    }
    const folders = anonymize ? [...last.folders, ...foldersIn(last.built.manifest.command)] : last.folders;
    const scripts = driverFiles(last.built.manifest.command);
    for (const path of scripts) await writeWhole(join(result, basename(path)), await readWhole(path));
    const command = `${quoteCommand(commandIn(last, folders), shell)}\n`;
    await writeWhole(join(result, names.log), withoutFolders(last.log, folders));
    await writeWhole(join(result, names.command), withoutWeights ? `${weightsNote}${command}` : command);
    if (zip) await writeZip(result, basename(out).replace(/\.zip$/i, ''), out, this.#signal);
    return {
      to: subgraph.nodes.length,
      model: zip ? out : model,
      assumed: outputs.flatMap(({ name }) => (trials.assumed.has(name) ? [renamed.get(name) ?? name] : [])),
    };
  }
}

const weightsNote = `# The weights are not included. 'trtlens build ${names.model} --random-weights' makes up the ones that were built.\n`;

/** New names of tensors by the old ones. */
async function rewriteAnonymously(model: string, signal: AbortSignal | undefined): Promise<Map<string, string>> {
  // In memory: the file takes its own place.
  const source = bytesOf(await readWhole(model));
  const edited = await planAnonymous(source);
  await writeModel(edited, { path: model, source }, model, signal);
  return edited.tensors;
}

const renamedProfiles = (options: BuildOptions, renamed: ReadonlyMap<string, string>): BuildOptions =>
  options.profiles
    ? {
        ...options,
        profiles: options.profiles.map((profile) =>
          Object.fromEntries(Object.entries(profile).map(([name, range]) => [renamed.get(name) ?? name, range])),
        ),
      }
    : options;

/** The error that is to be kept. */
function causeIn({ built, found }: PartTrial, model: string, code: string | undefined): Diagnosis {
  if (built.manifest.result === 'passed')
    throw new UserError(`${model} builds with these options: there is no failure to reduce`);
  const errors = found.filter(({ severity }) => severity === 'error');
  const chosen = errors.find((diagnosis) => code === undefined || diagnosis.code === code);
  if (chosen) return chosen;
  const others = [...new Set(errors.map((diagnosis) => diagnosis.code))].join(', ');
  throw new UserError(
    others === ''
      ? `the build fails, but its log names no error: ${built.manifest.error ?? 'failed'}`
      : `the build does not fail with ${code}; its errors are ${others}`,
  );
}

/** Ids of the nodes that break the rule. */
function brokenIn({ built, check }: PartTrial, model: string): string[] {
  if (built.manifest.result !== 'passed')
    throw new UserError(`${model} does not build, so no rule can be checked: reduce the failure without --until first`);
  if (!check?.judged) throw new UserError(`the rule cannot be judged: ${check?.message ?? 'no result'}`);
  if (check.verdict === 'passed')
    throw new UserError(`${model} keeps to the rule: ${check.message}. Give a rule that it breaks`);
  return check.nodes;
}

/** The scripts that a build of the Python driver runs: who gets the part has TensorRT, but not these. */
function driverFiles(command: readonly string[]): string[] {
  const script = command.find((argument) => isAbsolute(argument) && basename(argument) === 'build_engine.py');
  return script === undefined ? [] : [script, ...driverModules.map((name) => join(dirname(script), name))];
}

/** The command of a build as it can be run in the folder of the result, on another computer: programs by their names. */
function commandIn({ built }: PartTrial, folders: readonly string[]): string[] {
  const { command } = built.manifest;
  const scripts = driverFiles(command);
  const [program = '', ...args] = runByHand(command);
  const named = !isAbsolute(program) ? program : scripts.length > 0 ? 'python3' : basename(program);
  return [named, ...args].map((argument) =>
    scripts.includes(argument)
      ? basename(argument)
      : withoutFolders(Buffer.from(argument), folders)
          .toString()
          .replace(/\.partial$/, ''),
  );
}

/** Folders of the programs and files that a command names. */
const foldersIn = (command: readonly string[]): string[] =>
  command
    .map((argument) => argument.slice(argument.startsWith('-') ? argument.indexOf('=') + 1 : 0))
    .filter((path) => isAbsolute(path))
    .map((path) => dirname(path));

/** What the user asked for, less the file that a build would leave. */
function withoutEngine(options: BuildOptions): BuildOptions {
  const { engine: _, randomWeights: __, ...rest } = options;
  return rest;
}

/** What applies to any part of the model: not what names its tensors. */
function partOptions(options: BuildOptions): BuildOptions {
  const { outputs, debugTensors: _, ...rest } = withoutEngine(options);
  return outputs === 'all' ? { ...rest, outputs } : rest;
}
