import * as vscode from 'vscode';
import { ruleHints } from '../../core/accuracy/ruleHints.ts';
import type { FactsFeed } from '../language/factsFeed.ts';
import type { FoundAccuracy } from './findCulprits.ts';

/** At the end of each rule of an override file that a search has found: the error with it and without it. */
export class RuleErrorHints implements vscode.InlayHintsProvider {
  readonly #feed: FactsFeed;
  /** The last search of each model that found rules. Judged again with them in place, nothing is left to find. */
  readonly #found = new Map<string, FoundAccuracy>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeInlayHints = this.#changed.event;

  constructor(feed: FactsFeed) {
    this.#feed = feed;
  }

  add(found: FoundAccuracy): void {
    if ((found.report.fix?.without.length ?? 0) === 0) return;
    this.#found.set(found.model.toString(), found);
    this.#changed.fire();
  }

  async provideInlayHints(document: vscode.TextDocument, range: vscode.Range): Promise<vscode.InlayHint[]> {
    if (this.#found.size === 0) return [];
    const model = await this.#feed.modelOf(document.uri);
    const found = model && this.#found.get(model.toString());
    if (!found) return [];
    return ruleHints(document.getText(), found.report)
      .filter(({ line }) => line >= range.start.line && line <= range.end.line)
      .map(({ line, column, label }) => {
        const hint = new vscode.InlayHint(new vscode.Position(line, column), label);
        hint.paddingLeft = true;
        hint.tooltip = `Simulated in ${found.report.low.toUpperCase()}: the error of the outputs with all rules of the fix, and without this one.`;
        return hint;
      });
  }
}
