import * as vscode from 'vscode';
import { isSamePath } from '../../../node/files/pathKey.ts';
import { fateSentence, phrase } from '../../../report/words.ts';
import { listedLayers, logLineOf, nameAt, selectedNodes } from '../../../picture/page/selectionText.ts';
import { timeText } from '../../../base/text.ts';
import type { Selection } from '../../../protocol/views.ts';
import { commands } from '../../ids.ts';
import { showInformation } from '../../platform/messages.ts';
import { registerCommands } from '../../platform/registerCommands.ts';
import type { Session } from '../../workspace/session.ts';
import { openGraph } from '../graphEditorProvider.ts';
import { SessionLenses } from './sessionLenses.ts';

/** Build logs are plain text: whether one names nodes of the current model is seen at the place that is asked about. */
export const logFiles: vscode.DocumentSelector = [{ pattern: '**/*.{log,txt}' }];
/** From the text of a build log to the graph: hovers, the line that lists a layer, and lenses over those lines. */
export class LogLinks extends SessionLenses implements vscode.HoverProvider, vscode.DefinitionProvider {
  register(): vscode.Disposable {
    return vscode.Disposable.from(
      this.show(logFiles),
      vscode.languages.registerHoverProvider(logFiles, this),
      vscode.languages.registerDefinitionProvider(logFiles, this),
      registerCommands({
        [commands.revealInGraph]: (selection, model) => this.#reveal(selection as Selection, model),
      }),
    );
  }

  provideHover(document: vscode.TextDocument, position: vscode.Position): vscode.Hover | null {
    const found = this.#named(document, position);
    if (found === null) return null;
    const { session, selection, range } = found;
    const { report } = session;
    const [id] = selectedNodes({ graph: session.state.graph, report, selection });
    const node = report?.nodes.find((one) => one.id === id);
    const text = new vscode.MarkdownString();
    text.isTrusted = { enabledCommands: [commands.revealInGraph] };
    if (report !== null && node !== undefined)
      text.appendText(`${node.op} in ${session.title}: ${fateSentence(report, node)}`).appendMarkdown('\n\n');
    const argument = encodeURIComponent(JSON.stringify([selection]));
    text.appendMarkdown(`[Reveal in Graph](command:${commands.revealInGraph}?${argument})`);
    return new vscode.Hover(text, range);
  }

  provideDefinition(document: vscode.TextDocument, position: vscode.Position): vscode.Location | null {
    const found = this.#named(document, position);
    if (found === null || !isLogOf(found.session, document)) return null;
    const { session, selection } = found;
    const line = logLineOf({ graph: session.state.graph, report: session.report, selection });
    return line === null ? null : new vscode.Location(document.uri, new vscode.Position(line - 1, 0));
  }

  override provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const session = this.sessions.current;
    if (session === undefined || session.report === null || !isLogOf(session, document)) return [];
    const last = document.lineCount;
    return listedLayers(session.report)
      .filter(({ line }) => line <= last)
      .map(({ id, line, nodes, averageMs }) => {
        const title = phrase(['Reveal in Graph', [nodes.length, 'node'], averageMs !== null && timeText(averageMs)]);
        const selection: Selection = { kind: 'layers', ids: [id] };
        const command = { title, command: commands.revealInGraph, arguments: [selection] };
        return new vscode.CodeLens(new vscode.Range(line - 1, 0, line - 1, 0), command);
      });
  }

  /** The node or layer of the current model whose name is at a place. */
  #named(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): { session: Session; selection: Selection; range: vscode.Range } | null {
    const session = this.sessions.current;
    if (session === undefined) return null;
    const found = nameAt(session.state.graph, session.report, document.lineAt(position.line).text, position.character);
    if (found === null) return null;
    const range = new vscode.Range(position.line, found.start, position.line, found.end);
    return { session, selection: found.selection, range };
  }

  /** `model`: the URI of the model as text; otherwise the current one. */
  async #reveal(selection: Selection, model: unknown): Promise<void> {
    const named = typeof model === 'string' ? vscode.Uri.parse(model) : undefined;
    const session = named ? this.sessions.setCurrent(named) : this.sessions.current;
    if (session === undefined) {
      await showInformation('Open the model of this log first.');
      return;
    }
    await openGraph(session.uri);
    this.sessions.select(session, selection, 'host');
  }
}

const isLogOf = ({ state }: Session, { uri }: vscode.TextDocument): boolean =>
  typeof state.newest?.log === 'string' && isSamePath(state.newest.log, uri.fsPath);
