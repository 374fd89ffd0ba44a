import * as vscode from 'vscode';
import { gateAccuracy } from '../../node/gateAccuracy.ts';
import type { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { type Document } from '../../../../kernel/document/document.ts';
import { renderHtml } from '../../../../kernel/document/render.ts';
import { gateDocument } from '../../gateFile.ts';
import { commands } from '../../../../kernel/vscode/ids.ts';
import { commandLinks } from '../../../../kernel/vscode/platform/commandLinks.ts';
import { showInformation } from '../../../../kernel/vscode/platform/messages.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { runtimeOf } from '../../../../kernel/vscode/platform/downloadConsent.ts';
import { mayRun, tellUntrusted } from '../../../../kernel/vscode/platform/trust.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';
import { evaluatedGate, type JudgeAccuracy } from './evaluatedGate.ts';

/** What the page of a gate needs of the extension. */
export interface GateParts {
  context: vscode.ExtensionContext;
  files: ParsedFiles;
  log: vscode.LogOutputChannel;
}

const shown = new Map<string, vscode.WebviewPanel>();

/**
 * Shows the verdict of every check of a gate on a page without scripts, one for each gate file.
 * @param runModel also runs the model, for a rule about its accuracy
 */
export async function showVerdict(document: vscode.TextDocument, parts: GateParts, runModel: boolean): Promise<void> {
  if (runModel && !mayRun()) return tellUntrusted();
  const judged = runModel
    ? await withProgress(`Running the model of ${nameOf(document.uri)}`, parts.log, (signal, say) =>
        evaluatedGate(document, parts.files, accuracyOf(document.uri, parts, signal, say)),
      )
    : await evaluatedGate(document, parts.files);
  if (judged === undefined) return;
  if ('reason' in judged) {
    await showInformation(judged.reason);
    return;
  }
  const { title, blocks } = gateDocument(judged.result);
  const limitsAccuracy = judged.result.checks.some(({ check }) => check.startsWith('accuracy'));
  const run = {
    kind: 'actions' as const,
    actions: [
      { label: runModel ? 'Run the Model Again' : 'Run the Model', to: { kind: 'action' as const, name: 'run' } },
    ],
  };
  const page: Document = { title, blocks: limitsAccuracy ? [...blocks, run] : blocks };
  const hrefOf = commandLinks({ run: [commands.evaluateGate, document.uri.toString(), true] });
  panelOf(document.uri).webview.html = renderHtml(page, { hrefOf });
}

function panelOf(uri: vscode.Uri): vscode.WebviewPanel {
  const key = uri.toString();
  const known = shown.get(key);
  if (known !== undefined) {
    known.reveal();
    return known;
  }
  const panel = vscode.window.createWebviewPanel(
    'tensorrtLens.gatePage',
    `Result of ${nameOf(uri)}`,
    vscode.ViewColumn.Beside,
    { enableCommandUris: [commands.evaluateGate], localResourceRoots: [] },
  );
  shown.set(key, panel);
  panel.onDidDispose(() => shown.delete(key));
  return panel;
}

/** By simulation, as a gate in CI does; ONNX Runtime is set up after consent. */
const accuracyOf =
  (uri: vscode.Uri, { context }: GateParts, signal: AbortSignal, say: (message: string) => void): JudgeAccuracy =>
  async ({ checks }, build) => {
    const limit = checks.map((check) => check.limit).find(({ kind }) => kind === 'accuracy');
    if (limit?.kind !== 'accuracy') return undefined;
    return gateAccuracy({
      gate: uri.fsPath,
      limit,
      build,
      model: undefined,
      runtime: () => runtimeOf(context, uri, signal, say),
      script: context.asAbsolutePath('dist/driver/simulate.py'),
      signal,
    });
  };
