import * as vscode from 'vscode';
import { accuracyPage } from '../../core/accuracy/accuracyPage.ts';
import type { Selection } from '../../protocol/views.ts';
import { commands } from '../ids.ts';
import { nameOf } from '../platform/nameOf.ts';
import type { FoundAccuracy } from './findCulprits.ts';

/** The accuracy pages: one panel a model, without scripts. */
export class AccuracyPages implements vscode.Disposable {
  readonly #panels = new Map<string, vscode.WebviewPanel>();

  /** Shows what was found; a page that is open takes it in its place. `reveal`: it comes to the front. */
  show({ model, report, ladder, inputs }: FoundAccuracy, reveal: boolean): void {
    const key = model.toString();
    let panel = this.#panels.get(key);
    if (panel === undefined && !reveal) return;
    if (panel === undefined) {
      panel = vscode.window.createWebviewPanel('tensorrtLens.accuracyPage', '', vscode.ViewColumn.Active, {
        enableCommandUris: [commands.addFix, commands.comparePrecisions, commands.revealInGraph],
        localResourceRoots: [],
      });
      this.#panels.set(key, panel);
      panel.onDidDispose(() => this.#panels.delete(key));
    } else if (reveal) panel.reveal();
    const title = nameOf(model);
    panel.title = `Accuracy of ${title}`;
    const rules = report.fix?.without.length ?? 0;
    const add = { label: 'Add the Rules to the Override File', href: commandUri(commands.addFix, [key]) };
    const compare = {
      label: 'Compare Precisions',
      href: commandUri(commands.comparePrecisions, [key, inputs]),
    };
    const links = [...(rules > 0 ? [add] : []), ...(ladder === undefined ? [compare] : [])];
    const nodeLink = (id: string) => {
      const selection: Selection = { kind: 'nodes', ids: [id] };
      return commandUri(commands.revealInGraph, [selection, key]);
    };
    panel.webview.html = accuracyPage(report, { title, links, ladder, nodeLink });
  }

  dispose(): void {
    for (const panel of this.#panels.values()) panel.dispose();
  }
}

const commandUri = (command: string, args: unknown[]): string =>
  `command:${command}?${encodeURIComponent(JSON.stringify(args))}`;
