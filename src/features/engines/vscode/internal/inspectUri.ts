import type * as vscode from 'vscode';
import { withFile } from '../../../../kernel/node/files/fileSource.ts';
import type { EngineTarget, Inspection } from '../../../../kernel/inspect/inspection.ts';
import { errorText } from '../../../../kernel/base/problem.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { isFileUri } from '../../../../kernel/vscode/platform/fileUri.ts';

/** What a file is, for its page; that it cannot be read is a problem of the result. */
export async function inspectUri(uri: vscode.Uri, target: EngineTarget): Promise<Inspection> {
  const failed = (message: string): Inspection => ({
    kind: 'unknown',
    summary: 'The file cannot be read',
    tensorrt: { product: null, version: null },
    counts: {},
    problems: [{ severity: 'error', code: 'unreadable', message }],
  });
  if (!isFileUri(uri)) return failed('Only files on this computer’s disk can be read. Copy the file there first.');
  try {
    const { inspectFile } = await import('../../../../kernel/inspect/inspectFile.ts');
    return await withFile(uri.fsPath, (source) => inspectFile(source, { name: nameOf(uri), target }));
  } catch (error) {
    return failed(errorText(error));
  }
}
