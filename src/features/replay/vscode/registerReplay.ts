import * as vscode from 'vscode';
import { commands } from '../../../kernel/vscode/ids.ts';
import type { LanguageFeatures } from '../../../kernel/vscode/language/languageFeatures.ts';
import { registerLater } from '../../../kernel/vscode/platform/registerCommands.ts';
import type { BuildParts } from '../../../kernel/vscode/workspace/startBuild.ts';
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
