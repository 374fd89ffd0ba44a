import { hasRandomInputs } from '../../../../kernel/build/randomInputs.ts';
import * as vscode from 'vscode';
import { accuracyDocument } from '../../accuracyDocument.ts';
import { helpfulRemedy } from '../../accuracyReport.ts';
import { isFp32EngineWrong } from '../../precisionSweep.ts';
import { renderHtml } from '../../../../kernel/document/render.ts';
import type { Selection } from '../../../../kernel/protocol/views.ts';
import { accuracyViewType, commands } from '../../../../kernel/vscode/ids.ts';
import { commandLinks } from '../../../../kernel/vscode/platform/commandLinks.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { RestoredPages } from '../../../../kernel/vscode/platform/restoredPages.ts';
import type { FoundAccuracy } from '../findSensitiveNodes.ts';
import { changesSince } from './circumstances.ts';

/** The accuracy pages: one panel a model, without scripts. They come back in the next window with what was found last. */
export class AccuracyPages implements vscode.Disposable {
  readonly #panels = new Map<string, vscode.WebviewPanel>();
  readonly #shown = new Map<string, FoundAccuracy>();
  readonly #restored: RestoredPages<string>;

  constructor(memory: vscode.Memento, recall: (model: vscode.Uri) => Promise<FoundAccuracy | undefined>) {
    this.#restored = new RestoredPages(accuracyViewType, memory, async (key, panel) => {
      const found = await recall(vscode.Uri.parse(key, true));
      if (found === undefined || this.#panels.has(key)) panel.dispose();
      else {
        this.#take(key, panel);
        await this.show(found, false);
      }
    });
  }

  /** Shows what was found; a page that is open takes it in its place. `reveal`: it comes to the front. */
  async show(found: FoundAccuracy, reveal: boolean): Promise<void> {
    const key = found.model.toString();
    if (this.#panels.has(key)) {
      if (reveal) this.#panels.get(key)!.reveal();
    } else if (reveal)
      this.#take(key, vscode.window.createWebviewPanel(accuracyViewType, '', vscode.ViewColumn.Active, {}));
    else return;
    this.#shown.set(key, found);
    await this.refresh(found.model);
  }

  /** Draws the page of a model again: something that its result depends on may have changed. */
  async refresh(model: vscode.Uri): Promise<void> {
    const key = model.toString();
    const found = this.#shown.get(key);
    if (found === undefined) return;
    const changes = await changesSince(model, found.since);
    const panel = this.#panels.get(key);
    if (panel === undefined || this.#shown.get(key) !== found) return;
    panel.title = `Accuracy of ${nameOf(model)}`;
    this.#restored.keep(panel, key);
    const html = pageOf(key, found, changes);
    if (html !== panel.webview.html) panel.webview.html = html;
  }

  /** The models of the pages that are open. */
  get models(): vscode.Uri[] {
    return [...this.#shown.values()].map(({ model }) => model);
  }

  dispose(): void {
    this.#restored.dispose();
  }

  #take(key: string, panel: vscode.WebviewPanel): void {
    panel.webview.options = { enableCommandUris: linked, localResourceRoots: [] };
    this.#panels.set(key, panel);
    panel.onDidDispose(() => {
      this.#panels.delete(key);
      this.#shown.delete(key);
    });
  }
}

/** The commands that the links of a page may run. */
const linked = [
  commands.addFix,
  commands.writeRemedy,
  commands.comparePrecisions,
  commands.findSensitiveNodes,
  commands.findWrongNodes,
  commands.revealInGraph,
];

function pageOf(
  key: string,
  { model, report, sweep, inputs, since }: FoundAccuracy,
  changes: readonly string[],
): string {
  const action = (label: string, name: string) => ({ label, to: { kind: 'action', name } }) as const;
  const random = hasRandomInputs(report);
  const actions = [
    ...(changes.length > 0 ? [action('Search Again', 'again')] : []),
    ...(report.fix?.without.length && !random ? [action('Add the Rules to the Override File', 'add')] : []),
    ...(helpfulRemedy(report) && !random ? [action('Write a Copy with the Changed Constants…', 'remedy')] : []),
    ...(random ? [action('Search with Real Inputs…', 'real')] : []),
    ...(sweep === undefined ? [action('Compare Precisions', 'compare')] : []),
    ...(sweep && isFp32EngineWrong(sweep) ? [action('Find Where the Engine Goes Wrong…', 'wrong')] : []),
  ];
  const rules = since.rules === null ? undefined : nameOf(vscode.Uri.parse(since.rules.uri));
  const hrefOf = commandLinks(
    {
      add: [commands.addFix, key],
      remedy: [commands.writeRemedy, key],
      compare: [commands.comparePrecisions, key, inputs],
      again: [commands.findSensitiveNodes, key, inputs],
      real: [commands.findSensitiveNodes, key],
      wrong: [commands.findWrongNodes, key, inputs],
    },
    (ids): [string, Selection, string] => [commands.revealInGraph, { kind: 'nodes', ids: [...ids] }, key],
  );
  return renderHtml(accuracyDocument(report, { title: nameOf(model), rules, actions, sweep, changes }), { hrefOf });
}
