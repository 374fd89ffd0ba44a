import { posix } from 'node:path';
import * as vscode from 'vscode';
import { knownScales } from '../../node/store/namedScales.ts';
import { packageSets } from '../../node/tools/packageSets.ts';
import { errorText } from '../../base/problem.ts';
import { type Choices, choicesOfLog } from '../../read/replay/readChoices.ts';
import { choicesOfMismatches } from '../../read/replay/readReplay.ts';
import type { ChoicesData, FactsParams } from '../../protocol/language.ts';
import { settingsSection } from '../ids.ts';
import { latestTask } from '../platform/latestTask.ts';
import { readSettings } from '../platform/settings.ts';
import type { Sessions } from '../workspace/sessions.ts';
import { findModel, findModelOfReplay } from './internal/findModel.ts';
import type { FactsReader, KnownFacts } from './internal/knownFacts.ts';
import { readSidecars } from './internal/readSidecars.ts';
import type { ServedKind } from './internal/servedDocuments.ts';
import { buildOfReplay } from './replayBuild.ts';
import { isFileUri } from '../platform/fileUri.ts';

/** As many models as the user looks through. */
const most = 100;

/** The models of a document's workspace folder as its `model` line would name them, the nearest first. */
export async function modelsNear(document: vscode.Uri): Promise<string[]> {
  const folder = vscode.workspace.getWorkspaceFolder(document);
  const root = folder?.uri ?? vscode.Uri.joinPath(document, '..');
  const pattern = new vscode.RelativePattern(root, folder === undefined ? '*.onnx' : '**/*.onnx');
  const found = await vscode.workspace.findFiles(pattern, undefined, most).then(
    (uris) => uris,
    () => [],
  );
  const from = posix.dirname(document.path);
  const paths = found.map(({ path }) => posix.relative(from, path));
  const steps = (path: string) => path.split('/').length;
  return paths
    .map((path) => (path.startsWith('../') ? path : `./${path}`))
    .toSorted((a, b) => steps(a) - steps(b) || (a < b ? -1 : 1));
}

/** What the `scales` line of an override file leads to, for the language server. Never rejects. */
export async function readScalesLine(rules: vscode.Uri, path: string): Promise<NonNullable<FactsParams['scales']>> {
  if (!isFileUri(rules)) return { tensors: null, problem: '' };
  try {
    const known = await knownScales(rules.fsPath, path);
    return { tensors: known?.tensors ? [...known.tensors] : null, problem: '' };
  } catch (error) {
    return { tensors: null, problem: errorText(error) };
  }
}

interface Served {
  uri: vscode.Uri;
  kind: ServedKind;
  /** The model that the text names; undefined: the server has not said yet. */
  named: string | null | undefined;
  /** The path of its `scales` line. */
  scales: string | null;
  model: vscode.Uri | null;
  /** Keeps the model's session, which watches the file and its builds. */
  hold: vscode.Disposable | undefined;
  facts: KnownFacts | undefined;
  params: FactsParams | undefined;
  /** Models near an override file, as they were found last. */
  models: readonly string[];
  /** The search for them that was begun last; undefined: none since a model came or went. */
  search: Promise<readonly string[]> | undefined;
  /** Counts refreshes, so that a late result of an earlier one is dropped. */
  generation: number;
  work: Promise<void>;
  /** Resolves when something is known for the first time. */
  first: Promise<void>;
  known: () => void;
}

/** What is known for each document that the language server has open: found, read, and again when it changes. */
export class FactsFeed implements vscode.Disposable {
  readonly #served = new Map<string, Served>();
  readonly #sessions: Sessions;
  readonly #reader: FactsReader;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #subscription: vscode.Disposable;

  /** There are new facts for a document. */
  readonly onDidChange = this.#changed.event;

