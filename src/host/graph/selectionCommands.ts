import * as vscode from 'vscode';
import { logLineOf, markdownOf, namesOf, selectedNodes, selectorsOf } from '../../core/scene/panel/selectionText.ts';
import type { TextSubject } from '../../core/scene/panel/selectionText.ts';
import type { GraphAction } from '../../protocol/graphActions.ts';
import { graphActions, graphCommands } from '../../protocol/graphActions.ts';
import { commands } from '../ids.ts';
import { plainText } from '../platform/plainText.ts';
import { registerCommands } from '../platform/registerCommands.ts';
import { openLogLine } from '../workspace/openLogLine.ts';
import type { Session } from '../workspace/session.ts';
import type { Sessions } from '../workspace/sessions.ts';
import type { ViewConnections } from '../workspace/viewConnections.ts';
import { openGraph } from './graphEditorProvider.ts';
import { pointedAt } from './pointedAt.ts';
import { firstMention, revealMention } from './mentions.ts';

/** The commands of the graph's keys and of the context menus of graph and side bar. */
export function registerSelectionCommands(sessions: Sessions, connections: ViewConnections): vscode.Disposable {
  const about =
    (act: (subject: TextSubject, session: Session) => unknown) =>
    async (argument: unknown): Promise<void> => {
      const session = sessions.current;
      if (session === undefined) return;
      const subject = pointedAt(session, argument);
      if (subject.tensor === undefined && selectedNodes(subject).length === 0 && namesOf(subject).length === 0)
        await vscode.window.showInformationMessage('Nothing is selected. Select a node, an edge or a group first.');
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
    [commands.revealInLog]: about(revealInLog),
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
  await vscode.window.showInformationMessage(plainText(problem));
}
