import * as vscode from 'vscode';
import { showWarning } from '../../../kernel/vscode/platform/messages.ts';

/** Explains a log, or an excerpt of one, that is in the clipboard: no file and no model are needed. */
export async function diagnosePastedLog(): Promise<void> {
  const text = await vscode.env.clipboard.readText();
  if (text.trim() === '') {
    await showWarning('The clipboard contains no text. Copy the log of a build first.');
    return;
  }
  const [{ readBuildLog }, { diagnoseLog, diagnosisMarkdown }] = await Promise.all([
    import('../../../kernel/read/tensorrt/readBuildLog.ts'),
    import('../diagnoseLog.ts'),
  ]);
  const { value: log } = readBuildLog(text);
  const content = diagnosisMarkdown(diagnoseLog(log), log);
  const document = await vscode.workspace.openTextDocument({ content, language: 'markdown' });
  await vscode.window.showTextDocument(document, { preview: true });
}
