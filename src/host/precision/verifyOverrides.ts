import * as vscode from 'vscode';
import { commandTarget } from '../language/commandTarget.ts';
import type { FactsFeed } from '../language/factsFeed.ts';
import type { LanguageService } from '../language/languageService.ts';
import { pickItem } from '../platform/askUser.ts';
import { verdictIcon, verdictWord } from './verdictWords.ts';

/** Lists what happened to each rule in the last build; the one that is picked is shown in the file. */
export async function verifyOverrides(feed: FactsFeed, language: LanguageService, argument: unknown): Promise<void> {
  const target = commandTarget(argument);
  if (target === undefined) return;
  await feed.settled(target.uri);
  const verdicts = await language.verify(target.uri);
  if (verdicts.length === 0) {
    await vscode.window.showInformationMessage(
      'Nothing to verify: this model has no build, or no rule applies to any node.',
    );
    return;
  }
  const document = await vscode.workspace.openTextDocument(target.uri);
  const items = verdicts.map((info) => {
    const { line, verdict, message } = info;
    const text = document.lineAt(Math.min(line, document.lineCount - 1)).text.trim();
    return { label: `$(${verdictIcon[verdict]}) ${text}`, description: verdictWord(info), detail: message, line };
  });
  const placeHolder = 'Result of each rule in the last build';
  const picked = await pickItem(items, { placeHolder, matchOnDetail: true });
  if (picked === undefined) return;
  await vscode.window.showTextDocument(document, {
    selection: new vscode.Range(picked.line, 0, picked.line, 0),
  });
}
