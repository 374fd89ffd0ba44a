import * as vscode from 'vscode';
import type { ParsedFiles } from '../../../node/files/parsedFiles.ts';
import {
  logLineOf,
  markdownOf,
  namesOf,
  selectedNodes,
  selectorsOf,
  type TextSubject,
} from '../../../picture/page/selectionText.ts';
import { type GraphAction, graphActions, graphCommands } from '../../../protocol/graphActions.ts';
import { commands } from '../../ids.ts';
import { columnOf } from '../../platform/columnOf.ts';
import { showInformation } from '../../platform/messages.ts';
import { registerCommands } from '../../platform/registerCommands.ts';
import { openLogLine } from '../../workspace/openLogLine.ts';
import type { Session } from '../../workspace/session.ts';
import type { Sessions } from '../../workspace/sessions.ts';
import type { ViewConnections } from '../../workspace/viewConnections.ts';
import { openGraph } from '../graphEditorProvider.ts';
import { pointedAt } from '../pointedAt.ts';
import { showMemory, showTactics } from './showPages.ts';
import { goToSource } from './sourceLinks.ts';
import { isFileUri } from '../../platform/fileUri.ts';

/** What may not come before or after a name: then it is part of a longer one. */
const inName = /[\w.:/-]/;

/** Where a text mentions one of some names first, as a whole; null: nowhere. */
export function firstMention(document: vscode.TextDocument, names: readonly string[]): vscode.Range | null {
  const text = document.getText();
  for (const name of names) {
    if (name === '') continue;
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
      const end = at + name.length;
      if (inName.test(text[at - 1] ?? '') || inName.test(text[end] ?? '')) continue;
      return new vscode.Range(document.positionAt(at), document.positionAt(end));
    }
  }
  return null;
}

/** Selects the first mention of some names in a text that is open: in one that is in sight, if that has any. */
export async function revealMention(names: readonly string[]): Promise<void> {
  const shown = vscode.window.visibleTextEditors.map(({ document }) => document);
  const open = vscode.workspace.textDocuments.filter(({ uri }) => isFileUri(uri) || uri.scheme === 'untitled');
  for (const document of new Set([...shown, ...open])) {
    const selection = firstMention(document, names);
    if (selection === null) continue;
    await vscode.window.showTextDocument(document, { selection, viewColumn: columnOf(document.uri) });
    return;
  }
  await showInformation(`No open text mentions ${names[0] ?? 'the selection'}.`);
}

/** The commands of the graph's keys and of the context menus of graph and side bar. */
export function registerSelectionCommands(
  sessions: Sessions,
  connections: ViewConnections,
  files: ParsedFiles,
): vscode.Disposable {
  const about =
    (act: (subject: TextSubject, session: Session) => unknown) =>
    async (argument: unknown): Promise<void> => {
      const session = sessions.current;
      if (session === undefined) return;
      const subject = pointedAt(session, argument);
      if (subject.tensor === undefined && selectedNodes(subject).length === 0 && namesOf(subject).length === 0)
        await showInformation('Nothing is selected. Select a node, an edge or a group first.');
      else await act(subject, session);
    };
  const copy = (text: (subject: TextSubject) => string) =>
    about((subject) => vscode.env.clipboard.writeText(text(subject)));
  const perform = async (action: GraphAction, argument: unknown): Promise<void> => {
    const session = sessions.current;
    if (session === undefined) return;
    const { selection } = pointedAt(session, argument);
    // A row of the tree is selected in the graph first, which may have to open.
    if (!connections.hasGraph(session)) await openGraph(session.uri);
    if (selection.kind !== 'none') sessions.select(session, selection, 'tree');
    connections.perform(session, action);
  };
  return registerCommands({
    ...Object.fromEntries(
      graphActions.map((action) => [
        graphCommands[`graph.${action}`],
        (argument: unknown) => perform(action, argument),
      ]),
    ),
    [commands.copyName]: copy((subject) => namesOf(subject).join('\n')),
    [commands.copySelector]: copy((subject) => selectorsOf(subject).join('\n')),
    [commands.copyMarkdown]: copy(markdownOf),
    [commands.showMemory]: async () => {
      if (sessions.current !== undefined) await showMemory(sessions.current, files);
    },
    [commands.revealInLog]: about(revealInLog),
    [commands.goToSource]: about(goToSource),
    [commands.showTactics]: about((subject, session) => showTactics(subject, session, files)),
    [commands.revealInText]: about((subject) => revealMention(namesOf(subject))),
  });
}

/** At the line that lists its layer or, where none does, that mentions it first. */
async function revealInLog(subject: TextSubject, session: Session): Promise<void> {
  const line = logLineOf(subject);
  if (line !== null) return openLogLine(session, line);
  const log = session.state.newest?.log ?? null;
  const names = namesOf(subject);
  const found = log === null ? null : firstMention(await vscode.workspace.openTextDocument(log), names);
  if (found !== null) return openLogLine(session, found.start.line + 1);
  const problem =
    log === null ? `No build of ${session.title} has a log.` : `The log does not mention ${names[0] ?? 'it'}.`;
  await showInformation(problem);
}
