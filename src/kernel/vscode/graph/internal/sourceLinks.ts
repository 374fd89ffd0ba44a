import { basename } from 'node:path';
import * as vscode from 'vscode';
import { codeLines, selectedNodes, type TextSubject } from '../../../picture/page/selectionText.ts';
import { fileName, matchingFiles, readSource, shortSource, type SourceLine } from '../../../network/sourceLines.ts';
import { counted, timeText } from '../../../base/text.ts';
import type { FusionReport } from '../../../fusion/fusionReport.ts';
import { phrase } from '../../../report/words.ts';
import type { Selection } from '../../../protocol/views.ts';
import { commands } from '../../ids.ts';
import { pickItem } from '../../platform/askUser.ts';
import { showInformation } from '../../platform/messages.ts';
import { fileUri } from '../../platform/fileUri.ts';
import { openTextAt } from '../../workspace/openLogLine.ts';
import type { Session } from '../../workspace/session.ts';
import { SessionLenses } from './sessionLenses.ts';

/** How a model says which line of Python a node comes from; without it there is nothing to go to. */
const exportCommand = 'torch.onnx.export(model, args, "model.onnx", dynamo=True)';

/** Opens the line of Python that the selected nodes come from; the user chooses among several. */
export async function goToSource(subject: TextSubject, session: Session): Promise<void> {
  const ids = new Set(selectedNodes(subject));
  const counts = new Map<string, number>();
  for (const { id, source } of subject.graph?.nodes ?? [])
    if (ids.has(id) && source !== undefined) counts.set(source, (counts.get(source) ?? 0) + 1);
  const source = await chooseSource(counts);
  if (source === null) {
    const records = subject.graph?.nodes.some((node) => node.source !== undefined) ?? false;
    if (records) await showInformation('The exporter recorded no line of Python for this selection.');
    else await explainExport(session);
    return;
  }
  const read = source === undefined ? null : readSource(source);
  if (read !== null) await openSource(read);
}

/** undefined: the user closed the list. null: there is none. */
async function chooseSource(counts: ReadonlyMap<string, number>): Promise<string | null | undefined> {
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  if (sorted.length <= 1) return sorted[0]?.[0] ?? null;
  const items = sorted.map(([source, count]) => ({
    label: shortSource(source),
    description: counted(count, 'node'),
    detail: source,
    source,
  }));
  return (await pickItem(items, { title: 'Select a Line of Python', matchOnDetail: true }))?.source;
}

async function explainExport({ title }: Session): Promise<void> {
  const copy = 'Copy Export Command';
  const problem = `${title} does not record which lines of Python its nodes come from. Export it with dynamo=True, or with verbose=True where only the older exporter works.`;
  if ((await showInformation(problem, copy)) === copy) await vscode.env.clipboard.writeText(exportCommand);
}

/**
 * Opens the file of the workspace that fits the path of the machine on which the model was exported. No path of a model
 * is opened by itself: a file outside of the workspace only after a yes.
 */
async function openSource({ path, line }: SourceLine): Promise<void> {
  const files = await workspaceFiles(path);
  const { files: best, parts } = matchingFiles(path, files);
  const file =
    best.length <= 1 ? best[0] : (await pickItem(fileItems(best), { title: `Select ${fileName(path)}` }))?.label;
  if (file !== undefined) {
    await openTextAt(fileUri(file), line);
    if (file !== path && parts > 0) {
      const text = `${path} of the exporter is taken to be ${vscode.workspace.asRelativePath(file)}`;
      vscode.window.setStatusBarMessage(text, 10_000);
    }
    return;
  }
  if (best.length > 1) return;
  const here = fileUri(path);
  const open = `Open ${fileName(path)}`;
  const isHere = path.endsWith('.py') && (await isFile(here));
  const problem = `No file of the workspace is ${path}, line ${line}. Open the folder with the model's code.`;
  if ((await showInformation(problem, ...(isHere ? [open] : []))) === open) await openTextAt(here, line);
}

const fileItems = (files: readonly string[]): vscode.QuickPickItem[] => files.map((label) => ({ label }));

const isFile = async (uri: vscode.Uri): Promise<boolean> => {
  try {
    return (await vscode.workspace.fs.stat(uri)).type === vscode.FileType.File;
  } catch {
    return false;
  }
};

/** Files of the workspace with the name of a path. */
async function workspaceFiles(path: string): Promise<string[]> {
  // Brackets and stars of a name mean themselves.
  const name = fileName(path).replaceAll(/[[\]{}*?]/g, '[$&]');
  const found = await vscode.workspace.findFiles(`**/${name}`, undefined, 1000);
  return found.map(({ fsPath }) => fsPath);
}

/** Over each line of Python that nodes of the current model come from: what computes them, and how long it takes. */
export class SourceLenses extends SessionLenses {
  register(): vscode.Disposable {
    return this.show({ language: 'python', scheme: 'file' });
  }

  override async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const session = this.sessions.current;
    const report = session?.report ?? null;
    const path = report === null ? null : await exportedPath(report, document.uri.fsPath);
    if (session === undefined || report === null || path === null) return [];
    return codeLines(report, path)
      .filter(({ line }) => line <= document.lineCount)
      .map(({ line, nodes, groups, kernels, ms }) => {
        const title = phrase([
          ...groups,
          [nodes.length, 'node'],
          kernels > 0 && [kernels, 'kernel'],
          ms !== null && timeText(ms),
        ]);
        const selection: Selection = { kind: 'nodes', ids: nodes };
        const command = { title, command: commands.revealInGraph, arguments: [selection, session.key] };
        return new vscode.CodeLens(new vscode.Range(line - 1, 0, line - 1, 0), command);
      });
  }
}

/** The path by which a report names a file; null: the report has none, or another file of the workspace fits it better. */
async function exportedPath(report: FusionReport, file: string): Promise<string | null> {
  const paths = new Set(
    report.nodes.flatMap(({ source }) => (source === undefined ? [] : (readSource(source)?.path ?? []))),
  );
  const named = [...paths].filter((path) => fileName(path) === basename(file));
  const [best] = matchingFiles(file, named).files;
  if (best === undefined) return null;
  return matchingFiles(best, await workspaceFiles(best)).files.includes(file) ? best : null;
}
