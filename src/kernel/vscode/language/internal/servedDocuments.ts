import type * as vscode from 'vscode';
import { sniffReplay } from '../../../read/replay/readReplay.ts';
import { overrideLanguageId, replayLanguageIds } from '../../../protocol/language.ts';

export type ServedKind = 'overrides' | 'replay';

/** A JSON file of this name is meant as a replay, whatever is in it while the user types. */
const replayName = /replay[^/\\]*\.jsonc?$/i;

/** What a document is to the language server; undefined: none of ours, such as any other JSON, which it never sees. */
export function servedKind(document: vscode.TextDocument): ServedKind | undefined {
  if (document.languageId === overrideLanguageId) return 'overrides';
  if (!replayLanguageIds.includes(document.languageId)) return undefined;
  return replayName.test(document.uri.path) || sniffReplay(document.getText()) !== null ? 'replay' : undefined;
}
