import { dirname } from 'node:path';
import * as vscode from 'vscode';
import type { Build } from '../../node/store/buildFolder.ts';
import { commands } from '../ids.ts';
import { registerCommands } from '../platform/registerCommands.ts';
import { openLogLine } from './openLogLine.ts';
import type { Sessions } from './sessions.ts';
import { fileUri, isFileUri } from '../platform/fileUri.ts';
import { shapeRange } from '../../base/text.ts';
import type { FusionReport } from '../../fusion/fusionReport.ts';
import { pickItem } from '../platform/askUser.ts';
import { showInformation } from '../platform/messages.ts';

/** The commands about the model that the side bar shows; the engine or log of a build on view makes it that of the build. */
export const registerSessions = (sessions: Sessions): vscode.Disposable => {
  const follow = () => void followTab(sessions);
  return vscode.Disposable.from(
    registerCommands({
      [commands.openLog]: () => sessions.current && openLogLine(sessions.current, 1),
      [commands.selectOptimizationProfile]: (argument) =>
        selectProfile(sessions, argument instanceof vscode.Uri ? argument : undefined),
      [commands.refresh]: () => sessions.current && sessions.reload(sessions.current.uri),
    }),
    vscode.window.tabGroups.onDidChangeTabs(follow),
    vscode.window.tabGroups.onDidChangeTabGroups(follow),
  );
};

async function followTab(sessions: Sessions): Promise<void> {
  const uri = activeFile();
  if (uri === undefined) return;
  const file = (await buildAt(uri))?.manifest.model.file;
  // Another tab came up meanwhile, or the model is gone.
  if (file === undefined || activeFile()?.toString() !== uri.toString()) return;
  const model = fileUri(file);
  const isThere = await Promise.resolve(vscode.workspace.fs.stat(model)).then(
    () => true,
    () => false,
  );
  if (isThere) sessions.setCurrent(model);
}

function activeFile(): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  const known = input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom;
  return known && isFileUri(input.uri) ? input.uri : undefined;
}

/** The build that an engine came from, or whose log a file is. */
async function buildAt(uri: vscode.Uri): Promise<Build | null | undefined> {
  if (uri.path.endsWith('/build.log')) {
    const { readBuildFolder } = await import('../../node/store/buildFolder.ts');
    return readBuildFolder(dirname(uri.fsPath));
  }
  if (!/\.(?:engine|plan|trt)$/i.test(uri.path)) return undefined;
  const { buildOfEngine } = await import('../../node/store/buildOfEngine.ts');
  return buildOfEngine(uri.fsPath).catch(() => null);
}

/** Asks which optimization profile of the engine on view its views are to show. */
async function selectProfile(sessions: Sessions, uri: vscode.Uri | undefined): Promise<void> {
  const session = uri === undefined ? sessions.current : sessions.find(uri);
  const report = session?.report;
  if (session === undefined || report?.optimizationProfile === undefined) {
    await showInformation('The engine on view has one optimization profile.');
    return;
  }
  const picked = await pickItem(profileItems(report), { placeHolder: 'Select the optimization profile to show' });
  if (picked !== undefined) await sessions.showProfile(session.uri, picked.number);
}

function profileItems({ optimizationProfile, builtShapes = [] }: FusionReport) {
  const { shown, of } = optimizationProfile!;
  return Array.from({ length: of }, (_, number) => ({
    label: `Profile ${number}`,
    description: number === shown ? 'shown' : '',
    detail: builtShapes
      .filter(({ profile }) => profile === number)
      .map((shape) => `${shape.input} ${shapeRange(shape)}`)
      .join(', '),
    number,
  }));
}
