import * as vscode from 'vscode';
import { openGraph } from '../graph/graphEditorProvider.ts';
import { isModelFile } from '../platform/modelFile.ts';
import { plainText } from '../platform/plainText.ts';
import type { Sessions } from '../workspace/sessions.ts';
import { commandTarget, editorOf } from './commandTarget.ts';
import type { FactsFeed } from './factsFeed.ts';
import type { LanguageService } from './languageService.ts';

/** Selects nodes in the graph of a model, or of a document's model, and brings the graph up. Without nodes: those at the cursor. */
export async function showNodes(
  sessions: Sessions,
  feed: FactsFeed,
  language: LanguageService,
  argument: unknown,
): Promise<void> {
  const target = commandTarget(argument);
  if (target === undefined) return;
  const model = isModelFile(target.uri) ? target.uri : await feed.modelOf(target.uri);
  if (model === undefined) {
    const problem = feed.paramsOf(target.uri)?.modelProblem;
    await vscode.window.showInformationMessage(
      plainText(problem || 'This file has no model. Add a line such as "model ./model.onnx".'),
    );
    return;
  }
  const ids = target.arguments.nodes ?? (await nodesAtCursor(target.uri, language));
  if (ids.length === 0) {
    await vscode.window.showInformationMessage('No node is selected at the cursor.');
    return;
  }
  await openGraph(model);
  const session = sessions.setCurrent(model);
  sessions.select(session, { kind: 'nodes', ids }, 'host');
}

async function nodesAtCursor(uri: vscode.Uri, language: LanguageService): Promise<string[]> {
  const editor = editorOf(uri);
  return editor === undefined ? [] : language.nodesAt(uri, editor.selection.active);
}
