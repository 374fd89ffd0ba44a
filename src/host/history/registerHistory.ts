import * as vscode from 'vscode';
import type { ParsedFiles } from '../../builder/files/parsedFiles.ts';
import type { BuildDiagnostics } from '../diagnostics/buildDiagnostics.ts';
import { commands } from '../ids.ts';
import { registerCommands } from '../platform/registerCommands.ts';
import type { BuildParts } from '../tasks/startBuild.ts';
import { attach, pasteLog } from './attach.ts';
import { ComparisonPages } from './comparisonPages.ts';
import { registerComparison } from './comparison.ts';
import { historyCommands } from './historyCommands.ts';
import type { HistoryTree } from './historyTree.ts';

/** The commands of the builds' history, and the texts in which two builds are compared. */
export function registerHistory(
  tree: HistoryTree,
  parts: BuildParts,
  diagnostics: BuildDiagnostics,
  files: ParsedFiles,
): vscode.Disposable {
  const attaching = { sessions: parts.sessions, diagnostics };
  return vscode.Disposable.from(
    registerComparison(files),
    registerCommands({
      ...historyCommands(tree, parts, diagnostics, new ComparisonPages(parts.context.extensionUri, files)),
      [commands.attach]: (uri, chosen) => attach(attaching, uri, chosen),
      [commands.pasteLog]: (uri) => pasteLog(attaching, uri),
    }),
  );
}
