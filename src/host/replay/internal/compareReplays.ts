import * as vscode from 'vscode';
import { pickFile } from '../../workspace/pickFile.ts';
import { replayComparisonScheme } from '../../ids.ts';
import { commandTarget } from '../../language/commandTarget.ts';
import { registerChangingTexts } from '../../platform/changingTexts.ts';
import { showError } from '../../platform/messages.ts';
import { openReplay } from './openReplay.ts';

interface Query {
  files: [before: string, after: string];
  side: 'before' | 'after';
}

const queryOf = ({ query }: vscode.Uri): Query => JSON.parse(query) as Query;

/** Texts that are open and no longer what the replays say. */
const changed = new vscode.EventEmitter<vscode.Uri>();

/**
 * Returns the texts in which two replays are compared, from the replays as the editor has them; again when one has
 * changed.
 */
export function registerReplayComparison(): vscode.Disposable {
  return vscode.Disposable.from(
    registerChangingTexts(replayComparisonScheme, changed, async (uri) => {
      const { files, side } = queryOf(uri);
      const [before, after] = await Promise.all(files.map(read));
      if (!before || !after) return '';
      const [{ diffReplays }, { comparisonText }] = await Promise.all([
        import('../../../core/tactics/editReplay.ts'),
        import('../../../core/tactics/editReplay.ts'),
      ]);
      return comparisonText(diffReplays(before, after), side);
    }),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      // Once it is saved, or read again: not at every keystroke.
      if (document.isDirty) return;
      for (const { uri } of vscode.workspace.textDocuments)
        if (uri.scheme === replayComparisonScheme && queryOf(uri).files.includes(document.uri.toString()))
          changed.fire(uri);
    }),
  );
}

/** Shows how a replay differs from another one by meaning: layers that differ, their choices as text. */
export async function compareReplays(argument: unknown, other: unknown): Promise<void> {
  const target = commandTarget(argument);
  if (target === undefined) return;
  const question = {
    glob: '**/*replay*.json',
    placeHolder: 'Select a tactic replay to compare with',
    dialog: { filters: { JSON: ['json'] } },
    except: target.uri,
  };
  const against = other instanceof vscode.Uri ? other : await pickFile(question);
  if (against === undefined) return;
  const pair = [against, target.uri] as const;
  for (const uri of pair) {
    if ((await read(uri.toString())) !== undefined) continue;
    await showError(`${vscode.workspace.asRelativePath(uri)} is not a tactic replay.`);
    return;
  }
  const files: Query['files'] = [pair[0].toString(), pair[1].toString()];
  const side = (uri: vscode.Uri, which: Query['side']) =>
    vscode.Uri.from({
      scheme: replayComparisonScheme,
      path: `${uri.path}.txt`,
      query: JSON.stringify({ files, side: which } satisfies Query),
    });
  const texts = [side(pair[0], 'before'), side(pair[1], 'after')];
  for (const text of texts) changed.fire(text);
  const [before, after] = pair.map((uri) => vscode.workspace.asRelativePath(uri));
  await vscode.commands.executeCommand('vscode.diff', ...texts, `${before} ↔ ${after}`);
}

async function read(uri: string) {
  return (await openReplay(vscode.Uri.parse(uri, true)))?.file;
}
