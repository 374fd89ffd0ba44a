import * as vscode from 'vscode';
import { packageSets } from '../../builder/tools/packageSets.ts';
import { plainText } from '../platform/plainText.ts';

/** NVIDIA's pages; the licence is in their section "Reference", and as LICENSE.txt in the package. */
const documentation = 'https://docs.nvidia.com/deeplearning/tensorrt-rtx/latest/';
const key = 'tensorrtLens.rtxConsent';
const { version } = packageSets['tensorrt-rtx'];

/**
 * Asks before TensorRT-RTX is downloaded: it is NVIDIA's, and nothing reaches this machine without a yes. `text` says
 * what, how much, from where, under which licence and where to. A yes is remembered for this version, so that a
 * download that failed can be tried again without a second question.
 */
export async function mayDownload(text: string, memory: vscode.Memento): Promise<boolean> {
  if (memory.get(key) === version) return true;
  const yes = 'Download and Build';
  const read = 'About TensorRT-RTX';
  const question = 'Download NVIDIA TensorRT-RTX?';
  const detail = [
    text,
    'By downloading it you accept NVIDIA’s license. Nothing else is sent or downloaded. You are asked only once.',
  ].join('\n\n');
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one question after the other
    const answer = await vscode.window.showInformationMessage(plainText(question), { modal: true, detail }, yes, read);
    if (answer === yes) {
      // oxlint-disable-next-line no-await-in-loop -- the loop ends here
      await memory.update(key, version);
      return true;
    }
    if (answer !== read) return false;
    // oxlint-disable-next-line no-await-in-loop -- afterwards the question comes again
    await vscode.env.openExternal(vscode.Uri.parse(documentation));
  }
}
