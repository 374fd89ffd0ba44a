import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import {
  arrayScript,
  kubernetesJob,
  kubernetesName,
  type Matrix,
  type MatrixJob,
  type MatrixTarget,
  pathThere,
  slurmScript,
} from '../../../../kernel/build/launcher.ts';
import {
  driverCommand,
  driverPrecisions,
  polygraphyCommand,
  trtexecCommand,
} from '../../../../kernel/build/buildCommand.ts';
import type { Backend, CommandLine, EngineOptions } from '../../../../kernel/build/buildOptions.ts';
import { quoteCommand } from '../../../../kernel/base/text.ts';
import { parseVersion } from '../../../../kernel/build/trtexecFlags.ts';
import { type Build, writeManifest } from '../../../../kernel/node/store/buildFolder.ts';
import { writeWhole } from '../../../../kernel/node/files/writeWhole.ts';
import { buildSteps } from '../../../../kernel/node/run/buildSteps.ts';
import { refusals } from '../../../../kernel/node/run/buildPlan.ts';
import { driverModules } from '../../../../kernel/node/files/driverModules.ts';
import { fillWeights } from '../../../../kernel/node/files/fillWeights.ts';
import { isGzip } from '../../../../kernel/node/files/fileSource.ts';
import { importBuild } from '../../../../kernel/node/run/importBuild.ts';
import { fileTrouble, UserError } from '../../../../kernel/node/files/userError.ts';
import { programFailure } from '../../../../kernel/build/buildManifest.ts';
import { errorText } from '../../../../kernel/base/problem.ts';
import { exists } from '../../../../kernel/node/files/exists.ts';
import { removeTree } from '../../../../kernel/node/files/persist.ts';

/** `jobs.json` of a target's folder: what its run.sh runs, in order. */
export interface ClusterJobs {
  schema: 1;
  target: string;
  jobs: {
    name: string;
    model: string;
    precision: string;
    backend: Backend;
    options: EngineOptions;
    command: string[];
  }[];
}

/** A target's part of a cluster folder, ready to be submitted. */
export interface ClusterTarget {
  name: string;
  folder: string;
  /** `job.sbatch` or `job.yaml` in it. */
  file: string;
  count: number;
}

/** One build of a cluster folder, after it was looked at. */
export interface Collected {
  name: string;
  job: ClusterJobs['jobs'][number];
  /** null: it has not ended. */
  build: Build | null;
  /** Why there is no build, as text for the user. */
  error: string | null;
}

/**
 * Writes what a cluster needs to run the builds: for each target a folder with run.sh, the job's file and a folder for
 * each build. Everything is decided here, so that the nodes need nothing but TensorRT. What builds left there is not
 * deleted.
 * @param base folder that the matrix' paths are relative to
 * @param out must be on a file system that the nodes share
 * @throws {UserError} if a build is not available on that target, a file is where the nodes do not see it, or builds
 * have begun in that folder
 */
export async function writeClusterFolder(
  matrix: Matrix,
  jobs: MatrixJob[],
  options: { base: string; out: string; kind: 'slurm' | 'kubernetes'; driver: string },
): Promise<ClusterTarget[]> {
  const { base, out, kind, driver } = options;
  const targets: ClusterTarget[] = [];
  const wanted = matrix.targets
    .map((target) => ({ target, own: jobs.filter((job) => job.target === target) }))
    .filter(({ own }) => own.length > 0);
  const folderOf = ({ name }: MatrixTarget) => join(resolve(out), name);
  for (const { target } of wanted) await refuseBegun(folderOf(target), out);
  for (const { target, own } of wanted) {
    const folder = folderOf(target);
    const place = new Place(matrix, folder, base, driver);
    const written: ClusterJobs = { schema: 1, target: target.name, jobs: [] };
    await claim(folder, written);
    for (const [index, job] of own.entries())
      // oxlint-disable-next-line no-await-in-loop -- each may write a copy of its model
      written.jobs.push(await place.write(job, index));
    const count = own.length;
    await put(join(folder, 'run.sh'), arrayScript(written.jobs.map(({ command }) => command)));
    await put(join(folder, jobsName), `${JSON.stringify(written, null, 2)}\n`);
    const file = join(folder, kind === 'slurm' ? 'job.sbatch' : 'job.yaml');
    if (kind === 'slurm') await put(file, slurmScript(target, count, matrix.concurrency));
    else await put(file, kubernetesText(matrix, target, place.there(join(folder, 'run.sh')), count));
    targets.push({ name: target.name, folder, file, count });
  }
  return targets;
}

const jobsName = 'jobs.json';

