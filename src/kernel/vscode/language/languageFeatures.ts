import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ParsedFiles } from '../../node/files/parsedFiles.ts';
import { openGraph } from '../graph/graphEditorProvider.ts';
import { commands } from '../ids.ts';
import { showInformation } from '../platform/messages.ts';
import { isModelFile } from '../platform/modelFile.ts';
import { registerCommands } from '../platform/registerCommands.ts';
import { openTextAt } from '../workspace/openLogLine.ts';
import type { Sessions } from '../workspace/sessions.ts';
import { commandTarget, editorOf } from './commandTarget.ts';
import { FactsFeed } from './factsFeed.ts';
import { FactsReader } from './internal/knownFacts.ts';
import { NodeList } from './internal/nodeList.ts';
import { LanguageService } from './languageService.ts';
import { fileUri } from '../platform/fileUri.ts';

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
    await showInformation(problem || 'This file has no model. Add a line such as "model ./model.onnx".');
    return;
  }
  const ids = target.arguments.nodes ?? (await nodesAtCursor(target.uri, language));
  if (ids.length === 0) {
    await showInformation('No node is selected at the cursor.');
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

/** Opens the log of the newest build of a document's model, or of the newest that passed, at a line counted from 1. */
export async function openNewestLog(feed: FactsFeed, argument: unknown): Promise<void> {
  const target = commandTarget(argument);
  if (target === undefined) return;
  const facts = await feed.settled(target.uri);
  const build = target.arguments.passed
    ? facts?.builds.find(({ manifest }) => manifest.result === 'passed')
    : facts?.newest;
  if (build == null || build.manifest.files.log === null) {
    await showInformation('No build of this model has a log.');
    return;
  }
  await openTextAt(fileUri(join(build.folder, build.manifest.files.log)), target.arguments.line ?? 1);
}

/** What the language features use of the rest. */
export interface LanguageSurroundings {
  extensionUri: vscode.Uri;
  log: vscode.LogOutputChannel;
  sessions: Sessions;
  files: ParsedFiles;
}

/** What override files and replays have in common: the language server, and what it knows. Dispose it to end it all. */
export class LanguageFeatures implements vscode.Disposable {
  readonly feed: FactsFeed;
  readonly language: LanguageService;
  readonly #parts: vscode.Disposable;

  constructor({ extensionUri, log, sessions, files }: LanguageSurroundings) {
    const reader = new FactsReader(log, files);
    const feed = new FactsFeed(sessions, reader);
    const language = new LanguageService(extensionUri, feed, log);
    this.feed = feed;
    this.language = language;
    const show = this.served((target) => showNodes(sessions, feed, language, target));
    this.#parts = vscode.Disposable.from(
      language,
      feed,
      new NodeList(reader, sessions),
      registerCommands({
        [commands.showNodes]: show,
        [commands.showNodesHere]: show,
        [commands.openLogLine]: this.served((target) => openNewestLog(feed, target)),
      }),
    );
  }

  /** A command about a document: nothing is known of one that no one has opened yet before the server has it. */
  readonly served =
    (act: (target: unknown, more?: unknown) => unknown) =>
    async (target: unknown, more?: unknown): Promise<unknown> => {
      const uri = commandTarget(target)?.uri;
      if (uri !== undefined) await this.language.serve(uri);
      return act(target, more);
    };

  dispose(): void {
    this.#parts.dispose();
  }
}
