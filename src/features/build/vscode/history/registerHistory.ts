import * as vscode from 'vscode';
import type { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import type { BuildDiagnostics, BuildFix } from '../../../diagnose/vscode/buildDiagnostics.ts';
import { diagnosePastedLog } from '../../../diagnose/vscode/pastedLog.ts';
import { commands } from '../../../../kernel/vscode/ids.ts';
import { pickItem } from '../../../../kernel/vscode/platform/askUser.ts';
import { registerCommands } from '../../../../kernel/vscode/platform/registerCommands.ts';
import type { BuildParts } from '../../../../kernel/vscode/workspace/startBuild.ts';
import type { CheckDiagnostics } from '../../../check/vscode/checkDiagnostics.ts';
import { attach, pasteLog } from './attach.ts';
import type { ComparisonPages } from '../../../diff/vscode/comparisonPages.ts';
import { registerComparison } from '../../../diff/vscode/textComparison.ts';
import { buildOf, historyCommands } from './internal/historyCommands.ts';
import type { HistoryTree } from './historyTree.ts';

/** The commands of the builds' history, and the texts in which two builds are compared. */
export function registerHistory(
  tree: HistoryTree,
  parts: BuildParts,
  diagnostics: BuildDiagnostics,
  {
    files,
    pages,
    checks,
    log,
  }: { files: ParsedFiles; pages: ComparisonPages; checks: CheckDiagnostics; log: vscode.LogOutputChannel },
): vscode.Disposable {
  const attaching = { sessions: parts.sessions, diagnostics };
  return vscode.Disposable.from(
    registerComparison(files),
    vscode.languages.registerCodeActionsProvider({ pattern: '**/*.log' }, diagnostics, {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
    registerCommands({
      ...historyCommands(tree, parts, diagnostics, pages),
      [commands.checkModel]: (model) => checks.show(model as vscode.Uri),
      [commands.fixBuildProblem]: (model, place, from) =>
        fixProblem((from === 'check' ? checks : diagnostics).fixesOf(String(model), Number(place))),
      [commands.profileBuild]: async (argument) => {
        const build = buildOf(argument) ?? tree.selected[0];
        if (build === undefined) return;
        const { profileBuildOf } = await import('./internal/profileBuild.ts');
        await profileBuildOf({ ...parts, log }, build);
      },
      [commands.attach]: (uri, chosen) => attach(attaching, uri, chosen),
      [commands.pasteLog]: (uri) => pasteLog(attaching, uri),
      [commands.diagnosePastedLog]: () => diagnosePastedLog(),
    }),
  );
}

/** Offers what may help against a problem of a model or its build. */
async function fixProblem(fixes: readonly BuildFix[]): Promise<void> {
  const items = fixes.map(({ title, command }) => ({ label: title, command }));
  const picked = await pickItem(items, {
    title: 'Fix the Problem',
    placeHolder: 'Select what to do',
  });
  if (picked) await vscode.commands.executeCommand(...picked.command);
}
