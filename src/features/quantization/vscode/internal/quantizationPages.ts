import * as vscode from 'vscode';
import { renderHtml } from '../../../../kernel/document/render.ts';
import { type Quantization } from '../../../../kernel/quantization/quantization.ts';
import { quantizationDocument } from '../../../../kernel/quantization/calibration.ts';
import { languageCommands } from '../../../../kernel/protocol/language.ts';
import { commands, quantizationViewType } from '../../../../kernel/vscode/ids.ts';
import { commandLinks } from '../../../../kernel/vscode/platform/commandLinks.ts';
import { RestoredPages } from '../../../../kernel/vscode/platform/restoredPages.ts';
import type { Session } from '../../../../kernel/vscode/workspace/session.ts';
import type { Sessions } from '../../../../kernel/vscode/workspace/sessions.ts';

/** A page that is open, and what it shows. */
interface Page {
  panel: vscode.WebviewPanel;
  html: string;
}

const nothing: Quantization = { tensors: [], pairs: [], misplaced: [], islands: [] };

/**
 * The quantization pages: one panel a model, without scripts, as current as the model's other views. They come back in
 * the next window.
 */
export class QuantizationPages implements vscode.Disposable {
  readonly #sessions: Sessions;
  readonly #pages = new Map<string, Page>();
  readonly #subscription: vscode.Disposable;
  readonly #restored: RestoredPages<string>;

  constructor(sessions: Sessions, memory: vscode.Memento) {
    this.#restored = new RestoredPages(quantizationViewType, memory, (key, panel) => {
      if (this.#pages.has(key)) panel.dispose();
      else this.#show(vscode.Uri.parse(key, true), panel);
    });
    this.#sessions = sessions;
    this.#subscription = sessions.onDidChange((session) => this.#update(session));
  }

  open(uri: vscode.Uri): void {
    const known = this.#pages.get(uri.toString());
    if (known) known.panel.reveal();
    else this.#show(uri);
  }

  #show(uri: vscode.Uri, restored?: vscode.WebviewPanel): void {
    const { session, dispose } = this.#sessions.acquire(uri);
    if (restored === undefined) this.#sessions.setCurrent(uri);
    const title = `Quantization of ${session.title}`;
    const panel =
      restored ?? vscode.window.createWebviewPanel(quantizationViewType, title, vscode.ViewColumn.Active, {});
    panel.webview.options = {
      enableCommandUris: [languageCommands.showNodes, ...Object.values(buttons).map(({ command }) => command)],
      localResourceRoots: [],
    };
    panel.title = title;
    this.#restored.keep(panel, session.key);
    this.#pages.set(session.key, { panel, html: '' });
    panel.onDidDispose(() => {
      this.#pages.delete(session.key);
      dispose();
    });
    this.#update(session);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#restored.dispose();
  }

  #update(session: Session): void {
    const page = this.#pages.get(session.key);
    if (page === undefined || session.state.model === 'loading') return;
    const html = pageOf(session);
    // Setting the same page again would scroll it to its beginning.
    if (html === page.html) return;
    page.html = html;
    page.panel.webview.html = html;
  }
}

/** What can be done with the scales of a model. */
const buttons = {
  cache: { label: 'Use a Calibration Cache…', command: commands.useCalibrationCache },
  migrate: { label: 'Write Scales of the Cache as Q/DQ Nodes…', command: commands.migrateCalibration },
} as const;

function pageOf({ key, title, calibrationCache, state }: Session): string {
  const { graph, newest, quantization } = state;
  const nodes = new Map((graph?.nodes ?? []).map((node) => [node.id, node]));
  const document = quantizationDocument(quantization ?? nothing, {
    title,
    build: newest?.report ? newest.build.id : null,
    cache: calibrationCache,
    nameOf: (id) => nodes.get(id)?.name || `${nodes.get(id)?.op ?? 'node'} (node ${id})`,
    actions: Object.entries(buttons).map(([name, { label }]) => ({ label, to: { kind: 'action', name } })),
  });
  const hrefOf = commandLinks(
    Object.fromEntries(Object.entries(buttons).map(([name, { command }]) => [name, [command, key]])),
    (ids) => [languageCommands.showNodes, { uri: key, nodes: ids }],
  );
  return renderHtml(document, { hrefOf, most: mostRows });
}

/** Longer tables are of use to programs only. */
const mostRows = 500;
