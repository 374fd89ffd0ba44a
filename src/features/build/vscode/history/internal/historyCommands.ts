import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import { type BuildManifest, requestText } from '../../../../../kernel/build/buildManifest.ts';
import { engineTime } from '../../../../../kernel/node/store/engineTime.ts';
import type { Build } from '../../../../../kernel/node/store/buildFolder.ts';
import { deleteBuild, listAllBuilds, listBuilds } from '../../../../../kernel/node/store/buildHistory.ts';
import { quoteCommand } from '../../../../../kernel/base/text.ts';
import { namedNodes } from '../../../../../kernel/vscode/builds/namedNodes.ts';
import { type BuildParts, mayBuild, startBuild } from '../../../../../kernel/vscode/workspace/startBuild.ts';
import type { BuildDiagnostics } from '../../../../diagnose/vscode/buildDiagnostics.ts';
import { openGraph } from '../../../../../kernel/vscode/graph/graphEditorProvider.ts';
import { commands } from '../../../../../kernel/vscode/ids.ts';
import { showInformation, showWarning } from '../../../../../kernel/vscode/platform/messages.ts';
import { revealFile } from '../../../../../kernel/vscode/platform/revealFile.ts';
import { readSettings } from '../../../../../kernel/vscode/platform/settings.ts';
import { openTextAt } from '../../../../../kernel/vscode/workspace/openLogLine.ts';
import type { Sessions } from '../../../../../kernel/vscode/workspace/sessions.ts';
import { openTextComparison } from '../../../../diff/vscode/textComparison.ts';
import type { ComparisonPages } from '../../../../diff/vscode/comparisonPages.ts';
import { buildLabel, type HistoryItem, type HistoryTarget } from '../../../../../kernel/vscode/builds/historyItem.ts';
import { labelCommands } from './labelCommands.ts';
import type { HistoryTree } from '../historyTree.ts';
import { rerunOptions } from '../../../../../kernel/vscode/builds/rerunOptions.ts';
import { shell } from '../../../../../kernel/node/tools/shell.ts';
import { pickItem } from '../../../../../kernel/vscode/platform/askUser.ts';
import { fileUri } from '../../../../../kernel/vscode/platform/fileUri.ts';

/** What can be done with builds of the history, by command. Menus give the line, and all that are selected. */
export function historyCommands(
  tree: HistoryTree,
  parts: BuildParts,
  diagnostics: BuildDiagnostics,
  pages: ComparisonPages,
): Record<string, (...args: unknown[]) => unknown> {
  const { sessions } = parts;
  const one = (act: (build: Build) => unknown) => (argument: unknown) => {
    const build = buildOf(argument) ?? tree.selected[0];
    return build === undefined ? undefined : act(build);
  };
  return {
    [commands.showBuild]: one((build) => sessions.showBuild(fileUri(build.manifest.model.file), build.manifest.id)),
    [commands.compareBuilds]: async (argument, all) => {
      const isModel = argument instanceof vscode.Uri;
      if (isModel) sessions.setCurrent(argument);
      const chosen = isModel ? [] : chosenOf(tree, argument, all);
      await compare(tree, pages, chosen.length > 0 ? chosen : await shownPair(sessions, tree));
    },
    [commands.openBuildLog]: one(({ folder, manifest }) =>
      manifest.files.log === null
        ? showInformation('This build has no log.')
        : openTextAt(vscode.Uri.joinPath(fileUri(folder), manifest.files.log), 1),
    ),
    [commands.revealBuild]: one(({ folder }) => revealFile(folder)),
    [commands.copyCommandOfBuild]: one(async ({ manifest: { command } }) => {
      if (command.length === 0) {
        await showInformation('The command of this build is unknown.');
        return;
      }
      await vscode.env.clipboard.writeText(quoteCommand(command, shell));
      vscode.window.setStatusBarMessage('Command copied', 3000);
    }),
    [commands.rerunBuild]: one(async ({ manifest }) => {
      const uri = fileUri(manifest.model.file);
      const options = rerunOptions(manifest, readSettings(uri).launchers);
      if (manifest.options['launcher'] !== undefined && options['launcher'] === undefined) {
        await showWarning(
          'The launcher of this build is no longer in the setting tensorrtLens.launchers. Add it again to repeat the build.',
        );
        return;
      }
      if (await mayBuild(parts, uri)) await startBuild(parts, uri, options);
    }),
    ...labelCommands(tree, sessions, one),
    [commands.deleteBuild]: async (argument, all) => {
      const builds = chosenOf(tree, argument, all);
      const [first] = builds;
      if (first === undefined) return;
      if (!(await mayDelete(builds.length))) return;
      // In another window one may have begun to run, or ended, since the history was read.
      const now = await listBuilds(first.manifest.model.file);
      const runs = new Set(now.filter(({ manifest }) => manifest.result === 'running').map(({ folder }) => folder));
      const ended = builds.filter(({ folder }) => !runs.has(folder));
      if (ended.length < builds.length)
        void showWarning(
          'A build that is running in another window or program was not deleted. Cancel it there first.',
        );
      try {
        await Promise.all(ended.map(deleteBuild));
      } finally {
        await sessions.reloadBuild(fileUri(first.manifest.model.file));
        await diagnostics.forgetDeleted();
        await tree.refresh();
      }
    },
    [commands.openHistoryItem]: (target) => open(sessions, target as HistoryTarget),
  };
}

