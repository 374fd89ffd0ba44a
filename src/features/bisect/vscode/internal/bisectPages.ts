import * as vscode from 'vscode';
import { renderHtml } from '../../../../kernel/document/render.ts';
import type { Selection } from '../../../../kernel/protocol/views.ts';
import { bisectViewType, commands } from '../../../../kernel/vscode/ids.ts';
import { commandLinks } from '../../../../kernel/vscode/platform/commandLinks.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { RestoredPages } from '../../../../kernel/vscode/platform/restoredPages.ts';
import { bisectDocument } from '../../bisectDocument.ts';
import type { BisectResult } from '../../bisectReport.ts';

/** What a search found about a model's engine. */
export interface FoundBisect {
  model: vscode.Uri;
  result: BisectResult;
  /** Paths of the input files; none: random values. */
  inputs: string[];
  /** Folder of the build whose options were used; undefined: none. */
  build: string | undefined;
  /** Folder of the piece and what shows the fault. */
  folder: string;
}

/** The pages of wrong engines: one panel a model, without scripts. They come back in the next window. */
export class BisectPages implements vscode.Disposable {
  readonly #panels = new Map<string, vscode.WebviewPanel>();
  readonly #restored: RestoredPages<string>;

  constructor(memory: vscode.Memento, recall: (model: vscode.Uri) => Promise<FoundBisect | undefined>) {
    this.#restored = new RestoredPages(bisectViewType, memory, async (key, panel) => {
      const found = await recall(vscode.Uri.parse(key, true));
      if (found === undefined || this.#panels.has(key)) panel.dispose();
      else {
        this.#take(key, panel);
        this.show(found);
      }
    });
  }

  show(found: FoundBisect): void {
    const key = found.model.toString();
    const isOpen = this.#panels.has(key);
    if (!isOpen) this.#take(key, vscode.window.createWebviewPanel(bisectViewType, '', vscode.ViewColumn.Active, {}));
    const panel = this.#panels.get(key)!;
    panel.title = `Engine of ${nameOf(found.model)}`;
    this.#restored.keep(panel, key);
    panel.webview.html = pageOf(key, found);
    if (isOpen) panel.reveal();
  }

  dispose(): void {
    this.#restored.dispose();
  }

  #take(key: string, panel: vscode.WebviewPanel): void {
    panel.webview.options = { enableCommandUris: linked, localResourceRoots: [] };
    this.#panels.set(key, panel);
    panel.onDidDispose(() => this.#panels.delete(key));
  }
}

/** The commands that the links of a page may run. */
const linked = [
  commands.saveFixedModel,
  commands.saveWrongPiece,
  commands.copyPolygraphyCommand,
  commands.findWrongNodes,
  commands.findSensitiveNodes,
  commands.revealInGraph,
];

function pageOf(key: string, { model, result, inputs }: FoundBisect): string {
  const { piece, fix, first, reason } = result;
  const action = (label: string, name: string) => ({ label, to: { kind: 'action', name } }) as const;
  const nodes = piece?.nodes ?? (first ? [first.node] : []);
  const isOver = reason === 'budget' || reason === 'cancelled';
  const actions = [
    ...(isOver ? [action('Go On', 'again')] : []),
    ...(fix?.model ? [action('Save Fixed Model…', 'fix')] : []),
    ...(nodes.length > 0 ? [action('Show in Graph', 'nodes')] : []),
    ...(piece ? [action('Save for a Report…', 'report'), action('Copy as Polygraphy Command', 'polygraphy')] : []),
    ...(reason === 'precision' ? [action('Find Nodes That Break in Low Precision…', 'accuracy')] : []),
    ...(isOver ? [] : [action('Search Again', 'again')]),
  ];
  const toNodes = (ids: readonly string[]): [string, Selection, string] => [
    commands.revealInGraph,
    { kind: 'nodes', ids: [...ids] },
    key,
  ];
  const hrefOf = commandLinks(
    {
      fix: [commands.saveFixedModel, key],
      report: [commands.saveWrongPiece, key],
      polygraphy: [commands.copyPolygraphyCommand, key],
      again: [commands.findWrongNodes, key, inputs],
      accuracy: [commands.findSensitiveNodes, key, inputs],
      nodes: toNodes(nodes),
    },
    toNodes,
  );
  return renderHtml(bisectDocument(result, { title: nameOf(model), actions }), { hrefOf });
}
