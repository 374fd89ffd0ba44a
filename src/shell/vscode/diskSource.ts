import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import type { ParsedFiles } from '../../kernel/node/files/parsedFiles.ts';
import { requestedPrecisions } from '../../kernel/node/store/buildFactsOf.ts';
import type { Build } from '../../kernel/node/store/buildFolder.ts';
import { buildHints } from '../../kernel/build/buildManifest.ts';
import { listBuilds } from '../../kernel/node/store/buildHistory.ts';
import { realizedPrecision } from '../../kernel/node/store/realizedPrecision.ts';
import { modelChanged } from '../../kernel/node/store/modelChanged.ts';
import { engineFilesOf, filesNearModel } from '../../kernel/node/store/engineFiles.ts';
import { loadEngine, toEngineView } from '../../kernel/node/store/loadEngine.ts';
import { loadBuild } from '../../kernel/node/store/loadBuild.ts';
import { quantizationOf } from '../../features/quantization/node/readQuantization.ts';
import { buildState, engineState, failureReason } from '../../kernel/build/diagnosis.ts';
import type { Quantization } from '../../kernel/quantization/quantization.ts';
import { type GraphData, toGraphData } from '../../kernel/picture/graph/viewData.ts';
import { typedGraph } from '../../kernel/picture/page/selectionText.ts';
import { errorText, type Problem } from '../../kernel/base/problem.ts';
import { diagnoseBuild, failureIn } from '../../kernel/vscode/builds/diagnoseBuild.ts';
import { isModelFile } from '../../kernel/vscode/platform/modelFile.ts';
import { originOf } from '../../kernel/vscode/platform/modelSource.ts';
import type { ChosenProfile, LoadedModel, ShownBuild } from '../../kernel/vscode/workspace/session.ts';
import type { SessionSource } from '../../kernel/vscode/workspace/sessions.ts';
import { isSamePath } from '../../kernel/node/files/pathKey.ts';
import { isFileUri } from '../../kernel/vscode/platform/fileUri.ts';

/** Reads models from any file system of the editor, and their builds from this computer's disk. */
export class DiskSource implements SessionSource {
  readonly #log: vscode.LogOutputChannel;
  readonly #files: ParsedFiles;

  constructor(log: vscode.LogOutputChannel, files: ParsedFiles) {
    this.#log = log;
    this.#files = files;
  }

  async readModel(uri: vscode.Uri, profile: ChosenProfile | null): Promise<LoadedModel> {
    const started = Date.now();
    if (isFileUri(uri) && !isModelFile(uri)) return this.#readEngine(uri, profile?.number);
    try {
      const { value, problems } = await this.#files.readModel(originOf(uri));
      const error = problems.find(({ severity }) => severity === 'error');
      this.#log.debug(`Read ${uri.toString(true)} in ${Date.now() - started} ms`);
      if (value === undefined || (value.nodes.length === 0 && error !== undefined)) {
        return unreadable(error === undefined ? 'the file cannot be parsed' : describe(error));
      }
      const graph = toGraphData(value);
      let typed: GraphData | undefined;
      return {
        graph,
        typed: () => (typed ??= typedGraph(graph, value)),
        problem: '',
        hints: problems.map(describe),
      };
    } catch (error) {
      return unreadable(errorText(error));
    }
  }

