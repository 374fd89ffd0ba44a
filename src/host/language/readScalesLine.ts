import type * as vscode from 'vscode';
import { knownScales } from '../../builder/quantisation/namedScales.ts';
import { errorText } from '../../core/text/errorText.ts';
import type { FactsParams } from '../../protocol/language.ts';

/** What the `scales` line of an override file leads to, for the language server. Never rejects. */
export async function readScalesLine(rules: vscode.Uri, path: string): Promise<NonNullable<FactsParams['scales']>> {
  if (rules.scheme !== 'file') return { tensors: null, problem: '' };
  try {
    const known = await knownScales(rules.fsPath, path);
    return { tensors: known?.tensors ? [...known.tensors] : null, problem: '' };
  } catch (error) {
    return { tensors: null, problem: errorText(error) };
  }
}
