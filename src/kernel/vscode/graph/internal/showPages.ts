import * as vscode from 'vscode';
import type { ParsedFiles } from '../../../node/files/parsedFiles.ts';
import type { Document } from '../../../document/document.ts';
import { renderHtml } from '../../../document/render.ts';
import type { BuildLog } from '../../../read/tensorrt/buildOutput.ts';
import { memoryDocument } from '../../../report/reportText.ts';
import { selectedNodes, type TextSubject } from '../../../picture/page/selectionText.ts';
import { explainTactics } from '../../../read/replay/readChoices.ts';
import { showInformation } from '../../platform/messages.ts';
import type { Session } from '../../workspace/session.ts';

/** Layers on one page; a module has hundreds. */
const mostLayers = 10;

/** Shows next to the graph which tactics TensorRT timed for what is selected, and why it took these: a page without scripts. */
export async function showTactics(subject: TextSubject, session: Session, files: ParsedFiles): Promise<void> {
  const { report } = session;
  if (report === null) {
    await showInformation(`${session.title} has no build. Build it, or open its build log.`);
    return;
  }
  const nodes = new Set(selectedNodes(subject));
  const ids = subject.selection.kind === 'layers' ? new Set(subject.selection.ids) : null;
  const layers = report.layers.filter(({ id, nodes: own }) => ids?.has(id) ?? own.some((node) => nodes.has(node)));
  if (layers.length === 0) {
    await showInformation('No layer of the engine is known to compute what is selected.');
    return;
  }
  const log = await logOf(session, files);
  const documents = layers.slice(0, mostLayers).map((layer) => explainTactics(report, layer, log));
  const [first] = documents;
  const more = layers.length - documents.length;
  const document =
    documents.length === 1
      ? first!
      : {
          title: `Tactics of ${documents.length} layers${more > 0 ? ` (of ${layers.length})` : ''}`,
          blocks: documents.map(({ title, blocks }) => ({ kind: 'section' as const, title, blocks })),
        };
  showDocument('tensorrtLens.tacticsPage', 'Tactics', document);
}

/** Shows next to the graph where the memory of the engine goes. */
export async function showMemory(session: Session, files: ParsedFiles): Promise<void> {
  const { report } = session;
  if (report === null) {
    await showInformation(`${session.title} has no build. Build it, or open its build log.`);
    return;
  }
  showDocument(
    'tensorrtLens.memoryPage',
    `Memory of ${session.title}`,
    memoryDocument(report, await logOf(session, files)),
  );
}

async function logOf({ state }: Session, files: ParsedFiles): Promise<BuildLog | null> {
  const path = state.newest?.log ?? null;
  return path === null ? null : (await files.log(path)).value;
}

/** A page without scripts. */
function showDocument(type: string, title: string, document: Document): void {
  const panel = vscode.window.createWebviewPanel(type, title, vscode.ViewColumn.Beside, { localResourceRoots: [] });
  panel.webview.html = renderHtml(document);
}