  /** Layer info, a log or a profile: the graph of the engine. */
  async #readEngine(uri: vscode.Uri, optimizationProfile: number | undefined): Promise<LoadedModel> {
    try {
      const given = await engineFilesOf(uri.fsPath, this.#files);
      const { graph, report } = toEngineView(await loadEngine({ ...given, optimizationProfile }, this.#files));
      const lists = report !== null && report.layers.length > 0;
      const failure = lists || given.log === undefined ? undefined : await failureIn(given.log, this.#files);
      if (report === null || !(lists || failure))
        return unreadable(
          report?.problems.find(({ severity }) => severity === 'error')?.message ?? 'it lists no layers',
        );
      const others = Object.values(given).flatMap((path) =>
        typeof path === 'string' && !isSamePath(path, uri.fsPath) ? [basename(path)] : [],
      );
      const news = report.problems.filter(({ code }) => code !== 'no-model' && !(failure && code === 'no-layers'));
      const engine = { report, state: engineState(others, failure, report.optimizationProfile) };
      return { graph, engine, problem: '', hints: news.map(describe) };
    } catch (error) {
      return unreadable(errorText(error));
    }
  }

  async readNewestBuild(uri: vscode.Uri, id: string | null, profile: ChosenProfile | null): Promise<ShownBuild | null> {
    if (!isFileUri(uri) || !isModelFile(uri)) return null;
    try {
      const builds = await listBuilds(uri.fsPath);
      const ended = builds.filter(({ manifest }) => manifest.result !== 'running');
      const [newest] = ended;
      if (newest === undefined) return null;
      const chosen = ended.find(({ manifest }) => manifest.id === id);
      if (chosen !== undefined)
        return await this.#withState(uri, await this.#chosen(uri, chosen, chosen === newest, profile), chosen);
      const passed = ended.find(({ manifest }) => manifest.result === 'passed');
      if (passed === undefined) return await this.#withState(uri, withoutReport(newest, outcome(newest)), newest);
      const later = passed === newest ? '' : `${outcome(newest)} The newest successful build is shown.`;
      return await this.#withState(uri, await this.#report(uri, passed, later, profile), newest);
    } catch (error) {
      this.#log.error(`Builds of ${uri.toString(true)} cannot be read: ${errorText(error)}`);
      return null;
    }
  }

  async readNear(uri: vscode.Uri): Promise<readonly string[]> {
    if (uri.scheme !== 'file' || !isModelFile(uri)) return [];
    try {
      return await filesNearModel(uri.fsPath, this.#files);
    } catch (error) {
      this.#log.error(`The files next to ${uri.toString(true)} cannot be read: ${errorText(error)}`);
      return [];
    }
  }

  async readQuantization(
    uri: vscode.Uri,
    { graph, report, cache }: Parameters<SessionSource['readQuantization']>[1],
  ): Promise<Quantization | null> {
    const quantized = graph?.nodes.some(({ op }) => op === 'QuantizeLinear' || op === 'DequantizeLinear') ?? false;
    if (!isFileUri(uri) || !isModelFile(uri) || graph === null || !(quantized || cache !== null)) return null;
    try {
      const { value: model } = await this.#files.model(originOf(uri));
      return await quantizationOf(uri.fsPath, model, { cache, report });
    } catch (error) {
      this.#log.error(`The quantization of ${uri.toString(true)} cannot be read: ${errorText(error)}`);
      return null;
    }
  }

  /** A build that someone asked for is shown as far as it got. */
  async #chosen(uri: vscode.Uri, build: Build, newest: boolean, profile: ChosenProfile | null): Promise<ShownBuild> {
    const { files, result } = build.manifest;
    const failed = result === 'passed' ? '' : outcome(build, newest);
    if (files.log === null && files.layers === null) return withoutReport(build, failed);
    const loaded = await this.#report(uri, build, failed, profile);
    // A log that ends while the model is parsed says nothing about layers: no picture is better than an empty one.
    return result !== 'passed' && loaded.report?.layers.length === 0 ? { ...loaded, report: null } : loaded;
  }

  /** Adds how the builds stand: `last` is the newest, or the one that the user chose. */
  async #withState(uri: vscode.Uri, shown: ShownBuild, last: Build): Promise<ShownBuild> {
    const passed = last.manifest.result === 'passed';
    const unsuccessful = passed ? null : { manifest: last.manifest, found: await diagnoseBuild(last, this.#files) };
    const pictured = shown.report === null ? null : shown.build;
    const changed = pictured !== null && (await modelChanged(uri.fsPath, pictured, this.#files));
    return {
      ...shown,
      state: buildState({
        unsuccessful,
        pictured,
        changed,
        optimizationProfile: shown.report?.optimizationProfile,
      }),
      unsuccessful: passed ? null : last,
    };
  }

  async #report(uri: vscode.Uri, build: Build, later: string, profile: ChosenProfile | null): Promise<ShownBuild> {
    const started = Date.now();
    try {
      const optimizationProfile = profile?.build === build.manifest.id ? profile.number : undefined;
      const read = await loadBuild(build, { onnx: uri.fsPath, files: this.#files, optimizationProfile });
      const { report } = read;
      this.#log.debug(`Report of build ${build.manifest.id} in ${Date.now() - started} ms`);
      const hints = [...buildHints(build.manifest), ...report.problems.map(describe)];
      const precision = realizedPrecision(read);
      return { ...withoutReport(build, later), report, hints, asked: requestedPrecisions(read), precision };
    } catch (error) {
      // The model itself says why it cannot be read; here it is the build's files that may be gone.
      return withoutReport(build, `The newest build cannot be shown: ${errorText(error)}`);
    }
  }
}

const unreadable = (problem: string): LoadedModel => ({ graph: null, problem, hints: [] });

const withoutReport = ({ folder, manifest }: Build, problem: string): ShownBuild => ({
  build: manifest,
  report: null,
  problem,
  hints: [],
  asked: [],
  precision: null,
  log: manifest.files.log === null ? null : join(folder, manifest.files.log),
  state: { notices: [], faults: [], line: null },
  unsuccessful: null,
});

function outcome({ manifest }: Build, newest = true): string {
  const { result, origin } = manifest;
  const build = newest ? 'newest build' : 'build';
  const one = newest ? `The ${build}` : 'This build';
  if (result !== 'cancelled') return `${one} failed: ${failureReason(manifest) ?? 'see the log for the reason.'}`;
  return origin === 'imported' ? `The log of the ${build} is incomplete.` : `${one} was cancelled.`;
}

/** What is wrong, and where in which file. */
function describe({ message, offset, node, file, line }: Problem): string {
  const place = [
    file === undefined ? '' : line === undefined ? file : `${file}:${line}`,
    offset === undefined ? '' : `byte ${offset}`,
    node === undefined ? '' : `node ${node}`,
  ].filter((part) => part !== '');
  return place.length === 0 ? message : `${message} (${place.join(', ')})`;
}
