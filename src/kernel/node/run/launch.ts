import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { EngineOptions } from '../../build/buildOptions.ts';
import { fill, launchedCommand, type Launcher, type LaunchPlaces, pathThere } from '../../build/launcher.ts';
import { externalPath } from '../files/externalFile.ts';
import type { BuildFilePaths } from './internal/buildFilePaths.ts';
import { ParsedFiles } from '../files/parsedFiles.ts';
import { runProcess } from '../tools/runProcess.ts';
import { stopIfCancelled, UserError } from '../files/userError.ts';
import { externalLocations } from '../files/writeModel.ts';
import { exists } from '../files/exists.ts';

/** Options that are paths of files which a build reads. */
const read = ['timingCache', 'calibrationCache'] as const;

/** One build's stay at the place where a launcher runs it: which file is where, and what is copied. */
export class Launch {
  readonly #launcher: Launcher;
  readonly #places: LaunchPlaces;
  /** Files that no path covers: path here to path there. */
  readonly #copied = new Map<string, string>();
  /** Of those that were copied one by one: when they were changed last. */
  readonly #sent = new Map<string, number>();
  /** Folder there for them. */
  readonly #folder: string | undefined;

  constructor(launcher: Launcher, folder: string, model: string, driver: string) {
    this.#launcher = launcher;
    this.#places = {
      id: `${basename(folder)}-${randomUUID().slice(0, 8)}`,
      // A container takes a relative path for the name of a volume.
      folder: resolve(folder),
      modelFolder: dirname(resolve(model)),
      driverFolder: dirname(resolve(driver)),
    };
    this.#folder = launcher.folder && fill(launcher.folder, { ...this.#places }).replace(/\/+$/, '');
  }

  /**
   * A file's path there.
   * @param inside its path inside the folder there, where it is copied
   * @throws {UserError} if the launcher neither covers nor copies it
   */
  there(path: string, inside = basename(path)): string {
    const here = resolve(path);
    const covered = pathThere(this.#launcher, this.#places, here);
    if (covered !== undefined) return covered;
    if (this.#folder === undefined)
      throw new UserError(
        `${here}: the launcher has no remote path for this file. Add its folder to "paths", or add a "folder" to copy it to.`,
      );
    const there = `${this.#folder}/${inside.replaceAll('\\', '/')}`;
    this.#copied.set(here, there);
    return there;
  }

  /** Options and files as they are called there; the model's weights come along. */
  async map(options: EngineOptions, files: BuildFilePaths): Promise<{ options: EngineOptions; files: BuildFilePaths }> {
    const mapped: EngineOptions = { ...options, model: this.there(options.model) };
    if (options.plugins) mapped.plugins = options.plugins.map((library) => this.there(library));
    for (const name of read) if (options[name] !== undefined) mapped[name] = this.there(options[name]);
    if (this.#copied.has(resolve(options.model)))
      for (const location of externalLocations((await new ParsedFiles().model(options.model)).value))
        this.there(await externalPath(dirname(resolve(options.model)), location), location);
    const there = { ...files };
    for (const [name, path] of Object.entries(files) as [keyof BuildFilePaths, string][])
      there[name] = this.there(path);
    return { options: mapped, files: there };
  }

  /** The command line here that runs a command there. */
  command(command: string[], environment?: Record<string, string>): string[] {
    return launchedCommand(this.#launcher, this.#places, command, environment);
  }

  /** The same for the build's own: when we are killed, the folder there goes with it. */
  buildCommand(command: string[], environment: Record<string, string>): string[] {
    const remove = this.#copied.size > 0 ? this.#folder : undefined;
    return launchedCommand(this.#launcher, this.#places, command, environment, remove);
  }

  /**
   * Copies what is there to read.
   * @throws {UserError} if that fails
   */
  async begin(signal: AbortSignal | undefined): Promise<void> {
    if (this.#copied.size === 0) return;
    const folders = new Set([...this.#copied.values()].map((there) => there.slice(0, there.lastIndexOf('/'))));
    await this.#run(this.command(['mkdir', '-p', ...folders]), signal);
    for (const [here, there] of this.#copied)
      if (await exists(here)) await this.#run(this.#copy('copyTo', here, there), signal);
  }

  /** Copies back what the build may have left, and removes the folder there. Never rejects. */
  async end(results: string[], signal: AbortSignal | undefined): Promise<void> {
    if (this.#copied.size === 0) return;
    if (!signal?.aborted)
      for (const here of results) {
        const there = this.#copied.get(resolve(here));
        // A build without a profile run leaves no profile: what is missing is told by who needs it.
        if (there !== undefined) await this.#run(this.#copy('copyBack', here, there), signal).catch(() => {});
      }
    // Also after a cancel, so not by its signal.
    await this.#run(this.command(['rm', '-rf', this.#folder!]), AbortSignal.timeout(20_000)).catch(() => {});
  }

  /** Copies one file there, unless a path covers it or it is there as it is now. @returns its path there */
  async send(path: string, inside?: string, signal?: AbortSignal): Promise<string> {
    const here = resolve(path);
    const there = this.there(here, inside);
    const found = await stat(here).catch(() => null);
    if (!this.#copied.has(here) || found === null || this.#sent.get(here) === found.mtimeMs) return there;
    if (this.#sent.size === 0) await this.#run(this.command(['mkdir', '-p', this.#folder!]), signal);
    await this.#run(this.#copy('copyTo', here, there), signal);
    this.#sent.set(here, found.mtimeMs);
    return there;
  }

  /** Copies one file back that was written there, unless a path covers it. */
  async fetch(path: string, signal?: AbortSignal): Promise<void> {
    const there = this.#copied.get(resolve(path));
    if (there !== undefined) await this.#run(this.#copy('copyBack', resolve(path), there), signal);
  }

  #copy(kind: 'copyTo' | 'copyBack', here: string, there: string): string[] {
    return this.#launcher[kind]!.map((one) => fill(one, { ...this.#places, here, there }));
  }

  async #run([program, ...args]: string[], signal: AbortSignal | undefined): Promise<void> {
    const lines: string[] = [];
    const keep = (line: string) => lines.push(line);
    const cwd = process.cwd();
    const end = await runProcess({
      program: program!,
      args,
      cwd,
      stdout: keep,
      stderr: keep,
      ...(signal && { signal }),
    });
    stopIfCancelled(signal);
    if (end.code !== 0)
      throw new UserError(`${program} ${args.join(' ').slice(0, 300)}: ${lines.at(-1) ?? `exit status ${end.code}`}`);
  }
}

/** A launcher's command line for a question that needs no files, such as `trtexec --help`. */
export const launchedQuestion = (
  launcher: Launcher,
  model: string,
  driver: string,
  command: string[],
  environment?: Record<string, string>,
): string[] => new Launch(launcher, dirname(resolve(model)), model, driver).command(command, environment);
