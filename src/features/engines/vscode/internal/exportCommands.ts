import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { writeResult } from '../../../../kernel/node/files/writeResult.ts';
import { migrateCalibration } from '../../../quantization/node/migrateCalibration.ts';
import type { Build } from '../../../../kernel/node/store/buildFolder.ts';
import { listBuilds } from '../../../../kernel/node/store/buildHistory.ts';
import { newGate } from '../../../gate/node/newGate.ts';
import { tritonEngine } from '../../node/tritonEngine.ts';
import { counted, sizeText } from '../../../../kernel/base/text.ts';
import { nodesInInt8 } from '../../../../kernel/quantization/calibration.ts';
import { networkOf } from '../../../../kernel/network/network.ts';
import { suggestCuts } from '../../../surgery/splitModel.ts';
import { writeTritonConfig } from '../../triton/tritonConfig.ts';
import { openGraph } from '../../../../kernel/vscode/graph/graphEditorProvider.ts';
import type { HistoryItem } from '../../../../kernel/vscode/builds/historyItem.ts';
import { commands } from '../../../../kernel/vscode/ids.ts';
import { pickItem, pickTarget } from '../../../../kernel/vscode/platform/askUser.ts';
import { showInformation } from '../../../../kernel/vscode/platform/messages.ts';
import { besideModel } from '../../../../kernel/vscode/platform/modelFile.ts';
import { modelToWrite } from '../../../../kernel/vscode/platform/modelToWrite.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import type { CommandHandlers } from '../../../../kernel/vscode/platform/registerCommands.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';
import { isOnDisk } from '../../../../kernel/vscode/workspace/startBuild.ts';
import { pickFile } from '../../../../kernel/vscode/workspace/pickFile.ts';
import { pickModel } from '../../../../kernel/vscode/workspace/pickModel.ts';
import type { Sessions } from '../../../../kernel/vscode/workspace/sessions.ts';
import { fileUri } from '../../../../kernel/vscode/platform/fileUri.ts';

/** What the feature needs of the extension. */
export interface ExportParts {
  context: vscode.ExtensionContext;
  sessions: Sessions;
  log: vscode.LogOutputChannel;
}

