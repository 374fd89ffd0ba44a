import * as vscode from 'vscode';
import { parserName } from '../../../../kernel/network/nodeNames.ts';
import { writeName } from '../../../../kernel/rules/overrideFile.ts';
import type { LanguageService } from '../../../../kernel/vscode/language/languageService.ts';
import { columnOf } from '../../../../kernel/vscode/platform/columnOf.ts';
import { showError, showInformation } from '../../../../kernel/vscode/platform/messages.ts';
import { addLines } from '../addLines.ts';
import { overridesOf } from '../../../../kernel/vscode/platform/modelFile.ts';
import { openOverrides } from '../openOverrides.ts';
import type { Session } from '../../../../kernel/vscode/workspace/session.ts';
import { typeName } from '../../../../kernel/base/text.ts';
import { errorText } from '../../../../kernel/base/problem.ts';

/** The types that nodes can be kept in. */
export type KeptType = 'fp32' | 'fp16' | 'bf16';

/**
 * Adds rules to the model's override file that keep nodes in a type, and shows it: patterns where they say the same as a
 * list of names. Nothing is saved: the user looks at it first, and can undo it.
 */
export function keepPrecision(
  session: Session,
  nodeIds: readonly string[],
  type: KeptType,
  language: LanguageService,
): Promise<void> {
  if (nodeIds.length === 0) return Promise.resolve();
  // One after the other: what the first has added, the second need not.
  last = last.then(() => addRules(session, nodeIds, type, language));
  return last;
}

let last = Promise.resolve();

/** Never rejects. */
async function addRules(
  session: Session,
  nodeIds: readonly string[],
  type: KeptType,
  language: LanguageService,
): Promise<void> {
  try {
    const document = await openOverrides(session.uri);
    await vscode.window.showTextDocument(document, { viewColumn: columnOf(document.uri) });
    const kept = await language.keep(document.uri, nodeIds, type);
    const text = kept === undefined ? byName(document, session, nodeIds, type) : kept.text;
    if (text !== '') {
      // The server's line break is for the text that it knew; it may have changed meanwhile.
      await addLines(document, () => text.replace(/^\n/, ''));
    } else {
      void showInformation(
        `Nothing to add: these nodes are already in ${typeName(type)} by a rule, or do not accept a precision.`,
      );
    }
    const below = new vscode.Position(document.lineCount - 1, 0);
    const selection = new vscode.Range(below, below);
    await vscode.window.showTextDocument(document, { viewColumn: columnOf(document.uri), selection });
  } catch (error) {
    void showError(`${overridesOf(session.uri).path} cannot be changed: ${errorText(error)}`);
  }
}

/** A rule for each name: where the language server is not there to find something shorter. */
function byName(document: vscode.TextDocument, { state }: Session, nodeIds: readonly string[], type: KeptType): string {
  const wanted = new Set(nodeIds);
  const kept = new Set(
    document
      .getText()
      .split('\n')
      .map((line) => line.trim().split(/\s+/)[0]),
  );
  const names = (state.graph?.nodes ?? [])
    .filter(({ id }) => wanted.has(id))
    .map((node) => writeName(parserName(node)))
    .filter((name) => !kept.has(name));
  const width = Math.max(0, ...names.map((name) => name.length));
  return names.map((name) => `${name.padEnd(width)}  ${type}\n`).join('');
}
