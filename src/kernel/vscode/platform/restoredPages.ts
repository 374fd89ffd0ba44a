import * as vscode from 'vscode';

/** What an open page shows, and its title, by which it is known when the window comes back. */
interface KeptPage<T> {
  title: string;
  shown: T;
}

/**
 * Pages that come back when the window is loaded again. What each shows is kept in the workspace until its user closes
 * it: pages without scripts have no state of their own.
 */
export class RestoredPages<T> implements vscode.Disposable {
  readonly #key: string;
  readonly #memory: vscode.Memento;
  readonly #pages = new Map<vscode.WebviewPanel, KeptPage<T>>();
  /** Those of the last window that have not come back yet. */
  readonly #before: KeptPage<T>[];
  readonly #serializer: vscode.Disposable;
  #ended = false;

  /** @param restore fills a page that came back; one of which nothing is known is closed */
  constructor(
    viewType: string,
    memory: vscode.Memento,
    restore: (shown: T, panel: vscode.WebviewPanel) => void | Promise<void>,
  ) {
    this.#key = `${viewType}.pages`;
    this.#memory = memory;
    this.#before = [...memory.get<KeptPage<T>[]>(this.#key, [])];
    this.#serializer = vscode.window.registerWebviewPanelSerializer(viewType, {
      deserializeWebviewPanel: async (panel) => {
        const at = this.#before.findIndex(({ title }) => title === panel.title);
        const [page] = at < 0 ? [] : this.#before.splice(at, 1);
        if (page === undefined) panel.dispose();
        else await restore(page.shown, panel);
      },
    });
  }

  /** Keeps what a page shows now, under the title that it has, until the page is closed. */
  keep(panel: vscode.WebviewPanel, shown: T): void {
    if (!this.#pages.has(panel))
      panel.onDidDispose(() => {
        // At the end of a window, its pages are not closed by anyone.
        if (this.#ended) return;
        this.#pages.delete(panel);
        this.#write();
      });
    this.#pages.set(panel, { title: panel.title, shown });
    this.#write();
  }

  dispose(): void {
    this.#ended = true;
    this.#serializer.dispose();
  }

  #write(): void {
    void this.#memory.update(this.#key, [...this.#pages.values(), ...this.#before]);
  }
}
