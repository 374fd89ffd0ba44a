import * as vscode from 'vscode';
import { type Calibrator, findCalibrator } from '../../builder/quantization/calibrate.ts';
import { ensurePackages, type Installed } from '../../builder/tools/ensurePackages.ts';
import { packageSets } from '../../builder/tools/packageSets.ts';
import { showInformation } from './messages.ts';
import { readSettings } from './settings.ts';
import { withProgress } from './withProgress.ts';

/** ONNX Runtime, set up after consent. */
export const runtimeOf = (
  context: vscode.ExtensionContext,
  scope: vscode.Uri,
  signal: AbortSignal,
  progress?: (line: string) => void,
): Promise<Installed> => setUp('onnxruntime', context, scope, signal, progress);

/**
 * What calibrates models: a tool that is installed, otherwise ONNX Runtime's, set up after consent. undefined: declined, or
 * it could not be set up, which the user was told.
 */
export async function calibratorOf(
  context: vscode.ExtensionContext,
  scope: vscode.Uri,
  log: vscode.LogOutputChannel,
): Promise<Calibrator | undefined> {
  const chosen = readSettings(scope).pythonPath || undefined;
  const found = await findCalibrator(chosen).catch(() => undefined);
  if (found !== undefined) return found;
  const made = await withProgress('Setting up the quantizer of ONNX Runtime', log, (signal, say) =>
    setUp('calibration', context, scope, signal, say),
  );
  return made && { tool: 'onnxruntime', python: made.python, environment: made.environment };
}

/** The sets that are open source; TensorRT-RTX has a license to accept. */
type OpenSet = 'onnxruntime' | 'calibration';

const setUp = (
  name: OpenSet,
  context: vscode.ExtensionContext,
  scope: vscode.Uri,
  signal: AbortSignal,
  progress?: (line: string) => void,
): Promise<Installed> =>
  ensurePackages(name, {
    confirm: (text) => mayDownload(name, text, context.globalState),
    ...(progress && { progress }),
    signal,
    python: readSettings(scope).pythonPath || undefined,
  });

const questions: Readonly<Record<OpenSet, string>> = {
  onnxruntime: 'Download ONNX Runtime?',
  calibration: 'Download ONNX Runtime with its quantizer?',
};

/** Asks before a set is downloaded; `text` says what, how much, from where and where to. A yes is remembered. */
async function mayDownload(name: OpenSet, text: string, memory: vscode.Memento): Promise<boolean> {
  const key = `tensorrtLens.${name}Consent`;
  const { version } = packageSets[name];
  if (memory.get(key) === version) return true;
  const yes = 'Download';
  const detail = `${text}\n\nNothing else is sent or downloaded. You are asked only once.`;
  const answer = await showInformation(questions[name], { modal: true, detail }, yes);
  if (answer !== yes) return false;
  await memory.update(key, version);
  return true;
}
