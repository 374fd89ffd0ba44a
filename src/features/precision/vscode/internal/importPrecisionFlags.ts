import * as vscode from 'vscode';
import { quoteCommand, splitCommand } from '../../../../kernel/base/text.ts';
import { importCommand, type ImportedOverrides } from '../../importPrecision.ts';
import { readOverrides } from '../../../../kernel/rules/readOverrides.ts';
import { hasLayerFlags, targetOfBuild } from '../../../../kernel/rules/buildFacts.ts';
import { dialectOf } from '../../../../kernel/build/trtexecFlags.ts';
import { overrideLanguageId } from '../../../../kernel/protocol/language.ts';
import type { FactsFeed } from '../../../../kernel/vscode/language/factsFeed.ts';
import { shell } from '../../../../kernel/node/tools/shell.ts';
import { enterText } from '../../../../kernel/vscode/platform/askUser.ts';
import { addLines } from '../addLines.ts';

/** Longer texts on the clipboard are no command lines: Linux and Windows pass none of this length. */
const longestCommand = 2_000_000;

/**
 * Adds the rules that a command line of trtexec, Polygraphy or AutoCast stands for at the end of the override file that
 * is open, where they win over those before; of a new file if none is open. Nothing is saved.
 */
export async function importPrecisionFlags(feed: FactsFeed): Promise<void> {
  const editors = [vscode.window.activeTextEditor, ...vscode.window.visibleTextEditors];
  const open = editors.find((editor) => editor?.document.languageId === overrideLanguageId)?.document;
  const params = open && feed.paramsOf(open.uri);
  const target = targetOfBuild(params?.target ?? params?.build ?? null);
  const dialect = dialectOf(hasLayerFlags(target) ? target.version : null);
  const found = (text: string) =>
    splitCommand(text, shell)
      .map((command) => ({ command, rules: importCommand(command, dialect) }))
      .find(({ rules }) => rules !== undefined);

  const copied = await vscode.env.clipboard.readText();
  const offered = copied.length > longestCommand ? undefined : found(copied)?.command;
  const pasted = await enterText({
    title: 'Import Precision Flags',
    prompt: 'Enter a command line of trtexec, Polygraphy or ModelOpt AutoCast, or only its precision flags',
    placeHolder: 'trtexec --precisionConstraints=obey --layerPrecisions=…',
    value: offered ? quoteCommand(offered, shell) : '',
    validateInput: (text) => (text.trim() === '' ? undefined : whyNothing(found(text)?.rules)),
  });
  const rules = found(pasted ?? '')?.rules;
  if (rules === undefined) return;
  // While the question stood, the file may have been closed: what it held then is not what it contains now.
  const document = open?.isClosed === false ? open : undefined;
  await addRules(document ?? (await vscode.workspace.openTextDocument({ language: overrideLanguageId })), rules);
}

/** Why a command line gives nothing to add; undefined: it gives something. */
function whyNothing(rules: ImportedOverrides | undefined): string | undefined {
  if (rules !== undefined && rules.text !== '') return undefined;
  return (
    rules?.problems.map(({ message }) => message).join(' ') ||
    'The command line sets no layer precisions. Expected --layerPrecisions or --layerOutputTypes (trtexec), --layer-precisions (Polygraphy) or a list of AutoCast such as --nodes_to_exclude.'
  );
}

/** One step to undo. What could not be taken over is above the rules, as comments. */
async function addRules(document: vscode.TextDocument, { text, problems }: ImportedOverrides): Promise<void> {
  const start = await addLines(document, () => {
    const own = readOverrides(document.getText());
    const isThere = (line: string) =>
      line === `base ${own.base?.value}` || line === `require ${own.require?.value}` || line === '';
    const lines = [
      ...problems.map(({ message }) => `# ${message.replaceAll(/\s+/g, ' ')}`),
      ...text.split('\n').filter((line) => !isThere(line)),
    ];
    return `${lines.join('\n')}\n`;
  });
  await vscode.window.showTextDocument(document, { selection: new vscode.Range(start, start) });
}
