import * as vscode from 'vscode';
import { registerSteps } from '../../registry.ts';
import { ParsedFiles } from '../../kernel/node/files/parsedFiles.ts';
import { registerAccuracy } from '../../features/accuracy/vscode/registerAccuracy.ts';
import { registerBisect } from '../../features/bisect/vscode/registerBisect.ts';
import { registerAgentTools } from './agents/registerAgentTools.ts';
import { registerEngine } from '../../features/engines/vscode/registerEngine.ts';
import { Builds } from '../../kernel/vscode/builds/builds.ts';
import { showBuildStatus } from '../../kernel/vscode/builds/buildStatus.ts';
import { exportingWith } from '../../kernel/node/tools/exportTrace.ts';
import { nsysToRun } from '../../kernel/vscode/builds/toolsOf.ts';
import { BuildDiagnostics } from '../../features/diagnose/vscode/buildDiagnostics.ts';
import { CheckDiagnostics } from '../../features/check/vscode/checkDiagnostics.ts';
import { FusionPages } from '../../kernel/vscode/fusion/fusionPages.ts';
import { FusionTree } from '../../kernel/vscode/fusion/fusionTree.ts';
import { registerExports } from '../../features/engines/vscode/registerExports.ts';
import { registerFusion } from '../../kernel/vscode/fusion/registerFusion.ts';
import { registerGate } from '../../features/gate/vscode/registerGate.ts';
import { registerLint } from '../../features/check/vscode/registerLint.ts';
import { registerGraph } from '../../kernel/vscode/graph/registerGraph.ts';
import { attachPieces } from '../../features/build/vscode/history/attach.ts';
import { ComparisonPages } from '../../features/diff/vscode/comparisonPages.ts';
import { HistoryTree } from '../../features/build/vscode/history/historyTree.ts';
import { registerHistory } from '../../features/build/vscode/history/registerHistory.ts';
import { showResult } from '../../features/build/vscode/history/showResult.ts';
import { commands } from '../../kernel/vscode/ids.ts';
import { LanguageFeatures } from '../../kernel/vscode/language/languageFeatures.ts';
import { registerCommands } from '../../kernel/vscode/platform/registerCommands.ts';
import { registerPrecision } from '../../features/precision/vscode/registerPrecision.ts';
import { registerQuantization } from '../../features/quantization/vscode/registerQuantization.ts';
import { registerReplay } from '../../features/replay/vscode/registerReplay.ts';
import { registerSurgery } from '../../features/trials/vscode/registerSurgery.ts';
import { BuildTaskProvider } from '../../features/build/vscode/tasks/buildTaskProvider.ts';
import { RememberedOptions } from '../../kernel/vscode/builds/rememberedOptions.ts';
import { registerTasks } from '../../features/build/vscode/tasks/registerTasks.ts';
import { registerWalkthrough } from './walkthrough/registerWalkthrough.ts';
import { laterSource } from '../../kernel/vscode/workspace/laterSource.ts';
import { registerSessions } from '../../kernel/vscode/workspace/registerSessions.ts';
import { Sessions } from '../../kernel/vscode/workspace/sessions.ts';
import { ViewConnections } from '../../kernel/vscode/workspace/viewConnections.ts';

/** What `activate` gives to tests: they wait for events instead of sleeping. */
export interface ExtensionApi {
  sessions: Sessions;
  builds: Builds;
  tree: FusionTree;
  history: HistoryTree;
  diagnostics: BuildDiagnostics;
  checks: CheckDiagnostics;
  features: LanguageFeatures;
}

let running: Builds | undefined;

/** Puts the parts together. Nothing is read, probed or started here: each part begins when the user requests it. */
export function activate(context: vscode.ExtensionContext): ExtensionApi {
  registerSteps();
  const log = vscode.window.createOutputChannel('TensorRT Lens', { log: true });
  const files = new ParsedFiles({ exportTrace: exportingWith(nsysToRun) });
  const source = async () => new (await import('./diskSource.ts')).DiskSource(log, files);
  const sessions = new Sessions(laterSource(source));
  const builds = new Builds(context, log);
  const diagnostics = new BuildDiagnostics(files);
  const checks = new CheckDiagnostics(sessions, files, (error) => log.error(String(error)));
  const connections = new ViewConnections(sessions, log, builds);
  const pages = new FusionPages(context.extensionUri, sessions, connections, context.workspaceState);
  const comparisons = new ComparisonPages(context.extensionUri, files, context.workspaceState);
  const tree = new FusionTree(sessions, builds, context.workspaceState);
  const tasks = new BuildTaskProvider(builds);
  const history = new HistoryTree(sessions, builds, files, (model, pieces) =>
    attachPieces({ sessions, diagnostics }, model, pieces),
  );
  const features = new LanguageFeatures({ extensionUri: context.extensionUri, log, sessions, files });
  const remembered = new RememberedOptions(context.workspaceState);
  const building = { context, sessions, builds, tasks, remembered };
  running = builds;

  context.subscriptions.push(
    log,
    sessions,
    builds,
    pages,
    comparisons,
    tree,
    features,
    history,
    diagnostics,
    checks,
    showBuildStatus(builds),
    builds.onDidEnd((ended) => {
      showResult(ended, sessions, tree, diagnostics).catch((error: unknown) => log.error(String(error)));
    }),
    sessions.onDidChange(({ uri }) => {
      diagnostics.recall(uri).catch((error: unknown) => log.error(String(error)));
    }),
    registerSessions(sessions),
    registerGraph(context.extensionUri, sessions, connections, files),
    registerEngine({ sessions, diagnostics, context, log }, files, builds),
    registerFusion(tree, pages, sessions, connections),
    registerTasks(building),
    registerWalkthrough(building, diagnostics),
    registerHistory(history, building, diagnostics, { files, pages: comparisons, checks, log }),
    registerPrecision({ features, building, files, log }),
    registerReplay(features, building),
    registerAccuracy({ context, sessions, features, log }),
    registerBisect({ context, sessions, log }),
    registerQuantization(context, sessions),
    registerGate(builds, { context, files, log }),
    registerExports({ context, sessions, log }),
    registerLint(),
    registerAgentTools(),
    registerSurgery({ context, sessions, log, comparisons }),
    registerCommands({ [commands.showOutput]: () => log.show() }),
  );
  return { sessions, builds, tree, history, diagnostics, checks, features };
}

/** The editor closes: it waits a few seconds for what still runs to be gone. */
export async function deactivate(): Promise<void> {
  await running?.stopAll();
}
