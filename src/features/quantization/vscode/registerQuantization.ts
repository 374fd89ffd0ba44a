import * as vscode from 'vscode';
import { errorText } from '../../../kernel/base/problem.ts';
import { counted } from '../../../kernel/base/text.ts';
import type { HistoryItem } from '../../../kernel/vscode/builds/historyItem.ts';
import { commands } from '../../../kernel/vscode/ids.ts';
import { pickWord } from '../../../kernel/vscode/platform/askUser.ts';
import { nameOf } from '../../../kernel/vscode/platform/nameOf.ts';
import { showError, showInformation } from '../../../kernel/vscode/platform/messages.ts';
import { registerCommands } from '../../../kernel/vscode/platform/registerCommands.ts';
import { isOnDisk } from '../../../kernel/vscode/workspace/startBuild.ts';
import { pickModel } from '../../../kernel/vscode/workspace/pickModel.ts';
import { pickFile } from '../../../kernel/vscode/workspace/pickFile.ts';
import type { Sessions } from '../../../kernel/vscode/workspace/sessions.ts';
import { QuantizationPages } from './internal/quantizationPages.ts';
import { fileUri } from '../../../kernel/vscode/platform/fileUri.ts';

/** The page of scales, Q/DQ pairs and their placement, and the calibration cache whose scales the views show. */
export function registerQuantization(context: vscode.ExtensionContext, sessions: Sessions): vscode.Disposable {
  const pages = new QuantizationPages(sessions, context.workspaceState);
  return vscode.Disposable.from(
    pages,
    registerCommands({
      [commands.openQuantizationPage]: async (argument) => {
        const model = await modelOf(argument, sessions);
        if (model !== undefined && (await isOnDisk(model))) pages.open(model);
      },
      [commands.useCalibrationCache]: async (argument, file) => {
        const model = await modelOf(argument, sessions);
        if (model !== undefined && (await isOnDisk(model))) await useCache(sessions, model, file);
      },
    }),
  );
}

/** A link of the page gives the model's URI as text, the history a build. A build is also shown. */
async function modelOf(argument: unknown, sessions: Sessions): Promise<vscode.Uri | undefined> {
  if (typeof argument === 'string') return vscode.Uri.parse(argument, true);
  const build = (argument as Partial<Pick<HistoryItem, 'build'>> | undefined)?.build ?? undefined;
  if (build === undefined) return pickModel(argument, sessions);
  const model = fileUri(build.manifest.model.file);
  await sessions.showBuild(model, build.manifest.id);
  return model;
}

/** `given` is from tests and other callers; otherwise the user is asked. */
async function useCache(sessions: Sessions, model: vscode.Uri, given: unknown): Promise<void> {
  const file = given instanceof vscode.Uri ? given : await askForCache(sessions.find(model)?.calibrationCache ?? null);
  if (file === undefined) return;
  try {
    if (file === null) {
      await sessions.useCalibrationCache(model, null);
      return;
    }
    const { readCache } = await import('../../../kernel/node/store/readScales.ts');
    const { scales, unusable } = await readCache(file.fsPath);
    await sessions.useCalibrationCache(model, file.fsPath);
    const bad = unusable.length === 0 ? '' : ` ${counted(unusable.length, 'scale')} cannot be used.`;
    void showInformation(`${nameOf(model)} shows ${counted(scales.size, 'scale')} of ${nameOf(file)}.${bad}`);
  } catch (error) {
    await showError(errorText(error));
  }
}

/** null: no cache any more. undefined: nothing was picked. */
async function askForCache(current: string | null): Promise<vscode.Uri | null | undefined> {
  if (current !== null) {
    const stop = `Stop Using ${nameOf(fileUri(current))}`;
    const other = 'Use Another Cache…';
    const picked = await pickWord([other, stop], 'Select a calibration cache');
    if (picked !== other) return picked === stop ? null : undefined;
  }
  return pickFile({
    glob: '**/*.{cache,calib,calibration}',
    placeHolder: 'Select a calibration cache',
    dialog: { title: 'Use a Calibration Cache', openLabel: 'Use Cache' },
  });
}
