import * as vscode from 'vscode';
import { accuracyDocument } from '../../../core/accuracy/accuracyDocument.ts';
import { renderHtml } from '../../../core/document/render.ts';
import type { Selection } from '../../../protocol/views.ts';
import { commands } from '../../ids.ts';
import { commandLinks } from '../../platform/commandLinks.ts';
import { nameOf } from '../../platform/nameOf.ts';
import type { FoundAccuracy } from '../findSensitiveNodes.ts';

/** The accuracy pages: one panel a model, without scripts. */
export class AccuracyPages implements vscode.Disposable {
  readonly #panels = new Map<string, vscode.WebviewPanel>();

  /** Shows what was found; a page that is open takes it in its place. `reveal`: it comes to the front. */
  show({ model, report, sweep, inputs }: FoundAccuracy, reveal: boolean): void {
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
    const actions = [
      ...(report.fix?.without.length
        ? [{ label: 'Add the Rules to the Override File', to: { kind: 'action', name: 'add' } } as const]
        : []),
      ...(sweep === undefined
        ? [{ label: 'Compare Precisions', to: { kind: 'action', name: 'compare' } } as const]
        : []),
    ];
    const hrefOf = commandLinks(
      { add: [commands.addFix, key], compare: [commands.comparePrecisions, key, inputs] },
      (ids): [string, Selection, string] => [commands.revealInGraph, { kind: 'nodes', ids: [...ids] }, key],
    );
    panel.webview.html = renderHtml(accuracyDocument(report, { title, actions, sweep }), { hrefOf });
  }

  dispose(): void {
    for (const panel of this.#panels.values()) panel.dispose();
  }
}