async function open(sessions: Sessions, target: HistoryTarget): Promise<void> {
  if (target.kind === 'file') {
    await openTextAt(fileUri(target.path), target.line);
    return;
  }
  const session = sessions.setCurrent(target.model);
  const ids =
    target.kind === 'nodes'
      ? target.ids
      : session.state.graph === null
        ? []
        : namedNodes(session.state.graph, target.layer, session.state.newest?.report);
  if (ids.length > 0) sessions.select(session, { kind: 'nodes', ids }, 'host');
  await openGraph(target.model, { preserveFocus: true });
}

async function compare(tree: HistoryTree, pages: ComparisonPages, chosen: readonly Build[]): Promise<void> {
  const [only] = chosen;
  if (only === undefined || chosen.length > 2) {
    await showInformation(
      only === undefined
        ? 'There is no build to compare. Build a model twice, with different options.'
        : 'Select two builds of the history to compare them.',
    );
    return;
  }
  const other = chosen[1] ?? (await pickOther(tree, only));
  if (other === undefined) return;
  const older = other.manifest.started < only.manifest.started ? other : only;
  const newer = older === only ? other : only;
  // A build that did not pass has no engine whose layers could be compared.
  if ([older, newer].every(({ manifest }) => manifest.result === 'passed')) pages.open(older, newer);
  else await openTextComparison(older, newer);
}

async function pickOther(tree: HistoryTree, build: Build): Promise<Build | undefined> {
  const others = tree.builds.filter(({ folder }) => folder !== build.folder);
  const exports = await buildsNear(build);
  if (others.length + exports.length === 0) {
    await showInformation('There is only one build. Build again to compare.');
    return undefined;
  }
  const times = new Map(
    await Promise.all([...others, ...exports].map(async (other) => [other, await engineTime(other)] as const)),
  );
  const item = (other: Build) => ({
    label: buildLabel(other.manifest, times.get(other)),
    description: other.manifest.result === 'passed' ? '' : other.manifest.result,
    // What would differ, which is what the list is read for.
    detail: requestText(...inOrder(other, build)) || 'the same request',
    build: other,
  });
  const items: (vscode.QuickPickItem & { build?: Build })[] = [
    ...others.map(item),
    ...(exports.length === 0
      ? []
      : [{ label: 'Other models in this folder', kind: vscode.QuickPickItemKind.Separator }]),
    ...exports.map((other) => ({
      ...item(other),
      label: `${basename(other.manifest.model.file)}, ${buildLabel(other.manifest, times.get(other))}`,
    })),
  ];
  const placeHolder = 'Select a build to compare with';
  return (await pickItem(items, { placeHolder }))?.build;
}

/** The manifests of two builds, that of the older one first. */
const inOrder = (one: Build, other: Build): [BuildManifest, BuildManifest] =>
  one.manifest.started < other.manifest.started ? [one.manifest, other.manifest] : [other.manifest, one.manifest];

/** Builds that passed of the models next to that of a build: they may be exports of one network. */
async function buildsNear({ manifest: { model } }: Build): Promise<Build[]> {
  const folder = dirname(model.file);
  return (await listAllBuilds()).filter(
    ({ manifest }) =>
      manifest.result === 'passed' && manifest.model.file !== model.file && dirname(manifest.model.file) === folder,
  );
}

async function mayDelete(count: number): Promise<boolean> {
  const yes = 'Delete';
  const question =
    count === 1
      ? 'Delete this build with its log, layer info and engine?'
      : `Delete ${count} builds with their logs, layer info and engines?`;
  const detail = 'An engine that a task wrote to another folder is kept.';
  return (await showWarning(question, { modal: true, detail }, yes)) === yes;
}

/**
 * The build that the views of the current model show, and the other where there is only one. Without a current model,
 * it is the one that was built last.
 */
async function shownPair(sessions: Sessions, tree: HistoryTree): Promise<Build[]> {
  if (sessions.current === undefined) {
    const [latest] = (await listAllBuilds()).toSorted((a, b) => b.manifest.started.localeCompare(a.manifest.started));
    if (latest === undefined) return [];
    sessions.setCurrent(fileUri(latest.manifest.model.file));
  }
  // Where the side bar was never open, nothing has read the history.
  await tree.refresh();
  const { builds } = tree;
  const id = sessions.current?.state.newest?.build.id;
  const shown = builds.find(({ manifest }) => manifest.id === id) ?? builds[0];
  const others = builds.filter((build) => build !== shown);
  return shown === undefined ? [] : others.length === 1 ? [shown, ...others] : [shown];
}

/** What a menu is about: all lines that are selected when its line is among them, otherwise that line. */
function chosenOf(tree: HistoryTree, argument: unknown, all: unknown): Build[] {
  const builds = (Array.isArray(all) ? all : []).flatMap((item) => buildOf(item) ?? []);
  const own = buildOf(argument);
  const chosen = builds.length > 0 ? builds : own === undefined ? tree.selected : [own];
  return chosen.toSorted((a, b) => b.manifest.started.localeCompare(a.manifest.started));
}

export function buildOf(argument: unknown): Build | undefined {
  const item = argument as Partial<HistoryItem & Build> | undefined;
  if (item?.folder !== undefined && item.manifest !== undefined)
    return { folder: item.folder, manifest: item.manifest };
  return item?.context === 'build' ? (item.build ?? undefined) : undefined;
}
