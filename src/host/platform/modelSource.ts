import * as vscode from 'vscode';
import { openFile } from '../../builder/files/fileSource.ts';
import { bytesOf } from '../../core/text/byteSource.ts';
import type { ByteSource } from '../../core/text/byteSource.ts';

/** A file of a file system without random access is read whole: beyond this it is refused. */
const largestWhole = 512 * 2 ** 20;

/**
 * Opens a file for reading: by random access where it lies on this computer's disk, so that weights are never loaded,
 * and whole elsewhere. Rejects with a message for people.
 */
export async function openSource(uri: vscode.Uri): Promise<ByteSource & { close(): Promise<void> }> {
  if (uri.scheme === 'file') return openFile(uri.fsPath);
  const { size } = await vscode.workspace.fs.stat(uri);
  if (size > largestWhole) {
    throw new Error(
      `${uri.path} has ${Math.round(size / 2 ** 20)} MiB, too much to read from here. Copy it to a disk.`,
    );
  }
  return { ...bytesOf(await vscode.workspace.fs.readFile(uri)), close: () => Promise.resolve() };
}