/** The folder must be new, or one that was written before and of which no build has begun. */
async function refuseBegun(folder: string, out: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw fileTrouble(folder, error);
  });
  if (names.length > 0 && !names.includes(jobsName))
    throw new UserError(`${folder} contains other files. Choose another folder`);
  for (const name of names) {
    if (!/^\d+$/.test(name) || !(await exists(join(folder, name, 'started')))) continue;
    const collect = quoteCommand(['trtlens', 'build', '--collect', out]);
    throw new UserError(
      `${folder}: builds have started there and cannot be overwritten. Choose another folder, or remove this one after they have finished and are collected (${collect})`,
    );
  }
}

/** Says whose the folder is before there is anything else in it. */
async function claim(folder: string, jobs: ClusterJobs): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw fileTrouble(folder, error);
  });
  if (!(await exists(join(folder, jobsName)))) await put(join(folder, jobsName), JSON.stringify(jobs));
}

/** JSON is YAML, so kubectl reads it as it is. */
function kubernetesText(
  { kubernetes, concurrency }: Matrix,
  target: MatrixTarget,
  script: string,
  count: number,
): string {
  if (!kubernetes) throw new UserError('The matrix has no "kubernetes". Add the volume claim that the nodes share.');
  if (!target.image)
    throw new UserError(`The target "${target.name}" has no "image". Add the container image to run in.`);
  const name = kubernetesName(target.name, randomBytes(4).toString('hex'), count);
  return `${JSON.stringify(kubernetesJob(name, target, kubernetes, script, count, concurrency), null, 2)}\n`;
}

class Place {
  readonly #matrix: Matrix;
  readonly #folder: string;
  readonly #base: string;
  readonly #driver: string;

  constructor(matrix: Matrix, folder: string, base: string, driver: string) {
    this.#matrix = matrix;
    this.#folder = folder;
    this.#base = base;
    this.#driver = driver;
  }

  there(path: string): string {
    const { paths } = this.#matrix;
    if (paths.length === 0) return path;
    const nowhere = { id: '', folder: '', modelFolder: '', driverFolder: '' };
    const there = pathThere({ command: [], paths }, nowhere, path);
    if (there === undefined)
      throw new UserError(`${path} is in none of the matrix's "paths", so the nodes cannot access it. Add its folder.`);
    return there;
  }

