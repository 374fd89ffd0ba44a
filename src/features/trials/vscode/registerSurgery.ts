import type { SurgeryParts } from './internal/chosenNodes.ts';
import type * as vscode from 'vscode';
import { commands } from '../../../kernel/vscode/ids.ts';
import { registerLater } from '../../../kernel/vscode/platform/registerCommands.ts';

/** The commands that change models: most sessions use none of them. */
export const registerSurgery = (parts: SurgeryParts): vscode.Disposable =>
  registerLater(
    [
      commands.changeModel,
      commands.extractNodes,
      commands.splitHere,
      commands.whatIf,
      commands.replaceByPlugin,
      commands.repairModel,
      commands.reduceModel,
    ],
    async () => (await import('./internal/surgeryCommands.ts')).surgeryCommands(parts),
  );
