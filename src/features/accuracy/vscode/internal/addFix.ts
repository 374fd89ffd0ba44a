import { hasRandomInputs } from '../../../../kernel/build/randomInputs.ts';
import * as vscode from 'vscode';
import { ruleLines } from '../../accuracyReport.ts';
import { baseOf } from '../../../../kernel/rules/precisionPlan.ts';
import { readOverrides } from '../../../../kernel/rules/readOverrides.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { showInformation, showWarning } from '../../../../kernel/vscode/platform/messages.ts';
import { addLines } from '../../../precision/vscode/addLines.ts';
import { openOverrides } from '../../../precision/vscode/openOverrides.ts';
import type { FoundAccuracy } from '../findSensitiveNodes.ts';

/**
 * Adds the rules of a fix to the override file that the search was about, otherwise to the model's, and shows it: one
 * step to undo, nothing is saved. Rules that the file has already are not added again.
 * @returns the file, if something was added
 */
export async function addFix({ model, since, report }: FoundAccuracy): Promise<vscode.TextDocument | undefined> {
  const { fix, low } = report;
  if (!fix || fix.without.length === 0) return undefined;
  if (hasRandomInputs(report)) {
    await showWarning(
      'These rules were found with random inputs, which may blame nodes that are fine. Search again with real inputs, then add the rules.',
    );
    return undefined;
  }
  const document = await (since.rules === null
    ? openOverrides(model)
    : vscode.workspace.openTextDocument(vscode.Uri.parse(since.rules.uri)));
  const known = ruleLines(document.getText(), report);
  if (known.length === fix.without.length) {
    await show(document, new vscode.Position(known[0]!, 0));
    void showInformation(`${nameOf(document.uri)} has these rules already.`);
    return undefined;
  }
  const base = baseOf(readOverrides(document.getText()));
  if (base !== low) {
    const text = `These rules are for a file with the line "base ${low}"; this one has ${base === 'keep' ? 'none' : `base ${base}`}.`;
    void showWarning(text);
  }
  await show(document, await addLines(document, () => fix.added));
  return document;
}

async function show(document: vscode.TextDocument, start: vscode.Position): Promise<void> {
  const shown = await vscode.window.showTextDocument(document, { selection: new vscode.Range(start, start) });
  shown.revealRange(new vscode.Range(start, start));
}
