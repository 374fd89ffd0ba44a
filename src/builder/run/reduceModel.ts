import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { quoteCommand } from '../../core/build/quoteCommand.ts';
import type { Diagnosis, DiagnosisCode } from '../../core/diagnose/diagnosis.ts';
import { failsAlike, type Failure, failureOf } from '../../core/surgery/failure.ts';
import { pieceOf } from '../../core/surgery/pieceOf.ts';
import { reduceNodes } from '../../core/surgery/reduceNodes.ts';
import { cacheFolder } from '../files/cacheFolder.ts';
import { checkOutput, filesOfModel } from '../files/checkOutput.ts';
import { extractPiece } from '../files/extractPiece.ts';
import { openFile } from '../files/fileSource.ts';
import { fillWeights } from '../files/fillWeights.ts';
import { shell } from '../tools/shell.ts';
import { Cancelled, UserError } from '../userError.ts';
import { PartTrials, type PartTrial } from './partTrials.ts';
import type { BuildOptions } from './runBuild.ts';

export interface ReduceRequest {
  /** How to build, and the model. What names single tensors or files to write does not apply to its parts. */
  options: BuildOptions;
  /** Folder for the result; it is made if it is missing. */
  out: string;
  /** The failure to keep, where the build has several; if omitted, the first one. */
  code?: string | undefined;
  /** When to stop with the smallest part so far. */
  maxMinutes?: number | undefined;
}

/** The smallest part of a model that was found to fail alike. */
export interface ReducedModel {
  /** Nodes of the main graph: of the model, and of the part. */
  from: number;
  to: number;
  /** How many builds it took, the first and the last included. */
  builds: number;
  seconds: number;
  code: DiagnosisCode;
  /** Operator of the node that fails; null: the log names none. */
  operator: string | null;
  /** Path of the part; `build.log` and `command.txt` are next to it. */
  model: string;
  /** Outputs of the part whose type no one knows, such as those of unknown operators: they are declared as float. */
  assumed: string[];
  /** The time was up before everything was tried. */
  stopped: boolean;
}

/** Names in the folder of the result. */
const names = { model: 'model.onnx', log: 'build.log', command: 'command.txt' };

/**
 * Builds a model that fails, then parts of it, two at a time, until a part is left of which every node is needed for
 * the same failure. Parts are never run. Everything but the result is in a temporary folder that is removed at the end.
 * @param smaller called with the count of nodes whenever a smaller part fails alike
 * @throws {UserError} if the model builds, its log names no such error, or the result cannot be written
 * @throws {Cancelled} through `signal`
 */
export async function reduceModel(
  { options, out, code, maxMinutes }: ReduceRequest,
  smaller: (nodes: number) => void = () => {},
  signal?: AbortSignal,
): Promise<ReducedModel> {
  const begun = Date.now();
  const [model, log, command] = [names.model, names.log, names.command].map((name) => join(out, name)) as [
    string,
    string,
    string,
  ];
  const used = await filesOfModel(options.model);
  for (const path of [model, log, command]) await checkOutput(path, used);
  const parent = join(options.cache ?? cacheFolder(), 'reduce');
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, 'try-'));
  const path = options.randomWeights ? await fillWeights(options.model, options.cache, signal) : resolve(options.model);
  const source = await openFile(path);
  try {
    const trials = await PartTrials.begin({ ...partOptions(options), model: path }, source, folder);
    const { graph } = trials;
    const first = await trials.build({ ...withoutEngine(options), model: path }, signal);
    const cause = causeIn(first, options.model, code);
    const failure = failureOf(cause, graph.model);
    const all = graph.nodes.flatMap((_, index) => (graph.owner[index]! < 0 ? [index] : []));
    const limits = [signal, maxMinutes === undefined ? undefined : AbortSignal.timeout(maxMinutes * 60_000)];
    const limit = AbortSignal.any(limits.filter((one) => one !== undefined));
    const { best, done } = await search(trials, failure, cause.nodes, smaller, limit);
    if (signal?.aborted) throw new Cancelled();
    const piece = pieceOf(graph, best ?? all, null);
    const { inputs, outputs } = await extractPiece({
      path,
      pick: () => piece,
      out: model,
      known: trials.assumed,
      signal,
    });
    const last = await trials.build(trials.optionsFor(resolve(model), inputs), signal, log);
    if (!failsAlike(failure, last.found, last.model))
      throw new UserError(`${model} failed once, but not when it was built again: the failure comes and goes`);
    await writeFile(command, `${quoteCommand(commandIn(out, last), shell)}\n`);
    return {
      from: all.length,
      to: piece.nodes.length,
      builds: trials.builds,
      seconds: (Date.now() - begun) / 1000,
      code: failure.code,
      operator: failure.operator,
      model,
      assumed: outputs.flatMap(({ name }) => (trials.assumed.has(name) ? [name] : [])),
      stopped: !done,
    };
  } finally {
    await source.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs the search until it or the time ends. `best`: null if only the whole model fails. */
async function search(
  trials: PartTrials,
  failure: Failure,
  named: readonly string[],
  smaller: (nodes: number) => void,
  limit: AbortSignal,
): Promise<{ best: number[] | null; done: boolean }> {
  const reduction = reduceNodes(trials.graph, named);
  let best: number[] | null = null;
  for (let step = reduction.next(); ;) {
    if (step.done) return { best: best && step.value, done: true };
    const asked = step.value.map((nodes) => trials.fails(failure, nodes, limit));
    // All have ended before anything is removed.
    await Promise.allSettled(asked);
    if (limit.aborted) return { best, done: false };
    const answers = await Promise.all(asked);
    const found = answers.indexOf(true);
    if (found >= 0) {
      best = step.value[found]!;
      smaller(best.length);
    }
    step = reduction.next(answers);
  }
}

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

/** The command of a build as it can be run in the folder of the result. */
const commandIn = (out: string, { built }: PartTrial): string[] =>
  built.manifest.command.map((argument) =>
    [built.folder, resolve(out)]
      .reduce((text, folder) => text.replaceAll(`${folder}${sep}`, ''), argument)
      .replace(/\.partial$/, ''),
  );

/** What the user asked for, less the file that a build would leave. */
function withoutEngine(options: BuildOptions): BuildOptions {
  const { engine: _, randomWeights: __, ...rest } = options;
  return rest;
}

/** What applies to any part of the model. */
function partOptions(options: BuildOptions): BuildOptions {
  const { outputs: _, debugTensors: __, ...rest } = withoutEngine(options);
  return rest;
}