  async write(job: MatrixJob, index: number): Promise<ClusterJobs['jobs'][number]> {
    const { target, precision } = job;
    const folder = join(this.#folder, String(index));
    try {
      await removeTree(folder);
      await mkdir(folder, { recursive: true });
    } catch (error) {
      throw fileTrouble(folder, error);
    }
    const backend = target.backend === undefined || target.backend === 'auto' ? 'trtexec' : target.backend;
    const product = backend === 'rtx' ? 'tensorrt-rtx' : 'tensorrt';
    const version = target.tensorrt ?? null;
    if (version === null && backend !== 'rtx')
      throw new UserError(
        `The target "${target.name}" has no "tensorrt". Add its TensorRT version, which determines the flags.`,
      );
    const { randomWeights, ...engine } = job.options;
    const model = resolve(this.#base, job.model);
    const wanted: EngineOptions = { ...absolute(engine, this.#base), model, precision };
    const parsed = await this.#model(model, randomWeights ?? false);
    const applied = await buildSteps.applyOverrides(wanted, { product, version }, parsed, folder);
    const options = { ...wanted, ...applied.options };
    const { args, notes } = await this.#command(backend, options, applied.model, folder, version);
    const refused = refusals(notes);
    if (refused.length > 0) throw new UserError(`${job.name}: ${refused.join(' ')}`);
    const program = target.program ?? (backend === 'trtexec' || backend === 'polygraphy' ? backend : 'python3');
    const environment = Object.entries(options.environment ?? {}).map(([name, value]) => `${name}=${value}`);
    const command = [...(environment.length > 0 ? ['env', ...environment] : []), program, ...args];
    return { name: job.name, model, precision, backend, options: wanted, command };
  }

  async #model(model: string, randomWeights: boolean): Promise<string> {
    if (randomWeights) return fillWeights(model, dirname(this.#folder));
    if (await isGzip(model))
      throw new UserError(`${model} is gzip-compressed, which TensorRT cannot read. Unpack it first.`);
    return model;
  }

  async #command(
    backend: Backend,
    options: EngineOptions,
    model: string,
    folder: string,
    version: string | null,
  ): Promise<CommandLine> {
    const { timingCache, calibrationCache } = options;
    const there: EngineOptions = {
      ...options,
      model: this.there(model),
      ...(timingCache !== undefined && { timingCache: this.there(timingCache) }),
      ...(calibrationCache !== undefined && { calibrationCache: this.there(calibrationCache) }),
    };
    const file = (name: string) => this.there(join(folder, name));
    const files = { engine: file('model.engine'), layers: file('layers.json'), profile: file('profile.json') };
    if (backend === 'trtexec')
      return trtexecCommand(
        there,
        { ...files, times: file('times.json') },
        { version: parseVersion(version), flags: null },
      );
    if (backend === 'polygraphy')
      return polygraphyCommand(
        there,
        { ...files, times: file('times.json') },
        {
          tensorrt: parseVersion(version),
          product: 'tensorrt',
        },
      );
    const precisions = driverPrecisions(options);
    if (precisions) await put(join(folder, 'precisions.json'), JSON.stringify(precisions));
    const driver = join(this.#folder, basename(this.#driver));
    await copyFile(this.#driver, driver);
    for (const name of driverModules) await copyFile(join(dirname(this.#driver), name), join(this.#folder, name));
    const { args, notes } = driverCommand(
      there,
      { model: there.model, engine: files.engine, precisions: file('precisions.json') },
      { product: backend === 'rtx' ? 'tensorrt-rtx' : 'tensorrt' },
    );
    return { args: ['-B', this.there(driver), ...args], notes };
  }
}

/** Paths in a matrix are relative to its file. */
function absolute(options: Partial<EngineOptions>, base: string): Partial<EngineOptions> {
  const made = { ...options };
  for (const name of ['overrides', 'timingCache', 'calibrationCache'] as const)
    if (made[name] !== undefined && !isAbsolute(made[name])) made[name] = resolve(base, made[name]);
  return made;
}

/**
 * Takes the builds of a cluster folder that have ended into the history, each once.
 * @throws {UserError} if the folder is none that was written for a cluster
 */
export async function collectClusterFolder(folder: string, cache?: string): Promise<Collected[]> {
  let written: ClusterJobs;
  try {
    written = JSON.parse(await readFile(join(folder, jobsName), 'utf8')) as ClusterJobs;
    if (written.schema !== 1 || !Array.isArray(written.jobs)) throw new Error('the list of jobs is missing');
  } catch (error) {
    throw new UserError(`${join(folder, jobsName)}: cannot be read: ${errorText(error)}`);
  }
  const all: Collected[] = [];
  for (const [index, job] of written.jobs.entries())
    // oxlint-disable-next-line no-await-in-loop -- logs may be large: one after the other
    all.push(await collect(join(folder, String(index)), job, written.target, cache));
  return all;
}

async function collect(
  folder: string,
  job: ClusterJobs['jobs'][number],
  target: string,
  cache: string | undefined,
): Promise<Collected> {
  const text = (name: string) => readFile(join(folder, name), 'utf8').catch(() => undefined);
  const exit = await text('exit');
  const none = (error: string) => ({ name: job.name, job, build: null, error });
  if (exit === undefined) return none((await text('started')) === undefined ? 'not started' : 'running or interrupted');
  const before = await text('collected.json');
  if (before !== undefined) return { name: job.name, job, build: JSON.parse(before) as Build, error: null };
  const pieces = [];
  for (const name of ['build.log', 'layers.json', 'profile.json'])
    if (await text(name)) pieces.push({ file: join(folder, name) });
  const engine = join(folder, 'model.engine');
  const seconds = Number(await text('ended')) - Number(await text('started'));
  try {
    const build = await importBuild({
      model: job.model,
      pieces,
      ...(cache !== undefined && { cache }),
      known: {
        backend: job.backend,
        command: job.command,
        options: { ...flat(job.options), precision: job.precision, target },
        seconds,
      },
    });
    const { manifest } = build;
    const code = Number(exit);
    if (code !== 0 && manifest.result !== 'failed') {
      manifest.result = 'failed';
      const failure = programFailure(
        code === 127 ? 'no-program' : 'exited',
        `exited with ${code}${code === 127 ? ' (program not found)' : ''}`,
      );
      manifest.failure = failure;
      manifest.error = failure.message;
    } else if (code === 0 && manifest.result === 'passed') manifest.files.engine = engine;
    await writeManifest(build);
    await writeWhole(join(folder, 'collected.json'), JSON.stringify(build));
    return { name: job.name, job, build, error: null };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return none(`exited with ${exit.trim()}; ${error.message}`);
  }
}

/** What can be compared with other builds. */
const flat = (options: EngineOptions): Build['manifest']['options'] =>
  Object.fromEntries(
    Object.entries(options as unknown as Record<string, unknown>)
      .filter(([name]) => name !== 'model' && name !== 'environment')
      .map(([name, value]) => [
        name,
        typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
          ? value
          : JSON.stringify(value),
      ]),
  );

const put = (path: string, text: string): Promise<void> =>
  writeFile(path, text).catch((error: unknown) => {
    throw fileTrouble(path, error);
  });
