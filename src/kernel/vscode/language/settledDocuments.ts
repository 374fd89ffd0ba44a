import * as vscode from 'vscode';
import type { FactsFeed } from './factsFeed.ts';
import type { LanguageService } from './languageService.ts';

/** Typing comes in bursts; what is drawn follows when it rests. */
const settleMs = 250;

/**
 * Tells which visible documents are to be drawn again: they came into sight, were edited, something new is known, or a
 * language server has begun to run.
 */
export class SettledDocuments implements vscode.Disposable {
  readonly #isServed: (document: vscode.TextDocument) => boolean;
  readonly #show: (document: vscode.TextDocument) => Promise<void>;
  readonly #subscription: vscode.Disposable;
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  /** @param factsMs how long to wait after new facts, in milliseconds */
  constructor(
    feed: FactsFeed,
    language: LanguageService,
    isServed: (document: vscode.TextDocument) => boolean,
    show: (document: vscode.TextDocument) => Promise<void>,
    factsMs = settleMs,
  ) {
    this.#isServed = isServed;
    this.#show = show;
    const all = () => {
      for (const { document } of vscode.window.visibleTextEditors) this.#soon(document);
    };
    this.#subscription = vscode.Disposable.from(
      feed.onDidChange((uri) => {
        for (const { document } of vscode.window.visibleTextEditors)
          if (document.uri.toString() === uri.toString()) this.#soon(document, factsMs);
      }),
      language.onDidStart(all),
      vscode.window.onDidChangeVisibleTextEditors(all),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.#soon(document)),
    );
    all();
  }

  dispose(): void {
    this.#subscription.dispose();
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #soon(document: vscode.TextDocument, ms = settleMs): void {
    if (!this.#isServed(document)) return;
    const key = document.uri.toString();
    clearTimeout(this.#timers.get(key));
    this.#timers.set(
      key,
      setTimeout(() => {
        this.#timers.delete(key);
        void this.#show(document);
      }, ms),
    );
  }
}
