import * as vscode from 'vscode';
import { UserError } from '../../node/files/userError.ts';
import type { FileOrigin } from '../../node/files/parsedFiles.ts';
import { sizeText } from '../../base/text.ts';
import { bytesOf } from '../../base/problem.ts';
import { isFileUri } from './fileUri.ts';

/** A file of a file system without random access is read whole: beyond this it is rejected. */
const largestWhole = 512 * 2 ** 20;

/** Where to read a file: by random access if it is on this computer's disk, so that weights are never loaded, else whole. */
export function originOf(uri: vscode.Uri): string | FileOrigin {
  if (isFileUri(uri)) return uri.fsPath;
  const status = () => vscode.workspace.fs.stat(uri);
  return {
    name: uri.toString(true),
    stamp: async () => {
      const { mtime, size } = await status();
      return `${mtime} ${size}`;
    },
    open: async () => {
      const { size } = await status();
      if (size > largestWhole)
        throw new UserError(
          `${uri.path} has ${sizeText(size)}, which is too large to read from this file system. Copy it to a local disk.`,
        );
      return { ...bytesOf(await vscode.workspace.fs.readFile(uri)), close: () => Promise.resolve() };
    },
  };
}
