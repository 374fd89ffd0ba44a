import * as vscode from 'vscode';
import { keepResult, keptResult } from '../../../../kernel/node/store/modelResults.ts';
import type { Quantization } from '../../../../kernel/quantization/quantization.ts';
import { stampOf } from '../../../../kernel/vscode/workspace/stampOf.ts';
import type { Sessions } from '../../../../kernel/vscode/workspace/sessions.ts';
import { isFileUri } from '../../../../kernel/vscode/platform/fileUri.ts';

interface KeptClipping {
  measured: Quantization;
  /** Of the model's file when it was measured. */
  stamp: string;
  /** The calibration cache whose scales were measured. */
  cache: string | null;
}

/** Keeps what samples hold of a model's tensors with the model. */
export const keepClipping = async (model: vscode.Uri, measured: Quantization, cache: string | null): Promise<void> =>
  keepResult(model.fsPath, 'clipping', { measured, stamp: await stampOf(model), cache } satisfies KeptClipping);

/** Shows what an earlier window measured of a model, unless its file has changed since. */
export async function recallClipping(sessions: Sessions, model: vscode.Uri): Promise<void> {
  const kept = isFileUri(model) ? await keptResult<KeptClipping>(model.fsPath, 'clipping') : undefined;
  if (kept === undefined || kept.stamp !== (await stampOf(model).catch(() => ''))) return;
  await sessions.recallMeasured(model, kept.measured, kept.cache);
}
