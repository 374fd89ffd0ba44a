import * as vscode from 'vscode';
import { commands } from '../ids.ts';
import type { LanguageFeatures } from '../language/languageFeatures.ts';
import { registerCommands } from '../platform/registerCommands.ts';
import type { BuildParts } from '../tasks/startBuild.ts';
import { buildWithReplay } from './buildWithReplay.ts';
import { compareReplays, registerReplayComparison } from './compareReplays.ts';
import { EntryDecorations } from './entryDecorations.ts';
import { freeLayer } from './freeLayer.ts';
import { pinLayer } from './pinLayer.ts';
import { recordReplay } from './recordReplay.ts';

/** Tactic replays: their commands and decorations. */
export function registerReplay(
  { feed, language, served }: LanguageFeatures,
  building: Pick<BuildParts, 'sessions' | 'builds' | 'tasks'>,
): vscode.Disposable {
  return vscode.Disposable.from(
    registerReplayComparison(),
    new EntryDecorations(feed, language),
    registerCommands({
      [commands.buildWithReplay]: served((target) => buildWithReplay(building, feed, target)),
      [commands.recordReplay]: (argument) => recordReplay(building, argument),
      [commands.pinLayer]: served((target) => pinLayer(feed, target)),
      [commands.freeLayer]: (target) => freeLayer(target),
      [commands.compareReplays]: compareReplays,
    }),
  );
}
