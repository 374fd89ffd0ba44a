import { mkdir } from 'node:fs/promises';
import type * as vscode from 'vscode';
import { checkEachOutput } from '../../../../kernel/node/files/writeResult.ts';
import { absoluteOptions } from '../../../../kernel/node/run/absoluteOptions.ts';
import { requireBuild } from '../../../../kernel/node/store/buildFolder.ts';
import { resultFolder } from '../../../../kernel/node/store/modelResults.ts';
import { runtimeOf } from '../../../../kernel/vscode/platform/downloadConsent.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';
import { askForInputs } from '../../../../kernel/vscode/workspace/askForInputs.ts';
import { optionsOf } from '../../../../kernel/vscode/builds/optionsOf.ts';
import { bisectModel } from '../../node/bisectModel.ts';
import { workerPlace } from '../../node/engineWorker.ts';
import { packageFiles } from '../../node/writePackage.ts';
import type { FoundBisect } from './bisectPages.ts';

/** What a search is about. */
export interface BisectSubject {
  model: vscode.Uri;
  /** Folder of a build, whose options are used; undefined: those of the settings. */
  build: string | undefined;
  /** Input files; undefined: they are asked for. */
  inputs: string[] | undefined;
}

/** As many builds, and minutes, as a search takes at most. Whoever wants more goes on. */
const limits = { maxBuilds: 200, maxSeconds: 1800 };

/**
 * Compares the engine of a model with ONNX Runtime and, where it is wrong, searches for the smallest wrong piece. undefined:
 * no inputs were chosen, it was cancelled before anything was found, or it failed, which the user was told.
 * @param began called with the inputs once they are known
 */
export async function findWrongNodes(
  context: vscode.ExtensionContext,
  { model, build, inputs: known }: BisectSubject,
  log: vscode.LogOutputChannel,
  began: (inputs: string[]) => Thenable<void>,
): Promise<FoundBisect | undefined> {
  const inputs = known ?? (await askForInputs(model, context.workspaceState, { random: true, search: false }));
  if (inputs === undefined) return undefined;
  await began(inputs);
  const result = await withProgress(
    `Finding where the engine goes wrong: ${nameOf(model)}`,
    log,
    async (signal, say) => {
      const manifest = build === undefined ? null : (await requireBuild(build)).manifest;
      const options = optionsOf(context, model, manifest);
      const folder = resultFolder(model.fsPath, 'bisect');
      await mkdir(folder, { recursive: true });
      await checkEachOutput(packageFiles(folder), [model.fsPath, ...inputs]);
      const runtime = await runtimeOf(context, model, signal, say);
      const scripts = context.asAbsolutePath('dist/driver');
      const found = await bisectModel(
        {
          options: await absoluteOptions(options),
          inputs,
          out: folder,
          tolerance: 1e-3,
          ...limits,
          anonymize: false,
          worker: await workerPlace({
            rtx: options.backend === 'rtx',
            python: options.python,
            launcher: options.launcher,
            scripts,
            plugins: options.plugins ?? [],
          }),
          runtime,
          script: context.asAbsolutePath('dist/driver/bisect_reference.py'),
        },
        { status: say },
        signal,
      );
      return { found, folder };
    },
  );
  return result && { model, result: result.found, inputs, build, folder: result.folder };
}
