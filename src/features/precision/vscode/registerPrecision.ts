import * as vscode from 'vscode';
import { commands } from '../../../kernel/vscode/ids.ts';
import { registerCommands, registerLater } from '../../../kernel/vscode/platform/registerCommands.ts';
import type { PrecisionParts } from './internal/precisionCommands.ts';
import { RuleDecorations } from './internal/ruleDecorations.ts';

/** Override files: their commands and decorations. */
export function registerPrecision(parts: PrecisionParts): vscode.Disposable {
  const { feed, language } = parts.features;
  return vscode.Disposable.from(
    new RuleDecorations(feed, language),
    registerLater(
      [
        commands.buildWithOverrides,
        commands.applyOverrides,
        commands.verifyOverrides,
        commands.openOverrides,
        commands.importPrecisionFlags,
        commands.copyPrecisionFlags,
        commands.keepFp32,
        commands.keepFp16,
        commands.keepBf16,
      ],
      async () => (await import('./internal/precisionCommands.ts')).precisionCommands(parts),
    ),
    registerCommands({
      [commands.writeTypedModel]: async (source, command, out) => {
        if (!(source instanceof vscode.Uri) || !Array.isArray(command)) return;
        const { writeTypedModel } = await import('./internal/writeTypedModel.ts');
        await writeTypedModel(source, command.map(String), out);
      },
    }),
  );
}
