import * as vscode from 'vscode';
import type { Build } from '../../../kernel/node/store/buildFolder.ts';
import { errorText } from '../../../kernel/base/problem.ts';
import type { BuildDiagnostics } from '../../../features/diagnose/vscode/buildDiagnostics.ts';
import { openGraph } from '../../../kernel/vscode/graph/graphEditorProvider.ts';
import { commands } from '../../../kernel/vscode/ids.ts';
import { pickItem } from '../../../kernel/vscode/platform/askUser.ts';
import { isFileUri } from '../../../kernel/vscode/platform/fileUri.ts';
import { showError } from '../../../kernel/vscode/platform/messages.ts';
import { registerCommands } from '../../../kernel/vscode/platform/registerCommands.ts';
import { mayBuild, startBuild } from '../../../kernel/vscode/workspace/startBuild.ts';
import type { BuildParts } from '../../../kernel/vscode/workspace/startBuild.ts';
import { samples } from './internal/samples.ts';

/** Recorded builds to look at, and the steps of the walkthrough on a model that ships with the extension. */
export function registerWalkthrough(parts: BuildParts, diagnostics: BuildDiagnostics): vscode.Disposable {
  const running = new Map<string, Promise<unknown>>();
  /** A second click while the first one still works waits for it: it would import a recorded build, or build, again. */
  const once = <T>(what: string, act: () => Promise<T>): Promise<T> => {
    const started = (running.get(what) as Promise<T> | undefined) ?? act().finally(() => running.delete(what));
    running.set(what, started);
    return started;
  };
  const open = (name: string): Promise<void> =>
    once(name, async () => {
      const uri = await sampleModel(parts.context, name);
      const build = await recordedBuild(parts.context, name, uri);
      if (build !== undefined) {
        await parts.sessions.showBuild(uri, build.manifest.id);
        await diagnostics.show(uri, build);
      }
      await openGraph(uri);
      if (samples[name]?.build) await vscode.commands.executeCommand('workbench.view.extension.tensorrtLens');
    });
  const step = <T>(command: string, act: () => Promise<T>): Promise<T | void> =>
    once(command, () =>
      act().catch((error: unknown) => void showError(`The sample cannot be opened: ${errorText(error)}`)),
    );
  const toBuild = (): Promise<vscode.Uri> => sampleModel(parts.context, 'fusion_zoo');
  return registerCommands({
    [commands.openSample]: async (given) => {
      const name = typeof given === 'string' && Object.hasOwn(samples, given) ? given : await pickSample();
      if (name !== undefined) await step(`${commands.openSample} ${name}`, () => open(name));
    },
    [commands.buildSample]: async () => {
      if (running.has(commands.buildSample)) return;
      const opened = await step(commands.buildSample, async () => {
        const uri = await toBuild();
        await openGraph(uri);
        return uri;
      });
      // Not within the step, which would last until a message is answered. The weights do not ship: fusion depends on
      // structure, shapes and types.
      if (opened && (await mayBuild(parts, opened))) await startBuild(parts, opened, { randomWeights: true });
    },
    // Of the model that an earlier step built, or else of a recorded build.
    [commands.openSampleFusion]: () =>
      step(commands.openSampleFusion, async () => {
        const built = await toBuild();
        const { listBuilds } = await import('../../../kernel/node/store/buildHistory.ts');
        const isBuilt = (await listBuilds(built.fsPath)).length > 0;
        if (!isBuilt) await open('convnext_tiny');
        const uri = isBuilt ? built : await sampleModel(parts.context, 'convnext_tiny');
        await vscode.commands.executeCommand(commands.openFusionPage, uri);
      }),
  });
}

async function pickSample(): Promise<string | undefined> {
  const items = Object.entries(samples).map(([name, { label, detail }]) => ({ label, detail, name }));
  const options = {
    title: 'Select a Sample',
    placeHolder: 'Recorded builds of models with random weights, and a model to build',
  };
  return (await pickItem(items, { ...options, matchOnDetail: true }))?.name;
}

const fileOf = ({ extensionUri }: vscode.ExtensionContext, name: string, file: string): vscode.Uri =>
  vscode.Uri.joinPath(extensionUri, 'dist', 'samples', name, file);

/** A copy in the extension's own storage: rules and engines next to it outlive an update of the extension. */
async function sampleModel(context: vscode.ExtensionContext, name: string): Promise<vscode.Uri> {
  const file = `${name}.onnx`;
  const copy = vscode.Uri.joinPath(context.globalStorageUri, 'sample', file);
  const isThere = await vscode.workspace.fs.stat(copy).then(
    () => true,
    () => false,
  );
  if (!isThere)
    await vscode.workspace.fs.writeFile(copy, await vscode.workspace.fs.readFile(fileOf(context, name, file)));
  return copy;
}

/** Makes the recorded build the first of the model's history; undefined: it has builds. */
async function recordedBuild(
  context: vscode.ExtensionContext,
  name: string,
  uri: vscode.Uri,
): Promise<Build | undefined> {
  const recorded = samples[name]?.build;
  if (recorded === undefined || !isFileUri(uri)) return undefined;
  const { listBuilds } = await import('../../../kernel/node/store/buildHistory.ts');
  if ((await listBuilds(uri.fsPath)).length > 0) return undefined;
  const contents = await Promise.all(
    recorded.files.map((file) => vscode.workspace.fs.readFile(fileOf(context, name, file))),
  );
  const { importBuild } = await import('../../../kernel/node/run/importBuild.ts');
  const pieces = contents.map((bytes) => ({ text: new TextDecoder().decode(bytes) }));
  return importBuild({ model: uri.fsPath, pieces, known: recorded.known });
}