  constructor(sessions: Sessions, reader: FactsReader) {
    this.#sessions = sessions;
    this.#reader = reader;
    const models = vscode.workspace.createFileSystemWatcher('**/*.onnx', false, true, false);
    const again = (which: (served: Served) => boolean) => {
      for (const served of this.#served.values()) if (which(served)) this.#refresh(served);
    };
    // Which one a document is about may depend on what is next to it.
    const cameOrWent = () => {
      for (const served of this.#served.values()) served.search = undefined;
      again(() => true);
    };
    this.#subscription = vscode.Disposable.from(
      models,
      models.onDidCreate(cameOrWent),
      models.onDidDelete(cameOrWent),
      sessions.onDidChange(({ key }) => again(({ model }) => model?.toString() === key)),
      sessions.onDidChangeCurrent(() => again(({ model }) => model === null)),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(settingsSection)) again(() => true);
      }),
    );
  }

  isServed(uri: vscode.Uri): boolean {
    return this.#served.has(uri.toString());
  }

  /** Whether a document is one of the two kinds, once the server has it. */
  kindOf(uri: vscode.Uri): ServedKind | undefined {
    return this.#served.get(uri.toString())?.kind;
  }

  served(): vscode.Uri[] {
    return [...this.#served.values()].map(({ uri }) => uri);
  }

  /** The server is about to have a document. */
  open(uri: vscode.Uri, kind: ServedKind): void {
    const key = uri.toString();
    if (this.#served.has(key)) return;
    let known = () => {};
    const first = new Promise<void>((resolve) => (known = resolve));
    const served: Served = {
      uri,
      kind,
      named: undefined,
      scales: null,
      model: null,
      hold: undefined,
      facts: undefined,
      params: undefined,
      models: [],
      search: undefined,
      generation: 0,
      work: Promise.resolve(),
      first,
      known,
    };
    this.#served.set(key, served);
    // Of an override file the server says first which model it names.
    if (kind === 'replay') this.#refresh(served);
  }

  close(uri: vscode.Uri): void {
    const served = this.#served.get(uri.toString());
    if (served === undefined) return;
    this.#served.delete(uri.toString());
    served.generation += 1;
    served.hold?.dispose();
    this.#forgetUnused(served.model);
    served.known();
  }

  /** The server has read which model, and which scales, an override file names. */
  named(uri: vscode.Uri, path: string | null, scales: string | null): void {
    const served = this.#served.get(uri.toString());
    if (served === undefined) return;
    served.named = path;
    served.scales = scales;
    this.#refresh(served);
  }

  /** What the server is to know, as far as it has been found out. */
  paramsOf(uri: vscode.Uri): FactsParams | undefined {
    return this.#served.get(uri.toString())?.params;
  }

  /** What is known when all reading that has begun is done; undefined: not a document of the server's. */
  async settled(uri: vscode.Uri): Promise<KnownFacts | undefined> {
    const served = this.#served.get(uri.toString());
    if (served === undefined) return undefined;
    await served.first;
    await latestTask(() => served.work);
    return served.facts;
  }

  /** The model of a document, for commands. */
  async modelOf(uri: vscode.Uri): Promise<vscode.Uri | undefined> {
    await this.settled(uri);
    return this.#served.get(uri.toString())?.model ?? undefined;
  }

  dispose(): void {
    this.#subscription.dispose();
    for (const uri of this.served()) this.close(uri);
    this.#changed.dispose();
  }

  #refresh(served: Served): void {
    if (served.kind === 'overrides' && served.named === undefined) return;
    served.generation += 1;
    served.work = this.#read(served, served.generation).finally(served.known);
  }

  /** Searches for models in the background, because it takes time in a large workspace. */
  #findModels(served: Served): void {
    if (served.kind !== 'overrides' || served.search !== undefined) return;
    const search = modelsNear(served.uri);
    served.search = search;
    void search.then((models) => {
      // Where a model came or went meanwhile, another search says what is there now.
      if (served.search !== search || models.join('\n') === served.models.join('\n')) return;
      served.models = models;
      // Not where the document was closed meanwhile, even if it is open again.
      if (this.#served.get(served.uri.toString()) === served) this.#refresh(served);
    });
  }

  /** What is known of a model takes memory: kept as long as a document is about it. */
  #forgetUnused(model: vscode.Uri | null): void {
    if (model === null) return;
    const key = model.toString();
    if (![...this.#served.values()].some((served) => served.model?.toString() === key)) this.#reader.forget(model);
  }

  async #read(served: Served, generation: number): Promise<void> {
    const current = this.#sessions.current?.uri;
    const { uri: model, problem } =
      served.kind === 'replay'
        ? await findModelOfReplay(served.uri, current, this.#reader.files)
        : await findModel(served.uri, served.named ?? null, current);
    if (generation !== served.generation) return;
    if (model?.toString() !== served.model?.toString()) {
      const { hold, model: before } = served;
      served.model = model;
      served.hold = model === null ? undefined : this.#sessions.acquire(model);
      hold?.dispose();
      this.#forgetUnused(before);
    }
    const facts =
      model === null ? undefined : await this.#reader.read(model, this.#sessions.find(model)?.chosenProfile);
    this.#forgetUnused(model);
    this.#findModels(served);
    const sidecars = served.kind === 'replay' ? await readSidecars(served.uri, facts) : [];
    const scales = served.scales === null ? null : await readScalesLine(served.uri, served.scales);
    if (generation !== served.generation) return;
    const params = { ...toParams(served, facts, problem, sidecars), models: [...served.models], scales };
    // The same again, as after the session's own first reading, is no news.
    if (served.facts === facts && served.params && rest(params) === rest(served.params)) return;
    served.facts = facts;
    served.params = params;
    this.#changed.fire(served.uri);
  }
}

function toParams(
  { uri, kind, model }: Served,
  facts: KnownFacts | undefined,
  problem: string,
  sidecars: Choices[],
): FactsParams {
  const replay = kind === 'replay';
  const { build, log, mismatches = [], builds = [] } = facts ?? {};
  const choices = replay ? [choicesOfMismatches(mismatches), ...sidecars, ...(log ? [choicesOfLog(log)] : [])] : [];
  const recording = buildOfReplay(builds, '--save-tactics', uri);
  return {
    uri: uri.toString(),
    modelUri: model?.toString() ?? null,
    modelProblem: facts?.problem || problem,
    model: facts?.model ?? null,
    build: build ?? null,
    // Where nothing was built yet, the backend that is set says for which TensorRT to check.
    target:
      !build && readSettings(uri).backend === 'rtx'
        ? { product: 'tensorrt-rtx', version: packageSets['tensorrt-rtx'].version, gpu: null }
        : null,
    choices: choices
      .filter(({ offered, chosen, lines }) => offered.size + chosen.size + (lines?.size ?? 0) > 0)
      .map(toData),
    mismatches: replay ? mismatches : [],
    recorded:
      replay && recording ? { version: recording.manifest.tensorrt.version, gpu: recording.manifest.gpu } : null,
  };
}

/** All but the large parts, which are the same when what was read is the same. */
const rest = (params: FactsParams): string => JSON.stringify({ ...params, model: null, build: null });

const toData = ({ source, offered, chosen, lines }: Choices): ChoicesData => ({
  source,
  offered: [...offered],
  chosen: [...chosen],
  ...(lines ? { lines: [...lines] } : {}),
});
