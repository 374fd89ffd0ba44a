import * as vscode from 'vscode';
import { openGraph } from '../graph/graphEditorProvider.ts';
import { commands } from '../ids.ts';
import { registerCommands } from '../platform/registerCommands.ts';
import { mayBuild, startBuild } from '../tasks/startBuild.ts';
import type { BuildParts } from '../tasks/startBuild.ts';

const sample = 'fusion_zoo.onnx';

/** The steps of the walkthrough on a model that ships with the extension, for those who have none at hand. */
export function registerWalkthrough(parts: BuildParts): vscode.Disposable {
  return registerCommands({
    [commands.openSample]: async () => openGraph(await sampleModel(parts.context)),
    [commands.buildSample]: async () => {
      const uri = await sampleModel(parts.context);
      await openGraph(uri);
      // Its weights do not ship: fusion depends on structure, shapes and types.
      if (await mayBuild(parts, uri)) await startBuild(parts, uri, { randomWeights: true });
    },
    [commands.openSampleFusion]: async () => {
      await vscode.commands.executeCommand(commands.openFusionPage, await sampleModel(parts.context));
    },
  });
}

/** A copy in the extension's own storage: rules and engines next to it outlive an update of the extension. */
async function sampleModel({ extensionUri, globalStorageUri }: vscode.ExtensionContext): Promise<vscode.Uri> {
  const copy = vscode.Uri.joinPath(globalStorageUri, 'sample', sample);
  await vscode.workspace.fs.copy(vscode.Uri.joinPath(extensionUri, 'media', 'sample', sample), copy).then(
    () => {},
    (error: unknown) => {
      if (!(error instanceof vscode.FileSystemError && error.code === 'FileExists')) throw error;
    },
  );
  return copy;
}
