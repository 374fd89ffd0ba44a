import * as vscode from 'vscode';
import { comparisonText } from '../../core/replay/comparisonText.ts';
import { diffReplays } from '../../core/replay/diffReplays.ts';
import { readReplay } from '../../core/replay/readReplay.ts';
import { replayComparisonScheme } from '../ids.ts';
import { commandTarget } from '../language/commandTarget.ts';
import { plainText } from '../platform/plainText.ts';

interface Query {
  files: [before: string, after: string];
  side: 'before' | 'after';
}

/** Gives the texts in which two replays are compared, from the replays as the editor has them. */
export function registerReplayComparison(): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(replayComparisonScheme, {
    provideTextDocumentContent: async ({ query }) => {
      const { files, side } = JSON.parse(query) as Query;
      const [before, after] = await Promise.all(files.map(read));
      return before && after ? comparisonText(diffReplays(before, after), side) : '';
    },
  });
}

/** Shows how a replay differs from another one by meaning: layers that differ, their choices in words. */
export async function compareReplays(argument: unknown, other: unknown): Promise<void> {
  const target = commandTarget(argument);
  if (target === undefined) return;
  const against = other instanceof vscode.Uri ? other : await askForReplay(target.uri);
  if (against === undefined) return;
  const pair = [against, target.uri] as const;
  for (const uri of pair) {
    if ((await read(uri.toString())) !== undefined) continue;
    await vscode.window.showErrorMessage(
      plainText(vscode.l10n.t('{0} is no tactic replay.', vscode.workspace.asRelativePath(uri))),
    );
    return;
  }
  const files: Query['files'] = [pair[0].toString(), pair[1].toString()];
  const side = (uri: vscode.Uri, which: Query['side']) =>
    vscode.Uri.from({
      scheme: replayComparisonScheme,
      path: `${uri.path}.txt`,
      query: JSON.stringify({ files, side: which } satisfies Query),
    });
  const [before, after] = pair.map((uri) => vscode.workspace.asRelativePath(uri));
  await vscode.commands.executeCommand(
    'vscode.diff',
    side(pair[0], 'before'),
    side(pair[1], 'after'),
    `${before} ↔ ${after}`,
  );
}

/** The other replays of the workspace as a list, with the way to any other file. */
async function askForReplay(own: vscode.Uri): Promise<vscode.Uri | undefined> {
  const found = await vscode.workspace.findFiles('**/*replay*.json', '**/{node_modules,.git}/**', 500);
  const replays = found
    .filter((uri) => uri.toString() !== own.toString())
    .map((uri) => ({ label: vscode.workspace.asRelativePath(uri), uri }))
    .toSorted((a, b) => a.label.localeCompare(b.label));
  if (replays.length > 0) {
    const elsewhere = { label: vscode.l10n.t('Other file…'), iconPath: new vscode.ThemeIcon('folder-opened') };
    const placeHolder = vscode.l10n.t('Compare with which replay?');
    const picked = await vscode.window.showQuickPick<vscode.QuickPickItem & { uri?: vscode.Uri }>(
      [...replays, elsewhere],
      { placeHolder },
    );
    if (picked === undefined || picked.uri !== undefined) return picked?.uri;
  }
  const [file] = (await vscode.window.showOpenDialog({ filters: { JSON: ['json'] } })) ?? [];
  return file;
}

async function read(uri: string) {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri, true));
  return readReplay(document.getText()).value;
}
