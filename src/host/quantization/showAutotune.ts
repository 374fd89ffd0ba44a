import * as vscode from 'vscode';
import { readAutotuneFile } from '../../builder/quantization/readAutotuneFile.ts';
import { renderHtml } from '../../core/document/render.ts';
import { autotuneDocument } from '../../core/quantization/calibration.ts';
import { nameOf } from '../platform/nameOf.ts';

/** Shows what ModelOpt's autotune has measured and chosen, as a page without scripts. */
export async function showAutotune(uri: vscode.Uri): Promise<void> {
  const html = renderHtml(autotuneDocument(await readAutotuneFile(uri.fsPath)));
  const title = `Autotune: ${nameOf(uri)}`;
  const options = { localResourceRoots: [] };
  vscode.window.createWebviewPanel('tensorrtLens.autotunePage', title, vscode.ViewColumn.Active, options).webview.html =
    html;
}
