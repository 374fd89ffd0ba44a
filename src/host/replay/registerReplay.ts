import * as vscode from 'vscode';
import { commands } from '../ids.ts';
import type { LanguageFeatures } from '../language/languageFeatures.ts';
import { registerLater } from '../platform/registerCommands.ts';
import type { BuildParts } from '../tasks/startBuild.ts';
import { EntryDecorations } from './internal/entryDecorations.ts';

/** Tactic replays: their commands and decorations. */
export function registerReplay(
  features: LanguageFeatures,
  building: Pick<BuildParts, 'sessions' | 'builds' | 'tasks'>,
): vscode.Disposable {
  return vscode.Disposable.from(
    new EntryDecorations(features.feed, features.language),
    registerLater([commands.buildWithReplay], async () =>
      (await import('./internal/replayCommands.ts')).replayCommands(features, building),
    ),
  );
}
