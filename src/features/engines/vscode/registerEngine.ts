import * as vscode from 'vscode';
import type { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import type { EngineFilesGiven } from '../../../kernel/node/store/loadEngine.ts';
import { errorText } from '../../../kernel/base/problem.ts';
import type { Builds } from '../../../kernel/vscode/builds/builds.ts';
import { openGraph } from '../../../kernel/vscode/graph/graphEditorProvider.ts';
import { type AttachParts, attachPieces } from '../../build/vscode/history/attach.ts';
import { cacheViewType, commands, engineViewType } from '../../../kernel/vscode/ids.ts';
import { showError } from '../../../kernel/vscode/platform/messages.ts';
import { isModelFile } from '../../../kernel/vscode/platform/modelFile.ts';
import { registerCommands } from '../../../kernel/vscode/platform/registerCommands.ts';
import { askForModel } from '../../../kernel/vscode/workspace/pickModel.ts';
import { CacheEditor } from './internal/cacheEditor.ts';
import { EngineEditor } from './internal/engineEditor.ts';
import { EngineReadings } from './internal/engineReadings.ts';
import { fileUri, isFileUri } from '../../../kernel/vscode/platform/fileUri.ts';

/** Marks engines in the explorer whose model or rules were changed after they were built. */
export class EngineDecorations implements vscode.FileDecorationProvider, vscode.Disposable {
  readonly #files: ParsedFiles;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly #subscriptions: vscode.Disposable;
  readonly onDidChangeFileDecorations = this.#changed.event;

  constructor(builds: Builds, files: ParsedFiles) {
    this.#files = files;
    const models = vscode.workspace.createFileSystemWatcher('**/*.{onnx,trtprec}');
    const again = () => this.#changed.fire(undefined);
    this.#subscriptions = vscode.Disposable.from(
      models,
      models.onDidChange(again),
      builds.onDidEnd(again),
      vscode.window.registerFileDecorationProvider(this),
    );
  }

  async provideFileDecoration(uri: vscode.Uri): Promise<vscode.FileDecoration | undefined> {
    if (!isFileUri(uri) || !/\.(?:engine|plan|trt)$/i.test(uri.path)) return undefined;
    const { buildOfEngine, whyStale } = await import('../../../kernel/node/store/buildOfEngine.ts');
    const build = await buildOfEngine(uri.fsPath).catch(() => null);
    const why = build === null ? null : await whyStale(build, this.#files);
    return why === null
      ? undefined
      : { badge: '!', tooltip: why, color: new vscode.ThemeColor('list.warningForeground') };
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#changed.dispose();
  }
}

/** The editor of engines, and the commands for logs, layer info and profiles that are opened without their model. */
export function registerEngine(
  parts: AttachParts & { context: vscode.ExtensionContext; log: vscode.LogOutputChannel },
  files: ParsedFiles,
  builds: Builds,
): vscode.Disposable {
  const readings = new EngineReadings(parts.context, parts.log);
  const editor = new EngineEditor(files, readings);
  const caches = new CacheEditor(parts.context, parts.log);
  return vscode.Disposable.from(
    vscode.window.registerCustomEditorProvider(engineViewType, editor, { supportsMultipleEditorsPerDocument: true }),
    vscode.window.registerCustomEditorProvider(cacheViewType, caches, { supportsMultipleEditorsPerDocument: true }),
    new EngineDecorations(builds, files),
    registerCommands({
      [commands.compareEngine]: () => editor.compare(),
      [commands.readEngine]: (argument) => withShown(engineViewType, argument, (uri) => editor.read(uri)),
      [commands.openEngineLayers]: (argument) =>
        withShown(engineViewType, argument, async (uri) => {
          const { openEngineGraph } = await import('./internal/engineLayers.ts');
          if (!(await openEngineGraph(uri, parts.sessions, files))) await readings.openLayers(uri);
        }),
      [commands.readTimingCache]: (argument) => withShown(cacheViewType, argument, (uri) => caches.read(uri)),
      [commands.openWith]: (argument) => withFile(parts, argument, (uri) => openWith(parts, uri, files)),
      [commands.chooseModel]: (argument) => withFile(parts, argument, (uri) => chooseModel(parts, uri, files)),
    }),
  );
}

/** The file that a page names (links carry its URI as JSON), or the one on view in that editor. */
async function withShown(viewType: string, argument: unknown, use: (uri: vscode.Uri) => Promise<void>): Promise<void> {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  const shown = input instanceof vscode.TabInputCustom && input.viewType === viewType ? input.uri : undefined;
  const uri = isUriComponents(argument) ? vscode.Uri.from(argument) : shown;
  if (uri === undefined) return;
  try {
    await use(uri);
  } catch (error) {
    await showError(errorText(error));
  }
}

const isUriComponents = (value: unknown): value is { scheme: string; path: string } =>
  typeof value === 'object' &&
  value !== null &&
  'path' in value &&
  'scheme' in value &&
  isFileUri(vscode.Uri.from(value as { scheme: string; path: string }));

/** The file in a menu, or the one that is on view. */
async function withFile(
  { sessions }: AttachParts,
  argument: unknown,
  use: (uri: vscode.Uri) => Promise<void>,
): Promise<void> {
  const uri =
    argument instanceof vscode.Uri ? argument : (vscode.window.activeTextEditor?.document.uri ?? sessions.current?.uri);
  if (uri === undefined) return;
  try {
    await use(uri);
  } catch (error) {
    await showError(errorText(error));
  }
}

/** With the model that the log names or that fits next to the file: a build of its history. Without: the engine's graph. */
async function openWith(parts: AttachParts, uri: vscode.Uri, files: ParsedFiles): Promise<void> {
  if (isModelFile(uri) || !isFileUri(uri)) return openGraph(uri);
  if (isCacheFile(uri.path)) {
    await vscode.commands.executeCommand('vscode.openWith', uri, cacheViewType);
    return;
  }
  const { engineFilesOf, modelOfEngine } = await import('../../../kernel/node/store/engineFiles.ts');
  const given = await engineFilesOf(uri.fsPath, files);
  const model = await modelOfEngine(given, files);
  await (model === null ? openGraph(uri) : attachPieces(parts, fileUri(model), urisOf(given)));
}

async function chooseModel(parts: AttachParts, uri: vscode.Uri, files: ParsedFiles): Promise<void> {
  const { engineFilesOf } = await import('../../../kernel/node/store/engineFiles.ts');
  const given = await engineFilesOf(uri.fsPath, files);
  const model = await askForModel({ traced: true });
  if (model !== undefined) await attachPieces(parts, model, urisOf(given));
}

/** By its name, as the menu's condition in package.json. */
const isCacheFile = (path: string): boolean => /\.(?:cache|calib|timing|timingcache)$/i.test(path);

const urisOf = ({ layers, log, profile, ncu }: EngineFilesGiven): vscode.Uri[] =>
  [layers, log, profile, ncu].filter((path) => path !== undefined).map((path) => fileUri(path));
