import * as vscode from 'vscode';
import { ParsedFiles } from '../builder/files/parsedFiles.ts';
import type { PanelItem } from '../core/scene/panel/fusionPanel.ts';
import { Builds } from './builds/builds.ts';
import { showBuildStatus } from './builds/buildStatus.ts';
import { showResult } from './builds/showResult.ts';
import { attach, attachPieces, pasteLog } from './commands/attach.ts';
import { buildModel } from './commands/build.ts';
import { buildAs, copyUsualCommand } from './commands/buildAs.ts';
import { pickModel } from './commands/pickModel.ts';
import { searchPanel } from './commands/searchPanel.ts';
import { sortPanel } from './commands/sortPanel.ts';
import { BuildDiagnostics } from './diagnostics/buildDiagnostics.ts';
import { FusionPages } from './fusion/fusionPages.ts';
import { FusionTree } from './fusion/fusionTree.ts';
import { GraphEditorProvider, openGraph } from './graph/graphEditorProvider.ts';
import { registerComparison } from './history/comparison.ts';
import { historyCommands } from './history/historyCommands.ts';
import { HistoryTree } from './history/historyTree.ts';
import { commands, graphViewType, taskType } from './ids.ts';
import { LanguageFeatures } from './language/languageFeatures.ts';
import { BuildTaskProvider } from './tasks/buildTaskProvider.ts';
import { DiskSource } from './workspace/diskSource.ts';
import { openLogLine } from './workspace/openLogLine.ts';
import { Sessions } from './workspace/sessions.ts';
import { ViewConnections } from './workspace/viewConnections.ts';

/** What `activate` gives to tests: they wait for events instead of sleeping. */
export interface ExtensionApi {
  sessions: Sessions;
  builds: Builds;
  tree: FusionTree;
  history: HistoryTree;
  diagnostics: BuildDiagnostics;
  features: LanguageFeatures;
}

let running: Builds | undefined;

/** Puts the parts together. Nothing is read, probed or started here: each part begins when a person asks for it. */
export function activate(context: vscode.ExtensionContext): ExtensionApi {
  const log = vscode.window.createOutputChannel('TensorRT Lens', { log: true });
  const files = new ParsedFiles();
  const sessions = new Sessions(new DiskSource(log, files));
  const builds = new Builds(context, log);
  const diagnostics = new BuildDiagnostics(files);
  const connections = new ViewConnections(sessions, log, builds);
  const pages = new FusionPages(context.extensionUri, sessions, connections);
  const tree = new FusionTree(sessions, builds, context.workspaceState);
  const tasks = new BuildTaskProvider(builds);
  const attaching = { sessions, diagnostics };
  const history = new HistoryTree(sessions, builds, (model, pieces) => attachPieces(attaching, model, pieces));
  const building = { context, sessions, builds, tasks };
  running = builds;
  const features = new LanguageFeatures({ extensionUri: context.extensionUri, log, sessions, builds, tasks, files });

  context.subscriptions.push(
    log,
    sessions,
    builds,
    tree,
    features,
    history,
    diagnostics,
    showBuildStatus(builds),
    registerComparison(files),
    builds.onDidEnd((ended) => {
      showResult(ended, sessions, tree, diagnostics).catch((error: unknown) => log.error(String(error)));
    }),
    vscode.tasks.registerTaskProvider(taskType, tasks),
    vscode.window.registerCustomEditorProvider(
      graphViewType,
      new GraphEditorProvider(context.extensionUri, sessions, connections),
      { supportsMultipleEditorsPerDocument: true },
    ),
    ...registerCommands({
      [commands.build]: (uri, more) => buildModel(building, uri, more),
      [commands.buildAs]: (uri, preset) => buildAs(building, uri, preset),
      [commands.copyBuildCommand]: (uri) => copyUsualCommand(building, uri),
      [commands.cancelBuild]: () => sessions.current && builds.cancel(sessions.current.uri),
      [commands.openGraph]: async (uri) => {
        const model = await pickModel(uri, sessions);
        if (model !== undefined) await openGraph(model);
      },
      [commands.openFusionPage]: async (uri) => {
        const model = await pickModel(uri, sessions);
        if (model !== undefined) pages.open(model);
      },
      [commands.attach]: (uri, files) => attach(attaching, uri, files),
      [commands.pasteLog]: (uri) => pasteLog(attaching, uri),
      ...historyCommands(history, building, diagnostics),
      [commands.openLog]: () => sessions.current && openLogLine(sessions.current, 1),
      [commands.refresh]: () => sessions.current && sessions.reload(sessions.current.uri),
      [commands.sort]: () => sortPanel(tree),
      [commands.search]: () => searchPanel(tree),
      [commands.clearSearch]: () => tree.setSearch(''),
      [commands.selectItem]: (item) => tree.show(item as PanelItem),
      [commands.showOutput]: () => log.show(),
    }),
  );
  return { sessions, builds, tree, history, diagnostics, features };
}

/** The editor closes: it waits a few seconds for what still runs to be gone. */
export async function deactivate(): Promise<void> {
  await running?.stopAll();
}

function registerCommands(handlers: Record<string, (...args: unknown[]) => unknown>): vscode.Disposable[] {
  return Object.entries(handlers).map(([id, handler]) => vscode.commands.registerCommand(id, handler));
}
