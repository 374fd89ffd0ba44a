import * as vscode from 'vscode';
import { ensurePackages, type Installed } from '../../builder/tools/ensurePackages.ts';
import { packageSets } from '../../builder/tools/packageSets.ts';
import { readSettings } from './settings.ts';
import { showInformation } from './messages.ts';

/** ONNX Runtime, set up after consent. */
export const runtimeOf = (
  context: vscode.ExtensionContext,
  scope: vscode.Uri,
  signal: AbortSignal,
  progress?: (line: string) => void,
): Promise<Installed> =>
  ensurePackages('onnxruntime', {
    confirm: (text) => mayDownloadRuntime(text, context.globalState),
    ...(progress && { progress }),
    signal,
    python: readSettings(scope).pythonPath || undefined,
  });

const key = 'tensorrtLens.onnxruntimeConsent';
const { version } = packageSets.onnxruntime;

/** Asks before ONNX Runtime is downloaded; `text` says what, how much, from where and where to. A yes is remembered. */
async function mayDownloadRuntime(text: string, memory: vscode.Memento): Promise<boolean> {
  if (memory.get(key) === version) return true;
  const yes = 'Download';
  const detail = `${text}\n\nNothing else is sent or downloaded. You are asked only once.`;
  const answer = await showInformation('Download ONNX Runtime?', { modal: true, detail }, yes);
  if (answer !== yes) return false;
  await memory.update(key, version);
  return true;
}
