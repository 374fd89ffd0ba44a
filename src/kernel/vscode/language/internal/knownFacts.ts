import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Build } from '../../../node/store/buildFolder.ts';
import { listBuilds } from '../../../node/store/buildHistory.ts';
import { readWhole } from '../../../node/files/fileSource.ts';
import type { ParsedFiles } from '../../../node/files/parsedFiles.ts';
import type { BuildLog } from '../../../read/tensorrt/buildOutput.ts';
import type { BuildFacts, ModelFacts } from '../../../rules/buildFacts.ts';
import type { ReplayMismatch } from '../../../read/replay/readReplay.ts';
import { originOf } from '../../platform/modelSource.ts';
import { errorText } from '../../../base/problem.ts';
import { nameOf } from '../../platform/nameOf.ts';
import { isFileUri } from '../../platform/fileUri.ts';
import type { ChosenProfile } from '../../workspace/session.ts';

/** What is known of a model and its builds, as the language server needs it. */
export interface KnownFacts {
  model: ModelFacts | null;
  /** Why there is no model, as text for the user; '' if there is one. */
  problem: string;
  /** The newest build that passed, where it is one of this very model. */
  build: BuildFacts | null;
  log: BuildLog | null;
  /** The newest build that ended, well or not: a replay that failed is recognized by its log. */
  newest: Build | null;
  mismatches: ReplayMismatch[];
  builds: Build[];
}

/** Logs beyond this are not searched for a replay's errors: those of failed replays are short. */
const longestLog = 64 * 2 ** 20;

/** Reads a model and its builds; the same ones are read once. Never rejects: what is wrong is a `problem`. */
export class FactsReader {
  readonly #known = new Map<string, { stamp: string; facts: Promise<KnownFacts> }>();
  readonly #log: vscode.LogOutputChannel;
  readonly files: ParsedFiles;

  constructor(log: vscode.LogOutputChannel, files: ParsedFiles) {
    this.#log = log;
    this.files = files;
  }

  /** @param profile the optimization profile that is shown of the model's build; null: the first */
  async read(uri: vscode.Uri, profile: ChosenProfile | null = null): Promise<KnownFacts> {
    const builds = isFileUri(uri) ? await listBuilds(uri.fsPath) : [];
    const ended = builds.filter(({ manifest }) => manifest.result !== 'running');
    const status = await vscode.workspace.fs.stat(uri).then(
      ({ mtime, size }) => `${mtime} ${size}`,
      () => 'gone',
    );
    const stamp = [status, `${profile?.build} ${profile?.number}`, ...ended.map(({ manifest }) => manifest.id)].join(
      '\n',
    );
    const known = this.#known.get(uri.toString());
    if (known?.stamp === stamp) return known.facts;
    const facts = this.#read(uri, ended, profile);
    this.#known.set(uri.toString(), { stamp, facts });
    return facts;
  }

  /** Forgets a model that no one asks for any more. */
  forget(uri: vscode.Uri): void {
    this.#known.delete(uri.toString());
  }

  async #read(uri: vscode.Uri, builds: Build[], profile: ChosenProfile | null): Promise<KnownFacts> {
    const newest = builds[0] ?? null;
    const passed = builds.find(({ manifest }) => manifest.result === 'passed');
    const [model, built, mismatches] = await Promise.all([
      this.#model(uri),
      passed ? this.#build(uri, passed, profile) : null,
      newest ? this.#mismatches(newest) : [],
    ]);
    const fits = built !== null && built.build?.nodes.length === model.model?.nodes.length;
    return {
      ...model,
      build: fits ? built.build : null,
      log: fits ? built.log : null,
      newest,
      mismatches,
      builds,
    };
  }

  async #model(uri: vscode.Uri): Promise<{ model: ModelFacts | null; problem: string }> {
    const file = nameOf(uri);
    try {
      const origin = originOf(uri);
      const { value, problems } = await this.files.readModel(origin);
      if (value !== undefined && value.nodes.length > 0)
        return { model: (await this.files.indexed(origin)).facts, problem: '' };
      const reason = problems[0]?.message ?? 'the file cannot be parsed';
      return { model: null, problem: `${file} cannot be read: ${reason}` };
    } catch (error) {
      return { model: null, problem: `${file} cannot be read: ${errorText(error)}` };
    }
  }

  async #build(
    uri: vscode.Uri,
    build: Build,
    profile: ChosenProfile | null,
  ): Promise<Pick<KnownFacts, 'build' | 'log'> | null> {
    try {
      const [{ loadBuild }, { buildFactsOf }] = await Promise.all([
        import('../../../node/store/loadBuild.ts'),
        import('../../../node/store/buildFactsOf.ts'),
      ]);
      const optimizationProfile = profile?.build === build.manifest.id ? profile.number : undefined;
      const read = await loadBuild(build, { onnx: uri.fsPath, files: this.files, optimizationProfile });
      return { build: buildFactsOf(read), log: read.log };
    } catch (error) {
      // The views report it with the build; here it only means that less is known.
      this.#log.warn(`Build ${build.manifest.id} of ${uri.toString(true)} cannot be read: ${errorText(error)}`);
      return null;
    }
  }

  async #mismatches({ folder, manifest }: Build): Promise<ReplayMismatch[]> {
    if (manifest.files.log === null || manifest.result === 'passed') return [];
    try {
      const path = join(folder, manifest.files.log);
      if ((await stat(path)).size > longestLog) return [];
      const { readMismatches } = await import('../../../read/replay/readReplay.ts');
      return readMismatches(new TextDecoder().decode(await readWhole(path)));
    } catch {
      return [];
    }
  }
}
