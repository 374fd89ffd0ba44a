import * as vscode from 'vscode';
import type { ParsedFiles } from '../../builder/files/parsedFiles.ts';
import { commands } from '../ids.ts';
import { registerCommands } from '../platform/registerCommands.ts';
import type { Sessions } from '../workspace/sessions.ts';
import { commandTarget } from './commandTarget.ts';
import { FactsFeed } from './factsFeed.ts';
import { FactsReader } from './knownFacts.ts';
import { LanguageService } from './languageService.ts';
import { NodeList } from './nodeList.ts';
import { openNewestLog } from './openNewestLog.ts';
import { showNodes } from './showNodes.ts';

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
