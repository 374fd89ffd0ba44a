import * as vscode from 'vscode';
import { keepResult, keptResult } from '../../../builder/store/modelResults.ts';
import type { FoundAccuracy } from '../findSensitiveNodes.ts';
import { isFileUri } from '../../platform/fileUri.ts';

type KeptAccuracy = Omit<FoundAccuracy, 'model'>;

/** Keeps what was found with the model, so that it comes back in the next window. */
export const keepAccuracy = ({ model, ...result }: FoundAccuracy): Promise<void> =>
  keepResult(model.fsPath, 'accuracy', result satisfies KeptAccuracy);

/** What was found last about a model; undefined: nothing. Never rejects. */
export async function keptAccuracy(model: vscode.Uri): Promise<FoundAccuracy | undefined> {
  if (!isFileUri(model)) return undefined;
  const kept = await keptResult<KeptAccuracy>(model.fsPath, 'accuracy');
  return kept && { ...kept, model };
}
