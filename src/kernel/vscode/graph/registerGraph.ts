import * as vscode from 'vscode';
import type { ParsedFiles } from '../../node/files/parsedFiles.ts';
import { commands, graphViewType } from '../ids.ts';
import { registerCommands } from '../platform/registerCommands.ts';
import { pickShown } from '../workspace/pickModel.ts';
import type { Sessions } from '../workspace/sessions.ts';
import type { ViewConnections } from '../workspace/viewConnections.ts';
import { LogLinks } from './internal/logLinks.ts';
import { LogPhases } from './internal/logPhases.ts';
import { SourceLenses } from './internal/sourceLinks.ts';
import { registerSelectionCommands } from './internal/selectionCommands.ts';
import { GraphEditorProvider, openGraph } from './graphEditorProvider.ts';

/** The graph as an editor of ONNX files, and the command that opens it. */
export function registerGraph(
  extensionUri: vscode.Uri,
  sessions: Sessions,
  connections: ViewConnections,
  files: ParsedFiles,
): vscode.Disposable {
  const provider = new GraphEditorProvider(extensionUri, sessions, connections);
  return vscode.Disposable.from(
    vscode.window.registerCustomEditorProvider(graphViewType, provider, { supportsMultipleEditorsPerDocument: true }),
    registerSelectionCommands(sessions, connections, files),
    new LogLinks(sessions).register(),
    new LogPhases().register(),
    new SourceLenses(sessions).register(),
    registerCommands({
      [commands.openGraph]: async (uri) => {
        const model = await pickShown(uri, sessions);
        if (model !== undefined) await openGraph(model);
      },
    }),
  );
}
