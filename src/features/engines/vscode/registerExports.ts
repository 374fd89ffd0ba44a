import type * as vscode from 'vscode';
import { commands } from '../../../kernel/vscode/ids.ts';
import { registerLater } from '../../../kernel/vscode/platform/registerCommands.ts';
import type { ExportParts } from './internal/exportCommands.ts';

/** What is made of a build or a model for other programs: most sessions use none of it. */
export const registerExports = (parts: ExportParts): vscode.Disposable =>
  registerLater(
    [
      commands.createGate,
      commands.writeTritonConfig,
      commands.suggestSplit,
      commands.migrateCalibration,
      commands.writeTorchHook,
    ],
    async () => (await import('./internal/exportCommands.ts')).exportCommands(parts),
  );
