import * as vscode from 'vscode';
import { contextKeys } from '../../../../kernel/vscode/ids.ts';
import type { ReplayEntryInfo } from '../../../../kernel/protocol/language.ts';
import type { FactsFeed } from '../../../../kernel/vscode/language/factsFeed.ts';
import type { LanguageService } from '../../../../kernel/vscode/language/languageService.ts';
import { SettledDocuments } from '../../../../kernel/vscode/language/settledDocuments.ts';

/** Marks the layers of a replay by what they are, a ForeignNode or a kernel; the server's hints say nodes and time. */
export class EntryDecorations implements vscode.Disposable {
  readonly #feed: FactsFeed;
  readonly #language: LanguageService;
  readonly #types: Record<ReplayEntryInfo['kind'], vscode.TextEditorDecorationType>;
  readonly #subscription: vscode.Disposable;

  constructor(feed: FactsFeed, language: LanguageService) {
    this.#feed = feed;
    this.#language = language;
    this.#types = {
      foreign: boxed('charts.purple'),
      fused: boxed('charts.blue'),
      single: boxed('charts.green'),
      unknown: boxed('descriptionForeground'),
    };
    const isReplay = ({ uri }: vscode.TextDocument) => feed.kindOf(uri) === 'replay';
    const tellContext = () => this.#tellContext();
    this.#subscription = vscode.Disposable.from(
      ...Object.values(this.#types),
      new SettledDocuments(feed, language, isReplay, (document) => this.#show(document)),
      feed.onDidChange(tellContext),
      vscode.window.onDidChangeVisibleTextEditors(tellContext),
      vscode.window.onDidChangeActiveTextEditor(tellContext),
    );
    tellContext();
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  /** Commands for replays are in menus while one has the focus. */
  #tellContext(): void {
    const active = vscode.window.activeTextEditor?.document.uri;
    const isReplay = active !== undefined && this.#feed.kindOf(active) === 'replay';
    void vscode.commands.executeCommand('setContext', contextKeys.replay, isReplay);
  }

  async #show(document: vscode.TextDocument): Promise<void> {
    const { version } = document;
    const entries = await this.#language.replayEntries(document.uri);
    if (document.isClosed || document.version !== version) return;
    const ranges: Record<ReplayEntryInfo['kind'], vscode.Range[]> = { foreign: [], fused: [], single: [], unknown: [] };
    for (const { kind, range } of entries)
      ranges[kind].push(new vscode.Range(range.startLine, range.startCharacter, range.endLine, range.endCharacter));
    for (const editor of vscode.window.visibleTextEditors)
      if (editor.document === document)
        for (const kind of Object.keys(ranges) as ReplayEntryInfo['kind'][])
          editor.setDecorations(this.#types[kind], ranges[kind]);
  }
}

function boxed(themeColor: string): vscode.TextEditorDecorationType {
  const color = new vscode.ThemeColor(themeColor);
  return vscode.window.createTextEditorDecorationType({
    border: '1px solid',
    borderRadius: '3px',
    borderColor: color,
    overviewRulerColor: color,
    overviewRulerLane: vscode.OverviewRulerLane.Left,
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
}
