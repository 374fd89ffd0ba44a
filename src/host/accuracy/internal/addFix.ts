import * as vscode from 'vscode';
import { readOverrides } from '../../../core/precision/readOverrides.ts';
import { baseOf } from '../../../core/precision/precisionPlan.ts';
import { showWarning } from '../../platform/messages.ts';
import { addLines } from '../../precision/addLines.ts';
import { openOverrides } from '../../precision/openOverrides.ts';
import type { FoundAccuracy } from '../findSensitiveNodes.ts';

/**
 * Adds the rules of a fix to the override file that the search was about, otherwise to the model's, and shows it: one
 * step to undo, nothing is saved.
 */
export async function addFix({ model, rules, report }: FoundAccuracy): Promise<void> {
  const { fix, low } = report;
  if (!fix || fix.without.length === 0) return;
  const document = rules ?? (await openOverrides(model));
  const base = baseOf(readOverrides(document.getText()));
  if (base !== low) {
    const text = `These rules are for a file with the line "base ${low}"; this one has ${base === 'keep' ? 'none' : `base ${base}`}.`;
    void showWarning(text);
  }
  const start = await addLines(document, () => fix.added);
  const shown = await vscode.window.showTextDocument(document, { selection: new vscode.Range(start, start) });
  shown.revealRange(new vscode.Range(start, start));
}
