import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Build } from '../../builder/store/buildFolder.ts';
import { listBuilds } from '../../builder/store/buildHistory.ts';
import { readBuildOverrides } from '../../builder/store/overridesRecord.ts';
import type { BuildOverrides } from '../../builder/store/overridesRecord.ts';
import { readWhole } from '../../builder/files/fileSource.ts';
import { readBuildReport } from '../../builder/store/readBuild.ts';
import type { BuildLog } from '../../core/engine/buildLog.ts';
import { readModel } from '../../core/onnx/readModel.ts';
import { buildFacts, flagsOfCommand } from '../../core/precision/check/buildFacts.ts';
import type { BuildFacts } from '../../core/precision/check/buildFacts.ts';
import { modelFacts } from '../../core/precision/plan/modelFacts.ts';
import type { ModelFacts } from '../../core/precision/plan/modelFacts.ts';
import { readMismatches } from '../../core/replay/readMismatches.ts';
import type { ReplayMismatch } from '../../core/replay/readMismatches.ts';
import { openSource } from '../platform/modelSource.ts';
import { errorText } from '../../core/text/errorText.ts';
import { nameOf } from '../platform/nameOf.ts';

/** What is known of a model and its builds, as the language server needs it. */
export interface KnownFacts {
  model: ModelFacts | null;
  /** Why there is no model, in words; '' when there is one. */
  problem: string;
  /** The newest build that passed, where it is one of this very model. */
  build: BuildFacts | null;
  log: BuildLog | null;
  /** The override rules that this build was made with; null: none, or not known. */
  overrides: BuildOverrides | null;
  /** The newest build that ended, well or not: a replay that failed is told by its log. */
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

  constructor(log: vscode.LogOutputChannel) {
    this.#log = log;
  }

  async read(uri: vscode.Uri): Promise<KnownFacts> {
    const builds = uri.scheme === 'file' ? await listBuilds(uri.fsPath) : [];
    const ended = builds.filter(({ manifest }) => manifest.result !== 'running');
    const status = await vscode.workspace.fs.stat(uri).then(
      ({ mtime, size }) => `${mtime} ${size}`,
      () => 'gone',
    );
    const stamp = [status, ...ended.map(({ manifest }) => manifest.id)].join('\n');
    const known = this.#known.get(uri.toString());
    if (known?.stamp === stamp) return known.facts;
    const facts = this.#read(uri, ended);
    this.#known.set(uri.toString(), { stamp, facts });
    return facts;
  }

  /** Forgets a model that nobody asks for any more. */
  forget(uri: vscode.Uri): void {
    this.#known.delete(uri.toString());
  }

  async #read(uri: vscode.Uri, builds: Build[]): Promise<KnownFacts> {
    const newest = builds[0] ?? null;
    const passed = builds.find(({ manifest }) => manifest.result === 'passed');
    const [model, built, mismatches] = await Promise.all([
      this.#model(uri),
      passed ? this.#build(uri, passed) : null,
      newest ? this.#mismatches(newest) : [],
    ]);
    const fits = built !== null && model.model !== null && built.build.nodes.length === model.model.nodes.length;
    return {
      ...model,
      build: fits ? built.build : null,
      log: fits ? built.log : null,
      overrides: fits ? built.overrides : null,
      newest,
      mismatches,
      builds,
    };
  }

  async #model(uri: vscode.Uri): Promise<{ model: ModelFacts | null; problem: string }> {
    const file = nameOf(uri);
    try {
      const source = await openSource(uri);
      try {
        const { value, problems } = await readModel(source);
        if (value !== undefined && value.nodes.length > 0) return { model: modelFacts(value, file), problem: '' };
        const reason = problems[0]?.message ?? 'nothing in it can be read';
        return { model: null, problem: `${file} cannot be read: ${reason}` };
      } finally {
        await source.close();
      }
    } catch (error) {
      return { model: null, problem: `${file} cannot be read: ${errorText(error)}` };
    }
  }

  async #build(
    uri: vscode.Uri,
    build: Build,
  ): Promise<{ build: BuildFacts; log: BuildLog | null; overrides: BuildOverrides | null } | null> {
    try {
      const [{ report, log, layers }, overrides] = await Promise.all([
        readBuildReport(build, uri.fsPath),
        readBuildOverrides(build.folder),
      ]);
      const flags = flagsOfCommand(build.manifest.command) ?? undefined;
      const facts = buildFacts(report, log ?? null, layers ?? null, flags);
      facts.gpu ??= build.manifest.gpu;
      if (overrides?.declared) facts.declared = overrides.declared;
      return { build: facts, log: log ?? null, overrides };
    } catch (error) {
      // The views say so where they show the build; here less is known, that is all.
      this.#log.warn(`Build ${build.manifest.id} of ${uri.toString(true)} cannot be read: ${errorText(error)}`);
      return null;
    }
  }

  async #mismatches({ folder, manifest }: Build): Promise<ReplayMismatch[]> {
    if (manifest.files.log === null) return [];
    try {
      const path = join(folder, manifest.files.log);
      if ((await stat(path)).size > longestLog) return [];
      return readMismatches(new TextDecoder().decode(await readWhole(path)));
    } catch {
      return [];
    }
  }
}
