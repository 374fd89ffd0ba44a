import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { temporaryFolder, writeWhole } from '../../../../../kernel/node/files/writeWhole.ts';
import { removeTree } from '../../../../../kernel/node/files/persist.ts';
import { fileUri, isFileUri } from '../../../../../kernel/vscode/platform/fileUri.ts';

/** What a tree takes: files of the editor, files of the system, text. */
export const droppedTypes = ['text/uri-list', 'files', 'text/plain'];

/**
 * Passes on what was dropped: files by their places, or a text. A file that comes without a place (out of a
 * browser, say) is in a temporary folder meanwhile.
 */
export async function takeDropped(
  data: vscode.DataTransfer,
  take: (pieces: vscode.Uri[] | string) => Promise<void>,
): Promise<void> {
  const list = (await data.get('text/uri-list')?.asString()) ?? '';
  const uris = list
    .split(/\r?\n/)
    .filter((text) => text !== '' && !text.startsWith('#'))
    .map((text) => vscode.Uri.parse(text, true));
  const onDisk = uris.filter((uri) => isFileUri(uri) || uri.scheme === 'vscode-remote');
  if (onDisk.length > 0) {
    await take(onDisk.map((uri) => (isFileUri(uri) ? uri : fileUri(uri.path))));
    return;
  }
  const files = [...data].flatMap(([, item]) => item.asFile() ?? []);
  if (files.length > 0) {
    await takeFiles(files, take);
    return;
  }
  const text = (await data.get('text/plain')?.asString()) ?? '';
  if (text.trim() !== '') await take(text);
}

async function takeFiles(
  files: vscode.DataTransferFile[],
  take: (pieces: vscode.Uri[]) => Promise<void>,
): Promise<void> {
  const folder = await temporaryFolder(tmpdir(), 'tensorrt-lens-');
  try {
    const uris = await Promise.all(
      files.map(async (file, index) => {
        if (file.uri && isFileUri(file.uri)) return file.uri;
        const path = join(folder, `${index}-${basename(file.name)}`);
        await writeWhole(path, await file.data());
        return fileUri(path);
      }),
    );
    await take(uris);
  } finally {
    await removeTree(folder);
  }
}