/** Each takes what it is about, and where the result goes; otherwise the user is asked. Results are new files. */
export function exportCommands(parts: ExportParts): CommandHandlers {
  const { sessions, log, context } = parts;
  const onModel =
    (run: (model: vscode.Uri, target: unknown, given: unknown) => Promise<unknown>) =>
    async (argument: unknown, target: unknown, given: unknown): Promise<unknown> => {
      const model = await pickModel(argument, sessions);
      return model !== undefined && (await isOnDisk(model)) ? run(model, target, given) : undefined;
    };
  const onBuild =
    (run: (build: Build, model: vscode.Uri, target: unknown) => Promise<unknown>) =>
    async (argument: unknown, target: unknown): Promise<unknown> => {
      const build = (argument as Partial<HistoryItem> | undefined)?.build ?? (await lastPassed(argument, sessions));
      return build && run(build, fileUri(build.manifest.model.file), target);
    };
  return {
    [commands.createGate]: onBuild(async (build, model, target) => {
      const path = await fileToWrite(target, besideModel(model, '.gate.yaml'), 'Create Gate');
      if (path === undefined) return;
      const made = await withProgress(`Creating ${nameOf(path)}`, log, () =>
        newGate(path.fsPath, build.folder, model.fsPath),
      );
      if (made !== undefined) await vscode.window.showTextDocument(path);
    }),
    [commands.writeTritonConfig]: onBuild(async (build, model, target) => {
      const path = await fileToWrite(target, vscode.Uri.joinPath(model, '..', 'config.pbtxt'), 'Write Configuration');
      if (path === undefined) return;
      const text = await withProgress(`Writing ${nameOf(path)}`, log, async () =>
        writeTritonConfig(await tritonEngine(build)),
      );
      if (text === undefined) return;
      await writeResult(path.fsPath, text, 'text');
      await vscode.window.showTextDocument(path);
    }),
    [commands.suggestSplit]: onModel(async (model) => {
      const graph = networkOf((await new ParsedFiles().model(model.fsPath)).value);
      const cuts = suggestCuts(graph, graph.inferred);
      const items = cuts.map(({ tensor, crossing, bytes, exact, nodes: [before, behind], module }) => ({
        label: tensor,
        description: `${exact ? '' : 'at least '}${sizeText(bytes)} in ${counted(crossing.length, 'tensor')}`,
        detail: `${counted(before, 'node')} before, ${counted(behind, 'node')} behind${module === null ? '' : `; ends ${module}`}`,
        tensor,
      }));
      if (items.length === 0) {
        await showInformation(`${nameOf(model)} has no place to split.`);
        return;
      }
      const options = { title: 'Suggest Where to Split', placeHolder: 'Select a tensor to split the model behind' };
      const picked = await pickItem(items, options);
      if (picked === undefined) return;
      const producer = graph.tensors[graph.byName.get(picked.tensor)!]!.producer;
      const node = producer === null ? undefined : graph.nodes[producer]?.id;
      if (node !== undefined) await vscode.commands.executeCommand(commands.splitHere, model, [node]);
    }),
    [commands.migrateCalibration]: onModel(async (model, target, given) => {
      const cache = given instanceof vscode.Uri ? given : await cacheOf(model, sessions);
      if (cache === undefined) return;
      const options = { title: 'Write Scales as Q/DQ Nodes', ending: '.int8.onnx', label: 'Write' };
      const out = await modelToWrite(target, model, options);
      if (out === undefined) return;
      const request = { path: model.fsPath, cache: cache.fsPath, out: out.fsPath };
      const report = sessions.find(model)?.report ?? null;
      // The build that is shown says where the pairs belong, if it is one in INT8.
      const engine = report !== null && (nodesInInt8(report)?.size ?? 0) > 0 ? report : null;
      const made = await withProgress(`Writing ${nameOf(out)}`, log, (signal) =>
        migrateCalibration({ ...request, engine }, signal),
      );
      if (made === undefined) return;
      await openGraph(out);
      if (engine !== null)
        void showInformation(
          `Q/DQ nodes are where the shown build computes in INT8: ${counted(made.activations.length, 'activation')}, ${counted(made.weights.length, 'weight tensor')}. In floating point as there: ${counted(made.floating?.length ?? 0, 'node')}.`,
        );
    }),
    [commands.writeTorchHook]: async (target) => {
      const name = 'trtlens_torch.py';
      const [folder] = vscode.workspace.workspaceFolders ?? [];
      const place = vscode.Uri.joinPath(folder?.uri ?? fileUri(process.cwd()), name);
      const path = await fileToWrite(target, place, 'Write the Hook for Torch-TensorRT');
      if (path === undefined) return;
      const hook = await readFile(join(context.asAbsolutePath('dist'), 'driver', name), 'utf8');
      await writeResult(path.fsPath, hook, 'hook');
      await vscode.window.showTextDocument(path);
    },
  };
}

async function lastPassed(argument: unknown, sessions: Sessions): Promise<Build | undefined> {
  const model = await pickModel(argument, sessions);
  if (model === undefined || !(await isOnDisk(model))) return undefined;
  const build = (await listBuilds(model.fsPath)).find(({ manifest }) => manifest.result === 'passed');
  if (build === undefined) await showInformation(`${nameOf(model)} has no build that passed. Build the model first.`);
  return build;
}

const fileToWrite = async (target: unknown, defaultUri: vscode.Uri, title: string): Promise<vscode.Uri | undefined> =>
  target instanceof vscode.Uri ? target : pickTarget({ defaultUri, title });

const cacheQuestion = {
  glob: '**/*.{cache,calib,calibration}',
  placeHolder: 'Select a calibration cache',
  dialog: { title: 'Use a Calibration Cache', openLabel: 'Use Cache' },
};

/** The one whose scales the views show, else one that the user picks. */
async function cacheOf(model: vscode.Uri, sessions: Sessions): Promise<vscode.Uri | undefined> {
  const used = sessions.find(model)?.calibrationCache ?? null;
  return used === null ? pickFile(cacheQuestion) : fileUri(used);
}
