import * as vscode from 'vscode';
import type { ParsedFiles } from '../../builder/files/parsedFiles.ts';
import { languageCommands } from '../../protocol/language.ts';
import type { Builds } from '../builds/builds.ts';
import { keepFp32 } from '../commands/keepFp32.ts';
import { pickModel } from '../commands/pickModel.ts';
import { languageCommandIds } from './languageCommandIds.ts';
import { writeTypedCopy } from '../precision/writeTypedCopy.ts';
import { buildWithOverrides } from '../precision/buildWithOverrides.ts';
import { copyPrecisionFlags } from '../precision/copyPrecisionFlags.ts';
import { importPrecisionFlags } from '../precision/importPrecisionFlags.ts';
import { openOverrides } from '../precision/openOverrides.ts';
import { RuleDecorations } from '../precision/ruleDecorations.ts';
import { verifyOverrides } from '../precision/verifyOverrides.ts';
import { buildWithReplay } from '../replay/buildWithReplay.ts';
import { compareReplays, registerReplayComparison } from '../replay/compareReplays.ts';
import { EntryDecorations } from '../replay/entryDecorations.ts';
import { freeLayer } from '../replay/freeLayer.ts';
import { pinLayer } from '../replay/pinLayer.ts';
import { recordReplay } from '../replay/recordReplay.ts';
import type { BuildTaskProvider } from '../tasks/buildTaskProvider.ts';
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
  builds: Builds;
  tasks: BuildTaskProvider;
  files: ParsedFiles;
}

/** Override files and replays: the language server, its commands and the decorations. Dispose the result to end it all. */
export class LanguageFeatures implements vscode.Disposable {
  readonly feed: FactsFeed;
  readonly language: LanguageService;
  readonly #parts: vscode.Disposable;

  constructor({ extensionUri, log, sessions, builds, tasks, files }: LanguageSurroundings) {
    const building = { sessions, builds, tasks };
    const reader = new FactsReader(log, files);
    const feed = new FactsFeed(sessions, reader);
    const language = new LanguageService(extensionUri, feed, log);
    this.feed = feed;
    this.language = language;
    /** Of a document that nobody has opened yet, nothing is known before the server has it. */
    const served =
      (act: (target: unknown, more?: unknown) => unknown) =>
      async (target: unknown, more?: unknown): Promise<unknown> => {
        const uri = commandTarget(target)?.uri;
        if (uri !== undefined) await language.serve(uri);
        return act(target, more);
      };
    const show = served((target) => showNodes(sessions, feed, language, target));
    const handlers: Record<string, (...args: unknown[]) => unknown> = {
      [languageCommands.showNodes]: show,
      [languageCommandIds.showNodesHere]: show,
      [languageCommands.openLogLine]: served((target) => openNewestLog(feed, target)),
      [languageCommands.buildWithOverrides]: served((target) => buildWithOverrides(building, feed, target)),
      [languageCommands.applyOverrides]: served((target, to) => writeTypedCopy(feed, files, target, to)),
      [languageCommands.verifyOverrides]: served((target) => verifyOverrides(feed, language, target)),
      [languageCommands.buildWithReplay]: served((target) => buildWithReplay(building, feed, target)),
      [languageCommandIds.openOverrides]: async (argument) => {
        const model = await pickModel(argument, sessions);
        if (model !== undefined) await vscode.window.showTextDocument(await openOverrides(model));
      },
      [languageCommandIds.importPrecisionFlags]: () => importPrecisionFlags(feed),
      [languageCommandIds.copyPrecisionFlags]: served((target, to) => copyPrecisionFlags(feed, log, target, to)),
      [languageCommandIds.keepFp32]: async (argument, ids) => {
        const model = await pickModel(argument, sessions);
        const session = model && sessions.find(model);
        if (session && Array.isArray(ids)) await keepFp32(session, ids.map(String), language);
      },
      [languageCommandIds.recordReplay]: (argument) => recordReplay(building, argument),
      [languageCommandIds.pinLayer]: served((target) => pinLayer(feed, target)),
      [languageCommandIds.freeLayer]: (target) => freeLayer(target),
      [languageCommandIds.compareReplays]: compareReplays,
    };
    this.#parts = vscode.Disposable.from(
      language,
      feed,
      new NodeList(reader, sessions),
      registerReplayComparison(),
      new RuleDecorations(feed, language),
      new EntryDecorations(feed, language),
      ...Object.entries(handlers).map(([id, handler]) => vscode.commands.registerCommand(id, handler)),
    );
  }

  dispose(): void {
    this.#parts.dispose();
  }
}
