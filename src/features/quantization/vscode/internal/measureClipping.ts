import * as vscode from 'vscode';
import { withObservedValues } from '../../../../kernel/node/simulation/observeValues.ts';
import { readQuantization } from '../../node/readQuantization.ts';
import { UserError } from '../../../../kernel/node/files/userError.ts';
import { counted } from '../../../../kernel/base/text.ts';
import { askForInputs } from '../../../../kernel/vscode/workspace/askForInputs.ts';
import { isPaths } from '../../../../kernel/vscode/platform/isPaths.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { runtimeOf } from '../../../../kernel/vscode/platform/downloadConsent.ts';
import { keepClipping } from './keptClipping.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';
import type { Sessions } from '../../../../kernel/vscode/workspace/sessions.ts';

/**
 * Runs a model on samples and shows the share of each tensor's values that its scale clips.
 * @param given paths of samples, from tests and other callers; otherwise the user is asked
 * @returns whether there is something to show
 */
export async function measureClipping(
  context: vscode.ExtensionContext,
  sessions: Sessions,
  model: vscode.Uri,
  log: vscode.LogOutputChannel,
  given: unknown,
): Promise<boolean> {
  const inputs =
    isPaths(given) && given.length > 0
      ? given
      : await askForInputs(model, context.workspaceState, { random: false, search: false });
  if (inputs === undefined) return false;
  const measured = await withProgress(`Measuring clipped values of ${nameOf(model)}`, log, async (signal, say) => {
    const cache = sessions.find(model)?.calibrationCache ?? null;
    const path = model.fsPath;
    const found = await readQuantization({ path, cache: cache ?? undefined });
    if (found.tensors.length === 0)
      throw new UserError(`${nameOf(model)} has no Q/DQ nodes. Use a calibration cache first`);
    const runtime = await runtimeOf(context, model, signal, say);
    say(`of ${counted(found.tensors.length, 'scale')}`);
    const script = context.asAbsolutePath('dist/driver/simulate.py');
    return withObservedValues(found, { model: path, inputs, runtime, script, signal }, cache);
  });
  if (measured === undefined) return false;
  await sessions.setMeasured(model, measured);
  await keepClipping(model, measured, sessions.find(model)?.calibrationCache ?? null);
  return true;
}
