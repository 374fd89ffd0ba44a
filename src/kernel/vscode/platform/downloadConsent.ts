import * as vscode from 'vscode';
import type { Installed } from '../../node/tools/ensurePackages.ts';
import { usePackages } from '../../node/tools/ownPackages.ts';
import { packageSets } from '../../node/tools/packageSets.ts';
import { showInformation } from './messages.ts';
import { readSettings } from './settings.ts';

/** ONNX Runtime, set up after consent. */
export const runtimeOf = (
  context: vscode.ExtensionContext,
  scope: vscode.Uri,
  signal: AbortSignal,
  progress?: (line: string) => void,
): Promise<Installed> => setUp('onnxruntime', context, scope, signal, progress);

/** The sets that are open source; TensorRT-RTX has a license to accept. */
type OpenSet = 'onnxruntime';

const setUp = (
  name: OpenSet,
  context: vscode.ExtensionContext,
  scope: vscode.Uri,
  signal: AbortSignal,
  progress?: (line: string) => void,
): Promise<Installed> =>
  usePackages(name, {
    confirm: (text) => mayDownload(name, text, context.globalState),
    ...(progress && { progress }),
    signal,
    python: readSettings(scope).pythonPath || undefined,
  });

interface Question {
  /** Names the memory of a yes. */
  key: string;
  question: string;
  yes: string;
  /** What a yes says beyond the download. */
  license?: { says: string; page: string; button: string };
}

const questions: Readonly<Record<OpenSet | 'tensorrt-rtx', Question>> = {
  onnxruntime: { key: 'tensorrtLens.onnxruntimeConsent', question: 'Download ONNX Runtime?', yes: 'Download' },
  'tensorrt-rtx': {
    key: 'tensorrtLens.rtxConsent',
    question: 'Download NVIDIA TensorRT-RTX?',
    yes: 'Download and Build',
    license: {
      says: 'By downloading it you accept NVIDIA’s license. ',
      // The license is in their section "Reference", and as LICENSE.txt in the package.
      page: 'https://docs.nvidia.com/deeplearning/tensorrt-rtx/latest/',
      button: 'About TensorRT-RTX',
    },
  },
};

/**
 * Asks before a set is downloaded: nothing reaches this machine without a yes. `text` says what, how much, from where,
 * under which license and where to. A yes is remembered for this version, so that a download that failed can be tried
 * again without a second question.
 */
export async function mayDownload(
  name: OpenSet | 'tensorrt-rtx',
  text: string,
  memory: vscode.Memento,
): Promise<boolean> {
  const { key, question, yes, license } = questions[name];
  const { version } = packageSets[name];
  if (memory.get(key) === version) return true;
  const detail = `${text}\n\n${license?.says ?? ''}Nothing else is sent or downloaded. You are asked only once.`;
  const buttons = license ? [yes, license.button] : [yes];
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one question after the other
    const answer = await showInformation(question, { modal: true, detail }, ...buttons);
    if (answer === yes) {
      // oxlint-disable-next-line no-await-in-loop -- the loop ends here
      await memory.update(key, version);
      return true;
    }
    if (license === undefined || answer !== license.button) return false;
    // oxlint-disable-next-line no-await-in-loop -- afterwards the question comes again
    await vscode.env.openExternal(vscode.Uri.parse(license.page));
  }
}
