import {
  candidatesFor,
  costOf,
  rankTried,
  reachesGoal,
  readGoal,
  type Candidate,
  type SearchGoal,
  type SearchKind,
  type Tried,
} from '../searchChange.ts';
import { similarText } from '../../../kernel/base/text.ts';
import { basename, join } from 'node:path';
import type { DiffSide } from '../../../kernel/report/buildDiff.ts';
import { diffReports } from '../../diff/diffReports.ts';
import { compileGlob, matchesGlob } from '../../../kernel/rules/resolveOverrides.ts';
import { networkOf } from '../../../kernel/network/network.ts';
import { cacheFolder } from '../../../kernel/node/files/cacheFolder.ts';
import { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { requireBuild } from '../../../kernel/node/store/buildFolder.ts';
import { type BuildSide, readBuildSide } from '../../../kernel/node/store/buildSide.ts';
import { builtModel, linkedModel } from '../../surgery/node/linkedModel.ts';
import { writeChanged } from '../../surgery/node/writeChanged.ts';
import { Cancelled, UserError } from '../../../kernel/node/files/userError.ts';
import { type BuildOptions, runBuild } from '../../../kernel/node/run/runBuild.ts';
import { linkOrCopy, removeTree } from '../../../kernel/node/files/persist.ts';
import { temporaryFolder, writeWhole } from '../../../kernel/node/files/writeWhole.ts';

export interface SearchRequest {
  /** How to build, and the model as it is. */
  options: BuildOptions;
  /** What to reach. */
  kind: SearchKind;
  /** Ids of nodes, several with commas, or patterns of names. */
  nodes: readonly string[];
  /** Folder of a build of the model as it is; if omitted, it is built first. */
  base?: string | undefined;
  /** As many changes are built at most. */
  maxBuilds: number;
  /** When to stop with what was found so far. */
  maxSeconds?: number | undefined;
  /** A search that is cancelled gives what it has tried, if anything. */
  keepsTried?: boolean;
}

/** The changes that were tried. */
export interface SearchResult {
  /** What built them: the result is about this version only. */
  tensorrt: Pick<DiffSide, 'product' | 'version'>;
  goal: { kind: SearchKind; nodes: string[]; before: string };
  /** The best first. */
  tried: Tried[];
  /** What was tried, by its result. */
  candidates: ReadonlyMap<Tried, Candidate>;
  /** Changes that were not tried, because time or builds were used up. */
  left: number;
  /** How many builds it took, that of the model as it is included. */
  builds: number;
  seconds: number;
}

/** Two builds at a time: more would only share the cores. */
const atOnce = 2;

/**
 * Looks for a change of a model that reaches a goal: builds it with each candidate and ranks them by what they cost.
 * Everything is in a temporary folder that is removed at the end.
 * @param progress called before each build with how many are done and how many there are
 * @throws {UserError} if the goal makes no sense for this model, or the model as it is does not build
 * @throws {Cancelled} through `signal`, unless what was tried until then is kept
 */
export async function searchChange(
  request: SearchRequest,
  progress: (done: number, of: number, reached: number) => void = () => {},
  signal?: AbortSignal,
): Promise<SearchResult> {
  const parent = join(request.options.cache ?? cacheFolder(), 'what-if');
  const folder = await temporaryFolder(parent, 'try-');
  try {
    return await search(request, folder, progress, signal);
  } finally {
    await removeTree(folder);
  }
}

async function search(
  { options, kind, nodes, base, maxBuilds, maxSeconds, keepsTried }: SearchRequest,
  folder: string,
  progress: (done: number, of: number, reached: number) => void,
  signal: AbortSignal | undefined,
): Promise<SearchResult> {
  const begun = Date.now();
  const { randomWeights: _, engine: __, ...rest } = options;
  const path = await builtModel(options, signal);
  const files = new ParsedFiles();
  const built =
    base === undefined
      ? await runBuild({ ...rest, model: path, folder: join(folder, 'base') }, {}, signal)
      : await requireBuild(base);
  if (built.manifest.result === 'cancelled') throw new Cancelled();
  if (built.manifest.result !== 'passed')
    throw new UserError(`the model as it is does not build: ${built.manifest.error ?? built.manifest.result}`);
  const before = withNetwork(await readBuildSide(built.folder, base === undefined ? path : options.model, files));
  const goal = readGoal(kind, chosenNodes(before, nodes), before);
  if ('reason' in goal) throw new UserError(goal.reason);
  const graph = networkOf((await files.model(path, { spans: true })).value);
  const candidates = candidatesFor(goal, before, {
    graph,
    inferred: graph.inferred,
    profiles: options.profiles ?? [],
    precision: options.precision,
    hasRules: options.overrides !== undefined,
  });
  const linked = await linkedModel(path, folder, files);
  const limits = [signal, maxSeconds === undefined ? undefined : AbortSignal.timeout(maxSeconds * 1000)];
  const limit = AbortSignal.any(limits.filter((one) => one !== undefined));
  const trials = new Trials({ ...rest, model: linked }, folder, { goal, before }, files);
  const queue = candidates.slice(0, maxBuilds).entries();
  const tried: (Tried | undefined)[] = [];
  const work = async () => {
    for (const [place, candidate] of queue) {
      const known = tried.filter((one) => one !== undefined);
      progress(known.length, Math.min(maxBuilds, candidates.length), known.filter(({ reached }) => reached).length);
      // oxlint-disable-next-line no-await-in-loop -- as many at a time as there are workers
      const result = await trials.run(candidate, place, limit);
      if (limit.aborted) return;
      tried[place] = result;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const done = tried.filter((one) => one !== undefined);
  if (signal?.aborted && !(keepsTried && done.length > 0)) throw new Cancelled();
  const { product, version } = before.report.tensorrt;
  return {
    tensorrt: { product, version },
    goal: { kind, nodes: goal.nodes.map((node) => before.report.nodes[node]!.id), before: goal.before },
    tried: rankTried(done),
    candidates: new Map(tried.flatMap((one, place) => (one ? [[one, candidates[place]!] as const] : []))),
    left: candidates.length - done.length,
    builds: trials.builds + (base === undefined ? 1 : 0),
    seconds: (Date.now() - begun) / 1000,
  };
}

type KnownSide = BuildSide & { network: NonNullable<BuildSide['network']> };

function withNetwork(side: BuildSide): KnownSide {
  if (!side.network) throw new UserError(`${side.source} is a report without its model`);
  return { ...side, network: side.network };
}

/** Positions in the report of what the user names. */
function chosenNodes({ report }: KnownSide, wanted: readonly string[]): number[] {
  const position = new Map(report.nodes.map(({ id }, index) => [id, index]));
  return wanted.flatMap((text) => {
    const ids = text.split(',').map((id) => id.trim());
    if (ids.every((id) => position.has(id))) return ids.map((id) => position.get(id)!);
    const glob = compileGlob(text);
    const found = report.nodes.flatMap(({ name }, index) => (matchesGlob(glob, name) ? [index] : []));
    if (found.length === 0) {
      const names = report.nodes.flatMap(({ name }) => name || []);
      throw new UserError(`no node has the id or matches the name ${text}${similarText(text, names)}`);
    }
    return found;
  });
}

/** Builds candidates, each with a model of its own, so that they need not wait for one another. */
class Trials {
  builds = 0;
  readonly #options: BuildOptions;
  readonly #folder: string;
  readonly #search: { goal: SearchGoal; before: KnownSide };
  readonly #files: ParsedFiles;

  constructor(
    options: BuildOptions,
    folder: string,
    search: { goal: SearchGoal; before: KnownSide },
    files: ParsedFiles,
  ) {
    this.#options = options;
    this.#folder = folder;
    this.#search = search;
    this.#files = files;
  }

  async run(candidate: Candidate, place: number, signal: AbortSignal): Promise<Tried> {
    const { option, values, results, change, rules, profiles } = candidate;
    const tried = { option, values, results, kernels: null, reformats: null, ms: null };
    const model = join(this.#folder, `trtlens-try-${place}.onnx`);
    try {
      if (change) await writeChanged(this.#options.model, change, model, this.#files, signal);
      else await linkOrCopy(this.#options.model, model);
      const overrides = `${model}.trtprec`;
      if (rules !== undefined) await writeWhole(overrides, `${rules}\n`);
      this.builds += 1;
      const after = await runBuild(
        {
          ...this.#options,
          ...(rules !== undefined && { overrides }),
          ...(profiles && { profiles }),
          model,
          folder: join(this.#folder, `build-${place}`),
        },
        {},
        signal,
      );
      if (after.manifest.result !== 'passed')
        return { ...tried, reached: null, why: after.manifest.error ?? after.manifest.result };
      const side = withNetwork(await readBuildSide(after.folder, model, new ParsedFiles()));
      const reached = reachesGoal(this.#search.goal, this.#search.before, side);
      const why = reached === null ? 'this build does not list the kernels inside its ForeignNodes' : null;
      return { ...tried, reached, why, ...costOf(diffReports(this.#search.before, side)) };
    } catch (error) {
      // The change is not possible here, or this back-end cannot build it.
      if (error instanceof UserError) return { ...tried, reached: null, why: withoutFolder(error.message, model) };
      throw error;
    } finally {
      await removeTree(model);
      await removeTree(join(this.#folder, `build-${place}`));
    }
  }
}

const withoutFolder = (message: string, model: string): string =>
  message.replaceAll(model, basename(model)).replace(/^trtlens-try-\d+\.onnx(?:\.trtprec)?[:\d]*: /, '');
