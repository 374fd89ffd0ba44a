import * as vscode from 'vscode';
import type { Sessions } from '../../workspace/sessions.ts';

/** Lenses about the current session, which are asked for again when it changes. */
export abstract class SessionLenses implements vscode.CodeLensProvider {
  protected readonly sessions: Sessions;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(sessions: Sessions) {
    this.sessions = sessions;
  }

  /** Follows the sessions and shows the lenses over these documents, until disposed of. */
  protected show(documents: vscode.DocumentSelector): vscode.Disposable {
    return vscode.Disposable.from(
      this.#changed,
      this.sessions.onDidChange(() => this.#changed.fire()),
      this.sessions.onDidChangeCurrent(() => this.#changed.fire()),
      vscode.languages.registerCodeLensProvider(documents, this),
    );
  }

  abstract provideCodeLenses(document: vscode.TextDocument): vscode.ProviderResult<vscode.CodeLens[]>;
}
