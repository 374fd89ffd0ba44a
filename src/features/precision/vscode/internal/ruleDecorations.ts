import * as vscode from 'vscode';
import { overrideLanguageId, type RuleVerdictInfo } from '../../../../kernel/protocol/language.ts';
import type { FactsFeed } from '../../../../kernel/vscode/language/factsFeed.ts';
import type { LanguageService } from '../../../../kernel/vscode/language/languageService.ts';
import { SettledDocuments } from '../../../../kernel/vscode/language/settledDocuments.ts';
import { verdictWord } from './verdictWords.ts';

type Kind = RuleVerdictInfo['verdict'];

/**
 * After each rule of an override file what the last build made of it: obeyed, disobeyed, unverifiable or not built
 * yet.
 */
export class RuleDecorations implements vscode.Disposable {
  readonly #feed: FactsFeed;
  readonly #language: LanguageService;
  readonly #types: Record<Kind, vscode.TextEditorDecorationType>;
  readonly #subscription: vscode.Disposable;

  constructor(feed: FactsFeed, language: LanguageService) {
    this.#feed = feed;
    this.#language = language;
    this.#types = {
      obeyed: decoration('testing.iconPassed'),
      disobeyed: decoration('testing.iconFailed', 'editorOverviewRuler.errorForeground'),
      unseen: decoration('descriptionForeground'),
      unbuilt: decoration('descriptionForeground'),
    };
    const isRules = (document: vscode.TextDocument) => document.languageId === overrideLanguageId;
    this.#subscription = vscode.Disposable.from(
      ...Object.values(this.#types),
      new SettledDocuments(feed, language, isRules, (document) => this.#show(document), 0),
    );
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  async #show(document: vscode.TextDocument): Promise<void> {
    if (!this.#feed.isServed(document.uri)) return;
    const { version } = document;
    await this.#feed.settled(document.uri);
    const verdicts = await this.#language.verify(document.uri);
    if (document.isClosed || document.version !== version) return;
    const shown: Record<Kind, vscode.DecorationOptions[]> = { obeyed: [], disobeyed: [], unseen: [], unbuilt: [] };
    for (const verdict of verdicts) {
      if (verdict.line >= document.lineCount) continue;
      const line = document.lineAt(verdict.line);
      shown[verdict.verdict].push({
        range: line.range,
        hoverMessage: new vscode.MarkdownString().appendText(verdict.message),
        renderOptions: { after: { contentText: textOf(verdict) } },
      });
    }
    for (const editor of vscode.window.visibleTextEditors)
      if (editor.document === document)
        for (const kind of Object.keys(shown) as Kind[]) editor.setDecorations(this.#types[kind], shown[kind]);
  }
}

const marks = { obeyed: '✓', disobeyed: '✗', unseen: '?', unbuilt: '' } as const;

/** `✗ disobeyed: 2 of 14` */
function textOf(info: RuleVerdictInfo): string {
  const { verdict, counts } = info;
  const total = counts.obeyed + counts.disobeyed + counts.unseen + counts.unbuilt;
  const part = counts[verdict];
  const word = `${marks[verdict]} ${verdictWord(info)}`.trim();
  return part === total ? word : `${word}: ${part} of ${total}`;
}

function decoration(color: string, ruler?: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    after: { color: new vscode.ThemeColor(color), margin: '0 1.5em 0 2em' },
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    ...(ruler !== undefined && {
      overviewRulerColor: new vscode.ThemeColor(ruler),
      overviewRulerLane: vscode.OverviewRulerLane.Right,
    }),
  });
}
